//! Limits the memory of all request bodies together.
//!
//! Each body or message has a limit of its own, but a client may send many at once: 256 over one
//! connection of HTTP/2 alone. The bytes of a body count until its call is answered. Those of a
//! call that reads a stream count until it has its place, which may be later than its answer:
//! [`CallMemory::keep`] and [`CallMemory::release`]. What streams after that has the limits of its
//! call.

use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};

use axum::BoxError;
use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http_body::{Body as HttpBody, Frame, SizeHint};
use tonnage::Error;
use tonnage::internal::sync::lock;

use crate::budget::{MemoryBudget, MemoryReservation};
use crate::error::{Problem, status};
use crate::metrics::ListenerKind;

/// What a body has of the memory, and why it was refused more.
#[derive(Default)]
struct BodyMemory {
    /// Nothing once the call is answered or has begun.
    taken: Option<MemoryReservation>,
    /// Whether the answer of the call leaves it what it has.
    kept: bool,
    refused: Option<Error>,
}

/// What the body of a call has of the memory. It is one of the request's extensions.
#[derive(Clone, Default)]
pub(crate) struct CallMemory(Arc<Mutex<BodyMemory>>);

impl CallMemory {
    /// Has the call keep it beyond its answer. The caller that says so releases it.
    pub(crate) fn keep(&self) {
        lock(&self.0).kept = true;
    }

    /// Why more was refused, once.
    pub(crate) fn take_refusal(&self) -> Option<Error> {
        lock(&self.0).refused.take()
    }

    /// Gives it back. What comes from now on takes some anew.
    pub(crate) fn restart(&self) {
        if let Some(taken) = &mut lock(&self.0).taken {
            taken.restart();
        }
    }

    /// Gives it back. What comes from now on takes none.
    pub(crate) fn release(&self) {
        lock(&self.0).taken = None;
    }
}

/// A body whose bytes are counted as they come.
struct CountedBody {
    inner: Body,
    holding: Arc<Mutex<BodyMemory>>,
}

impl HttpBody for CountedBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = match Pin::new(&mut self.inner).poll_frame(context) {
            Poll::Ready(Some(Ok(frame))) => frame,
            other => return other.map_err(BoxError::from),
        };
        let bytes = frame.data_ref().map_or(0, Bytes::len);
        let mut holding = lock(&self.holding);
        match holding.taken.as_mut().map_or(Ok(()), |taken| taken.grow(bytes)) {
            Ok(()) => Poll::Ready(Some(Ok(frame))),
            Err(error) => {
                let told = error.message().to_owned();
                holding.refused.get_or_insert(error);
                Poll::Ready(Some(Err(told.into())))
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// A body whose bytes count until its memory is released.
pub(crate) fn counted(inner: Body, budget: &Arc<MemoryBudget>) -> (Body, CallMemory) {
    let taken = Some(budget.reservation());
    let holding = Arc::new(Mutex::new(BodyMemory { taken, ..BodyMemory::default() }));
    let memory = CallMemory(holding.clone());
    (Body::new(CountedBody { inner, holding }), memory)
}

/// Counts the body of a request until the request is answered, or longer where its call keeps it.
pub(crate) async fn count_body(
    State((budget, listener)): State<(Arc<MemoryBudget>, ListenerKind)>,
    request: Request,
    next: Next,
) -> Response {
    let (parts, inner) = request.into_parts();
    let (body, memory) = counted(inner, &budget);
    let mut request = Request::from_parts(parts, body);
    request.extensions_mut().insert(memory.clone());
    let response = next.run(request).await;
    let mut holding = lock(&memory.0);
    if !holding.kept {
        holding.taken = None;
    }
    match (holding.refused.take(), listener) {
        (None, _) => response,
        (Some(error), ListenerKind::http | ListenerKind::redis | ListenerKind::nosql) => {
            Problem::from(error).into_response()
        }
        (Some(error), ListenerKind::flight) => status(&error).into_http(),
    }
}
