//! What a run of `bench billion` comes to.

use std::collections::BTreeMap;

use tonnage::Result;

use super::options::{Api, BillionOptions, Phase};
use crate::measure::Measured;
use crate::report::{Chart, ProgressPoint, Report, Run, labels, named};
use crate::system::System;

pub(super) struct BillionSummary<'a> {
    options: &'a BillionOptions,
    /// The repeats by system and phase, each with the seconds that it took to settle.
    samples: BTreeMap<(String, Phase), Vec<(Measured, f64)>>,
}

impl<'a> BillionSummary<'a> {
    pub(super) fn new(options: &'a BillionOptions) -> Self {
        BillionSummary { options, samples: BTreeMap::new() }
    }

    /// Takes in one more repeat; the run of its system and phase is built anew.
    pub(super) fn add(
        &mut self,
        report: &mut Report,
        system: &dyn System,
        phase: Phase,
        measured: Measured,
        settle_seconds: f64,
    ) -> Result<()> {
        let BillionOptions { api, order, connections, .. } = *self.options;
        let samples = self.samples.entry((system.name().to_owned(), phase)).or_default();
        samples.push((measured, settle_seconds));
        let (repeats, settled): (Vec<_>, Vec<_>) = samples.iter().cloned().unzip();
        let labels = labels([("phase", &phase), ("api", &api), ("order", &order)]);
        let name = format!("{api} {phase} / {order}");
        let mut run = Run::from_repeats(&name, labels, system, connections, repeats);
        run.figures.extend(named([
            ("settled_disk_bytes", system.gauges()?.disk_bytes as f64),
            ("settle_seconds", settled.iter().sum::<f64>() / settled.len() as f64),
        ]));
        run.figures.extend(fall_off(&run.progress).into_iter().flatten());
        report.runs.retain(|known| (&known.target, &known.name) != (&run.target, &run.name));
        report.runs.push(run);
        Ok(())
    }

    pub(super) fn finish(&self, report: &mut Report, was_cancelled: bool) {
        report.runs.sort_by_key(phase_place);
        let charts = self.options.phases.iter().filter_map(|phase| race(*phase, &report.runs));
        report.charts = charts.collect();
        add_notes(report, self.options, was_cancelled);
    }
}

fn phase_place(run: &Run) -> Option<usize> {
    Phase::ALL.iter().position(|phase| phase.name() == run.labels["phase"])
}

/// How much slower the last tenth of the work went than the first. A slow start would hide a slow
/// end, so the extremes stand beside it. Nothing when the work did not come to its end.
fn fall_off(progress: &[ProgressPoint]) -> Option<BTreeMap<String, f64>> {
    let rate = |tenth| rate_between(progress, 10.0 * f64::from(tenth), 10.0 * f64::from(tenth + 1));
    let rates = (0_u8..10).map(rate).collect::<Option<Vec<f64>>>()?;
    let (first, last) = (rates[0], rates[9]);
    let figures = [
        ("fall_off_percent", 100.0 * (1.0 - last / first)),
        ("first_tenth_per_second", first),
        ("last_tenth_per_second", last),
        ("fastest_tenth_per_second", rates.iter().copied().fold(first, f64::max)),
        ("slowest_tenth_per_second", rates.iter().copied().fold(first, f64::min)),
    ];
    Some(named(figures))
}

/// The rate over a part of the work: the work by the time it took, not the mean of rates.
fn rate_between(progress: &[ProgressPoint], from: f64, to: f64) -> Option<f64> {
    let starts = std::iter::once(0.0).chain(progress.iter().map(|point| point.percent));
    let (mut work, mut time) = (0.0, 0.0);
    for (start, point) in starts.zip(progress) {
        let inside = point.percent.min(to) - start.max(from);
        if inside > 0.0 && point.throughput > 0.0 {
            work += inside;
            time += inside / point.throughput;
        }
    }
    // A curve with holes in the tenth, or one that stops before, tells nothing of it.
    (work >= 0.8 * (to - from)).then(|| work / time)
}

/// Rate against progress, a line for each system: who is first at 100 per cent, and who tires on
/// the way.
fn race(phase: Phase, runs: &[Run]) -> Option<Chart> {
    let title = format!("Race to 100 per cent: {phase}");
    let mut chart = Chart::lines(&title, "records done, per cent", "records/s");
    for run in runs.iter().filter(|run| run.label("phase") == phase.name()) {
        let points = run.progress.iter().map(|point| (point.percent, point.throughput));
        points.for_each(|point| chart.add(&run.target, point));
    }
    chart.is_drawn().then_some(chart)
}

fn add_notes(report: &mut Report, options: &BillionOptions, was_cancelled: bool) {
    report.note(
        "The put phase ends when all records are on the disk. What a target tidies up after a \
         phase is not in its rate: it is told as settle_seconds, and the next phase begins after \
         it.",
    );
    report.note(
        "Every record is got once, in another order than it was put in; one that is not found \
         counts as a failure.",
    );
    let calls = options.calls;
    report.note_if(
        options.api == Api::Bulk,
        &format!(
            "The records are put in {calls} bulk calls; a record counts for the progress of the \
             put when its call has returned."
        ),
    );
    report.note_if(
        was_cancelled,
        "Interrupted: the phase that was under way counts as far as it came, later ones are \
         missing.",
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn curve(points: &[(f64, f64)]) -> Vec<ProgressPoint> {
        let point = |&(percent, throughput): &_| ProgressPoint { percent, throughput };
        points.iter().map(point).collect()
    }

    fn figure(progress: &[ProgressPoint], name: &str) -> f64 {
        fall_off(progress).unwrap()[name]
    }

    #[test]
    fn the_fall_off_compares_the_last_tenth_with_the_first() {
        let falling = curve(&[(10.0, 1_000.0), (90.0, 900.0), (100.0, 750.0)]);
        assert!((figure(&falling, "fall_off_percent") - 25.0).abs() < 1e-9);
    }

    #[test]
    fn a_slow_start_does_not_hide_a_slow_end() {
        let uneven = curve(&[(10.0, 500.0), (90.0, 1_000.0), (100.0, 500.0)]);
        assert!(figure(&uneven, "fall_off_percent").abs() < 1e-9);
        assert!((figure(&uneven, "fastest_tenth_per_second") - 1_000.0).abs() < 1e-9);
        assert!((figure(&uneven, "slowest_tenth_per_second") - 500.0).abs() < 1e-9);
    }

    #[test]
    fn within_a_tenth_slow_parts_weigh_by_their_time() {
        let uneven = curve(&[(5.0, 1_000.0), (10.0, 250.0), (100.0, 400.0)]);
        assert!((rate_between(&uneven, 0.0, 10.0).unwrap() - 400.0).abs() < 1e-9);
        assert!(figure(&uneven, "fall_off_percent").abs() < 1e-9);
    }

    #[test]
    fn work_that_was_broken_off_has_no_fall_off() {
        assert!(fall_off(&curve(&[(10.0, 1_000.0), (50.0, 900.0)])).is_none());
        assert!(fall_off(&[]).is_none());
    }
}
