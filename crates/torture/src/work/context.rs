//! What the threads of a workload share.

use std::fmt::Display;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use tonnage::{Durability, Store, WriteOptions};

use crate::ledger::Ledger;
use crate::workload_kind::WorkloadKind;

/// Failed calls after which a workload gives up: a store with a bad disk refuses everything.
const FAILURES_MAX: u64 = 60;

/// What a working process is to do.
pub(crate) struct WorkPlan {
    pub(crate) store: PathBuf,
    pub(crate) ledger: PathBuf,
    pub(crate) kind: WorkloadKind,
    pub(crate) seed: u64,
    pub(crate) millis: u64,
    /// Processes that worked on the store before: keys differ from round to round.
    pub(crate) round: i64,
    /// The workload ends when the ledger has grown by this much.
    pub(crate) ledger_bytes_max: u64,
}

/// What the threads of a workload share.
pub(super) struct WorkloadContext<'a> {
    pub(super) plan: &'a WorkPlan,
    pub(super) store: &'a Store,
    pub(super) ledger: &'a Arc<Ledger>,
    pub(super) stop: &'a AtomicBool,
    pub(super) failures: &'a AtomicU64,
    /// Numbers the phase between two openings, over all rounds.
    pub(super) round: i64,
}

impl WorkloadContext<'_> {
    pub(super) fn goes_on(&self) -> bool {
        !self.stop.load(Ordering::SeqCst)
    }

    pub(super) fn has(&self, part: &str) -> bool {
        self.plan.kind.has(part)
    }

    /// The durability of most writes.
    pub(super) fn durability(&self) -> Durability {
        if self.has("soft") { Durability::Write } else { Durability::Fsync }
    }

    pub(super) fn options(&self) -> WriteOptions {
        WriteOptions { durability: self.durability(), ..WriteOptions::default() }
    }

    /// Notes an error; what was tried stays open.
    pub(super) fn note_failure(&self, what: &str, error: impl Display) {
        self.ledger.write_failure(what, error);
        if self.failures.fetch_add(1, Ordering::SeqCst) >= FAILURES_MAX {
            self.stop.store(true, Ordering::SeqCst);
        }
    }

    pub(super) fn note_wrong_answer(&self, text: impl Display) {
        self.ledger.write_line(format_args!("wrong {text}"));
    }
}
