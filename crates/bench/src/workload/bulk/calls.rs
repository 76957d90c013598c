//! Puts and gets: the loop, the loop on several threads, the bulk call, and the sweep over requests
//! in flight.

use tonnage::{Durability, Error, Result};

use super::data::{BulkData, RecordShare};
use super::options::{BulkBenchOptions, DataKind};
use crate::choice::choice;
use crate::measure::{MeasurePlan, Measured, Meter, measure};
use crate::report::{Run, named};
use crate::system::{BulkDone, BulkOptions, PutInput, System, Target, TellRows};
use crate::workload::harness::{BenchRun, OpenedSystem};
use crate::workload::loops::one_by_one;
use crate::workload::options::lower;

/// Records of a put that are looked up afterwards.
const LOOKED_UP: u64 = 1_000;

choice! {
    pub(super) enum PutOrGet {
        Put = "put",
        Get = "get",
    }
}

choice! {
    /// How records go in and out.
    pub(super) enum CallMethod {
        /// A loop on one thread.
        Single = "single",
        /// The loop on several threads.
        Threads = "single on threads",
        /// One bulk call.
        Bulk = "bulk",
    }
}

/// One thing that is measured of one kind of data.
#[derive(Clone, Copy)]
pub(super) struct BulkCall<'a> {
    options: &'a BulkBenchOptions,
    harness: &'a BenchRun<'a>,
    kind: DataKind,
    data: &'a BulkData,
    method: CallMethod,
    /// What a put survives; it is a get when there is none.
    durability: Option<Durability>,
    /// Requests in flight, in the sweep.
    parallelism: Option<usize>,
}

impl<'a> BulkCall<'a> {
    /// The calls that are measured differ from it in how they are done.
    pub(super) fn new(
        options: &'a BulkBenchOptions,
        harness: &'a BenchRun<'a>,
        kind: DataKind,
        data: &'a BulkData,
    ) -> Self {
        let (method, durability, parallelism) = (CallMethod::Single, None, None);
        BulkCall { options, harness, kind, data, method, durability, parallelism }
    }

    /// Measures the puts on one system, each into an empty one.
    pub(super) fn puts(self, target: &Target) -> Result<Vec<Run>> {
        let all = &self.options.durabilities;
        // To a store in memory they mean the same.
        let durabilities = if target.is_volatile() { &all[..1] } else { all };
        let mut runs = Vec::new();
        for durability in durabilities.iter().copied().map(Some) {
            for method in CallMethod::ALL {
                let call = BulkCall { method, durability, ..self };
                runs.extend(call.put(target)?);
            }
        }
        Ok(runs)
    }

    /// Measures the gets on one system, which is filled and warmed before.
    pub(super) fn gets(self, target: &Target) -> Result<Vec<Run>> {
        let (options, data) = (self.options, self.data);
        if self.harness.is_over() {
            return Ok(Vec::new());
        }
        let (opened, quietly) = (self.open(target)?, self.quietly());
        let system = &*opened.system;
        put_each(system, data.put_inputs(options.records, RecordShare::ALL), &quietly)?;
        system.settle()?;
        system.bulk_get(data.get_keys(options.gets.min(data.keys())), &quietly)?;

        let methods = CallMethod::ALL.map(|method| BulkCall { method, ..self });
        let sweep = options.parallelism.iter().map(|requests| BulkCall {
            method: CallMethod::Bulk,
            parallelism: Some(*requests),
            ..self
        });
        let calls = methods.into_iter().chain(sweep).take_while(|_| !self.harness.is_over());
        calls.map(|call| call.get(system)).collect()
    }

    fn phase(&self) -> PutOrGet {
        if self.durability.is_some() { PutOrGet::Put } else { PutOrGet::Get }
    }

    fn is_bulk(&self) -> bool {
        self.method == CallMethod::Bulk
    }

    /// What sets it apart. Nothing for what does not matter to it.
    fn labels(&self) -> impl Iterator<Item = (&'static str, String)> {
        [
            ("data", Some(self.kind.name().to_owned())),
            ("phase", Some(self.phase().name().to_owned())),
            ("method", Some(self.method.name().to_owned())),
            ("durability", self.durability.as_ref().map(lower)),
            ("parallelism", self.parallelism.map(|requests| requests.to_string())),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
    }

    /// The name of the run: `pairs / put / bulk / fsync`.
    fn name(&self) -> String {
        let part = |(name, value): (&str, String)| {
            if name == "parallelism" { format!("{value} requests") } else { value }
        };
        self.labels().map(part).collect::<Vec<_>>().join(" / ")
    }

    /// Threads that it keeps busy.
    fn threads(&self) -> usize {
        match self.method {
            CallMethod::Single => 1,
            CallMethod::Threads => self.options.threads,
            CallMethod::Bulk => self.parallelism.unwrap_or_else(tonnage::cores),
        }
    }

    /// How many records are put, or keys got.
    fn count(&self) -> u64 {
        let BulkBenchOptions { records, gets, singles, singles_fsync, .. } = *self.options;
        let all = if self.phase() == PutOrGet::Put { records } else { gets.min(self.data.keys()) };
        match (self.method, self.durability) {
            (CallMethod::Bulk, _) => all,
            (_, Some(Durability::Fsync)) => singles_fsync.min(singles).min(all),
            _ => singles.min(all),
        }
    }

    /// Nothing when it is too late to begin.
    fn put(&self, target: &Target) -> Result<Option<Run>> {
        let (mut last, mut settle_seconds) = (None, 0.0);
        let repeats = self.harness.repeats(|_| {
            // What the repeat before has put is removed first, so that the disk holds one at a
            // time.
            drop(last.take());
            let system = &*last.insert(self.prepared(target)?).system;
            let measured = self.look_up(system, self.measure(system, self.rows_put())?)?;
            settle_seconds = self.harness.settle(system, target.name())?;
            Ok(measured)
        })?;
        let Some(opened) = last else { return Ok(None) };
        let rows = if self.is_bulk() { 1 } else { self.data.rows_per_record() };
        let mut run = self.run_of(&*opened.system, repeats, rows as f64);
        run.figures.insert("settle_seconds".to_owned(), settle_seconds);
        Ok(Some(run))
    }

    fn rows_put(&self) -> u64 {
        self.count() * self.data.rows_per_record()
    }

    /// A system that holds the records that are to be there before.
    fn prepared(&self, target: &Target) -> Result<OpenedSystem> {
        let opened = self.open(target)?;
        if self.options.existing_percent > 0 {
            let existing = RecordShare::existing(self.options);
            let inputs = self.data.put_inputs(self.count(), existing);
            put_each(&*opened.system, inputs, &self.quietly())?;
            opened.system.settle()?;
        }
        Ok(opened)
    }

    /// Looks some records up, unless the put ended before its time.
    fn look_up(&self, system: &dyn System, mut measured: Measured) -> Result<Measured> {
        let count = self.count();
        let all = if self.is_bulk() { self.rows_put() } else { count };
        if measured.operations_count + measured.failures < all {
            return Ok(measured);
        }
        let mut client = system.client()?;
        let looked_up = count.min(LOOKED_UP);
        for place in (0..looked_up).map(|number| number * count / looked_up) {
            if !self.data.is_stored(&mut *client, place)? {
                measured.failures += 1;
                let why = Error::internal(format!("the record put at place {place} is not there"));
                measured.failure_messages.push(why.to_string());
            }
        }
        Ok(measured)
    }

    fn get(&self, system: &dyn System) -> Result<Run> {
        let keys = self.count();
        let rows: u64 = (0..keys).map(|key| self.data.found(key)).sum();
        let repeats = self.harness.repeats(|_| self.measure(system, rows))?;
        let rows_per_operation = if self.is_bulk() { 1.0 } else { rows as f64 / keys as f64 };
        Ok(self.run_of(system, repeats, rows_per_operation))
    }

    /// Measures it once; so many rows go by. A bulk call has no beginning worth cutting: it is one
    /// operation.
    fn measure(&self, system: &dyn System, rows: u64) -> Result<Measured> {
        let phase = format!("{} {}", system.name(), self.name());
        let gauges = || system.gauges();
        if self.is_bulk() {
            // Counted before the clock starts: it visits all records.
            let (kept, total) = (self.rows_kept(), Some(rows));
            let plan = MeasurePlan { phase, total, ..MeasurePlan::default() };
            return measure(&plan, &gauges, self.harness.watcher, |meter| {
                self.in_bulk(system, rows, kept, meter)
            });
        }
        let plan = MeasurePlan {
            phase,
            operations: vec![if self.phase() == PutOrGet::Put { "PUT" } else { "GET" }],
            warm_up: self.options.run.warm_up,
            seconds_max: self.options.run.seconds_max,
            total: Some(self.count()),
        };
        measure(&plan, &gauges, self.harness.watcher, |meter| {
            one_by_one(meter, system, self.threads(), self.count(), |client, place| {
                match self.durability {
                    Some(durability) => self.data.put_one(client, place, durability),
                    None => check_found(self.data.found(place), self.data.get_one(client, place)?),
                }
            })
        })
    }

    /// Rows that a bulk put leaves alone.
    fn rows_kept(&self) -> u64 {
        if !self.options.keep_existing || self.phase() == PutOrGet::Get {
            return 0;
        }
        let share = RecordShare::existing(self.options);
        let kept = (0..self.count()).filter(|place| share.holds(*place)).count() as u64;
        kept * self.data.rows_per_record()
    }

    fn in_bulk(&self, system: &dyn System, rows: u64, kept: u64, meter: &Meter<'_>) -> Result<()> {
        let progress = |rows, bytes| meter.add(rows, bytes);
        let options = self.bulk_options(&progress);
        if self.phase() == PutOrGet::Get {
            let done = system.bulk_get(self.data.get_keys(self.count()), &options)?;
            meter.expect("rows found", rows, done.rows);
            return Ok(());
        }
        let inputs = self.data.put_inputs(self.count(), RecordShare::ALL);
        let done = put_each(system, inputs, &options)?;
        meter.expect("rows stored", rows - kept, done.rows);
        meter.expect("rows left alone", kept, done.existed);
        Ok(())
    }

    /// A system that is empty but for the tables of the data.
    fn open(&self, target: &Target) -> Result<OpenedSystem> {
        let opened = self.harness.open(target)?;
        let mut definitions = self.data.definitions().iter();
        definitions.try_for_each(|definition| opened.system.define(definition))?;
        Ok(opened)
    }

    fn bulk_options<'p>(&self, tell: TellRows<'p>) -> BulkOptions<'p> {
        BulkOptions {
            memory_bytes_max: self.options.bulk_memory_bytes,
            overwrite: !self.options.keep_existing,
            parallelism: self.parallelism,
            ..BulkOptions::new(self.durability.unwrap_or(Durability::Write), tell)
        }
    }

    /// A bulk call without a watcher.
    fn quietly(&self) -> BulkOptions<'static> {
        BulkOptions { durability: Durability::Write, ..self.bulk_options(&|_, _| {}) }
    }

    /// Makes a run of its repeats. `rows_per_operation` turns its throughput into rows: loops count
    /// operations, bulk calls rows.
    fn run_of(&self, system: &dyn System, repeats: Vec<Measured>, rows_per_operation: f64) -> Run {
        let labels = named(self.labels());
        let mut run = Run::from_repeats(&self.name(), labels, system, self.threads(), repeats);
        let rows_per_second = run.throughput() * rows_per_operation;
        run.figures.insert("rows_per_second".to_owned(), rows_per_second);
        run
    }
}

/// Puts in bulk, one input after the other: a call puts into one table.
fn put_each(
    system: &dyn System,
    inputs: Vec<PutInput>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let mut done = BulkDone::default();
    for input in inputs {
        done.add(&system.bulk_put(input, options)?);
    }
    Ok(done)
}

/// Refuses what one operation of a loop found, unless it is all that is there.
fn check_found(expected: u64, found: u64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::internal(format!("rows found: {found}, but there are {expected}")))
}
