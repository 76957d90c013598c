//! Gets: the loop, the loop on several threads, the bulk get, and the sweep over requests in
//! flight.

use tonnage::{Durability, Result};

use super::DataKind;
use super::data::{Data, RecordShare};
use super::labels::{CallMethod, Labels, PutOrGet};
use super::session::{BulkSession, Loop, check_counts, check_found, run_of};
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
    let system = &*opened.system;
    let options = session.options;
    data.bulk_put(
        system,
        0..options.records,
        RecordShare::ALL,
        options.streams,
        &session.quietly(Durability::Write),
    )?;
    system.settle()?;
    let keys = options.gets.min(data.keys());
    data.bulk_get(system, keys, &session.quietly(Durability::Write))?;

    let gets = Gets { system, data, data_kind, keys };
    let sweep = options.parallelism.iter().map(|requests| (CallMethod::Bulk, Some(*requests)));
    for (method, parallelism) in
        CallMethod::ALL.map(|method| (method, None)).into_iter().chain(sweep)
    {
        if session.harness.is_over() {
            break;
        }
        gets.run(session, method, parallelism)?;
    }
    Ok(())
}

struct Gets<'a> {
    system: &'a dyn System,
    data: &'a dyn Data,
    data_kind: DataKind,
    keys: u64,
}

impl Gets<'_> {
    fn run(
        &self,
        session: &mut BulkSession<'_>,
        method: CallMethod,
        parallelism: Option<usize>,
    ) -> Result<()> {
        let labels = Labels {
            data: self.data_kind,
            phase: PutOrGet::Get,
            method,
            durability: None,
            parallelism,
        };
        let threads = session.threads(method, parallelism);
        let keys = if method == CallMethod::Bulk {
            self.keys
        } else {
            self.keys.min(session.options.singles)
        };
        let rows: u64 = (0..keys).map(|key| self.data.found(key)).sum();
        let measure = || match method {
            CallMethod::Bulk => self.measure_bulk(session, labels, rows, parallelism),
            CallMethod::Single | CallMethod::Threads => {
                self.measure_loop(session, labels, keys, threads)
            }
        };
        let repeats =
            (0..session.options.run.repeats).map(|_| measure()).collect::<Result<Vec<_>>>()?;
        let rows_per_operation =
            if method == CallMethod::Bulk { 1.0 } else { rows as f64 / keys as f64 };
        session.harness.add(run_of(labels, self.system, threads, repeats, rows_per_operation));
        Ok(())
    }

    fn measure_loop(
        &self,
        session: &BulkSession<'_>,
        labels: Labels,
        keys: u64,
        threads: usize,
    ) -> Result<Measured> {
        let each = |client: &mut dyn Client, key| {
            check_found(self.data.found(key), self.data.get_one(client, key)?)
        };
        session.measure_loop(
            self.system,
            labels,
            threads,
            &Loop { operation: "GET", count: keys, each: &each },
        )
    }

    fn measure_bulk(
        &self,
        session: &BulkSession<'_>,
        labels: Labels,
        rows: u64,
        parallelism: Option<usize>,
    ) -> Result<Measured> {
        session.measure_bulk(self.system, labels, rows, |meter| {
            let progress = |rows, bytes| meter.add(rows, bytes);
            let options = BulkOptions {
                progress: &progress,
                parallelism,
                ..session.quietly(Durability::Write)
            };
            let done = self.data.bulk_get(self.system, self.keys, &options)?;
            check_counts(meter, "rows found", rows, done.rows);
            Ok(())
        })
    }
}
