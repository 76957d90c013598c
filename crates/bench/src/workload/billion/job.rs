//! One system under test: the phases with bulk calls, and with a loop of single calls in each
//! connection.

use std::ops::Range;
use std::sync::Arc;
use std::time::{Duration, Instant};

use tonnage::{Error, Result};

use super::options::{Api, BillionOptions, Phase};
use super::source::{BATCH, Feed, PaceSide};
use crate::generate::{Permutation, ValueGenerator};
use crate::measure::{MeasurePlan, Measured, Meter, Watcher, measure};
use crate::report::ProgressPoint;
use crate::system::{BulkOptions, GetKeys, PutInput, System, TellRows};
use crate::threads::each;
use crate::workload::columns::pairs;
use crate::workload::loops::split;

/// The numbers of the operations in the plan.
const PUT: usize = 0;
const GET: usize = 1;

/// One system under test.
pub(super) struct BillionJob<'a> {
    pub(super) system: &'a dyn System,
    pub(super) options: &'a BillionOptions,
    pub(super) values: Arc<ValueGenerator>,
    pub(super) watcher: &'a dyn Watcher,
    /// What progress lines call it.
    pub(super) name: String,
}

impl BillionJob<'_> {
    pub(super) fn run(&self, phase: Phase) -> Result<Measured> {
        match (self.options.api, phase) {
            (Api::Single, phase) => self.single(phase),
            (Api::Bulk, Phase::Put) => self.bulk_put(),
            (Api::Bulk, Phase::Get) => self.measure(phase, |meter| {
                self.get_places(None, self.options.connections, Feed::new(meter, PaceSide::Gets))
            }),
            (Api::Bulk, Phase::Overlap) => self.bulk_overlap(),
        }
    }

    /// Measures a phase. All records are put, whatever the time: without them there is nothing to
    /// get.
    fn measure(
        &self,
        phase: Phase,
        work: impl FnOnce(&Meter<'_>) -> Result<()>,
    ) -> Result<Measured> {
        let whole = phase == Phase::Put;
        let plan = MeasurePlan {
            phase: format!("{} {phase}", self.name),
            operations: match self.options.api {
                Api::Bulk => Vec::new(),
                Api::Single => vec!["PUT", "GET"],
            },
            warm_up: if whole { Duration::ZERO } else { self.options.run.warm_up },
            seconds_max: self.options.run.seconds_max.filter(|_| !whole),
            total: Some(self.options.records),
        };
        measure(&plan, &|| self.system.gauges(), self.watcher, work)
    }

    /// The order in which records are got.
    fn shuffled(&self) -> Permutation {
        Permutation::new(self.options.records, 1)
    }

    /// Each connection handles its own part of the records. The put phase ends with everything on
    /// the disk; in the overlap phase every connection puts a new record after so many gets.
    fn single(&self, phase: Phase) -> Result<Measured> {
        let BillionOptions { records, connections, factor, order, .. } = *self.options;
        let durability = self.options.run.durability;
        self.measure(phase, |meter| {
            each(split(0..records, connections).collect(), |places| {
                let (mut client, mut recorder) = (self.system.client()?, meter.recorder());
                // All connections have one order: their parts of it together get no record twice.
                let rows = self.shuffled();
                for place in places.take_while(|_| !meter.is_over()) {
                    let put = match phase {
                        Phase::Put => Some(place),
                        Phase::Overlap if place % factor == 0 => Some(records + place / factor),
                        Phase::Get | Phase::Overlap => None,
                    };
                    // Keys and values are generated before the clock starts.
                    let key = order.key(put.unwrap_or_else(|| rows.at(place)));
                    let value = put.map(|row| self.values.of(row));
                    let started = Instant::now();
                    let (operation, outcome) = match value {
                        Some(value) => (PUT, client.put_pair(&key, value, durability)),
                        None => (GET, client.get_pair(&key).and_then(|pair| is_there(pair, &key))),
                    };
                    recorder.record(operation, started, None, outcome.map(|()| 1));
                }
                Ok(())
            })?;
            if phase == Phase::Put { self.system.sync() } else { Ok(()) }
        })
    }

    /// Puts all records, call after call. A record counts for the progress when its call has
    /// returned: what a call merely read is not stored yet.
    fn bulk_put(&self) -> Result<Measured> {
        let records = self.options.records;
        let mut acknowledged = Vec::with_capacity(self.options.calls);
        let mut measured = self.measure(Phase::Put, |meter| {
            let calls = split(0..records, self.options.calls).filter(|rows| !rows.is_empty());
            for rows in calls.take_while(|_| !meter.is_over()) {
                let started = Instant::now();
                let (end, count) = (rows.end, rows.end - rows.start);
                let feed = Feed::new(meter, PaceSide::Puts);
                self.put_rows(rows, self.options.connections, feed)?;
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
    fn bulk_overlap(&self) -> Result<Measured> {
        let (first, writes) = (self.options.records, self.options.overlap_writes());
        let putters = (self.options.connections / self.options.factor as usize).max(1);
        let getters = self.options.connections.saturating_sub(putters).max(1);
        self.measure(Phase::Overlap, |meter| {
            // The pace counts places, written ones included.
            let [puts, gets] = Feed::in_step(meter, writes, first);
            std::thread::scope(|scope| {
                let putting = scope.spawn(|| self.put_rows(first..first + writes, putters, puts));
                let got = self.get_places(Some(self.options.factor), getters, gets);
                let put = putting.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
                put.and(got)
            })
        })
    }

    fn put_rows(&self, rows: Range<u64>, streams: usize, feed: Feed<'_>) -> Result<()> {
        let order = self.options.order;
        let source = |places| {
            let rows = feed.rows(places, Some);
            pairs(rows, BATCH, move |row| order.key(row), Some(self.values.clone()))
        };
        let sources = split(rows, streams).map(source).collect();
        let progress = |rows, bytes| feed.meter.add(rows, bytes);
        let options = self.bulk_options(streams, &progress);
        let done = self.system.bulk_put(PutInput::Pairs(sources), &options)?;
        feed.meter.expect("records stored", feed.given(), done.rows);
        Ok(())
    }

    /// Gets all records, but those at one place of so many: there the overlap phase writes.
    fn get_places(&self, skip_each: Option<u64>, requests: usize, feed: Feed<'_>) -> Result<()> {
        let (records, order, rows) = (self.options.records, self.options.order, self.shuffled());
        let is_got = move |place: u64| skip_each.is_none_or(|each| !place.is_multiple_of(each));
        let rows = feed.rows(0..records, move |place| is_got(place).then(|| rows.at(place)));
        let keys = pairs(rows, BATCH, move |row| order.key(row), None);
        let keys = GetKeys::Pairs(keys, usize::try_from(records.div_ceil(BATCH as u64)).ok());
        let progress = |rows, bytes| feed.meter.add(rows, bytes);
        let done = self.system.bulk_get(keys, &self.bulk_options(requests, &progress))?;
        feed.meter.expect("records found", feed.given(), done.rows);
        Ok(())
    }

    fn bulk_options<'a>(&self, parallelism: usize, tell: TellRows<'a>) -> BulkOptions<'a> {
        BulkOptions {
            memory_bytes_max: self.options.bulk_memory_bytes,
            parallelism: Some(parallelism),
            overwrite: true,
            ..BulkOptions::new(self.options.run.durability, tell)
        }
    }
}

fn is_there(pair: Option<usize>, key: &[u8]) -> Result<()> {
    let key = || String::from_utf8_lossy(key);
    let missing = || Error::not_found(format!("{}: it was put and is not there", key()));
    pair.map(drop).ok_or_else(missing)
}
