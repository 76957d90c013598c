//! The phases with bulk calls.

use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::Instant;

use tonnage::Result;

use super::job::BillionJob;
use super::options::{Api, Phase};
use super::source::{Lockstep, PaceSide, PairRange, SharedCounts, ShuffledKeys};
use crate::measure::{Measured, Meter, Watcher};
use crate::report::ProgressPoint;
use crate::system::{BulkDone, BulkOptions, GetKeys, PairSource, PutInput};
use crate::workload::loops::split;

impl BillionJob<'_> {
    /// Runs a phase.
    pub(super) fn run(&self, phase: Phase, watcher: &dyn Watcher) -> Result<Measured> {
        match (self.options.api, phase) {
            (Api::Single, phase) => self.single(phase, watcher),
            (Api::Bulk, Phase::Put) => self.bulk_put(watcher),
            (Api::Bulk, Phase::Get) => self.measure(phase, watcher, |meter| {
                let shared = SharedCounts::default();
                self.get_places(None, self.options.connections, &shared, meter)
            }),
            (Api::Bulk, Phase::Overlap) => self.bulk_overlap(watcher),
        }
    }

    /// Puts all records, call after call. A record counts for the progress when its call has
    /// returned: what a call merely read is not stored yet.
    fn bulk_put(&self, watcher: &dyn Watcher) -> Result<Measured> {
        let records = self.options.records;
        let mut acknowledged = Vec::with_capacity(self.options.calls);
        let mut measured = self.measure(Phase::Put, watcher, |meter| {
            let calls = split(0..records, self.options.calls).filter(|rows| !rows.is_empty());
            for rows in calls.take_while(|_| !meter.is_over()) {
                let started = Instant::now();
                let (end, count) = (rows.end, rows.end - rows.start);
                self.put_rows(rows, self.options.connections, &SharedCounts::default(), meter)?;
                if end == records {
                    self.system.sync()?;
                }
                let percent = 100.0 * end as f64 / records as f64;
                let throughput = count as f64 / started.elapsed().as_secs_f64().max(1e-9);
                acknowledged.push(ProgressPoint { percent, throughput });
            }
            Ok(())
        })?;
        measured.progress = acknowledged;
        Ok(measured)
    }

    /// Puts new records and gets old ones at the same time, in step.
    fn bulk_overlap(&self, watcher: &dyn Watcher) -> Result<Measured> {
        let (first, writes) = (self.options.records, self.options.overlap_writes());
        let putters = (self.options.connections / self.options.factor as usize).max(1);
        let getters = self.options.connections.saturating_sub(putters).max(1);
        self.measure(Phase::Overlap, watcher, |meter| {
            let puts = SharedCounts::default();
            // The pace counts places, written ones included.
            let pace = Arc::new(Lockstep::new(writes, self.options.records, puts.stop.clone()));
            let puts = SharedCounts { pace: Some(pace.clone()), ..puts };
            let gets = SharedCounts { given: Arc::default(), ..puts.clone() };
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
            let (values, shared) = (self.values.clone(), shared.clone());
            Box::new(PairRange { rows, order: self.options.order, values, shared })
        };
        let sources = split(rows, streams).map(source).collect();
        let progress = |rows, bytes| shared.stop.count(meter, rows, bytes);
        let options = self.bulk_options(streams, &progress);
        let done = self.system.bulk_put(PutInput::Pairs(sources), &options)?;
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
        let (rows, shared) = (self.shuffled(), shared.clone());
        let progress = |rows, bytes| shared.stop.count(meter, rows, bytes);
        let keys = ShuffledKeys { places, rows, skip_each, order, shared: shared.clone() };
        let options = self.bulk_options(requests, &progress);
        let done = self.system.bulk_get(GetKeys::Pairs(Box::new(keys)), &options)?;
        account(&done, "found", &shared, meter);
        Ok(())
    }

    fn bulk_options<'a>(
        &self,
        parallelism: usize,
        progress: &'a (dyn Fn(u64, u64) + Sync),
    ) -> BulkOptions<'a> {
        BulkOptions {
            memory_bytes_max: self.options.bulk_memory_bytes,
            parallelism: Some(parallelism),
            overwrite: true,
            ..BulkOptions::new(self.options.run.durability, progress)
        }
    }
}

/// Every record that was given must be stored or found.
fn account(done: &BulkDone, what: &str, shared: &SharedCounts, meter: &Meter<'_>) {
    let given = shared.given.load(Relaxed);
    meter.expect(given, done.rows, || format!("{} of {given} records were {what}", done.rows));
}
