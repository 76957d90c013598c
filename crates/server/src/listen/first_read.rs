//! A deadline for the first bytes of a connection.
//!
//! hyper waits for them for ever: none of its time limits runs until it knows whether the client
//! speaks HTTP/1 or HTTP/2. A client that sends nothing would keep its position among the
//! connections.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

/// As many bytes as HTTP/2 begins with. Requests of HTTP/1 are longer.
const BEGINNING_BYTES: usize = 24;

/// A connection whose first bytes must come in time.
pub(super) struct FirstReadDeadline<S> {
    inner: S,
    came: usize,
    limit: Option<Pin<Box<Sleep>>>,
}

impl<S> FirstReadDeadline<S> {
    pub(super) fn new(inner: S, limit: Duration) -> Self {
        Self { inner, came: 0, limit: Some(Box::pin(sleep(limit))) }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for FirstReadDeadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.inner).poll_read(context, buffer);
        let Some(limit) = &mut self.limit else { return read };
        if read.is_pending() && limit.as_mut().poll(context).is_ready() {
            let late = "the connection did not begin in time";
            return Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, late)));
        }
        self.came += buffer.filled().len() - before;
        if self.came >= BEGINNING_BYTES {
            self.limit = None;
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for FirstReadDeadline<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_shutdown(context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.inner).poll_write_vectored(context, bytes)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt, duplex};

    use super::*;

    /// What reads of a connection find whose client sends these bytes and then nothing.
    fn read(sent: &'static [u8]) -> io::Result<usize> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let (mut client, server) = duplex(64);
            client.write_all(sent).await.unwrap();
            let mut server = FirstReadDeadline::new(server, Duration::from_millis(50));
            let mut buffer = [0; 64];
            let mut came = 0;
            loop {
                let next = server.read(&mut buffer);
                match tokio::time::timeout(Duration::from_millis(500), next).await {
                    Ok(read) => came += read?,
                    Err(_) => return Ok(came),
                }
            }
        })
    }

    /// Once such a connection stayed for ever, and a thousand of them kept everybody else out.
    #[test]
    fn a_connection_that_sends_nothing_or_too_little_ends() {
        for sent in [&b""[..], b"PRI * HTTP/2.0"] {
            assert_eq!(read(sent).unwrap_err().kind(), io::ErrorKind::TimedOut, "{sent:?}");
        }
    }

    #[test]
    fn a_connection_that_has_begun_may_lie_idle() {
        assert_eq!(read(b"GET / HTTP/1.1\r\nHost: x\r\n\r\n").unwrap(), 27);
    }
}
