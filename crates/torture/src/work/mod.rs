//! The process that is tortured: workloads on one store, with every step in the ledger.

mod bulk;
mod ddl;
mod others;
mod pairs;
mod purge;
mod push;
mod single;

use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use tonnage::{Durability, Result, Store, WriteOptions};

use crate::content::{TABLES, builder};
use crate::kind::Kind;
use crate::ledger::Ledger;

/// Failed calls after which a workload gives up: a store with a bad disk refuses everything.
const FAILURES_MAX: u64 = 60;

/// A part of a workload, in a thread of its own.
type Part = fn(&Scene<'_>);

/// What a working process is to do.
pub(crate) struct Plan {
    pub(crate) store: PathBuf,
    pub(crate) ledger: PathBuf,
    pub(crate) kind: Kind,
    pub(crate) seed: u64,
    pub(crate) millis: u64,
    /// Processes that worked on the store before: keys differ from round to round.
    pub(crate) round: i64,
    /// The workload ends when the ledger has grown by this much.
    pub(crate) ledger_bytes_max: u64,
}

/// What the threads of a workload share.
struct Scene<'a> {
    plan: &'a Plan,
    store: &'a Store,
    ledger: &'a Arc<Ledger>,
    stop: &'a AtomicBool,
    failures: &'a AtomicU64,
    /// Numbers the phase between two openings, over all rounds.
    round: i64,
}

impl Scene<'_> {
    fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::SeqCst)
    }

    fn has(&self, part: &str) -> bool {
        self.plan.kind.has(part)
    }

    /// The durability of most writes.
    fn durability(&self) -> Durability {
        if self.has("soft") { Durability::Write } else { Durability::Fsync }
    }

    fn options(&self) -> WriteOptions {
        WriteOptions { durability: self.durability(), ..WriteOptions::default() }
    }

    /// Notes an error; what was tried stays open.
    fn failed(&self, what: &str, error: impl Display) {
        self.ledger.failed(what, error);
        if self.failures.fetch_add(1, Ordering::SeqCst) >= FAILURES_MAX {
            self.stop.store(true, Ordering::SeqCst);
        }
    }

    fn wrong(&self, text: impl Display) {
        self.ledger.say(format_args!("wrong {text}"));
    }
}

/// Works as planned, in one phase or (with `reopen`) in three, with the store closed between them.
pub(crate) fn work(plan: &Plan) -> std::io::Result<()> {
    let ledger = Arc::new(Ledger::append(&plan.ledger)?);
    let phases = if plan.kind.has("reopen") { 3 } else { 1 };
    let failures = AtomicU64::new(0);
    for phase in 0..phases {
        if let Err(error) = work_phase(plan, &ledger, &failures, plan.round * 10 + phase, phases) {
            ledger.failed("open", error);
            break;
        }
    }
    Ok(())
}

fn work_phase(
    plan: &Plan,
    ledger: &Arc<Ledger>,
    failures: &AtomicU64,
    round: i64,
    phases: i64,
) -> Result<()> {
    let store = open(plan)?;
    ledger.say(format_args!("try tables"));
    store.execute(TABLES)?;
    ledger.say(format_args!("ok tables"));
    let stop = AtomicBool::new(false);
    let scene = Scene { plan, store: &store, ledger, stop: &stop, failures, round };
    let millis = plan.millis / phases as u64;
    std::thread::scope(|scope| {
        let (scene, kind) = (&scene, &plan.kind);
        if kind.has("single") {
            (0..2).for_each(|thread| drop(scope.spawn(move || single::run(scene, thread))));
        }
        let parts: [(&str, Part); 7] = [
            ("bulk", bulk::run),
            ("push", push::run),
            ("ddl", ddl::run),
            ("pairs", pairs::run),
            ("rebuild", others::rebuild),
            ("purge", purge::run),
            ("checkpoint", others::checkpoint),
        ];
        for (_, run) in parts.into_iter().filter(|(part, _)| kind.has(part)) {
            scope.spawn(move || run(scene));
        }
        wait(scene, Duration::from_millis(millis), plan.ledger_bytes_max / phases as u64);
    });
    if plan.kind.has("settle")
        && let Err(error) = store.settle()
    {
        ledger.failed("settle", error);
    }
    Ok(())
}

/// Stops the workload after a while, or when enough was done.
fn wait(scene: &Scene<'_>, life: Duration, bytes_max: u64) {
    let (begun, bytes) = (Instant::now(), scene.ledger.bytes());
    while scene.goes_on() && begun.elapsed() < life && scene.ledger.bytes() - bytes < bytes_max {
        std::thread::sleep(Duration::from_millis(2));
    }
    scene.stop.store(true, Ordering::SeqCst);
}

fn open(plan: &Plan) -> Result<Store> {
    let mut builder = builder(&plan.store.display().to_string());
    if plan.kind.has("dirs") && !plan.store.join("TONNAGE").exists() {
        let base = plan.store.parent().unwrap_or(Path::new("."));
        builder = builder.data_directories((0..3).map(|n| base.join(format!("disk{n}/data"))));
    }
    builder.open()
}
