//! Blocks the calling thread until a future is ready.

use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use tonnage::Result;

use super::guard::Guard;

struct UnparkWaker(Thread);

impl Wake for UnparkWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future. Unlike the executors of libraries it does not mind being called from inside
/// one of them.
pub(crate) fn wait<F: Future>(future: F) -> F::Output {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(UnparkWaker(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Waits for a future, or until the statement that it belongs to must stop.
pub(crate) fn wait_guarded<F: Future>(future: F, guard: &Guard) -> Result<F::Output> {
    const LOOK_EVERY: Duration = Duration::from_millis(10);
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(UnparkWaker(std::thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
            return Ok(output);
        }
        guard.check()?;
        std::thread::park_timeout(
            guard.remaining().map_or(LOOK_EVERY, |left| left.min(LOOK_EVERY)),
        );
    }
}
