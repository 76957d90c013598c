//! Makes, alters and drops tables and indexes. Acknowledged changes must hold whatever happens.

use super::context::WorkloadContext;
use crate::content::member_row;
use crate::ledger::durability_name;

/// Rows put into each table.
const MEMBERS: i64 = 5;

pub(super) fn run(context: &WorkloadContext<'_>) {
    for number in context.round * 1_000.. {
        if !context.goes_on() {
            return;
        }
        one_table(context, number);
    }
}

fn one_table(context: &WorkloadContext<'_>, number: i64) {
    let create = format!("CREATE TABLE made{number} (k LONG, a STRING, PRIMARY KEY (k))");
    if !step(context, "create", number, &create) {
        return;
    }
    put_members(context, number);
    step(context, "alter", number, &format!("ALTER TABLE made{number} (ADD extra INTEGER)"));
    step(context, "index", number, &format!("CREATE INDEX ix ON made{number} (a)"));
    if number % 2 == 0 {
        step(context, "noindex", number, &format!("DROP INDEX ix ON made{number}"));
    }
    if number % 3 != 0 {
        step(context, "drop", number, &format!("DROP TABLE made{number}"));
    }
}

fn step(context: &WorkloadContext<'_>, step: &str, number: i64, sql: &str) -> bool {
    context.ledger.write_line(format_args!("try table {step} {number}"));
    let done = context.store.execute(sql);
    match &done {
        Ok(_) => context.ledger.write_line(format_args!("ok table {step} {number}")),
        Err(error) => context.note_failure(step, error),
    }
    done.is_ok()
}

fn put_members(context: &WorkloadContext<'_>, number: i64) {
    let table = match context.store.table(&format!("made{number}")) {
        Ok(table) => table,
        Err(error) => return context.note_wrong_answer(format_args!("a table just made: {error}")),
    };
    let options = context.options();
    let durability = durability_name(options.durability);
    for key in 0..MEMBERS {
        context.ledger.write_line(format_args!("try member {number} {key}"));
        match table.put(&member_row(key), &options) {
            Ok(_) => {
                context.ledger.write_line(format_args!("ok member {number} {key} {durability}"))
            }
            Err(error) => context.note_failure("member", error),
        }
    }
}
