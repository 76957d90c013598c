//! The threads that sort and spill while entries come in.

use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};

use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result};

use super::pool::Pool;

/// The worker threads of a session; none before they are needed.
#[derive(Debug)]
pub(super) struct Workers {
    count: usize,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Workers {
    /// Up to so many threads.
    pub(super) fn new(count: usize) -> Self {
        Self { count: count.max(1), threads: Mutex::default() }
    }

    /// Starts the threads that do not run yet.
    ///
    /// # Errors
    /// `Unavailable` when not even one thread can be had.
    pub(super) fn start(&self, pool: &Arc<Pool>) -> Result<()> {
        let mut threads = lock(&self.threads);
        while threads.len() < self.count {
            let pool = Arc::clone(pool);
            match thread::Builder::new().name("load".into()).spawn(move || pool.work()) {
                Ok(worker) => threads.push(worker),
                Err(error) if threads.is_empty() => {
                    let text = format!(
                        "no thread can be started for the load: {error}: raise the limit of threads"
                    );
                    return Err(Error::unavailable(text).with_source(error));
                }
                Err(_) => break,
            }
        }
        Ok(())
    }

    /// Waits for all threads. The pool must be closed.
    pub(super) fn join(&self) {
        for worker in lock(&self.threads).drain(..) {
            // A worker catches its panics; there is nothing to be learned here.
            let _ = worker.join();
        }
    }
}
