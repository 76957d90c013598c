//! Makes and drops an index beside the rest, and makes checkpoints.

use std::path::Path;
use std::time::Duration;

use super::context::WorkloadContext;

pub(super) fn rebuild(context: &WorkloadContext<'_>) {
    let steps = [
        ("create", "CREATE INDEX IF NOT EXISTS loaded_vg ON loaded (v, g)"),
        ("drop", "DROP INDEX loaded_vg ON loaded"),
    ];
    while context.goes_on() {
        for (step, sql) in steps {
            context.ledger.write_line(format_args!("try index {step}"));
            match context.store.execute(sql) {
                Ok(_) => context.ledger.write_line(format_args!("ok index {step}")),
                Err(error) => {
                    context.note_failure("rebuild", error);
                    break;
                }
            }
        }
    }
}

pub(super) fn checkpoint(context: &WorkloadContext<'_>) {
    let base = context.plan.store.parent().unwrap_or(Path::new("."));
    for turn in 0.. {
        // The first one comes soon: a workload that has said enough ends long before its time, and
        // most states that are rebuilt of it would hold none.
        let wait_ms = (context.plan.millis / 100) << turn.min(4);
        std::thread::sleep(Duration::from_millis(wait_ms));
        if !context.goes_on() {
            return;
        }
        let number = context.round * 100 + turn;
        context.ledger.write_line(format_args!("try checkpoint {number}"));
        match context.store.checkpoint(&base.join(format!("checkpoint{number}"))) {
            Ok(()) => context.ledger.write_line(format_args!("ok checkpoint {number}")),
            Err(error) => context.note_failure("checkpoint", error),
        }
    }
}
