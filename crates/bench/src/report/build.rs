//! Reports and runs, built from measurements.

use std::collections::BTreeMap;
use std::fmt::Display;

use tonnage::arrow::temporal_conversions::timestamp_ms_to_datetime;
use tonnage::{Clock, SystemClock};

use super::{Report, Run};
use crate::measure::Environment;
use crate::system::System;

/// Names and values as reports hold them.
pub(crate) fn named<'n, T>(pairs: impl IntoIterator<Item = (&'n str, T)>) -> BTreeMap<String, T> {
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

pub(crate) fn labels<const N: usize>(
    labels: [(&str, &dyn Display); N],
) -> BTreeMap<String, String> {
    named(labels.map(|(name, label)| (name, label.to_string())))
}

/// Each once, in the order in which they come.
pub(crate) fn distinct<T: PartialEq>(all: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut distinct = Vec::new();
    for one in all {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

/// The figure of which the highest of all repeats counts.
pub(crate) const MEMORY_PEAK: &str = "memory_peak_bytes";

impl Report {
    /// A report that begins now and has no runs yet.
    pub(crate) fn new(
        workload: &str,
        command: &str,
        settings: BTreeMap<String, String>,
        environment: Environment,
    ) -> Self {
        Report {
            format: Report::FORMAT,
            workload: workload.to_owned(),
            command: command.to_owned(),
            started: rfc3339(SystemClock.now_ms()),
            notes: notes_on(&environment),
            environment,
            settings,
            runs: Vec::new(),
            charts: Vec::new(),
        }
    }

    pub(crate) fn note(&mut self, note: impl Into<String>) {
        self.notes.push(note.into());
    }

    /// Adds a note, if what it is about is the case.
    pub(crate) fn note_if(&mut self, holds: bool, note: &str) {
        self.notes.extend(holds.then(|| note.to_owned()));
    }
}

impl Run {
    /// A run from its repeats: the numbers are those of the repeat with the median throughput (of
    /// an even number, the lower of the two in the middle).
    pub(crate) fn from_repeats(
        name: &str,
        labels: BTreeMap<String, String>,
        target: &dyn System,
        threads: usize,
        mut repeats: Vec<Run>,
    ) -> Run {
        // Read before the sort below: reports give the rates in the order in which the repeats ran.
        let throughputs: Vec<f64> = repeats.iter().map(Run::throughput).collect();
        let failures = repeats.iter().map(|repeat| repeat.failures).sum();
        let messages = repeats.iter().flat_map(|repeat| repeat.failure_messages.clone());
        let failure_messages = messages.take(10).collect();
        let memory_peak = |repeat: &Run| repeat.figures.get(MEMORY_PEAK).copied();
        let memory_peak = repeats.iter().filter_map(memory_peak).reduce(f64::max);
        // The numbers of one repeat belong together: percentiles of several have no median.
        repeats.sort_by(|a, b| a.throughput().total_cmp(&b.throughput()));
        let median = repeats.len().saturating_sub(1) / 2;
        let mut median = repeats.into_iter().nth(median).unwrap_or_default();
        median.figures.extend(memory_peak.map(|bytes| (MEMORY_PEAK.to_owned(), bytes)));
        Run {
            name: name.to_owned(),
            target: target.name().to_owned(),
            labels,
            settings: target.settings().into_iter().collect(),
            threads,
            failures,
            failure_messages,
            throughputs,
            ..median
        }
    }
}

fn rfc3339(ms: u64) -> String {
    timestamp_ms_to_datetime(ms as i64)
        .map_or_else(String::new, |time| format!("{}Z", time.format("%Y-%m-%dT%H:%M:%S")))
}

fn notes_on(environment: &Environment) -> Vec<String> {
    let mut notes = Vec::new();
    if !std::path::Path::new("/proc/self/stat").exists() {
        notes.push(
            "This system has no /proc: the figures of the process (cores in use, memory, disk \
             bytes) are 0."
                .to_owned(),
        );
    }
    if environment.cores > 0 && environment.load_average > 0.5 * environment.cores as f64 {
        notes.push(format!(
            "The machine was busy when the benchmark began (load average {:.1} on {} cores): \
             expect numbers that are too low and that vary.",
            environment.load_average, environment.cores
        ));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_rfc_3339() {
        assert_eq!(rfc3339(1_709_210_096_789), "2024-02-29T12:34:56Z");
    }

    #[test]
    fn a_busy_machine_is_noted() {
        let busy = Environment { cores: 2, load_average: 1.5, ..Environment::default() };
        assert!(notes_on(&busy).iter().any(|note| note.contains("load average 1.5 on 2 cores")));
        assert!(notes_on(&Environment { load_average: 0.2, ..busy }).is_empty());
    }
}
