//! The worker threads of a multi-get.

use std::sync::Arc;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, bounded};

use super::request_answer::RequestAnswer;
use super::requests::TableRequests;
use crate::budget::Loan;

/// Batches that may wait for the reader, for each worker.
const QUEUED_BATCHES_MAX: usize = 2;

/// Threads that read, and the queue from them.
pub(super) struct RequestWorkers {
    requests: Arc<TableRequests>,
    /// Gone when no more is wanted.
    answered: Option<Receiver<RequestAnswer>>,
    threads: Vec<JoinHandle<()>>,
    /// Given back when the threads have ended.
    _lent: Loan,
}

impl RequestWorkers {
    /// Starts as many as can be had, and nothing where none can.
    pub(super) fn start(requests: &Arc<TableRequests>) -> Option<Self> {
        let lent = requests.lend_threads();
        let (sender, answered) = bounded(QUEUED_BATCHES_MAX * lent.amount());
        let thread = |_| {
            let (requests, sender) = (requests.clone(), sender.clone());
            let work = move || requests.work(&mut |answered| sender.send(answered).is_ok());
            std::thread::Builder::new().spawn(work).ok()
        };
        let threads: Vec<_> = (0..lent.amount()).map_while(thread).collect();
        let requests = (!threads.is_empty()).then(|| requests.clone())?;
        Some(Self { requests, answered: Some(answered), threads, _lent: lent })
    }

    pub(super) fn next(&self) -> Option<RequestAnswer> {
        self.answered.as_ref()?.recv().ok()
    }
}

impl Drop for RequestWorkers {
    fn drop(&mut self) {
        self.requests.stop();
        // Frees those that wait for room in the queue.
        drop(self.answered.take());
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}
