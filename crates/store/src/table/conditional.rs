//! Writes those operations on one shard key whose conditions hold.
//!
//! 1. The stored rows are read, and the conditions are checked against them.
//! 2. The operations that remain are written as one batch, each on condition that its row is
//!    unchanged.
//! 3. If a row has changed, the engine refuses the batch and all begins anew. Each refused attempt
//!    means that another write went through.

use tonnage_engine::{
    Condition, Deadline, Engine, Error, KeyShape, Operation, Result, Rows, Slices, WriteBatch,
    WriteOutcome,
};

use super::write::{EncodedWrite, encode};
use super::{ExchangeResult, RowOperation};
use crate::inner::Inner;
use crate::read::read_by;
use crate::single_calls::{StoredRow, WriteOptions, WriteResult};

/// What became of each operation, and the rows that were found before: their origins are the
/// numbers of the operations.
pub(crate) struct ConditionalOutcome {
    pub(crate) results: Vec<WriteResult>,
    pub(crate) found: Rows,
}

impl ConditionalOutcome {
    /// For each operation what became of it, and which of the rows found is its own.
    pub(crate) fn answers(&self) -> impl Iterator<Item = (WriteResult, Option<usize>)> + '_ {
        let mut rows = self.found.origins.iter().enumerate().peekable();
        self.results.iter().enumerate().map(move |(operation, result)| {
            let row = rows.next_if(|(_, origin)| **origin as usize == operation);
            (*result, row.map(|(row, _)| row))
        })
    }
}

pub(crate) fn write_each(
    store: &Inner,
    operations: &[RowOperation],
    options: &WriteOptions,
) -> Result<Vec<ExchangeResult>> {
    let EncodedWrite { batch: wanted, tables, numbers } = encode(store, operations, options)?;
    let terms = options.terms();
    let shape = tables[0].schema.key_shape();
    // Each remaining operation has its own table with it, which knows its indexes.
    let judged =
        judge_and_write(&*store.engine, &wanted, &shape, terms.deadline, |batch, kept| {
            let tables: Vec<_> = kept.iter().map(|operation| tables[*operation].clone()).collect();
            store.write_rows(batch, &tables, terms)
        })?;
    let stored = |operation: usize, row: usize| -> Result<StoredRow> {
        let found = &judged.found;
        let codec = &tables[operation].codec;
        let decoded = codec.decode_row(found.keys.get(row), found.values.get(row))?;
        let (version, expires_at_ms) = (found.versions[row], found.expiries_ms[row]);
        Ok(StoredRow { row: decoded, version, expires_at_ms })
    };
    let answers = judged.answers().enumerate().map(|(operation, (result, row))| {
        let previous = row.map(|row| stored(operation, row)).transpose()?;
        // A number drawn for a row that is not stored is lost, so the caller does not get it.
        let generated = numbers[operation].clone().filter(|_| result.is_stored());
        Ok(ExchangeResult { result, previous, generated })
    });
    answers.collect()
}

/// Writes those of the operations whose conditions hold. `write` is given them as a batch, and
/// their numbers.
pub(crate) fn judge_and_write(
    engine: &dyn Engine,
    wanted: &WriteBatch,
    shape: &KeyShape,
    deadline: Deadline,
    write: impl Fn(&WriteBatch, &[usize]) -> Result<WriteOutcome>,
) -> Result<ConditionalOutcome> {
    check_shard_key(wanted, shape)?;
    let space = wanted.space(0);
    let keys: Slices = (0..wanted.len()).map(|operation| wanted.key(operation)).collect();
    let (mut found, mut batch, mut kept) = (Rows::new(), WriteBatch::new(space), Vec::new());
    loop {
        read_by(engine, space, &keys, deadline, &mut found)?;
        let versions = versions(&found, wanted.len());
        batch.clear();
        kept.clear();
        for (operation, current) in versions.iter().enumerate() {
            if wanted.condition(operation).holds(*current) {
                push(wanted, operation, *current, &mut batch);
                kept.push(operation);
            }
        }
        // Each is written on the version that was judged: if one row has changed since, all are
        // judged anew.
        let version = match kept.is_empty() {
            true => None,
            false => write(&batch, &kept)?.version(),
        };
        if version.is_none() && !kept.is_empty() {
            continue;
        }
        // The engine judged versions. The condition of the caller is answered by what was read.
        let result = |(operation, current): (usize, &Option<u64>)| match version {
            Some(version) if wanted.condition(operation).holds(*current) => {
                WriteResult::Stored { version }
            }
            _ => WriteResult::ConditionFailed { operation, current: *current },
        };
        let results = versions.iter().enumerate().map(result).collect();
        return Ok(ConditionalOutcome { results, found });
    }
}

/// For each operation the version of the row found, if there is one.
fn versions(found: &Rows, operations: usize) -> Vec<Option<u64>> {
    let mut versions = vec![None; operations];
    for (origin, version) in found.origins.iter().zip(&found.versions) {
        versions[*origin as usize] = Some(*version);
    }
    versions
}

/// Adds an operation under the condition that its row is still of this version.
fn push(wanted: &WriteBatch, operation: usize, current: Option<u64>, batch: &mut WriteBatch) {
    let unchanged = current.map_or(Condition::IfAbsent, Condition::IfVersion);
    let key = wanted.key(operation);
    match wanted.operation(operation) {
        Operation::Put => {
            let (value, expires_at_ms) = (wanted.value(operation), wanted.expires_at_ms(operation));
            batch.put(key, value, expires_at_ms, unchanged);
        }
        Operation::Delete => batch.delete(key, unchanged),
    }
}

/// The engine would judge only what is left of the group.
fn check_shard_key(wanted: &WriteBatch, shape: &KeyShape) -> Result<()> {
    let shard_key = |operation: usize| {
        let key = wanted.key(operation);
        Ok::<_, Error>(&key[..shape.shard_key_len(key)?])
    };
    let first = shard_key(0)?;
    for operation in 1..wanted.len() {
        if shard_key(operation)? != first {
            return Err(Error::invalid(format!(
                "operation {operation} is of another shard key than those before it: write one group for each shard key"
            )));
        }
    }
    Ok(())
}
