//! Gets: the loop, the loop on several threads, the bulk get, and the sweep over requests in
//! flight.

use tonnage::{Durability, Result};

use super::DataKind;
use super::data::{Data, RecordShare};
use super::labels::{CallMethod, Labels, PutOrGet};
use super::session::{BulkSession, Loop, check_counts, check_found};
use crate::measure::Measured;
use crate::system::{BulkOptions, Client, System, SystemKind};

/// Measures the gets of one kind of data on one system.
pub(super) fn run(
    session: &mut BulkSession<'_>,
    kind: SystemKind,
    data_kind: DataKind,
    data: &dyn Data,
) -> Result<()> {
    if session.harness.is_over() {
        return Ok(());
    }
    let opened = session.open_for(kind, data)?;
    let (system, options, quietly) = (&*opened.system, session.options, session.quietly());
    data.bulk_put(system, 0..options.records, RecordShare::ALL, options.streams, &quietly)?;
    system.settle()?;
    let keys = options.gets.min(data.keys());
    data.bulk_get(system, keys, &quietly)?;

    let methods = CallMethod::ALL.map(|method| (method, None));
    let sweep = options.parallelism.iter().map(|requests| (CallMethod::Bulk, Some(*requests)));
    for (method, parallelism) in methods.into_iter().chain(sweep) {
        if session.harness.is_over() {
            break;
        }
        let (phase, durability) = (PutOrGet::Get, None);
        let labels = Labels { data: data_kind, phase, method, durability, parallelism };
        Gets { system, data, labels }.run(session, keys)?;
    }
    Ok(())
}

struct Gets<'a> {
    system: &'a dyn System,
    data: &'a dyn Data,
    labels: Labels,
}

impl Gets<'_> {
    fn run(&self, session: &mut BulkSession<'_>, keys: u64) -> Result<()> {
        let is_bulk = self.labels.method == CallMethod::Bulk;
        let keys = if is_bulk { keys } else { keys.min(session.options.singles) };
        let rows: u64 = (0..keys).map(|key| self.data.found(key)).sum();
        let repeats = session.harness.repeats(|_| match is_bulk {
            true => self.measure_bulk(session, keys, rows),
            false => self.measure_loop(session, keys),
        })?;
        let rows_per_operation = if is_bulk { 1.0 } else { rows as f64 / keys as f64 };
        let run = session.run_of(self.labels, self.system, repeats, rows_per_operation);
        session.harness.add(run);
        Ok(())
    }

    fn measure_loop(&self, session: &BulkSession<'_>, count: u64) -> Result<Measured> {
        let each = |client: &mut dyn Client, key| {
            check_found(self.data.found(key), self.data.get_one(client, key)?)
        };
        let work = Loop { operation: "GET", count, each: &each };
        session.measure_loop(self.system, self.labels, session.threads(self.labels), &work)
    }

    fn measure_bulk(&self, session: &BulkSession<'_>, keys: u64, rows: u64) -> Result<Measured> {
        session.measure_bulk(self.system, self.labels, rows, |meter| {
            let progress = |rows, bytes| meter.add(rows, bytes);
            let options = BulkOptions {
                parallelism: self.labels.parallelism,
                ..session.bulk_options(Durability::Write, &progress)
            };
            let done = self.data.bulk_get(self.system, keys, &options)?;
            check_counts(meter, "rows found", rows, done.rows);
            Ok(())
        })
    }
}
