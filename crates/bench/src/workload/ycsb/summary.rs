//! What the report has beside the numbers, and pictures across the runs.

use std::collections::BTreeMap;

use super::{CoreOptions, Mix, Phase, Workload, YcsbOptions};
use crate::report::{self, Chart, Report, Run, distinct, named};
use crate::workload::options::seconds;

/// The options, as names and values.
pub(super) fn settings(options: &YcsbOptions) -> BTreeMap<String, String> {
    let load = if options.bulk_load { "bulk put" } else { "single inserts" };
    let mut settings = options.settings();
    settings.extend(named([
        ("warm_up_seconds", seconds(&options.run.warm_up)),
        ("load", load.to_owned()),
    ]));
    let seconds_max = options.run.seconds_max.as_ref();
    settings.extend(seconds_max.map(|time| ("seconds_max".to_owned(), seconds(time))));
    let workload =
        |workload: &Workload| (format!("workload {}", workload.name), properties(&workload.core));
    settings.extend(options.workloads.iter().map(workload));
    settings
}

/// What sets a run apart from its neighbours.
pub(super) fn labels(workload: &Workload, phase: &str, threads: usize) -> BTreeMap<String, String> {
    report::labels([
        ("workload", &workload.name),
        ("distribution", &workload.core.requests),
        ("phase", &phase),
        ("threads", &threads),
        ("records", &workload.core.loaded_count()),
    ])
}

/// Adds what a reader must know to judge the numbers.
pub(super) fn add_notes(report: &mut Report, options: &YcsbOptions) {
    let YcsbOptions { workloads, phase, .. } = options;
    report.notes.extend(workloads.iter().filter_map(ignored));
    report.note_if(
        *phase != Phase::Load
            && workloads.iter().any(|workload| workload.core.mix.read_modify_write > 0.0),
        "READ-MODIFY-WRITE counts as one operation; its read and its update are not counted again.",
    );
    report.note_if(
        options.run.warm_up.is_zero() && *phase != Phase::Load,
        "There was no warm-up: the first run on a target pays for filling its cache, too.",
    );
    report.note_if(*phase == Phase::Run, "The records were loaded in bulk, which is not reported.");
    report.note_if(
        *phase == Phase::Both && options.run.repeats > 1,
        "Loading is measured once, repeats are those of the run phase.",
    );
    report.note_if(
        *phase != Phase::Run && options.bulk_load,
        "Loading in bulk is durable at its end (fsync), whatever the durability of single writes.",
    );
}

fn ignored(workload: &Workload) -> Option<String> {
    let names = workload.ignored.join(", ");
    (!names.is_empty()).then(|| {
        format!(
            "Workload {}: these properties mean nothing here and were ignored: {names}.",
            workload.name
        )
    })
}

/// The properties that shape the numbers most.
fn properties(core: &CoreOptions) -> String {
    let Mix { read, update, insert, scan, read_modify_write } = core.mix;
    let mut text = format!(
        "recordcount={} operationcount={} fieldcount={} fieldlength={} requestdistribution={}",
        core.loaded_count(),
        core.operation_count,
        core.field_count,
        core.field_bytes,
        core.requests.name()
    );
    let proportions = [
        ("read", read),
        ("update", update),
        ("insert", insert),
        ("scan", scan),
        ("readmodifywrite", read_modify_write),
    ];
    for (name, proportion) in proportions.into_iter().filter(|(_, proportion)| *proportion > 0.0) {
        text += &format!(" {name}proportion={proportion}");
    }
    if let Some(rate) = core.rate {
        text += &format!(" target={rate}");
    }
    text
}

/// Throughput by threads for each workload that ran with several counts; throughput and 99th
/// percentile by workload where there is something to stand beside.
pub(super) fn charts(runs: &[Run]) -> Vec<Chart> {
    let workloads = distinct(runs.iter().map(|run| run.label("workload")));
    let mut charts: Vec<Chart> =
        workloads.iter().filter_map(|workload| by_threads(runs, workload)).collect();
    for phase in distinct(runs.iter().map(|run| run.label("phase"))) {
        let is_best = |run: &&Run| !runs.iter().any(|other| other.beats(run));
        let of_phase = runs.iter().filter(|run| run.label("phase") == phase);
        let best: Vec<&Run> = of_phase.filter(is_best).collect();
        if best.len() > 1 {
            let rate = |run: &Run| Some(run.throughput());
            let title = format!("Throughput ({phase} phase)");
            charts.push(by_workload(&best, &title, "operations per second", rate));
            let p99 = |run: &Run| run.operations.last().map(|all| all.service.at(99.0));
            let title = format!("99th percentile ({phase} phase)");
            charts.push(by_workload(&best, &title, "microseconds", p99));
        }
    }
    charts.retain(Chart::is_drawn);
    charts
}

/// Lines over the counts of threads, one for each system.
fn by_threads(runs: &[Run], workload: &str) -> Option<Chart> {
    let title = format!("Workload {workload}: throughput by threads");
    let mut chart = Chart::lines(&title, "threads", "operations per second");
    let is_of = |run: &&Run| (run.label("workload"), run.label("phase")) == (workload, "run");
    for run in runs.iter().filter(is_of) {
        chart.add(&run.target, (run.threads as f64, run.throughput()));
    }
    chart.series.iter().any(|line| line.points.len() > 1).then_some(chart)
}

/// Groups of bars, one group for each workload, one bar for each system.
fn by_workload(
    runs: &[&Run],
    title: &str,
    unit: &str,
    height: impl Fn(&Run) -> Option<f64>,
) -> Chart {
    let mut chart = Chart::bars(title, "workload", unit);
    for run in runs {
        chart.add_bar(run.label("workload"), &run.target, height(run));
    }
    chart
}
