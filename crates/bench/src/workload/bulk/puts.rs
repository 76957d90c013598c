//! Puts: the loop, the loop on several threads, and the bulk put.

use tonnage::{Durability, Error, Result};

use super::data::{Data, RecordShare};
use super::labels::{CallMethod, Labels, PutOrGet};
use super::session::{BulkSession, put_each};
use super::{BulkBenchOptions, DataKind};
use crate::measure::Measured;
use crate::system::{System, SystemKind};
use crate::workload::harness::OpenedSystem;

/// Records of a put that are looked up afterwards.
const LOOKED_UP: u64 = 1_000;

impl BulkSession<'_> {
    /// Measures the puts of one kind of data on one system.
    pub(super) fn puts(&mut self, kind: SystemKind, of: DataKind, data: &dyn Data) -> Result<()> {
        let all = &self.options.durabilities;
        // To a store in memory they mean the same.
        let durabilities = if kind == SystemKind::TonnageMemory { &all[..1] } else { all };
        for &durability in durabilities {
            for method in CallMethod::ALL {
                if self.harness.is_over() {
                    return Ok(());
                }
                let (phase, survives) = (PutOrGet::Put, Some(durability));
                let labels =
                    Labels { data: of, phase, method, durability: survives, parallelism: None };
                let count = count(self.options, method, durability);
                Put { data, labels, durability, count }.run(self, kind)?;
            }
        }
        Ok(())
    }
}

/// How many records a put has.
fn count(options: &BulkBenchOptions, method: CallMethod, durability: Durability) -> u64 {
    match (method, durability) {
        (CallMethod::Bulk, _) => options.records,
        (_, Durability::Fsync) => options.singles_fsync.min(options.singles).min(options.records),
        _ => options.singles.min(options.records),
    }
}

struct Put<'a> {
    data: &'a dyn Data,
    labels: Labels,
    durability: Durability,
    count: u64,
}

impl Put<'_> {
    fn is_bulk(&self) -> bool {
        self.labels.method == CallMethod::Bulk
    }

    fn run(&self, session: &mut BulkSession<'_>, kind: SystemKind) -> Result<()> {
        let (mut last, mut settle_seconds) = (None, 0.0);
        let repeats = session.harness.repeats(|_| {
            // What the repeat before has put goes first, so that the disk holds one at a time.
            drop(last.take());
            let system = &*last.insert(self.prepared(session, kind)?).system;
            let measured = self.measure(session, system)?;
            let measured = self.look_up(system, measured)?;
            settle_seconds = session.harness.settle(system, kind.name())?;
            Ok(measured)
        })?;
        let Some(opened) = last else { return Ok(()) };
        let rows = if self.is_bulk() { 1 } else { self.data.rows_per_record() };
        let mut run = session.run_of(self.labels, &*opened.system, repeats, rows as f64);
        run.figures.insert("settle_seconds".to_owned(), settle_seconds);
        session.harness.add(run);
        Ok(())
    }

    /// A system that holds the records that are to be there before.
    fn prepared(&self, session: &BulkSession<'_>, kind: SystemKind) -> Result<OpenedSystem> {
        let opened = session.open_for(kind, self.data)?;
        if session.options.existing_percent > 0 {
            let existing = RecordShare::existing(session.options);
            let inputs = self.data.put_inputs(self.count, existing);
            put_each(&*opened.system, inputs, &session.quietly())?;
            opened.system.settle()?;
        }
        Ok(opened)
    }

    fn measure(&self, session: &BulkSession<'_>, system: &dyn System) -> Result<Measured> {
        if !self.is_bulk() {
            return session.measure_loop(system, self.labels, self.count, |client, place| {
                self.data.put_one(client, place, self.durability)
            });
        }
        let share = RecordShare::existing(session.options);
        let existing = (0..self.count).filter(|place| share.holds(*place)).count() as u64;
        let kept = if session.options.keep_existing { existing } else { 0 };
        let [rows, kept] = [self.count, kept].map(|count| count * self.data.rows_per_record());
        session.measure_bulk(system, self.labels, rows, |meter, options| {
            let inputs = self.data.put_inputs(self.count, RecordShare::ALL);
            let done = put_each(system, inputs, options)?;
            meter.expect("rows stored", rows - kept, done.rows);
            meter.expect("rows left alone", kept, done.existed);
            Ok(())
        })
    }

    /// Looks some records up, unless the put ended before its time.
    fn look_up(&self, system: &dyn System, mut measured: Measured) -> Result<Measured> {
        let rows = if self.is_bulk() { self.data.rows_per_record() } else { 1 };
        if measured.operations_count + measured.failures < self.count * rows {
            return Ok(measured);
        }
        let mut client = system.client()?;
        let looked_up = self.count.min(LOOKED_UP);
        for place in (0..looked_up).map(|number| number * self.count / looked_up) {
            if !self.data.is_stored(&mut *client, place)? {
                measured.failures += 1;
                let why = Error::internal(format!("the record put at place {place} is not there"));
                measured.failure_messages.push(why.to_string());
            }
        }
        Ok(measured)
    }
}
