//! The queue between the threads that bring batches and the workers that put them.
//!
//! 1. Each stream has a lane. Batches go into the lane of their stream, and a lane with batches is
//!    ready.
//! 2. A worker takes a batch out of a ready lane. No other worker takes from that lane until the
//!    batch is put, so the batches of one stream stay in order.
//! 3. After a flush has stored what was put, the durable position of each stream moves on.
//!
//! The queue holds nothing of the store. So a thread that is caught in a stream which never returns
//! keeps its stream and this queue, and nothing else.

mod durable;

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::Thread;
use std::time::{Duration, Instant};

use tonnage_engine::sync::lock;
use tonnage_engine::{Deadline, Error, Result};

use super::EntryBatch;

/// How long a reader waits for its batch at most before it looks around.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A queue of batches.
pub(super) struct LoadQueue {
    queue: Mutex<StreamQueue>,
    /// Notified when there is work, or when none will come any more.
    work: Condvar,
    /// Notified when there is room.
    room: Condvar,
    /// Notified when streams have become durable.
    durable: Condvar,
    bytes_max: usize,
}

#[derive(Default)]
struct StreamQueue {
    lanes: Vec<StreamLane>,
    /// Streams with batches that no worker is at.
    ready: VecDeque<usize>,
    /// Workers at a batch.
    busy: usize,
    /// The bytes of the batches that wait, and of those at work.
    bytes: usize,
    /// Those who may still bring batches.
    sources: usize,
    /// Why a source failed.
    failed: Option<(usize, Error)>,
    stopped: bool,
    /// Streams that brought everything, all of which was put, but is not yet durable.
    ended: Vec<usize>,
    /// Streams of which more was put than is durable.
    behind: Vec<usize>,
    /// Those who wait until something is durable.
    waiting: usize,
    flush_wanted: bool,
}

/// One stream.
#[derive(Default)]
struct StreamLane {
    batches: VecDeque<BatchJob>,
    at_work: bool,
    /// Whether it brings nothing more.
    is_over: bool,
    is_behind: bool,
    /// The positions that follow what was brought, put, and stored.
    next: u64,
    put: u64,
    durable: u64,
    /// The reader that waits until its batch is put.
    reader: Option<Thread>,
}

/// A batch to put.
pub(super) struct BatchJob {
    pub(super) stream: usize,
    pub(super) batch: EntryBatch,
    /// The positions of its first entry and of what follows it.
    pub(super) first: u64,
    end: u64,
    bytes: usize,
}

/// What a worker finds.
pub(super) enum QueueEvent {
    Batch(BatchJob),
    /// Nothing came in good time.
    Idle,
    /// A stream failed.
    Failed(usize, Error),
    /// Nothing will come any more.
    Over,
}

/// What a flush stores.
pub(super) struct FlushScope {
    /// Streams that will be complete.
    pub(super) ended: Vec<usize>,
    /// Streams with the positions up to which they will be durable.
    pub(super) marks: Vec<(usize, u64)>,
}

impl LoadQueue {
    /// A queue for this many streams, which holds about so many bytes.
    pub(super) fn new(streams: usize, bytes_max: usize) -> Self {
        let queue = StreamQueue {
            lanes: (0..streams).map(|_| StreamLane::default()).collect(),
            ..StreamQueue::default()
        };
        let [work, room, durable] = [(); 3].map(|()| Condvar::new());
        Self { queue: Mutex::new(queue), work, room, durable, bytes_max }
    }

    fn lock(&self) -> MutexGuard<'_, StreamQueue> {
        lock(&self.queue)
    }

    /// Takes in a further stream.
    pub(super) fn add_stream(&self) {
        self.lock().lanes.push(StreamLane::default());
    }

    /// One more may bring batches from now on.
    pub(super) fn add_source(&self) {
        self.lock().sources += 1;
    }

    /// One who brought batches is gone.
    pub(super) fn remove_source(&self) {
        self.lock().sources -= 1;
        self.work.notify_all();
    }

    /// Takes a batch without waiting for anything: for those that are in memory as they are.
    ///
    /// # Errors
    /// `Invalid` for positions that do not ascend.
    pub(super) fn add(&self, stream: usize, batch: EntryBatch) -> Result<()> {
        self.lock().add(stream, batch, 0)?;
        self.work.notify_one();
        Ok(())
    }

    /// Takes a batch and waits until it is put. False when the load was stopped.
    ///
    /// # Errors
    /// As [`LoadQueue::add`].
    pub(super) fn add_and_wait(&self, stream: usize, batch: EntryBatch) -> Result<bool> {
        {
            let mut queue = self.lock();
            if queue.stopped {
                return Ok(false);
            }
            queue.add(stream, batch, 0)?;
            queue.lanes[stream].reader = Some(std::thread::current());
        }
        self.work.notify_one();
        loop {
            std::thread::park_timeout(LOOK_EVERY);
            let queue = self.lock();
            if queue.stopped || queue.lanes[stream].is_idle() {
                return Ok(!queue.stopped);
            }
        }
    }

    /// Takes a batch if there is room, or waits for room until the deadline. The answer is the
    /// position that follows it, or the batch where there is no room.
    ///
    /// # Errors
    /// As [`LoadQueue::add`]; `None` when the load was stopped.
    pub(super) fn push(
        &self,
        stream: usize,
        batch: EntryBatch,
        deadline: Deadline,
    ) -> Result<Option<std::result::Result<u64, EntryBatch>>> {
        let bytes = batch.memory_bytes();
        let mut queue = self.lock();
        while !queue.stopped && queue.bytes > 0 && queue.bytes + bytes > self.bytes_max {
            if deadline.is_over() {
                // A thread that was notified of room in its place is notified again.
                self.room.notify_one();
                return Ok(Some(Err(batch)));
            }
            queue = match deadline.moment() {
                None => self.room.wait(queue).unwrap_or_else(PoisonError::into_inner),
                Some(moment) => {
                    let left = moment.saturating_duration_since(Instant::now());
                    self.room.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
        if queue.stopped {
            return Ok(None);
        }
        let lane = queue.lanes.get(stream).ok_or_else(|| {
            Error::invalid(format!(
                "the load has no stream {stream}: streams are made by Load::stream"
            ))
        })?;
        if lane.is_over {
            return Err(Error::invalid(format!("stream {stream} was ended: begin another one")));
        }
        let end = queue.add(stream, batch, bytes)?;
        self.work.notify_one();
        // The next waiting thread may fit in too.
        self.room.notify_one();
        Ok(Some(Ok(end)))
    }

    /// A stream brings nothing more.
    pub(super) fn end(&self, stream: usize) {
        let mut queue = self.lock();
        let Some(lane) = queue.lanes.get_mut(stream).filter(|lane| !lane.is_over) else { return };
        lane.is_over = true;
        if lane.is_idle() && !queue.stopped {
            queue.ended.push(stream);
        }
    }

    /// Ends all streams that still bring something.
    pub(super) fn end_all(&self) {
        let streams = self.lock().lanes.len();
        (0..streams).for_each(|stream| self.end(stream));
    }

    /// A stream failed; of several the first one counts.
    pub(super) fn fail(&self, stream: usize, error: Error) {
        self.lock().failed.get_or_insert((stream, error));
        self.work.notify_all();
    }

    /// What to do next. A caller with a timeout returns when it ends, with the streams that failed.
    pub(super) fn next(&self, patience: Option<Duration>) -> QueueEvent {
        let deadline = patience.map(|patience| Instant::now() + patience);
        let mut queue = self.lock();
        loop {
            if queue.stopped {
                return QueueEvent::Over;
            }
            // Only the leader has a deadline. Others leave the failures of streams to it.
            if let Some((stream, error)) = queue.failed.take_if(|_| deadline.is_some()) {
                return QueueEvent::Failed(stream, error);
            }
            if let Some(job) = queue.take_job() {
                return QueueEvent::Batch(job);
            }
            // The lane of a busy worker may hold further batches, and a failure waits for the
            // leader.
            if queue.sources == 0 && queue.busy == 0 && queue.failed.is_none() {
                return QueueEvent::Over;
            }
            queue = match deadline {
                None => self.work.wait(queue).unwrap_or_else(PoisonError::into_inner),
                Some(deadline) => {
                    let left = deadline.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        return QueueEvent::Idle;
                    }
                    self.work.wait_timeout(queue, left).unwrap_or_else(PoisonError::into_inner).0
                }
            };
        }
    }

    /// A worker is done with a batch: it was put up to a position, or up to an unknown one. It is
    /// put in part only where the load stops.
    pub(super) fn finish_batch(&self, stream: usize, end: Option<u64>, bytes: usize) {
        let mut queue = self.lock();
        queue.busy -= 1;
        queue.bytes -= bytes;
        let is_stopped = queue.stopped;
        let lane = &mut queue.lanes[stream];
        lane.at_work = false;
        let reader = lane.reader.take();
        let (is_ready, is_over) = (!lane.batches.is_empty(), lane.is_over);
        if let Some(end) = end {
            lane.put = end;
            let is_newly_behind = !std::mem::replace(&mut lane.is_behind, true);
            if is_newly_behind {
                queue.behind.push(stream);
            }
        }
        if is_ready {
            queue.ready.push_back(stream);
            self.work.notify_one();
        } else if is_over && !is_stopped {
            // A load that was stopped may have let go of batches.
            queue.ended.push(stream);
        }
        if queue.sources == 0 && queue.busy == 0 && queue.ready.is_empty() {
            self.work.notify_all();
        }
        // A flush first waits until all is put, and `durable` reports that, too.
        if queue.waiting > 0 {
            self.durable.notify_all();
        }
        // The lock is released first: threads that are woken here take it at once.
        drop(queue);
        if bytes > 0 {
            self.room.notify_one();
        }
        reader.iter().for_each(Thread::unpark);
    }

    /// Lets go of what waits, and takes nothing more.
    pub(super) fn stop(&self) {
        let mut queue = self.lock();
        if std::mem::replace(&mut queue.stopped, true) {
            return;
        }
        queue.ready.clear();
        for lane in &mut queue.lanes {
            lane.batches.clear();
            lane.reader.take().iter().for_each(Thread::unpark);
        }
        drop(queue);
        [&self.work, &self.room, &self.durable].into_iter().for_each(Condvar::notify_all);
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.lock().stopped
    }

    /// Waits until no batches come any more, or the time is up.
    pub(super) fn wait_for_sources(&self, patience: Duration) {
        let queue = self.lock();
        let still_there = |queue: &mut StreamQueue| queue.sources > 0;
        drop(self.work.wait_timeout_while(queue, patience, still_there));
    }

    /// Whether someone waits for what a flush would bring, and all that was brought is put.
    pub(super) fn wants_flush_when_idle(&self) -> bool {
        let queue = self.lock();
        let is_idle = queue.busy == 0 && queue.ready.is_empty();
        is_idle && (!queue.ended.is_empty() || (queue.waiting > 0 && !queue.behind.is_empty()))
    }

    /// Whether something was put since the last flush, or streams have ended.
    pub(super) fn is_behind(&self) -> bool {
        let queue = self.lock();
        !queue.behind.is_empty() || !queue.ended.is_empty()
    }

    /// Whether someone asked for a flush at once.
    pub(super) fn flush_wanted(&self) -> bool {
        self.lock().flush_wanted
    }
}

impl StreamQueue {
    fn add(&mut self, stream: usize, batch: EntryBatch, bytes: usize) -> Result<u64> {
        let lane = &mut self.lanes[stream];
        let first = lane.next;
        let end = batch.end(first)?;
        lane.next = end;
        lane.batches.push_back(BatchJob { stream, batch, first, end, bytes });
        if !lane.at_work && lane.batches.len() == 1 {
            self.ready.push_back(stream);
        }
        self.bytes += bytes;
        Ok(end)
    }

    fn take_job(&mut self) -> Option<BatchJob> {
        let stream = self.ready.pop_front()?;
        let lane = &mut self.lanes[stream];
        let job = lane.batches.pop_front()?;
        lane.at_work = true;
        self.busy += 1;
        Some(job)
    }
}

impl StreamLane {
    fn is_idle(&self) -> bool {
        self.batches.is_empty() && !self.at_work
    }
}

impl BatchJob {
    /// The arguments of [`LoadQueue::finish_batch`].
    pub(super) fn receipt(&self) -> (usize, u64, usize) {
        (self.stream, self.end, self.bytes)
    }
}
