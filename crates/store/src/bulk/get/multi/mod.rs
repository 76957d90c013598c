//! Multi-get: keys of many tables in one call.
//!
//! 1. Each request, a table with its keys, becomes a source of tasks, as in a bulk get. A request
//!    that cannot become one, because its table is missing for instance, is answered with its
//!    error. The others continue.
//! 2. The reader's own thread reads the first tasks, as long as that takes no longer than starting
//!    threads would.
//! 3. Then [`BulkGetOptions::max_concurrent_requests`] workers take task after task. A worker takes
//!    the first request that has tasks left and whose keys no other worker is drawing. So no more
//!    requests are open at a time than there are workers, which share the memory for keys, and all
//!    workers read the last large one together.
//! 4. Where rows come in the order of their keys, one worker reads a request from its first task to
//!    its last.

mod request_answer;
mod requests;
mod workers;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tonnage_engine::{Error, Result};

use self::request_answer::RequestAnswer;
use self::requests::{InlineRead, TableRequest, TableRequests};
use self::workers::RequestWorkers;
use super::{BulkGetOptions, KeySource, TableBatch};
use crate::inner::Inner;

/// About what starting the workers takes.
const INLINE_READ_MAX: Duration = Duration::from_micros(100);

/// The answers of a multi-get as they come, an iterator: the number of a request, in the order
/// given and from 0, with rows of its table or with the error that ended it, after which nothing
/// more comes of that request.
///
/// Results are pulled: what the reader does not take is not read. Dropping it stops the workers and
/// waits for them, and so for a source of keys that one of them is drawing from.
pub struct MultiGet {
    requests: Arc<TableRequests>,
    /// What the reader's own thread has read.
    ready: VecDeque<RequestAnswer>,
    /// How long it took for that.
    spent: Duration,
    workers: Option<RequestWorkers>,
    /// Requests that ended with an error.
    failed: Vec<bool>,
}

/// One table of a multi-get, with its keys.
#[derive(Debug)]
pub struct MultiGetRequest {
    /// The path of the table.
    pub table: String,
    /// Its keys.
    pub keys: KeySource,
    /// How to read them, where that is not as the call says: range, columns, direction, limits.
    /// Memory, time-out, cancel and the number of workers are those of the call.
    pub options: Option<BulkGetOptions>,
}

impl MultiGetRequest {
    /// A request that is read as the call says.
    pub fn new(table: impl Into<String>, keys: impl Into<KeySource>) -> Self {
        Self { table: table.into(), keys: keys.into(), options: None }
    }

    /// The same, read in a way of its own.
    pub fn with(self, options: BulkGetOptions) -> Self {
        Self { options: Some(options), ..self }
    }
}

/// Refuses what a request of many cannot have.
fn check_each(options: &BulkGetOptions) -> Result<()> {
    if options.limit.is_some() || options.start_after.is_some() {
        return Err(Error::invalid(
            "limit and start_after go with the bulk get of one table: give limit_per_key, or one bulk get for each table",
        ));
    }
    Ok(())
}

/// Starts to read the keys of many tables.
pub(crate) fn multi_get(
    store: &Inner,
    requests: Vec<MultiGetRequest>,
    options: &BulkGetOptions,
) -> Result<MultiGet> {
    options.check()?;
    let open_most = options.workers().min(requests.len()).max(1);
    let memory_bytes_max = options.memory_bytes_max / open_most;
    let failed = vec![false; requests.len()];
    let open = |request: MultiGetRequest| {
        let own = request.options.as_ref();
        let is_sound = own
            .map_or(Ok(()), BulkGetOptions::check)
            .and_then(|()| check_each(own.unwrap_or(options)));
        // What ends the call ends each of its requests, and what is shared is shared by all.
        let each = BulkGetOptions {
            memory_bytes_max,
            timeout: options.timeout,
            cancel: options.cancel.clone(),
            ..own.unwrap_or(options).clone()
        };
        TableRequest::new(store, &request.table, request.keys, &each, is_sound)
    };
    let requests = requests.into_iter().map(open).collect();
    let requests = Arc::new(TableRequests::new(requests, options, store.threads.clone()));
    Ok(MultiGet { requests, ready: VecDeque::new(), spent: Duration::ZERO, workers: None, failed })
}

impl MultiGet {
    /// The answer to each request, in the order given: all of its rows, or its error. The rows are
    /// in memory together.
    pub fn into_answers(self) -> Vec<Result<Vec<TableBatch>>> {
        let mut answers: Vec<Result<Vec<TableBatch>>> =
            self.failed.iter().map(|_| Ok(Vec::new())).collect();
        for (number, batch) in self {
            match (batch, &mut answers[number]) {
                (Ok(batch), Ok(batches)) => batches.push(batch),
                (Err(error), answer) => *answer = Err(error),
                (Ok(_), Err(_)) => {}
            }
        }
        answers
    }

    fn draw(&mut self) -> Option<RequestAnswer> {
        loop {
            if let Some(answered) = self.ready.pop_front() {
                return Some(answered);
            }
            if let Some(workers) = &self.workers {
                return workers.next();
            }
            let started = Instant::now();
            match self.requests.read_inline() {
                InlineRead::Over => return None,
                InlineRead::Answers(answered) => self.ready.extend(answered),
                InlineRead::TooLarge => self.spent = INLINE_READ_MAX,
            }
            self.spent += started.elapsed();
            if self.spent >= INLINE_READ_MAX {
                self.workers = RequestWorkers::start(&self.requests);
                if self.workers.is_none() {
                    self.ready.extend(self.requests.fail_open_requests());
                }
            }
        }
    }
}

impl Iterator for MultiGet {
    type Item = (usize, Result<TableBatch>);

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            let (number, batch) = self.draw()?;
            // Batches that other workers had under way when the request failed are late.
            let is_late = self.failed[number];
            self.failed[number] |= batch.is_err();
            if !is_late {
                return Some((number, batch));
            }
        }
    }
}

impl std::fmt::Debug for MultiGet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("MultiGet").finish_non_exhaustive()
    }
}
