//! What stands in the report beside the numbers.

use std::collections::BTreeMap;

use super::{CoreOptions, Mix, Phase, Workload, YcsbOptions};
use crate::report::named;
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
    named([
        ("workload", workload.name.clone()),
        ("distribution", workload.core.requests.name().to_owned()),
        ("phase", phase.to_owned()),
        ("threads", threads.to_string()),
        ("records", workload.core.loaded_count().to_string()),
    ])
}

/// What a reader must know to judge the numbers.
pub(super) fn notes(options: &YcsbOptions) -> Vec<String> {
    let mut notes: Vec<String> = options.workloads.iter().filter_map(ignored).collect();
    if options.workloads.iter().any(|workload| workload.core.mix.read_modify_write > 0.0)
        && options.phase != Phase::Load
    {
        notes.push("READ-MODIFY-WRITE counts as one operation; its read and its update are not counted again.".to_owned());
    }
    if options.run.warm_up.is_zero() && options.phase != Phase::Load {
        notes.push(
            "There was no warm-up: the first run on a target pays for filling its cache, too."
                .to_owned(),
        );
    }
    if options.phase == Phase::Run {
        notes.push("The records were loaded in bulk, which is not reported.".to_owned());
    }
    if options.phase == Phase::Both && options.run.repeats > 1 {
        notes.push("Loading is measured once, repeats are those of the run phase.".to_owned());
    }
    if options.phase != Phase::Run && options.bulk_load {
        notes.push("Loading in bulk is durable at its end (fsync), whatever the durability of single writes.".to_owned());
    }
    notes
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
