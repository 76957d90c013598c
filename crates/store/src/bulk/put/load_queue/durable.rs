//! Tracks how far each stream is durable, and lets callers wait for it.

use std::sync::PoisonError;
use std::time::{Duration, Instant};

use super::{FlushScope, LoadQueue, StreamLane, StreamQueue};

impl LoadQueue {
    /// What a flush that begins now will make durable.
    pub(in crate::bulk::put) fn begin_flush(&self) -> FlushScope {
        let mut queue = self.lock();
        queue.flush_wanted = false;
        let behind = std::mem::take(&mut queue.behind);
        let mark = |stream: usize| {
            let lane = &mut queue.lanes[stream];
            lane.is_behind = false;
            (stream, lane.put)
        };
        let marks = behind.into_iter().map(mark).collect();
        FlushScope { ended: std::mem::take(&mut queue.ended), marks }
    }

    /// What a flush was to make durable is.
    pub(in crate::bulk::put) fn finish_flush(&self, marks: &[(usize, u64)]) {
        let mut queue = self.lock();
        for (stream, position) in marks {
            queue.lanes[*stream].durable = *position;
        }
        drop(queue);
        self.durable.notify_all();
    }

    /// The position up to which a stream is durable.
    pub(in crate::bulk::put) fn durable(&self, stream: usize) -> u64 {
        self.lock().lanes.get(stream).map_or(0, |lane| lane.durable)
    }

    /// Waits until a stream is durable up to a position. False when the time is up or the load
    /// stopped.
    pub(in crate::bulk::put) fn wait_durable(
        &self,
        stream: usize,
        position: u64,
        patience: Duration,
    ) -> bool {
        let is_reached = |queue: &StreamQueue| {
            queue.lanes.get(stream).is_none_or(|lane| lane.durable >= position)
        };
        self.wait_until(patience, is_reached)
    }

    /// Waits until everything is durable that was brought by now. False when the load stopped
    /// before, or the time is up.
    pub(in crate::bulk::put) fn flush(&self, patience: Duration) -> bool {
        let began = Instant::now();
        let lanes: Vec<_> = self.lock().lanes.iter().map(|lane| lane.next).enumerate().collect();
        let reached = |queue: &StreamQueue, position: fn(&StreamLane) -> u64| {
            lanes.iter().all(|(stream, next)| position(&queue.lanes[*stream]) >= *next)
        };
        if !self.wait_until(patience, |queue| reached(queue, |lane| lane.put)) {
            return false;
        }
        if reached(&self.lock(), |lane| lane.durable) {
            return true;
        }
        self.lock().flush_wanted = true;
        self.work.notify_all();
        let left = patience.saturating_sub(began.elapsed());
        self.wait_until(left, |queue| reached(queue, |lane| lane.durable))
    }

    fn wait_until(&self, patience: Duration, is_so: impl Fn(&StreamQueue) -> bool) -> bool {
        let mut queue = self.lock();
        queue.waiting += 1;
        let waited = self
            .durable
            .wait_timeout_while(queue, patience, |queue| !queue.stopped && !is_so(queue));
        let (mut queue, _) = waited.unwrap_or_else(PoisonError::into_inner);
        queue.waiting -= 1;
        is_so(&queue)
    }
}
