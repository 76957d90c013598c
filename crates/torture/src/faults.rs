//! I/O faults: the n-th call of a class fails, once, a few times or for ever.
//!
//! The workload continues as well as it can. Then the store is opened without faults and judged.
//! After a failed fsync it is also judged as the kernel may leave it: the pages that could not be
//! written are gone.

use std::collections::BTreeMap;
use std::fs;

use tonnage_testkit::try_copy_tree;

use crate::fallible::Fallible;
use crate::judge::Loss;
use crate::ledger::last_checkpoints;
use crate::options::TortureOptions;
use crate::random::SeededRandom;
use crate::replay::{Model, Replay};
use crate::report::{ReportSubject, TortureReport};
use crate::scratch::{Scratch, WorkOptions, progress};
use crate::trace::{Trace, TraceRecord};
use crate::workload_kind::{FAULTS, WorkloadKind};

/// The default number of faults.
const RUNS: u64 = 120;

/// Classes of calls with the errors that they may meet.
const CLASSES: [(&str, &[&str]); 6] = [
    ("fsync", &["EIO", "EIO", "ENOSPC"]),
    ("write", &["EIO", "ENOSPC", "SHORT", "EINTR"]),
    ("read", &["EIO", "SHORT", "EINTR"]),
    ("open", &["EIO", "EMFILE"]),
    ("meta", &["EIO", "ENOSPC"]),
    ("trunc", &["EIO", "ENOSPC"]),
];

/// Parts of paths at which faults are aimed.
const PARTS: [&str; 10] = [
    "MANIFEST", ".log", ".sst", "CURRENT", "/load/", "TONNAGE", "SHARD", "IDENTITY", "OPTIONS",
    ".dbtmp",
];

/// What every third run does in turn, each at its first call, then at its second, and so on: the
/// files on which a store depends.
const AIMED: [(&str, &str, &str); 10] = [
    ("fsync", "EIO", "MANIFEST"),
    ("fsync", "EIO", ".log"),
    ("fsync", "EIO", ".sst"),
    ("write", "EIO", "MANIFEST"),
    ("write", "EIO", ".log"),
    ("write", "ENOSPC", ".sst"),
    ("meta", "EIO", ".sst"),
    ("fsync", "ENOSPC", "MANIFEST"),
    ("write", "SHORT", "MANIFEST"),
    ("meta", "EIO", "CURRENT"),
];

/// A fault, as the shim reads it.
struct InjectedFault {
    class: String,
    error: String,
    spec: String,
}

impl InjectedFault {
    fn new(class: &str, call: u64, error: &str, count: i64, part: &str) -> Self {
        let part = if part.is_empty() { String::new() } else { format!(":{part}") };
        let spec = format!("{class}:{call}:{error}:{count}{part}");
        Self { class: class.to_owned(), error: error.to_owned(), spec }
    }

    fn parse(spec: &str) -> Fallible<Self> {
        let words: Vec<&str> = spec.split(':').collect();
        let [class, _, error, ..] = words[..] else {
            return Err("a fault is class:n:error:count[:part]".into());
        };
        Ok(Self { class: class.to_owned(), error: error.to_owned(), spec: spec.to_owned() })
    }
}

pub(crate) fn run(options: &TortureOptions, report: &mut TortureReport) -> Fallible<()> {
    let scratch = Scratch::make(&options.directory, "faults")?;
    let mut calls = CallCounts::default();
    for unit in options.units(RUNS) {
        let seed = options.seed + unit;
        let mut random = SeededRandom::new(seed);
        let kind = options.kind(&FAULTS, random.below(1_000))?;
        let fault = match &options.fault {
            Some(fault) => InjectedFault::parse(fault)?,
            None if seed.is_multiple_of(3) => aimed(seed / 3),
            None => calls.random_fault(options, &scratch, &kind, &mut random)?,
        };
        one_run(options, &scratch, &kind, seed, &fault, report)?;
    }
    Ok(())
}

fn aimed(turn: u64) -> InjectedFault {
    let (class, error, part) = AIMED[turn as usize % AIMED.len()];
    let call = turn / AIMED.len() as u64 % 24 + 1;
    InjectedFault::new(class, call, error, 1, part)
}

/// How many calls a workload makes in a run without faults, by kind and class.
#[derive(Default)]
struct CallCounts(BTreeMap<String, BTreeMap<String, u64>>);

impl CallCounts {
    fn of(
        &mut self,
        options: &TortureOptions,
        scratch: &Scratch,
        kind: &WorkloadKind,
    ) -> Fallible<&BTreeMap<String, u64>> {
        if !self.0.contains_key(kind.name()) {
            scratch.clear()?;
            let complaints = scratch.work(&work(options, kind, 1, None))?.complaints(&[0]);
            if !complaints.is_empty() {
                return Err(complaints.join(" ").into());
            }
            let count = |(class, _): &(&str, _)| ((*class).to_owned(), scratch.calls(class).max(1));
            self.0.insert(kind.name().to_owned(), CLASSES.iter().map(count).collect());
        }
        Ok(&self.0[kind.name()])
    }

    fn random_fault(
        &mut self,
        options: &TortureOptions,
        scratch: &Scratch,
        kind: &WorkloadKind,
        random: &mut SeededRandom,
    ) -> Fallible<InjectedFault> {
        let (class, errors) = *random.choose(&CLASSES);
        let error = *random.choose(errors);
        let most = self.of(options, scratch, kind)?[class];
        // Interrupted for ever, a call would never return: that is no fault of a disk.
        let passes = error == "EINTR" || (class, error) == ("read", "SHORT");
        let count = *random.choose(if passes { &[1, 3] } else { &[1, 1, 1, 5, -1][..] });
        let part = if random.chance(60) { "" } else { *random.choose(&PARTS) };
        let most = match part {
            "" if random.chance(50) => most.min(60),
            "" => most,
            _ => 8,
        };
        Ok(InjectedFault::new(class, 1 + random.below(most), error, count, part))
    }
}

fn work<'a>(
    options: &TortureOptions,
    kind: &'a WorkloadKind,
    seed: u64,
    fault: Option<&InjectedFault>,
) -> WorkOptions<'a> {
    WorkOptions {
        kind,
        seed,
        millis: options.millis / 2,
        round: 0,
        ledger_bytes_max: options.ledger_bytes_max,
        is_traced: fault.is_some_and(|fault| fault.class == "fsync"),
        fault: fault.map(|fault| fault.spec.clone()),
    }
}

fn one_run(
    options: &TortureOptions,
    scratch: &Scratch,
    kind: &WorkloadKind,
    seed: u64,
    fault: &InjectedFault,
    report: &mut TortureReport,
) -> Fallible<()> {
    scratch.clear()?;
    let work = work(options, kind, seed, Some(fault));
    let ended = scratch.work(&work)?;
    report.add("faults met", u64::from(scratch.calls("hits") > 0));
    progress(format_args!("faults: {} seed {seed}: {}", kind.name(), fault.spec));
    let checkpoints = last_checkpoints(&scratch.truncate_ledger()?);
    // Copied before it is judged: to open a store changes it.
    let after = scratch.path("after");
    try_copy_tree(&scratch.base(), &after)?;
    let mut complaints = ended.complaints(&[0]);
    complaints.extend(scratch.judge(Loss::Process, None)?);
    report.add("checkpoints judged", checkpoints.len() as u64);
    complaints.extend(scratch.judge_checkpoints(Loss::Process, &checkpoints)?);
    let variant = format!("{} {}", fault.class, fault.error);
    let subject = subject(scratch, kind, seed, fault, &variant);
    report.verdict(&subject, &complaints, |directory| {
        fs::copy(scratch.ledger(), directory.join("ledger"))?;
        try_copy_tree(&after, &directory.join("state"))
    })?;
    fs::remove_dir_all(&after)?;
    // A state that is bad as it is would complain of the same without its pages.
    if work.is_traced && complaints.is_empty() {
        judge_dropped_pages(scratch, kind, seed, fault, report)?;
    }
    Ok(())
}

fn subject<'a>(
    scratch: &Scratch,
    kind: &WorkloadKind,
    seed: u64,
    fault: &InjectedFault,
    variant: &'a str,
) -> ReportSubject<'a> {
    let (kind, spec) = (kind.name(), &fault.spec);
    let plain = spec.replace([':', '/'], "_");
    ReportSubject {
        test: "faults",
        variant,
        name: format!("faults-{kind}-{seed}-{plain}-{}", variant.replace(' ', "-")),
        command: format!(
            "torture faults --runs 1 --seed {seed} --kind {kind} --fault '{spec}' # or: {}",
            scratch.command_to_judge(Loss::Process)
        ),
    }
}

/// A process that gets an error from fsync must not take a later success for an answer about the
/// same pages: the kernel has dropped them.
fn judge_dropped_pages(
    scratch: &Scratch,
    kind: &WorkloadKind,
    seed: u64,
    fault: &InjectedFault,
    report: &mut TortureReport,
) -> Fallible<()> {
    let trace = Trace::read(&scratch.trace())?;
    // The fault may never have been met: then the kernel dropped nothing.
    if !trace.records.iter().any(|record| matches!(record, TraceRecord::SyncFailed { .. })) {
        return Ok(());
    }
    let mut replay = Replay::new(&trace)?;
    replay.play_to(usize::MAX);
    // `Entries` loses all contents that were not synced, `Kill` the dropped pages alone: the most
    // and the least.
    for model in [Model::Entries, Model::Kill] {
        scratch.clear_base()?;
        replay.build(&scratch.base(), model, seed)?;
        // What was merely written may be among the dropped pages, as after a power loss.
        let complaints = scratch.judge(Loss::Power, None)?;
        let variant = format!("pages dropped, {}", model.name());
        let subject = subject(scratch, kind, seed, fault, &variant);
        report.verdict(&subject, &complaints, |directory| {
            fs::copy(scratch.ledger(), directory.join("ledger"))?;
            fs::copy(scratch.trace(), directory.join("trace"))?;
            replay.build(&directory.join("state"), model, seed)
        })?;
    }
    Ok(())
}
