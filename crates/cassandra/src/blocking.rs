//! Waits for the driver's futures on any thread.
//!
//! The contract is synchronous, the driver is not. The engine owns a runtime for connections and
//! timers. A caller's future runs on the caller's own thread, which parks while it waits. So
//! callers need no runtime, may be on a thread of another one, and borrow what they hand over.

use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use tokio::runtime::{Builder, Handle, Runtime};
use tonnage_engine::{Deadline, Error, Result};

/// The engine's own runtime.
pub(crate) struct DriverRuntime {
    runtime: Option<Runtime>,
    handle: Handle,
}

impl DriverRuntime {
    pub(crate) fn start() -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .thread_name("tonnage-cassandra")
            .enable_all()
            .build()
            .map_err(|error| {
                Error::unavailable("the threads of a connection to Cassandra cannot be started")
                    .with_source(error)
            })?;
        let handle = runtime.handle().clone();
        Ok(Self { runtime: Some(runtime), handle })
    }

    /// Runs a future to its end on this thread.
    pub(crate) fn wait<F: Future>(&self, future: F) -> F::Output {
        let _runtime = self.handle.enter();
        let waker = Waker::from(Arc::new(ThreadWaker(thread::current())));
        let mut context = Context::from_waker(&waker);
        let mut future = pin!(future);
        loop {
            if let Poll::Ready(output) = future.as_mut().poll(&mut context) {
                return output;
            }
            thread::park();
        }
    }

    /// Where tasks are spawned that continue while their caller does something else.
    pub(crate) fn handle(&self) -> &Handle {
        &self.handle
    }
}

impl Drop for DriverRuntime {
    /// Never waits: an engine may be dropped on a thread of another runtime.
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

struct ThreadWaker(Thread);

impl Wake for ThreadWaker {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Gives up on a future when the deadline passes.
pub(crate) async fn with_deadline<T>(
    deadline: Deadline,
    what: &str,
    future: impl Future<Output = Result<T>>,
) -> Result<T> {
    deadline.check(what)?;
    match deadline.moment() {
        None => future.await,
        Some(moment) => match tokio::time::timeout_at(moment.into(), future).await {
            Ok(output) => output,
            Err(_) => Err(Deadline::passed(what)),
        },
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_future_is_waited_for_within_another_runtime() {
        let runtime = DriverRuntime::start().unwrap();
        let outer = Builder::new_current_thread().build().unwrap();
        let answer = outer.block_on(async {
            runtime.wait(async {
                tokio::time::sleep(Duration::from_millis(1)).await;
                runtime.wait(async { 7 })
            })
        });
        assert_eq!(answer, 7);
    }

    #[test]
    fn a_deadline_ends_a_future_that_never_does() {
        let runtime = DriverRuntime::start().unwrap();
        let soon = Deadline::after(Duration::from_millis(5));
        let never = with_deadline(soon, "nothing", std::future::pending::<Result<()>>());
        let error = runtime.wait(never).unwrap_err();
        assert_eq!(error.kind(), tonnage_engine::ErrorKind::TimedOut);
    }
}
