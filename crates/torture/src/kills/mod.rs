//! Kills workloads at random times and at chosen calls, and opens their stores again. Does the same
//! to `tonnage load --resume` if the program is there.

mod program;

use std::fs;
use std::time::Duration;

use tonnage_testkit::try_copy_tree;

use crate::fallible::Fallible;
use crate::judge::Loss;
use crate::options::TortureOptions;
use crate::random::SeededRandom;
use crate::report::{ReportSubject, TortureReport};
use crate::scratch::{Scratch, WorkOptions, progress};
use crate::workload_kind::{POWER, WorkloadKind};

/// The default number of stores.
const RUNS: u64 = 24;

/// Kills of one store.
const KILLS: i64 = 4;

pub(crate) fn run(options: &TortureOptions, report: &mut TortureReport) -> Fallible<()> {
    let scratch = Scratch::make(&options.directory, "kills")?;
    let program = program::find(options);
    if program.is_none() {
        progress(format_args!("kills: no program tonnage: `load --resume` is left out"));
    }
    for unit in options.units(RUNS) {
        let seed = options.seed + unit;
        match &program {
            Some(program) if unit % 4 == 3 => program::one_store(program, &scratch, seed, report)?,
            _ => one_store(options, &scratch, &options.kind(&POWER, unit)?, seed, report)?,
        }
    }
    Ok(())
}

/// Works on one store and is killed, again and again; after each kill the store is judged.
fn one_store(
    options: &TortureOptions,
    scratch: &Scratch,
    kind: &WorkloadKind,
    seed: u64,
    report: &mut TortureReport,
) -> Fallible<()> {
    scratch.clear()?;
    let mut random = SeededRandom::new(seed);
    for round in 0..KILLS {
        let at_call = random.chance(60).then(|| kill_at_call(&mut random));
        let variant = if at_call.is_some() { "at a call" } else { "at any moment" };
        let work = WorkOptions {
            kind,
            seed: seed + round as u64 * 1_000_000,
            millis: options.millis,
            round,
            ledger_bytes_max: options.ledger_bytes_max,
            is_traced: false,
            fault: at_call.clone(),
        };
        let life = Duration::from_millis(20 + random.below(options.millis));
        let ended = match at_call {
            Some(_) => scratch.work(&work)?,
            None => scratch.work_for(&work, life)?,
        };
        let is_killed = ended.was_killed() || ended.status.is_none();
        report.add("kills", u64::from(is_killed));
        // The next round appends to the ledger: a line that was cut short would spoil its first
        // one.
        scratch.truncate_ledger()?;
        // Copied before it is judged: to open a store changes it.
        let after = scratch.path("after");
        try_copy_tree(&scratch.base(), &after)?;
        let mut complaints =
            if ended.was_killed() { Vec::new() } else { end_of(&ended, at_call.is_some()) };
        complaints.extend(scratch.judge(Loss::Process, None)?);
        let name = format!("kills-{}-{seed}-{round}", kind.name());
        let command = scratch.command_to_judge(Loss::Process);
        let subject = ReportSubject { test: "kills", variant, name, command };
        report.verdict(&subject, &complaints, |directory| {
            fs::copy(scratch.ledger(), directory.join("ledger"))?;
            try_copy_tree(&after, &directory.join("state"))
        })?;
        fs::remove_dir_all(&after)?;
        // A store that is wrong once stays wrong: further rounds would complain of the same.
        if !complaints.is_empty() {
            break;
        }
    }
    progress(format_args!("kills: {} seed {seed}", kind.name()));
    Ok(())
}

/// A process that was to be killed by us after a while has not hung.
fn end_of(ended: &crate::child::ProcessResult, is_bounded: bool) -> Vec<String> {
    if ended.status.is_none() && !is_bounded { Vec::new() } else { ended.complaints(&[0]) }
}

fn kill_at_call(random: &mut SeededRandom) -> String {
    let (class, most) = *random.choose(&[
        ("write", 2_000),
        ("fsync", 300),
        ("meta", 60),
        ("open", 150),
        ("trunc", 40),
        ("write", 60),
    ]);
    format!("{class}:{}:KILL:1", 1 + random.below(most))
}
