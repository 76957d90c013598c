//! Writes several rows of one shard key together.
//!
//! 1. The stored rows are read, and the conditions are judged by them.
//! 2. Operations that may not fail end it all where they do. Others that fail are left out.
//! 3. What is left is written at once, each row on the condition that it is as it was read. Where
//!    one has changed, all begins anew.

use std::collections::HashSet;
use std::sync::Arc;

use tonnage::{
    Condition, ExchangeResult, Row, RowOperation, StoredRow, Table, WriteOptions, WriteResult,
};

use super::call::{Call, is_true};
use super::expiry::{RowLife, default_expiry_ms};
use super::failure::{Failure, Outcome};
use super::field;
use super::op_code::OpCode;
use super::rows::{is_generating, shown_key, written_by_others};
use super::write_request::{GivenDelete, GivenPut, WriteAnswer, condition_of, rights_of};
use crate::nson::{NsonFields, NsonView, NsonWriter};

/// How often rows are judged anew that others write all the time.
const TRIES_MAX: usize = 100;

/// One operation of a group.
struct GroupOperation {
    table: Table,
    write: GroupWrite,
    /// Whether nothing is written where it fails.
    aborts: bool,
}

enum GroupWrite {
    Put(GivenPut),
    Delete(GivenDelete),
}

/// What became of an operation.
struct GroupAnswer {
    is_done: bool,
    version: Option<u64>,
    generated: Option<tonnage::Value>,
    previous: Option<StoredRow>,
}

impl GroupOperation {
    fn condition(&self) -> Condition {
        match &self.write {
            GroupWrite::Put(put) => put.condition,
            GroupWrite::Delete(delete) => delete.condition,
        }
    }

    fn row(&self) -> &Row {
        match &self.write {
            GroupWrite::Put(put) => &put.row,
            GroupWrite::Delete(delete) => &delete.key,
        }
    }

    /// The columns of its key, or of its shard key; nothing where the store gives one of them.
    fn key(&self, columns: usize) -> Option<Vec<(&str, &tonnage::Value)>> {
        let key = self.table.schema().key_columns().take(columns);
        key.map(|column| Some((column.name.as_str(), self.row().get(&column.name)?))).collect()
    }

    fn whole_key(&self) -> Option<Row> {
        let key = self.key(self.table.schema().key.len())?;
        Some(key.into_iter().map(|(name, value)| (name, value.clone())).collect())
    }

    /// The operation for the store, under a condition.
    fn when(&self, condition: Condition) -> RowOperation {
        let path: Arc<str> = self.table.path().into();
        let operation = match &self.write {
            GroupWrite::Put(put) => RowOperation::put(path, put.row.clone()),
            GroupWrite::Delete(delete) => RowOperation::delete(path, delete.key.clone()),
        };
        operation.when(condition)
    }

    fn write(&self, answer: &GroupAnswer, out: &mut NsonWriter) {
        let returns_row = match &self.write {
            GroupWrite::Put(put) => put.returns_row,
            GroupWrite::Delete(delete) => delete.returns_row,
        };
        out.begin_map();
        out.field(field::SUCCESS).boolean(answer.is_done);
        let told = WriteAnswer {
            table: &self.table,
            version: answer.version,
            generated: answer.generated.as_ref(),
            previous: answer.previous.as_ref(),
        };
        told.write(self.condition(), answer.is_done, returns_row, out);
        out.end();
    }
}

/// Carries out a group of writes.
pub(super) fn write_multiple(call: &Call<'_>, out: &mut NsonWriter) -> Outcome<()> {
    let Some(NsonView::Array(items)) = call.payload.get(field::OPERATIONS) else {
        return Err(Failure::protocol("the payload has no operations"));
    };
    let operations: Vec<GroupOperation> =
        items.map(|item| read_operation(call, item)).collect::<Outcome<_>>()?;
    check_group(&operations)?;
    match carry_out(call, &operations)? {
        Ok(answers) => {
            out.field(field::RESULTS).begin_array();
            for (operation, answer) in operations.iter().zip(&answers) {
                operation.write(answer, out);
            }
            out.end();
        }
        Err((place, answer)) => {
            out.field(field::FAILED).begin_map();
            out.field(field::FAILED_INDEX).integer(i32::try_from(place).unwrap_or(i32::MAX));
            operations[place].write(&answer, out.field(field::FAILED_RESULT));
            out.end();
        }
    }
    Ok(())
}

fn read_operation(call: &Call<'_>, item: NsonView<'_>) -> Outcome<GroupOperation> {
    let fields: NsonFields<'_> =
        item.fields().ok_or_else(|| Failure::protocol("an operation is not a map"))?;
    let number = fields.get(field::OPERATION).and_then(|number| number.whole());
    let operation = number.and_then(OpCode::of_number);
    let operation =
        operation.ok_or_else(|| Failure::protocol("an operation has no number that is known"))?;
    let name = match fields.get(field::TABLE_NAME).and_then(|name| name.text()) {
        Some(name) => name,
        None => call.table_name()?,
    };
    let condition = condition_of(operation, fields)?;
    let table = call.table(name, &rights_of(operation, condition, fields))?;
    let write = match operation {
        OpCode::Put | OpCode::PutIfAbsent | OpCode::PutIfPresent | OpCode::PutIfVersion => {
            GroupWrite::Put(GivenPut::read(fields, condition, &table, call.clock)?)
        }
        OpCode::Delete | OpCode::DeleteIfVersion => {
            GroupWrite::Delete(GivenDelete::read(fields, condition, &table)?)
        }
        other => {
            return Err(Failure::argument(format!("{} is not a write of one row", other.name())));
        }
    };
    Ok(GroupOperation { table, write, aborts: is_true(fields, field::ABORTS) })
}

/// One shard key, and each row once.
fn check_group(operations: &[GroupOperation]) -> Outcome<()> {
    let Some(first) = operations.first() else {
        return Err(Failure::argument("there are no operations: give at least one"));
    };
    let shard_columns = first.table.schema().shard_key_len;
    // Nothing where the store gives a part of it: then the store finds out.
    let shard_key = first.key(shard_columns);
    let mut keys = HashSet::with_capacity(operations.len());
    for operation in operations {
        if operation.table.schema().root_path() != first.table.schema().root_path() {
            return Err(Failure::argument(format!(
                "{} and {} are not relatives: a writeMultiple has rows of one table, its parents \
                 and its children",
                first.table.path(),
                operation.table.path()
            )));
        }
        if let (Some(own), Some(wanted)) = (operation.key(shard_columns), &shard_key)
            && own != *wanted
        {
            return Err(Failure::argument(format!(
                "Shard key: {} does not match the shard key of previous rows in the list: {}",
                shown_key(own.into_iter()),
                shown_key(wanted.iter().copied())
            )));
        }
        // Tables of a family may have rows of the same key.
        if let Some(key) = operation.key(operation.table.schema().key.len()) {
            let key = format!("{} {}", operation.table.path(), shown_key(key.into_iter()));
            if let Some(twice) = keys.replace(key) {
                return Err(Failure::argument(format!(
                    "More than one operation has the same Key: {twice}"
                )));
            }
        }
    }
    Ok(())
}

type GroupResult = Result<Vec<GroupAnswer>, (usize, GroupAnswer)>;

fn carry_out(call: &Call<'_>, operations: &[GroupOperation]) -> Outcome<GroupResult> {
    let is_made = |operation: &GroupOperation| {
        matches!(operation.write, GroupWrite::Put(_)) && is_generating(&operation.table)
    };
    if operations.iter().any(is_made) {
        return with_generated(call, operations);
    }
    for _ in 0..TRIES_MAX {
        let mut found = Vec::with_capacity(operations.len());
        for operation in operations {
            let key = operation.whole_key().unwrap_or_default();
            found.push(operation.table.get_with(&key, &call.get_options())?);
        }
        let holds = |place: usize| {
            let current = found[place].as_ref().map(|row: &StoredRow| row.version);
            operations[place].condition().holds(current)
        };
        // Nothing is written where one fails that may not.
        let fatal = (0..operations.len()).find(|place| operations[*place].aborts && !holds(*place));
        if let Some(place) = fatal {
            let previous = found.swap_remove(place);
            let answer = GroupAnswer { is_done: false, version: None, generated: None, previous };
            return Ok(Err((place, answer)));
        }
        let kept: Vec<usize> = (0..operations.len()).filter(|place| holds(*place)).collect();
        // A row that others wrote meanwhile may change what was judged.
        let Some(version) = write_kept(call, operations, &kept, &found)? else { continue };
        let answers = operations.iter().zip(found).enumerate().map(|(place, (operation, row))| {
            let is_done = kept.binary_search(&place).is_ok();
            let is_put = matches!(operation.write, GroupWrite::Put(_));
            let version = version.filter(|_| is_done && is_put);
            GroupAnswer { is_done, version, generated: None, previous: row }
        });
        return Ok(Ok(answers.collect()));
    }
    Err(written_by_others())
}

/// Writes the operations that are left: nothing where a row has changed since it was read.
fn write_kept(
    call: &Call<'_>,
    operations: &[GroupOperation],
    kept: &[usize],
    found: &[Option<StoredRow>],
) -> Outcome<Option<Option<u64>>> {
    if kept.is_empty() {
        return Ok(Some(None));
    }
    let options = options_of(call, operations, kept, found)?;
    let exact = kept.iter().map(|place| {
        let current = found[*place].as_ref().map(|row| row.version);
        operations[*place].when(current.map_or(Condition::IfAbsent, Condition::IfVersion))
    });
    let exact: Vec<RowOperation> = exact.collect();
    match call.store.atomic_write(&exact, &options)? {
        WriteResult::Stored { version } => Ok(Some(Some(version))),
        WriteResult::ConditionFailed { .. } => Ok(None),
    }
}

/// The options of all: rows that are written together have one expiry.
fn options_of(
    call: &Call<'_>,
    operations: &[GroupOperation],
    kept: &[usize],
    found: &[Option<StoredRow>],
) -> Outcome<WriteOptions> {
    let mut expiry = None;
    for place in kept {
        let GroupWrite::Put(put) = &operations[*place].write else { continue };
        let own = match (put.life, &found[*place]) {
            (RowLife::Until(expiry), _) => expiry,
            (RowLife::Kept, Some(row)) => row.expires_at_ms,
            (RowLife::Kept, None) => {
                default_expiry_ms(operations[*place].table.schema(), call.clock)
            }
        };
        if *expiry.get_or_insert(own) != own {
            return Err(Failure::unsupported(
                "rows of one writeMultiple that expire at different times are not offered: put \
                 them one by one, or give all the same time to live",
            ));
        }
    }
    Ok(WriteOptions { expires_at_ms: expiry, ..call.write_options() })
}

/// The same where the store numbers rows: only without conditions that could fail, since only a
/// write that judges each operation by itself returns the numbers.
fn with_generated(call: &Call<'_>, operations: &[GroupOperation]) -> Outcome<GroupResult> {
    let may_fail = operations
        .iter()
        .position(|operation| operation.aborts && operation.condition() != Condition::Always);
    if let Some(place) = may_fail {
        return Err(Failure::unsupported(format!(
            "operation {place}: a writeMultiple with rows whose numbers the store gives takes no \
             condition that ends it: put them one by one"
        )));
    }
    let all: Vec<usize> = (0..operations.len()).collect();
    // Rows that are numbered are new.
    let found = vec![None; operations.len()];
    let options = options_of(call, operations, &all, &found)?;
    let wanted: Vec<RowOperation> =
        operations.iter().map(|operation| operation.when(operation.condition())).collect();
    let done = call.store.write_each(&wanted, &options)?;
    let answers = operations.iter().zip(done).map(|(operation, done)| {
        let ExchangeResult { result, previous, generated, .. } = done;
        let is_put = matches!(operation.write, GroupWrite::Put(_));
        let version = result.version().filter(|_| is_put);
        GroupAnswer { is_done: result.is_stored(), version, generated, previous }
    });
    Ok(Ok(answers.collect()))
}
