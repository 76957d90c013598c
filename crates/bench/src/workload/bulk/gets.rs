//! Gets: the loop, the loop on several threads, the bulk get, and the sweep over requests in
//! flight.

use tonnage::{Error, Result};

use super::DataKind;
use super::data::{Data, RecordShare};
use super::labels::{CallMethod, Labels, PutOrGet};
use super::session::{BulkSession, put_each};
use crate::system::{System, SystemKind};

impl BulkSession<'_> {
    /// Measures the gets of one kind of data on one system.
    pub(super) fn gets(&mut self, kind: SystemKind, of: DataKind, data: &dyn Data) -> Result<()> {
        if self.harness.is_over() {
            return Ok(());
        }
        let opened = self.open_for(kind, data)?;
        let (system, options, quietly) = (&*opened.system, self.options, self.quietly());
        put_each(system, data.put_inputs(options.records, RecordShare::ALL), &quietly)?;
        system.settle()?;
        system.bulk_get(data.get_keys(options.gets.min(data.keys())), &quietly)?;

        let methods = CallMethod::ALL.map(|method| (method, None));
        let sweep = options.parallelism.iter().map(|requests| (CallMethod::Bulk, Some(*requests)));
        for (method, parallelism) in methods.into_iter().chain(sweep) {
            if self.harness.is_over() {
                break;
            }
            let (phase, durability) = (PutOrGet::Get, None);
            self.get(system, data, Labels { data: of, phase, method, durability, parallelism })?;
        }
        Ok(())
    }

    fn get(&mut self, system: &dyn System, data: &dyn Data, labels: Labels) -> Result<()> {
        let is_bulk = labels.method == CallMethod::Bulk;
        let keys = self.options.gets.min(data.keys());
        let keys = if is_bulk { keys } else { keys.min(self.options.singles) };
        let rows: u64 = (0..keys).map(|key| data.found(key)).sum();
        let repeats = self.harness.repeats(|_| match is_bulk {
            true => self.measure_bulk(system, labels, rows, |meter, options| {
                let done = system.bulk_get(data.get_keys(keys), options)?;
                meter.expect("rows found", rows, done.rows);
                Ok(())
            }),
            false => self.measure_loop(system, labels, keys, |client, key| {
                check_found(data.found(key), data.get_one(client, key)?)
            }),
        })?;
        let rows_per_operation = if is_bulk { 1.0 } else { rows as f64 / keys as f64 };
        let run = self.run_of(labels, system, repeats, rows_per_operation);
        self.harness.add(run);
        Ok(())
    }
}

/// Refuses what one operation of a loop found, unless it is all that is there.
fn check_found(expected: u64, found: u64) -> Result<()> {
    if found == expected {
        return Ok(());
    }
    Err(Error::internal(format!("rows found: {found}, but there are {expected}")))
}
