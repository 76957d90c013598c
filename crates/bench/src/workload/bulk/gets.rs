//! Gets: the loop, the loop on several threads, the bulk get, and the sweep over requests in
//! flight.

use tonnage::Result;

use super::DataKind;
use super::data::{Data, RecordShare};
use super::labels::{CallMethod, Labels, PutOrGet};
use super::session::{BulkSession, check_found};
use crate::system::{Client, System, SystemKind};

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
    data.bulk_put(system, options.records, RecordShare::ALL, &quietly)?;
    system.settle()?;
    data.bulk_get(system, options.gets.min(data.keys()), &quietly)?;

    let methods = CallMethod::ALL.map(|method| (method, None));
    let sweep = options.parallelism.iter().map(|requests| (CallMethod::Bulk, Some(*requests)));
    for (method, parallelism) in methods.into_iter().chain(sweep) {
        if session.harness.is_over() {
            break;
        }
        let (phase, durability) = (PutOrGet::Get, None);
        let labels = Labels { data: data_kind, phase, method, durability, parallelism };
        measure(session, system, data, labels)?;
    }
    Ok(())
}

fn measure(
    session: &mut BulkSession<'_>,
    system: &dyn System,
    data: &dyn Data,
    labels: Labels,
) -> Result<()> {
    let is_bulk = labels.method == CallMethod::Bulk;
    let keys = session.options.gets.min(data.keys());
    let keys = if is_bulk { keys } else { keys.min(session.options.singles) };
    let rows: u64 = (0..keys).map(|key| data.found(key)).sum();
    let get_one =
        |client: &mut dyn Client, key| check_found(data.found(key), data.get_one(client, key)?);
    let repeats = session.harness.repeats(|_| match is_bulk {
        true => session.measure_bulk(system, labels, rows, |meter, options| {
            let done = data.bulk_get(system, keys, options)?;
            meter.expect("rows found", rows, done.rows);
            Ok(())
        }),
        false => session.measure_loop(system, labels, keys, get_one),
    })?;
    let rows_per_operation = if is_bulk { 1.0 } else { rows as f64 / keys as f64 };
    let run = session.run_of(labels, system, repeats, rows_per_operation);
    session.harness.add(run);
    Ok(())
}
