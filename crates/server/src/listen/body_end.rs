//! Detects how the body of a request ended.
//!
//! tonic reports a stream as ended although its client cancelled it. hyper does the same for a
//! stream that was reset with NO_ERROR, as proxies do. Only the layer below knows whether the
//! client ended the stream: the body says at its end whether HTTP/2's END_STREAM came. If it did
//! not, reading the body fails, so that no reader takes a part for the whole.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use axum::BoxError;
use axum::http::Version;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

use super::lingering_close::UnreadBody;

const OPEN: u8 = 0;
const ENDED: u8 = 1;
const TORN: u8 = 2;

/// Tells how the body of a request ended. It is one of the request's extensions.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyEnd(Arc<AtomicU8>);

impl BodyEnd {
    /// Whether the client itself ended the body.
    pub(crate) fn is_clean(&self) -> bool {
        self.is(ENDED)
    }

    fn is(&self, end: u8) -> bool {
        self.0.load(Ordering::Acquire) == end
    }

    fn record(&self, end: u8) {
        // What tore it counts, whatever comes after.
        let _ = self.0.compare_exchange(OPEN, end, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// A body whose end is noted.
pub(crate) struct WatchedBody<B: Body> {
    inner: B,
    end: BodyEnd,
    unread: UnreadBody,
    /// Whether it is one of HTTP/2, whose streams may be reset. hyper tells bodies of HTTP/1 that
    /// are cut off from whole ones.
    may_be_reset: bool,
}

impl<B: Body> WatchedBody<B> {
    pub(super) fn new(inner: B, end: BodyEnd, unread: UnreadBody, version: Version) -> Self {
        Self { inner, end, unread, may_be_reset: version == Version::HTTP_2 }
    }
}

impl<B: Body> Drop for WatchedBody<B> {
    fn drop(&mut self) {
        // HTTP/2 tells a client alone of a stream whose rest is not wanted.
        if !self.may_be_reset && self.end.is(OPEN) && !self.inner.is_end_stream() {
            self.unread.note();
        }
    }
}

impl<B> Body for WatchedBody<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<BoxError>,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        if self.end.is(TORN) {
            return Poll::Ready(None);
        }
        match Pin::new(&mut self.inner).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => Poll::Ready(Some(Ok(frame))),
            Poll::Ready(Some(Err(error))) => {
                self.end.record(TORN);
                Poll::Ready(Some(Err(error.into())))
            }
            Poll::Ready(None) if self.may_be_reset && !self.inner.is_end_stream() => {
                self.end.record(TORN);
                Poll::Ready(Some(Err("the client called it off, or was cut off".into())))
            }
            Poll::Ready(None) => {
                self.end.record(ENDED);
                Poll::Ready(None)
            }
            Poll::Pending => Poll::Pending,
        }
    }

    // The end of the inner body is not announced: a caller that knew it would not ask for the last
    // frame, and the end would not be noted.
    fn is_end_stream(&self) -> bool {
        false
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
