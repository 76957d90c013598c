//! Connections that end while their client still sends.
//!
//! A system that closes a socket with bytes unread resets the connection. The client then loses
//! what it has not read of the answer. That happens to clients whose request is answered before
//! its body has come: refused ones, and streams whose end is said within the body. So the server
//! ends its own side, and takes what still comes until the client ends the other one, for a while.
//! nginx does the same (`lingering_close`).

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep, sleep};

/// How long a client is waited for.
#[derive(Clone, Copy)]
struct Patience {
    /// From the end of the server's side on.
    whole: Duration,
    /// Between two reads.
    silence: Duration,
}

const PATIENCE: Patience =
    Patience { whole: Duration::from_secs(30), silence: Duration::from_secs(5) };
/// Bytes that are read and dropped at a time.
const SCRATCH_BYTES: usize = 16 << 10;

/// Whether a request of a connection was answered before its body was read to the end.
#[derive(Clone, Default)]
pub(super) struct UnreadBody(Arc<AtomicBool>);

impl UnreadBody {
    pub(super) fn note(&self) {
        self.0.store(true, Ordering::Release);
    }

    /// A further request can be read: nothing of those before it is left.
    pub(super) fn clear(&self) {
        self.0.store(false, Ordering::Release);
    }

    fn is_noted(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }
}

/// A connection that reads on for a while once the server ended its side.
pub(super) struct LingeringClose<S> {
    inner: S,
    unread: UnreadBody,
    patience: Patience,
    state: CloseState,
}

enum CloseState {
    Open,
    Lingering { until: Instant, silence: Pin<Box<Sleep>> },
    Closed,
}

impl<S> LingeringClose<S> {
    pub(super) fn new(inner: S, unread: UnreadBody) -> Self {
        Self { inner, unread, patience: PATIENCE, state: CloseState::Open }
    }
}

impl<S: AsyncRead + Unpin> LingeringClose<S> {
    /// Takes and drops what comes. Ready when no more is waited for.
    fn poll_linger(&mut self, context: &mut Context<'_>) -> Poll<()> {
        let CloseState::Lingering { until, silence } = &mut self.state else {
            return Poll::Ready(());
        };
        let mut scratch = [0; SCRATCH_BYTES];
        loop {
            if *until <= Instant::now() {
                return Poll::Ready(());
            }
            let mut buffer = ReadBuf::new(&mut scratch);
            match Pin::new(&mut self.inner).poll_read(context, &mut buffer) {
                Poll::Pending => return silence.as_mut().poll(context),
                Poll::Ready(Ok(())) if !buffer.filled().is_empty() => {
                    silence.as_mut().reset((Instant::now() + self.patience.silence).min(*until));
                }
                Poll::Ready(_) => return Poll::Ready(()),
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for LingeringClose<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.inner).poll_read(context, buffer)
    }
}

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for LingeringClose<S> {
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
        if matches!(self.state, CloseState::Open) {
            ready!(Pin::new(&mut self.inner).poll_shutdown(context))?;
            self.state = if self.unread.is_noted() {
                let until = Instant::now() + self.patience.whole;
                CloseState::Lingering { until, silence: Box::pin(sleep(self.patience.silence)) }
            } else {
                CloseState::Closed
            };
        }
        ready!(self.poll_linger(context));
        self.state = CloseState::Closed;
        Poll::Ready(Ok(()))
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

    const BRIEF: Patience =
        Patience { whole: Duration::from_secs(2), silence: Duration::from_secs(1) };

    fn block_on<T>(future: impl Future<Output = T>) -> T {
        let builder = &mut tokio::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap().block_on(future)
    }

    /// A connection of which a body was not read.
    fn lingering<S>(inner: S) -> LingeringClose<S> {
        let unread = UnreadBody::default();
        unread.note();
        LingeringClose { patience: BRIEF, ..LingeringClose::new(inner, unread) }
    }

    #[test]
    fn what_a_client_still_sends_is_taken_until_it_ends() {
        block_on(async {
            let (mut client, server) = duplex(64);
            let mut server = lingering(server);
            let closing = tokio::spawn(async move { server.shutdown().await });
            assert_eq!(client.read(&mut [0; 8]).await.unwrap(), 0, "the server's side is ended");
            client.write_all(&[7; 10_000]).await.unwrap();
            assert!(!closing.is_finished());
            drop(client);
            let begun = Instant::now();
            closing.await.unwrap().unwrap();
            assert!(begun.elapsed() < BRIEF.silence);
        });
    }

    #[test]
    fn a_client_that_is_silent_or_never_ends_is_not_waited_for() {
        block_on(async {
            let begun = Instant::now();
            let (mut client, server) = duplex(64);
            let mut server = lingering(server);
            server.shutdown().await.unwrap();
            assert!(begun.elapsed() >= BRIEF.silence);
            let (begun, mut server) = (Instant::now(), lingering(server.inner));
            let closing = tokio::spawn(async move { server.shutdown().await });
            while client.write_all(&[7]).await.is_ok() {
                tokio::time::sleep(BRIEF.silence / 8).await;
            }
            closing.await.unwrap().unwrap();
            assert!(begun.elapsed() >= BRIEF.whole);
        });
    }

    #[test]
    fn a_connection_whose_requests_were_read_whole_closes_at_once() {
        block_on(async {
            let (_client, server) = duplex(64);
            let (begun, mut server) = (Instant::now(), lingering(server));
            server.unread.clear();
            server.shutdown().await.unwrap();
            assert!(begun.elapsed() < BRIEF.silence);
        });
    }
}
