//! Puts groups of rows under one shard key, and deletes groups by range.

use tonnage::{Row, RowOperation};

use super::context::WorkloadContext;
use crate::content::purged_row;
use crate::ledger::durability_name;
use crate::random::SeededRandom;

pub(super) fn run(context: &WorkloadContext<'_>) {
    let mut random = SeededRandom::new(context.plan.seed * 13 + 3);
    for turn in 0.. {
        if !context.goes_on() {
            return;
        }
        let group = context.round * 100_000 + turn;
        if fill(context, group, 1 + random.below(200) as i64) && random.chance(70) {
            purge(context, group);
        }
    }
}

fn fill(context: &WorkloadContext<'_>, group: i64, count: i64) -> bool {
    let options = context.options();
    context.ledger.write_line(format_args!("try fill {group} {count}"));
    let put = |key| RowOperation::put("purged", purged_row(group, key));
    let done = context.store.atomic_write(&(0..count).map(put).collect::<Vec<_>>(), &options);
    match &done {
        Ok(_) => {
            let durability = durability_name(options.durability);
            context.ledger.write_line(format_args!("ok fill {group} {durability}"));
        }
        Err(error) => context.note_failure("fill", error),
    }
    done.is_ok()
}

fn purge(context: &WorkloadContext<'_>, group: i64) {
    context.ledger.write_line(format_args!("try purge {group}"));
    let key = Row::new().with("p", group);
    let durability = context.durability();
    let table = context.store.table("purged");
    match table.and_then(|table| table.multi_delete(&key, None, &[], durability)) {
        Ok(_) => {
            let durability = durability_name(durability);
            context.ledger.write_line(format_args!("ok purge {group} {durability}"));
        }
        Err(error) => context.note_failure("purge", error),
    }
}
