//! A load that stays open, and that callers push entries into.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tonnage_engine::{Deadline, Error, Result, cores};

use super::executor::LoadExecutor;
use super::load_queue::LoadQueue;
use super::outcomes::LoadOutcomes;
use super::resources::LoadResources;
use super::{BulkPutError, BulkPutOptions, BulkPutReport, EntryBatch};
use crate::inner::Inner;

const FOR_EVER: Duration = Duration::from_secs(u32::MAX as u64);

/// A load that stays open while entries are pushed into it, from as many threads as there are.
///
/// [`crate::Store::bulk_put`] draws from its streams. A server is given its entries instead: each
/// of its connections makes a stream and pushes into it, and holds no thread of the load meanwhile.
/// All rules of a bulk put hold; the entries of one stream keep their order.
///
/// - **Back-pressure.** Batches that wait take up to an eighth of `memory_bytes_max`. Then
///   [`Load::push`] waits, and [`Load::try_push`] gives the batch back; the latter never waits for
///   anything but a lock that is held for microseconds, so that it may be called where blocking is
///   forbidden.
/// - **Acknowledgement.** A push answers with the position that follows the batch. Its entries are
///   durable once [`Load::durable`] has reached that position: then the client may forget them. The
///   load makes durable what was pushed every `flush_interval`, sooner when `flush_bytes_max` are
///   pending or a thread waits in [`Load::wait_durable`] and nothing else comes.
///   [`super::BulkPutCallbacks::durable`] is called each time.
/// - **Failures** are called back, as in a bulk put. An entry that failed or existed counts as
///   handled: positions move past it.
/// - **The end.** [`Load::end`] ends one stream, which then completes; [`Load::finish`] ends all
///   and gives the report. A load that is dropped gives up what was not durable yet; what was
///   stays.
///
/// ```
/// # fn main() -> tonnage::Result<()> {
/// use std::time::Duration;
/// use tonnage::{BulkPutOptions, Payload, Row, Store};
///
/// let store = Store::open("memory:")?;
/// store.execute("CREATE TABLE heat (at LONG, level DOUBLE, PRIMARY KEY (at))")?;
/// let options = BulkPutOptions { flush_interval: Some(Duration::from_millis(50)), ..Default::default() };
/// let load = store.load(&options)?;
/// std::thread::scope(|scope| {
///     for sensor in 0..4_i64 {
///         let load = &load;
///         scope.spawn(move || -> tonnage::Result<()> {
///             let stream = load.stream(format!("sensor {sensor}"));
///             let rows = vec![Row::new().with("at", sensor).with("level", 20.5)];
///             let position = load.push(stream, Payload::Rows { table: "heat".into(), rows })?;
///             assert!(load.wait_durable(stream, position, Duration::from_secs(60))?, "now the sensor may forget it");
///             Ok(())
///         });
///     }
/// });
/// assert_eq!(load.finish()?.total.inserted, 4);
/// # Ok(())
/// # }
/// ```
pub struct Load {
    queue: Arc<LoadQueue>,
    outcomes: Arc<LoadOutcomes>,
    thread: Option<JoinHandle<std::result::Result<BulkPutReport, BulkPutError>>>,
}

/// What became of a batch that was pushed without waiting.
#[derive(Debug)]
pub enum TryPush {
    /// It was taken. The position follows it.
    Taken(u64),
    /// There is no room for it now.
    Full(Box<EntryBatch>),
}

impl Load {
    pub(crate) fn open(store: &Arc<Inner>, options: &BulkPutOptions) -> Result<Load> {
        let started = Instant::now();
        options.check(store.engine.capability())?;
        let outcomes = LoadOutcomes::new(store, options, std::iter::empty(), started)?;
        let workers = options.stream_parallelism.unwrap_or_else(cores).min(cores());
        let resources = LoadResources::of(store, options, workers).with_queue();
        let queue = Arc::new(LoadQueue::new(0, resources.queue_bytes()));
        // This handle is a source by itself: without one the load would end at once.
        queue.add_source();
        let (opened, answer) = crossbeam_channel::bounded(1);
        let run = {
            let (store, options, outcomes, queue) =
                (store.clone(), options.clone(), outcomes.clone(), queue.clone());
            move || {
                let executor = LoadExecutor::open(&store, &options, &outcomes, &queue, resources);
                // Reported before the first entry: an error of opening belongs to the caller, not
                // to the report.
                let _ = opened.send(executor.as_ref().map(drop).map_err(|error| error.restated()));
                executor?.run(started)
            }
        };
        let thread = std::thread::Builder::new().name("load".into()).spawn(run);
        let thread = thread.map_err(|error| {
            Error::unavailable(format!("no thread can be had for the load: {error}"))
        })?;
        let opened = answer
            .recv()
            .unwrap_or_else(|_| Err(Error::internal("the load ended before it began")));
        opened.map(|()| Load { queue, outcomes, thread: Some(thread) })
    }

    /// Begins a stream, and answers its number: streams are counted from 0. Entries of one stream
    /// keep their order.
    pub fn stream(&self, name: impl Into<String>) -> usize {
        // The lane is there before anybody knows the number.
        self.queue.add_stream();
        self.outcomes.add_stream(name.into())
    }

    /// Takes a batch of a stream, and waits for room if there is none. The answer is the position
    /// that follows the batch: once the stream is durable up to there, so is all of the batch.
    ///
    /// # Errors
    /// What stopped the load; `Invalid` for a stream that there is not or that was ended, or
    /// positions that do not ascend.
    pub fn push(&self, stream: usize, batch: impl Into<EntryBatch>) -> Result<u64> {
        match self.queue.push(stream, batch.into(), Deadline::NONE)? {
            Some(Ok(position)) => Ok(position),
            Some(Err(_)) | None => Err(self.stopped()),
        }
    }

    /// The same, but gives the batch back where there is no room.
    ///
    /// # Errors
    /// As [`Load::push`].
    pub fn try_push(&self, stream: usize, batch: impl Into<EntryBatch>) -> Result<TryPush> {
        self.push_within(stream, batch, Duration::ZERO)
    }

    /// The same, but waits for room no longer than `patience`. A batch that is given back was not
    /// taken, not even in part.
    ///
    /// # Errors
    /// As [`Load::push`].
    pub fn push_within(
        &self,
        stream: usize,
        batch: impl Into<EntryBatch>,
        patience: Duration,
    ) -> Result<TryPush> {
        match self.queue.push(stream, batch.into(), Deadline::after(patience))? {
            Some(Ok(position)) => Ok(TryPush::Taken(position)),
            Some(Err(batch)) => Ok(TryPush::Full(Box::new(batch))),
            None => Err(self.stopped()),
        }
    }

    /// The position up to which all entries of a stream are durable, or were reported as existing
    /// or failed. 0 at first.
    pub fn durable(&self, stream: usize) -> u64 {
        self.queue.durable(stream)
    }

    /// Waits until a stream is durable up to a position. False when that took longer than
    /// `patience`.
    ///
    /// # Errors
    /// What stopped the load.
    pub fn wait_durable(&self, stream: usize, position: u64, patience: Duration) -> Result<bool> {
        let is_reached = self.queue.wait_durable(stream, position, patience);
        if !is_reached && self.queue.is_stopped() { Err(self.stopped()) } else { Ok(is_reached) }
    }

    /// Waits until everything is durable whose push returned before.
    ///
    /// # Errors
    /// What stopped the load.
    pub fn flush(&self) -> Result<()> {
        self.flush_within(FOR_EVER).map(drop)
    }

    /// The same, but waits no longer than `patience`. False when that was too short: the load
    /// continues, and what it stores meanwhile counts.
    ///
    /// # Errors
    /// What stopped the load.
    pub fn flush_within(&self, patience: Duration) -> Result<bool> {
        let is_durable = self.queue.flush(patience);
        if !is_durable && self.queue.is_stopped() { Err(self.stopped()) } else { Ok(is_durable) }
    }

    /// Ends a stream: it completes when all of its entries are durable.
    pub fn end(&self, stream: usize) {
        self.queue.end(stream);
    }

    /// The current counts.
    pub fn progress(&self) -> super::Progress {
        self.outcomes.progress()
    }

    /// Ends all streams, stores everything, and gives the report.
    ///
    /// # Errors
    /// What stopped the load, with the report.
    pub fn finish(mut self) -> std::result::Result<BulkPutReport, BulkPutError> {
        self.queue.end_all();
        self.join()
    }

    fn join(&mut self) -> std::result::Result<BulkPutReport, BulkPutError> {
        let Some(thread) = self.thread.take() else { return Ok(BulkPutReport::default()) };
        self.queue.remove_source();
        thread
            .join()
            .unwrap_or_else(|_| Err(Error::internal("the thread of the load panicked").into()))
    }

    #[cold]
    fn stopped(&self) -> Error {
        self.outcomes
            .stopped()
            .unwrap_or_else(|| Error::unavailable("the load has ended: open another one"))
    }
}

impl Drop for Load {
    fn drop(&mut self) {
        if self.thread.is_some() {
            self.queue.stop();
            // No caller waits for its report.
            let _ = self.join();
        }
    }
}

impl std::fmt::Debug for Load {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Load")
            .field("total", &self.outcomes.progress().total())
            .finish_non_exhaustive()
    }
}
