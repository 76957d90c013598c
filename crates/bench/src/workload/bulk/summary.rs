//! What the runs say together: ratios, charts, and what to know about them.

use std::collections::BTreeMap;

use tonnage::Durability;

use super::labels::{CallMethod, Labels, PutOrGet, durability_name};
use super::{BulkBenchOptions, DataKind, KeyPart};
use crate::report::{Chart, ChartKind, ChartSeries, Report, Run};
use crate::workload::options::{bytes_or_default, lower};

const ROWS_PER_SECOND: &str = "rows_per_second";

/// The options as names and values.
pub(super) fn settings(options: &BulkBenchOptions) -> BTreeMap<String, String> {
    options.run.settings([
        ("records", options.records.to_string()),
        ("value_bytes", options.value_bytes.to_string()),
        ("compressible", options.compressible.to_string()),
        ("streams", options.streams.to_string()),
        ("existing_percent", options.existing_percent.to_string()),
        ("keep_existing", options.keep_existing.to_string()),
        ("missing_percent", options.missing_percent.to_string()),
        ("order", lower(options.order)),
        ("keys", lower(options.keys)),
        ("children", options.children.to_string()),
        ("gets", options.gets.to_string()),
        ("singles", options.singles.to_string()),
        ("singles_fsync", options.singles_fsync.to_string()),
        ("bulk_memory_bytes", bytes_or_default(options.bulk_memory_bytes)),
    ])
}

/// Adds figures, notes and charts that compare the runs of a report.
pub(super) fn add_to(report: &mut Report, options: &BulkBenchOptions) {
    notes(report, options);
    let all = RunLookup { runs: report.runs.clone(), options };
    for run in report.runs.iter_mut().filter(|run| {
        run.labels.get("method").is_some_and(|method| method == CallMethod::Bulk.name())
    }) {
        all.add_ratios(run);
    }
    report.notes.extend(all.verdicts());
    report.charts.extend(all.charts());
}

fn notes(report: &mut Report, options: &BulkBenchOptions) {
    let mut note = |text: String| report.notes.push(text);
    note(
        "Rates of bulk calls are rows per second; those of loops are operations per second, rows_per_second stands beside them."
            .to_owned(),
    );
    if options.durabilities.contains(&Durability::Fsync) {
        note(format!(
            "Loops whose every put waits for the disk have {} operations, others {}: their rate does not depend on how many there are.",
            options.singles_fsync.min(options.singles),
            options.singles
        ));
    }
    if options.keys == KeyPart::Partial && options.data.contains(&DataKind::Pairs) {
        note("Pairs are got by whole keys: partial keys are a matter of tables.".to_owned());
    }
    note("Gets are warm: all keys are got once before anything is measured.".to_owned());
}

/// Runs by what they are.
struct RunLookup<'a> {
    runs: Vec<Run>,
    options: &'a BulkBenchOptions,
}

impl RunLookup<'_> {
    fn systems(&self) -> impl Iterator<Item = &'static str> {
        self.options.run.systems.iter().map(|system| system.name())
    }

    /// Rows per second of a run, if it was measured.
    fn rate(&self, system: &str, labels: Labels) -> Option<f64> {
        let run = self.runs.iter().find(|run| run.target == system && labels.are_of(run))?;
        run.figures.get(ROWS_PER_SECOND).copied()
    }

    fn labels(&self, data: DataKind, phase: PutOrGet, method: CallMethod) -> Labels {
        let durability = (phase == PutOrGet::Put).then(|| self.options.durabilities[0]);
        Labels { data, phase, method, durability, parallelism: None }
    }

    /// How many times the rate of each loop of the same kind a bulk run reaches.
    fn add_ratios(&self, run: &mut Run) {
        let Some(bulk) = run.figures.get(ROWS_PER_SECOND).copied() else { return };
        for (method, figure) in [
            (CallMethod::Single, "times_single_loop"),
            (CallMethod::Threads, "times_single_loop_on_threads"),
        ] {
            let mut labels = run.labels.clone();
            labels.remove("parallelism");
            labels.insert("method".to_owned(), method.name().to_owned());
            let other =
                self.runs.iter().find(|other| other.target == run.target && other.labels == labels);
            if let Some(other) = other
                .and_then(|other| other.figures.get(ROWS_PER_SECOND))
                .filter(|rate| **rate > 0.0)
            {
                run.figures.insert(figure.to_owned(), bulk / other);
            }
        }
    }

    /// A sentence for each bulk call that has a loop beside it.
    fn verdicts(&self) -> Vec<String> {
        let mut verdicts = Vec::new();
        for data in &self.options.data {
            for phase in PutOrGet::ALL {
                verdicts
                    .extend(self.systems().filter_map(|system| self.verdict(system, *data, phase)));
            }
        }
        verdicts
    }

    fn verdict(&self, system: &str, data: DataKind, phase: PutOrGet) -> Option<String> {
        let rate =
            |method| self.rate(system, self.labels(data, phase, method)).filter(|rate| *rate > 0.0);
        let (single, threads, bulk) =
            (rate(CallMethod::Single)?, rate(CallMethod::Threads)?, rate(CallMethod::Bulk)?);
        Some(format!(
            "{system}, {}: bulk {} does {:.1} times the rows of the loop on one thread, {:.1} times those of the loop on {} threads.",
            data.name(),
            phase.name(),
            bulk / single,
            bulk / threads,
            self.options.threads
        ))
    }

    fn charts(&self) -> Vec<Chart> {
        let mut charts: Vec<Chart> = PutOrGet::ALL.map(|phase| self.methods(phase)).into();
        if self.options.parallelism.len() > 1 {
            charts.push(self.sweep());
        }
        if self.options.durabilities.len() > 1 {
            charts.extend(self.options.data.iter().map(|data| self.durabilities(*data)));
        }
        charts.retain(|chart| chart.series.iter().any(|series| !series.points.is_empty()));
        charts
    }

    /// The methods side by side, for each kind of data.
    fn methods(&self, phase: PutOrGet) -> Chart {
        let point = |system: &'static str, method| {
            let rate = move |(place, data): (usize, &DataKind)| {
                Some((place as f64, self.rate(system, self.labels(*data, phase, method))?))
            };
            self.options.data.iter().enumerate().filter_map(rate).collect()
        };
        let series = self.each_method(CallMethod::ALL, point);
        let durability = durability_name(self.options.durabilities[0]);
        let title = match phase {
            PutOrGet::Put => format!("Put: bulk against the loop, durability {durability}"),
            PutOrGet::Get => "Get: bulk against the loop".to_owned(),
        };
        bars(
            title,
            "data",
            self.options.data.iter().map(|data| data.name().to_owned()).collect(),
            series,
        )
    }

    /// Puts by what they survive.
    fn durabilities(&self, data: DataKind) -> Chart {
        let all = &self.options.durabilities;
        let point = |system: &'static str, method| {
            let rate = move |(place, durability): (usize, &Durability)| {
                let labels = Labels {
                    durability: Some(*durability),
                    ..self.labels(data, PutOrGet::Put, method)
                };
                Some((place as f64, self.rate(system, labels)?))
            };
            all.iter().enumerate().filter_map(rate).collect()
        };
        let series = self.each_method([CallMethod::Single, CallMethod::Bulk], point);
        let categories =
            all.iter().map(|durability| durability_name(*durability).to_owned()).collect();
        bars(format!("Put by durability: {}", data.name()), "durability", categories, series)
    }

    fn each_method<const N: usize>(
        &self,
        methods: [CallMethod; N],
        points: impl Fn(&'static str, CallMethod) -> Vec<(f64, f64)>,
    ) -> Vec<ChartSeries> {
        let series = |(system, method): (&'static str, CallMethod)| ChartSeries {
            name: format!("{system} {}", method.name()),
            points: points(system, method),
        };
        self.systems()
            .flat_map(|system| methods.map(|method| (system, method)))
            .map(series)
            .collect()
    }

    /// Bulk gets over the requests in flight.
    fn sweep(&self) -> Chart {
        let mut series = Vec::new();
        for (system, data) in self
            .systems()
            .flat_map(|system| self.options.data.iter().map(move |data| (system, *data)))
        {
            let at = |requests: &usize| {
                let labels = Labels {
                    parallelism: Some(*requests),
                    ..self.labels(data, PutOrGet::Get, CallMethod::Bulk)
                };
                Some((*requests as f64, self.rate(system, labels)?))
            };
            let points: Vec<_> = self.options.parallelism.iter().filter_map(at).collect();
            if !points.is_empty() {
                series.push(ChartSeries { name: format!("{system} {}", data.name()), points });
            }
        }
        Chart {
            title: "Bulk get by requests in flight".to_owned(),
            kind: ChartKind::Lines,
            x_label: "requests in flight".to_owned(),
            y_label: "rows/s".to_owned(),
            categories: Vec::new(),
            series,
        }
    }
}

fn bars(title: String, x_label: &str, categories: Vec<String>, series: Vec<ChartSeries>) -> Chart {
    let series = series.into_iter().filter(|series| !series.points.is_empty()).collect();
    Chart {
        title,
        kind: ChartKind::Bars,
        x_label: x_label.to_owned(),
        y_label: "rows/s".to_owned(),
        categories,
        series,
    }
}
