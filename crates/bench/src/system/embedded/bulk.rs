//! Bulk calls.

use tonnage::arrow::array::RecordBatch;
use tonnage::{BulkGetOptions, KeySource as TableKeys, PairGetOptions, Result, Store, Table};

use crate::system::bulk_put::with_progress;
use crate::system::done::{bytes_of, count};
use crate::system::feeds::{PairKeys, RowKeys, SourceFailure};
use crate::system::{BulkDone, BulkOptions, KeySource, RowSource};

pub(super) fn multi_put(
    store: &Store,
    rows: Vec<(String, RecordBatch)>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    with_progress(options, |options| Ok(store.multi_put(rows, options)?.report.total))
}

pub(super) fn get_pairs(
    store: &Store,
    keys: Box<dyn KeySource>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let failure = SourceFailure::default();
    let keys = PairKeys { source: keys, failure: failure.clone() };
    let get = PairGetOptions {
        max_concurrent_requests: options.parallelism,
        memory_bytes_max: options.memory_bytes_max,
        ..PairGetOptions::default()
    };
    let mut done = BulkDone::default();
    for batch in store.kv().bulk_get_batches(keys, &get)? {
        let batch = batch?;
        count(&mut done, batch.len() as u64, batch.bytes() as u64, options);
    }
    failure.check()?;
    Ok(done)
}

pub(super) fn get_rows(
    table: &Table,
    keys: Box<dyn RowSource>,
    children: &[&str],
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let mut done = BulkDone::default();
    for batch in
        table.bulk_get(TableKeys::batches(RowKeys(keys)), &get_options(children, options))?
    {
        let batch = batch?.rows;
        count(&mut done, batch.num_rows() as u64, bytes_of(&batch), options);
    }
    Ok(done)
}

/// Gets from several tables in one call.
pub(super) fn multi_get(
    store: &Store,
    keys: Vec<(String, RecordBatch)>,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let mut done = BulkDone::default();
    for (_, batch) in store.multi_get(keys, &get_options(&[], options))? {
        let batch = batch?.rows;
        count(&mut done, batch.num_rows() as u64, bytes_of(&batch), options);
    }
    Ok(done)
}

fn get_options(children: &[&str], options: &BulkOptions<'_>) -> BulkGetOptions {
    let defaults = BulkGetOptions::default();
    BulkGetOptions {
        max_concurrent_requests: options.parallelism,
        relatives: children.iter().map(|child| (*child).to_owned()).collect(),
        memory_bytes_max: options.memory_bytes_max.unwrap_or(defaults.memory_bytes_max),
        ..defaults
    }
}
