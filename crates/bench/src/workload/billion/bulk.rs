//! The phases with bulk calls.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use tonnage::Result;

use super::job::BillionJob;
use super::options::Phase;
use super::pace::{Lockstep, PaceSide};
use super::source::{PairRange, SharedCounts, ShuffledKeys, split};
use crate::measure::{Measured, Meter, Watcher};
use crate::report::ProgressPoint;
use crate::system::{BulkDone, BulkOptions, PairSource};

impl BillionJob<'_> {
    /// Puts all records, call after call. A record counts for the progress when its call has
    /// returned: what a call merely read is not stored yet.
    pub(super) fn bulk_put(&self, watcher: &dyn Watcher) -> Result<Measured> {
        let mut acknowledged = Vec::with_capacity(self.options.calls);
        let mut measured = self.measure(Phase::Put, watcher, |meter| {
            let calls =
                split(0..self.options.records, self.options.calls).filter(|rows| !rows.is_empty());
            for rows in calls.take_while(|_| !meter.is_over()) {
                let started = Instant::now();
                let (end, count) = (rows.end, rows.end - rows.start);
                self.put_rows(rows, self.options.connections, &SharedCounts::default(), meter)?;
                if end == self.options.records {
                    self.system.sync()?;
                }
                let percent = 100.0 * end as f64 / self.options.records as f64;
                acknowledged.push(ProgressPoint {
                    percent,
                    throughput: count as f64 / started.elapsed().as_secs_f64().max(1e-9),
                });
            }
            Ok(())
        })?;
        measured.progress = acknowledged;
        Ok(measured)
    }

    /// Gets each record once, in an order that has nothing to do with the one they were put in.
    pub(super) fn bulk_get(&self, watcher: &dyn Watcher) -> Result<Measured> {
        self.measure(Phase::Get, watcher, |meter| {
            self.get_places(None, self.options.connections, &SharedCounts::default(), meter)
        })
    }

    /// Puts new records and gets old ones at the same time, in step.
    pub(super) fn bulk_overlap(&self, watcher: &dyn Watcher) -> Result<Measured> {
        let (first, writes) = (self.options.records, self.options.overlap_writes());
        let putters = (self.options.connections / self.options.factor as usize).max(1);
        let getters = self.options.connections.saturating_sub(putters).max(1);
        self.measure(Phase::Overlap, watcher, |meter| {
            let puts = SharedCounts::default();
            // The pace counts places, written ones included.
            let pace = Arc::new(Lockstep::new(writes, self.options.records, puts.stop.clone()));
            let puts = SharedCounts { pace: Some(pace.clone()), ..puts };
            let gets = SharedCounts {
                stop: puts.stop.clone(),
                pace: Some(pace.clone()),
                ..SharedCounts::default()
            };
            std::thread::scope(|scope| {
                let putting = scope.spawn(|| {
                    let put = self.put_rows(first..first + writes, putters, &puts, meter);
                    pace.leave(PaceSide::Puts);
                    put
                });
                let got = self.get_places(Some(self.options.factor), getters, &gets, meter);
                pace.leave(PaceSide::Gets);
                let put = putting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                put.and(got)
            })
        })
    }

    fn put_rows(
        &self,
        rows: Range<u64>,
        streams: usize,
        shared: &SharedCounts,
        meter: &Meter<'_>,
    ) -> Result<()> {
        let source = |rows| -> Box<dyn PairSource> {
            Box::new(PairRange {
                rows,
                order: self.options.order,
                values: self.values.clone(),
                shared: shared.clone(),
            })
        };
        let sources = split(rows, streams).map(source).collect();
        let progress = |rows, bytes| shared.stop.count(meter, rows, bytes);
        let done = self.system.bulk_put_pairs(sources, &self.bulk_options(streams, &progress))?;
        account(&done, "stored", shared, meter);
        Ok(())
    }

    fn get_places(
        &self,
        skip_each: Option<u64>,
        requests: usize,
        shared: &SharedCounts,
        meter: &Meter<'_>,
    ) -> Result<()> {
        let (places, order) = (0..self.options.records, self.options.order);
        let keys = Box::new(ShuffledKeys {
            places,
            rows: self.shuffled(),
            skip_each,
            order,
            shared: shared.clone(),
        });
        let progress = |rows, bytes| shared.stop.count(meter, rows, bytes);
        let done = self.system.bulk_get_pairs(keys, &self.bulk_options(requests, &progress))?;
        account(&done, "found", shared, meter);
        Ok(())
    }

    fn bulk_options<'a>(
        &self,
        parallelism: usize,
        progress: &'a (dyn Fn(u64, u64) + Sync),
    ) -> BulkOptions<'a> {
        let durability = self.options.run.durability;
        let memory_bytes_max = self.options.bulk_memory_bytes;
        BulkOptions {
            durability,
            memory_bytes_max,
            parallelism: Some(parallelism),
            overwrite: true,
            progress,
        }
    }
}

/// Every record that was given must be stored or found.
fn account(done: &BulkDone, what: &str, shared: &SharedCounts, meter: &Meter<'_>) {
    let given = shared.given.load(Relaxed);
    if done.rows != given {
        meter.fail(
            given.abs_diff(done.rows),
            &format!("{} of {given} records were {what}", done.rows),
        );
    }
}
