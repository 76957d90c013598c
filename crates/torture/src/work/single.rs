//! Single writes: plain, conditional, deletes, and groups of a row with its child.

use std::collections::BTreeMap;

use tonnage::{Durability, Result, RowOperation, Table, WriteOptions, WriteResult};

use super::context::WorkloadContext;
use crate::content::{child_key_row, child_row, is_delete, key_row, row};
use crate::ledger::durability_name;
use crate::random::SeededRandom;

/// Keys that one thread writes.
const KEYS: u64 = 60;

/// What a thread knows of a key with no other writer.
#[derive(Default)]
struct KnownRow {
    generation: i64,
    /// The version of the stored row, unless a write failed since.
    version: Option<u64>,
    /// Whether there is certainly no row.
    is_absent: bool,
}

pub(super) fn run(context: &WorkloadContext<'_>, thread: i64) {
    let table = match context.store.table("single") {
        Ok(table) => table,
        Err(error) => return context.note_failure("single", error),
    };
    let mut random = SeededRandom::new(context.plan.seed * 31 + thread as u64);
    let mut keys: BTreeMap<i64, KnownRow> = BTreeMap::new();
    while context.goes_on() {
        let key = thread * 1_000_000 + context.round * 1000 + random.below(KEYS) as i64;
        let first = || KnownRow { is_absent: true, ..KnownRow::default() };
        write(context, &table, key, keys.entry(key).or_insert_with(first), &mut random);
    }
}

fn write(
    context: &WorkloadContext<'_>,
    table: &Table,
    key: i64,
    known: &mut KnownRow,
    random: &mut SeededRandom,
) {
    known.generation += 1;
    let generation = known.generation;
    let options = WriteOptions {
        durability: if random.chance(20) { Durability::Write } else { context.durability() },
        ..WriteOptions::default()
    };
    let is_conditional = random.chance(40);
    context.ledger.write_line(format_args!("try row {key} {generation}"));
    // A condition is for one row alone: with an even key it would leave the child.
    let done = if is_delete(generation) || key % 2 == 0 {
        group(context, key, generation, &options)
    } else if is_conditional && known.is_absent {
        table.put_if_absent(&row(key, generation), &options)
    } else if let Some(version) = known.version.filter(|_| is_conditional) {
        table.put_if_version(&row(key, generation), version, &options)
    } else {
        table.put(&row(key, generation), &options).map(|version| WriteResult::Stored { version })
    };
    learn(context, key, known, done, options.durability);
}

/// A row and its child, written or deleted together.
fn group(
    context: &WorkloadContext<'_>,
    key: i64,
    generation: i64,
    options: &WriteOptions,
) -> Result<WriteResult> {
    let operations = if is_delete(generation) {
        [
            RowOperation::delete("single", key_row(key)),
            RowOperation::delete("single.child", child_key_row(key)),
        ]
    } else {
        [
            RowOperation::put("single", row(key, generation)),
            RowOperation::put("single.child", child_row(key, generation)),
        ]
    };
    context.store.atomic_write(&operations, options)
}

fn learn(
    context: &WorkloadContext<'_>,
    key: i64,
    known: &mut KnownRow,
    done: Result<WriteResult>,
    durability: Durability,
) {
    let generation = known.generation;
    match done {
        Ok(WriteResult::Stored { version }) => {
            known.is_absent = is_delete(generation);
            known.version = Some(version).filter(|_| !known.is_absent);
            let durability = durability_name(durability);
            context.ledger.write_line(format_args!("ok row {key} {generation} {durability}"));
        }
        // This key has no other writer, so the condition held.
        Ok(WriteResult::ConditionFailed { current, .. }) => {
            context.note_wrong_answer(format_args!(
                "row {key} {generation} was refused over {current:?}"
            ));
        }
        Err(error) => {
            *known = KnownRow { generation, ..KnownRow::default() };
            context.note_failure("single", error);
        }
    }
}
