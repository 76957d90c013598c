//! Puts: the loop, the loop on several threads, and the bulk put.

use tonnage::{Durability, Error, Result};

use super::data::{Data, RecordShare};
use super::labels::{CallMethod, Labels, PutOrGet};
use super::session::{BulkSession, Loop, check_counts, run_of};
use super::{DataKind, durabilities};
use crate::measure::Measured;
use crate::system::{BulkOptions, SystemKind};
use crate::workload::harness::{OpenedSystem, settle};

/// Records of a put that are looked up afterwards.
const LOOKED_UP: u64 = 1_000;

/// Measures the puts of one kind of data on one system.
pub(super) fn run(
    session: &mut BulkSession<'_>,
    kind: SystemKind,
    data_kind: DataKind,
    data: &dyn Data,
) -> Result<()> {
    for durability in durabilities(session.options, kind) {
        for method in CallMethod::ALL {
            if session.harness.is_over() {
                return Ok(());
            }
            let labels = Labels {
                data: data_kind,
                phase: PutOrGet::Put,
                method,
                durability: Some(*durability),
                parallelism: None,
            };
            let put = Put {
                data,
                labels,
                method,
                durability: *durability,
                count: count(session, method, *durability),
            };
            put.run(session, kind)?;
        }
    }
    Ok(())
}

/// How many records a put has.
fn count(session: &BulkSession<'_>, method: CallMethod, durability: Durability) -> u64 {
    let options = session.options;
    match (method, durability) {
        (CallMethod::Bulk, _) => options.records,
        (_, Durability::Fsync) => options.singles_fsync.min(options.singles).min(options.records),
        _ => options.singles.min(options.records),
    }
}

struct Put<'a> {
    data: &'a dyn Data,
    labels: Labels,
    method: CallMethod,
    durability: Durability,
    count: u64,
}

impl Put<'_> {
    fn run(&self, session: &mut BulkSession<'_>, kind: SystemKind) -> Result<()> {
        let threads = session.threads(self.method, None);
        let (mut repeats, mut last, mut settle_seconds) = (Vec::new(), None, 0.0);
        for _ in 0..session.options.run.repeats {
            // What the repeat before has put goes first, so that the disk holds one at a time.
            drop(last.take());
            let opened = self.prepared(session, kind)?;
            repeats.push(self.measure(session, &opened, threads)?);
            settle_seconds = settle(&*opened.system, kind.name(), session.harness.watcher)?;
            last = Some(opened);
        }
        let Some(opened) = last else { return Ok(()) };
        let rows_per_operation =
            if self.method == CallMethod::Bulk { 1 } else { self.data.rows_per_record() };
        let mut run =
            run_of(self.labels, &*opened.system, threads, repeats, rows_per_operation as f64);
        run.figures.insert("settle_seconds".to_owned(), settle_seconds);
        session.harness.add(run);
        Ok(())
    }

    /// A system that holds the records that are to be there before.
    fn prepared(&self, session: &mut BulkSession<'_>, kind: SystemKind) -> Result<OpenedSystem> {
        let opened = session.open_for(kind, self.data)?;
        let share = RecordShare::existing(session.options);
        let quietly = session.quietly(Durability::Write);
        if session.options.existing_percent > 0 {
            self.data.bulk_put(
                &*opened.system,
                0..self.count,
                share,
                session.options.streams,
                &quietly,
            )?;
            opened.system.settle()?;
        }
        Ok(opened)
    }

    fn measure(
        &self,
        session: &BulkSession<'_>,
        opened: &OpenedSystem,
        threads: usize,
    ) -> Result<Measured> {
        let system = &*opened.system;
        if self.method == CallMethod::Bulk {
            return self.measure_bulk(session, opened);
        }
        let each = |client: &mut dyn crate::system::Client, place| {
            self.data.put_one(client, place, self.durability)
        };
        let work = Loop { operation: "PUT", count: self.count, each: &each };
        let measured = session.measure_loop(system, self.labels, threads, &work)?;
        self.look_up(opened, measured)
    }

    fn measure_bulk(&self, session: &BulkSession<'_>, opened: &OpenedSystem) -> Result<Measured> {
        let (system, rows_per_record) = (&*opened.system, self.data.rows_per_record());
        let share = RecordShare::existing(session.options);
        let existing =
            (0..self.count).filter(|place| share.holds(*place)).count() as u64 * rows_per_record;
        let kept = if session.options.keep_existing { existing } else { 0 };
        let rows = self.count * rows_per_record;
        let measured = session.measure_bulk(system, self.labels, rows, |meter| {
            let progress = |rows, bytes| meter.add(rows, bytes);
            let options = BulkOptions { progress: &progress, ..session.quietly(self.durability) };
            let done = self.data.bulk_put(
                system,
                0..self.count,
                RecordShare::ALL,
                session.options.streams,
                &options,
            )?;
            check_counts(meter, "rows stored", rows - kept, done.rows);
            check_counts(meter, "rows left alone", kept, done.existed);
            Ok(())
        })?;
        self.look_up(opened, measured)
    }

    /// Looks some records up, unless the put ended before its time.
    fn look_up(&self, opened: &OpenedSystem, mut measured: Measured) -> Result<Measured> {
        let rows = self.count
            * if self.method == CallMethod::Bulk { self.data.rows_per_record() } else { 1 };
        if measured.count + measured.failures < rows {
            return Ok(measured);
        }
        let mut client = opened.system.client()?;
        for number in 0..self.count.min(LOOKED_UP) {
            let place = number * self.count / self.count.min(LOOKED_UP);
            if !self.data.is_stored(&mut *client, place)? {
                measured.failures += 1;
                let message =
                    Error::internal(format!("the record put at place {place} is not there"));
                measured.failure_messages.push(message.to_string());
            }
        }
        Ok(measured)
    }
}
