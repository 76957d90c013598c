//! The process that is tortured: workloads on one store, with every step in the ledger.

mod bulk;
mod context;
mod ddl;
mod pairs;
mod purge;
mod push;
mod rebuild_and_checkpoint;
mod single;

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tonnage::{Result, Store};

use crate::content::{TABLES, builder};
use crate::ledger::Ledger;
pub(crate) use context::WorkPlan;
use context::WorkloadContext;

/// A part of a workload, in a thread of its own.
type WorkloadPart = fn(&WorkloadContext<'_>);

/// Works as planned, in one phase or (with `reopen`) in three, with the store closed between them.
pub(crate) fn work(plan: &WorkPlan) -> std::io::Result<()> {
    let ledger = Arc::new(Ledger::append(&plan.ledger)?);
    let phases = if plan.kind.has("reopen") { 3 } else { 1 };
    let failures = AtomicU64::new(0);
    for phase in 0..phases {
        if let Err(error) = work_phase(plan, &ledger, &failures, plan.round * 10 + phase, phases) {
            ledger.write_failure("open", error);
            break;
        }
    }
    Ok(())
}

fn work_phase(
    plan: &WorkPlan,
    ledger: &Arc<Ledger>,
    failures: &AtomicU64,
    round: i64,
    phases: i64,
) -> Result<()> {
    let store = open(plan)?;
    // Written before the call: what was tried may be there, whether or not an answer came.
    ledger.write_line(format_args!("try tables"));
    store.execute(TABLES)?;
    ledger.write_line(format_args!("ok tables"));
    let stop = AtomicBool::new(false);
    let context = WorkloadContext { plan, store: &store, ledger, stop: &stop, failures, round };
    let millis = plan.millis / phases as u64;
    std::thread::scope(|scope| {
        let (context, kind) = (&context, &plan.kind);
        if kind.has("single") {
            (0..2).for_each(|thread| drop(scope.spawn(move || single::run(context, thread))));
        }
        // These names are also in `workload_kind::PARTS`, from which runs are put together.
        let parts: [(&str, WorkloadPart); 7] = [
            ("bulk", bulk::run),
            ("push", push::run),
            ("ddl", ddl::run),
            ("pairs", pairs::run),
            ("rebuild", rebuild_and_checkpoint::rebuild),
            ("purge", purge::run),
            ("checkpoint", rebuild_and_checkpoint::checkpoint),
        ];
        for (_, run) in parts.into_iter().filter(|(part, _)| kind.has(part)) {
            scope.spawn(move || run(context));
        }
        wait(context, Duration::from_millis(millis), plan.ledger_bytes_max / phases as u64);
    });
    if plan.kind.has("settle")
        && let Err(error) = store.settle()
    {
        ledger.write_failure("settle", error);
    }
    Ok(())
}

/// Stops the workload after a while, or when enough was done.
fn wait(context: &WorkloadContext<'_>, life: Duration, bytes_max: u64) {
    let (begun, bytes) = (Instant::now(), context.ledger.bytes());
    while context.goes_on() && begun.elapsed() < life && context.ledger.bytes() - bytes < bytes_max
    {
        std::thread::sleep(Duration::from_millis(2));
    }
    context.stop.store(true, Ordering::SeqCst);
}

fn open(plan: &WorkPlan) -> Result<Store> {
    let mut builder = builder(&plan.store.display().to_string());
    if plan.kind.has("dirs") && !plan.store.join("TONNAGE").exists() {
        let base = plan.store.parent().unwrap_or(Path::new("."));
        builder = builder.data_directories((0..3).map(|n| base.join(format!("disk{n}/data"))));
    }
    builder.open()
}
