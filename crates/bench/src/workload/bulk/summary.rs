//! What the runs say together: ratios, charts, and what to know about them.

use tonnage::Durability;

use super::calls::{CallMethod, PutOrGet};
use super::{BulkBenchOptions, DataKind, KeyPart};
use crate::report::{Chart, Report, Run};
use crate::workload::options::lower;

/// The figures that say how many times the rate of a loop a bulk call reaches.
const RATIOS: [(CallMethod, &str); 2] = [
    (CallMethod::Single, "times_single_loop"),
    (CallMethod::Threads, "times_single_loop_on_threads"),
];

/// Adds figures, notes and charts that compare the runs of a report.
pub(super) fn add_to(report: &mut Report, options: &BulkBenchOptions) {
    let all = report.runs.clone();
    report.runs.iter_mut().for_each(|run| add_ratios(run, &all));
    add_notes(report, options);
    report.notes.extend(verdicts(&report.runs, options));
    report.charts.extend(charts(&report.runs, options));
}

fn add_notes(report: &mut Report, options: &BulkBenchOptions) {
    report.note(
        "Rates of bulk calls are rows per second; those of loops are operations per second, \
         rows_per_second stands beside them.",
    );
    let BulkBenchOptions { singles, singles_fsync, .. } = *options;
    report.note_if(
        options.durabilities.contains(&Durability::Fsync),
        &format!(
            "Loops whose every put waits for the disk have {} operations, others {singles}: their \
             rate does not depend on how many there are.",
            singles_fsync.min(singles)
        ),
    );
    report.note_if(
        options.keys == KeyPart::Partial && options.data.contains(&DataKind::Pairs),
        "Pairs are got by whole keys: partial keys are a matter of tables.",
    );
    report.note("Gets are warm: all keys are got once before anything is measured.");
}

fn rows_per_second(run: &Run) -> Option<f64> {
    run.figures.get("rows_per_second").copied()
}

/// How many times the rate of each loop of the same kind a bulk run reaches.
fn add_ratios(run: &mut Run, all: &[Run]) {
    let is_bulk = run.label("method") == CallMethod::Bulk.name();
    let Some(bulk) = rows_per_second(run).filter(|_| is_bulk) else { return };
    for (method, figure) in RATIOS {
        let mut labels = run.labels.clone();
        labels.remove("parallelism");
        labels.insert("method".to_owned(), method.name().to_owned());
        let is_loop = |other: &&Run| other.target == run.target && other.labels == labels;
        let rate = all.iter().find(is_loop).and_then(rows_per_second);
        let ratio = rate.filter(|rate| *rate > 0.0).map(|rate| bulk / rate);
        run.figures.extend(ratio.map(|ratio| (figure.to_owned(), ratio)));
    }
}

/// The runs with one kind of data in one direction: of puts those of the first durability, of gets
/// those without the sweep.
fn chief<'r>(
    runs: &'r [Run],
    options: &BulkBenchOptions,
    data: DataKind,
    phase: PutOrGet,
) -> impl Iterator<Item = &'r Run> {
    let durability = lower(&options.durabilities[0]);
    runs.iter().filter(move |run| {
        (run.label("data"), run.label("phase")) == (data.name(), phase.name())
            && !run.labels.contains_key("parallelism")
            && (phase == PutOrGet::Get || run.label("durability") == durability)
    })
}

/// A sentence for each bulk call that has both loops beside it.
fn verdicts(runs: &[Run], options: &BulkBenchOptions) -> Vec<String> {
    let verdict = |run: &Run| {
        let [single, threads] =
            RATIOS.map(|(_, name)| run.figures.get(name).copied().filter(|ratio| *ratio > 0.0));
        let (single, threads, count) = (single?, threads?, options.threads);
        let (target, data, phase) = (&run.target, run.label("data"), run.label("phase"));
        Some(format!(
            "{target}, {data}: bulk {phase} does {single:.1} times the rows of the loop on one \
             thread, {threads:.1} times those of the loop on {count} threads."
        ))
    };
    let of_data = |data: &DataKind| PutOrGet::ALL.map(|phase| chief(runs, options, *data, phase));
    options.data.iter().flat_map(of_data).flatten().filter_map(verdict).collect()
}

fn charts(runs: &[Run], options: &BulkBenchOptions) -> Vec<Chart> {
    let mut charts: Vec<Chart> = PutOrGet::ALL.map(|phase| methods(runs, options, phase)).into();
    if options.parallelism.len() > 1 {
        charts.push(sweep(runs, options));
    }
    if options.durabilities.len() > 1 {
        charts.extend(options.data.iter().map(|data| durabilities(runs, options, *data)));
    }
    charts.retain(Chart::is_drawn);
    charts
}

/// The methods side by side, for each kind of data.
fn methods(runs: &[Run], options: &BulkBenchOptions, phase: PutOrGet) -> Chart {
    let durability = lower(&options.durabilities[0]);
    let title = match phase {
        PutOrGet::Put => format!("Put: bulk against the loop, durability {durability}"),
        PutOrGet::Get => "Get: bulk against the loop".to_owned(),
    };
    let mut chart = Chart::bars(&title, "data", "rows/s");
    chart.categories = options.data.iter().map(DataKind::to_string).collect();
    let chief = options.data.iter().flat_map(|data| chief(runs, options, *data, phase));
    chief.for_each(|run| add_bar(&mut chart, "data", run));
    chart
}

/// Puts by what they survive.
fn durabilities(runs: &[Run], options: &BulkBenchOptions, data: DataKind) -> Chart {
    let mut chart = Chart::bars(&format!("Put by durability: {data}"), "durability", "rows/s");
    chart.categories = options.durabilities.iter().map(lower).collect();
    let is_put = |run: &&Run| run.label("data") == data.name() && run.label("phase") == "put";
    let is_drawn = |run: &&Run| is_put(run) && run.label("method") != CallMethod::Threads.name();
    runs.iter().filter(is_drawn).for_each(|run| add_bar(&mut chart, "durability", run));
    chart
}

/// A bar for each method on each system.
fn add_bar(chart: &mut Chart, category: &str, run: &Run) {
    let name = format!("{} {}", run.target, run.label("method"));
    chart.add_bar(run.label(category), &name, rows_per_second(run));
}

/// Bulk gets over the requests in flight.
fn sweep(runs: &[Run], options: &BulkBenchOptions) -> Chart {
    let requests = "requests in flight";
    let mut chart = Chart::lines("Bulk get by requests in flight", requests, "rows/s");
    let of = |system| runs.iter().filter(move |run| run.target == system);
    for run in options.run.systems.iter().flat_map(|system| of(system.name())) {
        let requests = run.label("parallelism").parse().ok();
        if let Some(point) = requests.zip(rows_per_second(run)) {
            chart.add(&format!("{} {}", run.target, run.label("data")), point);
        }
    }
    chart
}
