//! How the body of a request ended.
//!
//! tonic tells a handler that a stream ended when its client cancelled it, and hyper does so for a
//! stream that was reset with NO_ERROR or CANCEL, as proxies and dying clients send it. Whether the
//! client ended the stream is known below them only: at its end, the body says whether HTTP/2's
//! END_STREAM came.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

const OPEN: u8 = 0;
const ENDED: u8 = 1;
const TORN: u8 = 2;

/// Tells how the body of a request ended. It stands among the request's extensions.
#[derive(Clone, Debug, Default)]
pub(crate) struct BodyEnd(Arc<AtomicU8>);

impl BodyEnd {
    /// Whether the client itself ended the body.
    pub(crate) fn is_clean(&self) -> bool {
        self.0.load(Ordering::Acquire) == ENDED
    }

    fn note(&self, end: u8) {
        // What tore it counts, whatever comes after.
        let _ = self.0.compare_exchange(OPEN, end, Ordering::AcqRel, Ordering::Acquire);
    }
}

/// A body whose end is noted.
pub(crate) struct WatchedBody<B> {
    inner: B,
    end: BodyEnd,
}

impl<B> WatchedBody<B> {
    pub(crate) fn new(inner: B, end: BodyEnd) -> Self {
        Self { inner, end }
    }
}

impl<B: Body<Data = Bytes> + Unpin> Body for WatchedBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        let frame = Pin::new(&mut self.inner).poll_frame(context);
        match &frame {
            Poll::Ready(None) if self.inner.is_end_stream() => self.end.note(ENDED),
            Poll::Ready(None | Some(Err(_))) => self.end.note(TORN),
            _ => {}
        }
        frame
    }

    // The end of the inner body is not told beforehand: who heard of it would not ask for the last
    // frame, and the end would not be noted.
    fn is_end_stream(&self) -> bool {
        false
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}
