//! Power loss: records a workload, then rebuilds and judges the states that a power loss at many
//! times may leave.

use std::fs;
use std::path::Path;

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
use crate::workload_kind::{POWER, WorkloadKind};

/// The default number of traced runs: each kind once.
const RUNS: u64 = POWER.len() as u64;

pub(crate) fn run(options: &TortureOptions, report: &mut TortureReport) -> Fallible<()> {
    let scratch = Scratch::make(&options.directory, "power")?;
    for unit in options.units(RUNS) {
        let kind = options.kind(&POWER, unit)?;
        one_run(options, &scratch, &kind, options.seed + unit, report)?;
    }
    Ok(())
}

fn one_run(
    options: &TortureOptions,
    scratch: &Scratch,
    kind: &WorkloadKind,
    seed: u64,
    report: &mut TortureReport,
) -> Fallible<()> {
    let before = record(options, scratch, kind, seed)?;
    let trace = Trace::read(&scratch.trace())?;
    count(&trace, report);
    progress(format_args!(
        "power: {} seed {seed}: {} calls recorded",
        kind.name(),
        trace.records.len()
    ));
    let mut random = SeededRandom::new(seed);
    let mut replay = Replay::new(&trace)?;
    for cut in cuts(&trace, options.cuts, &mut random) {
        // Asked before each cut: to judge all of one trace may take longer than there is time.
        if options.is_over() {
            return Ok(());
        }
        // Cuts ascend, and the replay only moves forward: each record is played once for all
        // states.
        replay.play_to(cut);
        for model in &options.models {
            let state = CutState { cut, model: *model, seed: random.next() };
            judge_state(scratch, &replay, kind, seed, &state, &before, report)?;
        }
    }
    Ok(())
}

/// Runs the workload under the shim. Gives what the ledger said before, after a crash.
fn record(
    options: &TortureOptions,
    scratch: &Scratch,
    kind: &WorkloadKind,
    seed: u64,
) -> Fallible<Vec<u8>> {
    scratch.clear()?;
    let mut work = WorkOptions {
        kind,
        seed,
        millis: options.millis,
        round: 0,
        ledger_bytes_max: options.ledger_bytes_max,
        is_traced: false,
        fault: None,
    };
    let mut before = Vec::new();
    if kind.has("crash") {
        let call = 50 + SeededRandom::new(seed).below(1_500);
        work.fault = Some(format!("write:{call}:KILL:1"));
        let ended = scratch.work(&work)?;
        // A workload that never came to that call has ended by itself, which will do.
        if !ended.was_killed() && !ended.complaints(&[0]).is_empty() {
            return Err(ended.complaints(&[0]).join(" ").into());
        }
        before = scratch.truncate_ledger()?;
        // Another round has other keys or later generations: what the ledger says of the first one
        // still holds.
        work.round = 1;
    }
    let ended = scratch.work(&WorkOptions { is_traced: true, fault: None, ..work })?;
    match ended.complaints(&[0]) {
        complaints if complaints.is_empty() => Ok(before),
        complaints => Err(format!("{} seed {seed}: {}", kind.name(), complaints.join(" ")).into()),
    }
}

fn count(trace: &Trace, report: &mut TortureReport) {
    let syncs = trace.records.iter().filter(|record| matches!(record, TraceRecord::Sync { .. }));
    let acknowledged = trace.records.iter().filter(|record| trace.is_acknowledgement(record));
    report.add("recorded calls", trace.records.len() as u64);
    report.add("syncs", syncs.count() as u64);
    report.add("acknowledgements", acknowledged.count() as u64);
    report.add("traced runs", 1);
}

/// Times to judge, in order: anywhere, near changes that a disk may reorder, right after
/// acknowledgements, and while the store is being created.
fn cuts(trace: &Trace, count: usize, random: &mut SeededRandom) -> Vec<usize> {
    let (start, end) = (trace.start(), trace.records.len());
    let after = |is_wanted: &dyn Fn(&TraceRecord) -> bool| -> Vec<usize> {
        (start..end).filter(|at| is_wanted(&trace.records[*at])).map(|at| at + 1).collect()
    };
    let is_write =
        |record: &TraceRecord| matches!(record, TraceRecord::Write { .. } | TraceRecord::Ledger(_));
    let marks = after(&|record| !is_write(record));
    let acknowledged = after(&|record| trace.is_acknowledgement(record));
    let first = acknowledged.first().copied().unwrap_or(end).max(start + 1);
    let mut cuts: Vec<usize> = Vec::new();
    for _ in 0..count {
        let anywhere = start + random.below((end - start) as u64 + 1) as usize;
        cuts.push(match random.below(100) {
            0..35 => anywhere,
            35..70 if !marks.is_empty() => random.choose(&marks) - random.below(2) as usize,
            70..90 if !acknowledged.is_empty() => *random.choose(&acknowledged),
            _ => start + random.below((first - start) as u64 + 1) as usize,
        });
    }
    cuts.sort_unstable();
    cuts.dedup();
    cuts
}

/// Which state of a trace.
struct CutState {
    cut: usize,
    model: Model,
    seed: u64,
}

fn judge_state(
    scratch: &Scratch,
    replay: &Replay<'_>,
    kind: &WorkloadKind,
    run: u64,
    state: &CutState,
    before: &[u8],
    report: &mut TortureReport,
) -> Fallible<()> {
    let complaints = judge(scratch, replay, state, before)?;
    report.add("checkpoints judged", last_checkpoints(replay.ledger()).len() as u64);
    let CutState { cut, model, seed } = *state;
    let name = format!("power-{}-{run}-{cut}-{}", kind.name(), model.name());
    // Cut, model and seed rebuild a bad state from the trace, which is kept beside it.
    let command = format!(
        "torture replay STATE/trace --cut {cut} --model {} --seed {seed} --before STATE/before",
        model.name()
    );
    let subject = ReportSubject { test: "power", variant: model.name(), name, command };
    report.verdict(&subject, &complaints, |directory| {
        fs::copy(scratch.trace(), directory.join("trace"))?;
        fs::copy(scratch.ledger(), directory.join("ledger"))?;
        fs::write(directory.join("before"), before)?;
        replay.build(&directory.join("state"), model, seed)
    })?;
    Ok(())
}

/// Rebuilds a state in place of the original, because a store remembers its data
/// directories, and judges it and the checkpoints beside it.
fn judge(
    scratch: &Scratch,
    replay: &Replay<'_>,
    state: &CutState,
    before: &[u8],
) -> Fallible<Vec<String>> {
    scratch.clear_base()?;
    replay.build(&scratch.base(), state.model, state.seed)?;
    fs::write(scratch.ledger(), [before, replay.ledger()].concat())?;
    let loss = if state.model == Model::Kill { Loss::Process } else { Loss::Power };
    let mut complaints = scratch.judge(loss, None)?;
    complaints.extend(scratch.judge_checkpoints(loss, &last_checkpoints(replay.ledger()))?);
    Ok(complaints)
}

/// Rebuilds and judges one state of a trace that was kept.
pub(crate) fn replay(options: &TortureOptions, trace: &Path) -> Fallible<Vec<String>> {
    let recorded = Trace::read(trace)?;
    let parent = Path::new(recorded.base()?).parent().unwrap_or(Path::new("/"));
    let scratch = Scratch::at(parent)?;
    let mut replay = Replay::new(&recorded)?;
    replay.play_to(options.cut.ok_or("give --cut, the number of calls that happened")?);
    let before = match &options.before {
        Some(before) => fs::read(before)?,
        None => Vec::new(),
    };
    let model = *options.models.first().ok_or("give --model")?;
    let state = CutState { cut: 0, model, seed: options.seed };
    let complaints = judge(&scratch, &replay, &state, &before)?;
    if let Some(directory) = &options.into {
        scratch.clear_base()?;
        replay.build(&scratch.base(), model, options.seed)?;
        try_copy_tree(&scratch.base(), directory)?;
    }
    Ok(complaints)
}
