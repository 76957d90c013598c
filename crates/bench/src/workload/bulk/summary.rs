//! What the runs say together: ratios, charts, and what to know about them.

use tonnage::Durability;

use super::labels::{CallMethod, Labels, PutOrGet};
use super::{BulkBenchOptions, DataKind, KeyPart};
use crate::report::{Chart, Report, Run};
use crate::workload::options::lower;

/// Adds figures, notes and charts that compare the runs of a report.
pub(super) fn add_to(report: &mut Report, options: &BulkBenchOptions) {
    report.notes.extend(notes(options));
    let all = RunLookup { runs: report.runs.clone(), options };
    for run in &mut report.runs {
        all.add_ratios(run);
    }
    report.notes.extend(all.verdicts());
    report.charts.extend(all.charts());
}

fn notes(options: &BulkBenchOptions) -> Vec<String> {
    let mut notes = vec![
        "Rates of bulk calls are rows per second; those of loops are operations per second, \
         rows_per_second stands beside them."
            .to_owned(),
    ];
    if options.durabilities.contains(&Durability::Fsync) {
        notes.push(format!(
            "Loops whose every put waits for the disk have {} operations, others {}: their rate \
             does not depend on how many there are.",
            options.singles_fsync.min(options.singles),
            options.singles
        ));
    }
    if options.keys == KeyPart::Partial && options.data.contains(&DataKind::Pairs) {
        notes.push("Pairs are got by whole keys: partial keys are a matter of tables.".to_owned());
    }
    notes.push("Gets are warm: all keys are got once before anything is measured.".to_owned());
    notes
}

fn rows_per_second(run: &Run) -> Option<f64> {
    run.figures.get("rows_per_second").copied()
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
        let labels = labels.to_map();
        let is_of = |run: &&Run| run.target == system && run.labels == labels;
        self.runs.iter().find(is_of).and_then(rows_per_second)
    }

    fn labels(&self, data: DataKind, phase: PutOrGet, method: CallMethod) -> Labels {
        let durability = (phase == PutOrGet::Put).then(|| self.options.durabilities[0]);
        Labels { data, phase, method, durability, parallelism: None }
    }

    /// How many times the rate of each loop of the same kind a bulk run reaches.
    fn add_ratios(&self, run: &mut Run) {
        let is_bulk = run.labels["method"] == CallMethod::Bulk.name();
        let Some(bulk) = rows_per_second(run).filter(|_| is_bulk) else { return };
        for (method, figure) in [
            (CallMethod::Single, "times_single_loop"),
            (CallMethod::Threads, "times_single_loop_on_threads"),
        ] {
            let mut labels = run.labels.clone();
            labels.remove("parallelism");
            labels.insert("method".to_owned(), method.name().to_owned());
            let is_loop = |other: &&Run| other.target == run.target && other.labels == labels;
            let rate = self.runs.iter().find(is_loop).and_then(rows_per_second);
            let ratio = rate.filter(|rate| *rate > 0.0).map(|rate| bulk / rate);
            run.figures.extend(ratio.map(|ratio| (figure.to_owned(), ratio)));
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
        let rates = CallMethod::ALL.map(|method| {
            self.rate(system, self.labels(data, phase, method)).filter(|rate| *rate > 0.0)
        });
        let [Some(single), Some(threads), Some(bulk)] = rates else { return None };
        Some(format!(
            "{system}, {}: bulk {} does {:.1} times the rows of the loop on one thread, \
             {:.1} times those of the loop on {} threads.",
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
        charts.retain(Chart::is_drawn);
        charts
    }

    /// The methods side by side, for each kind of data.
    fn methods(&self, phase: PutOrGet) -> Chart {
        let durability = lower(self.options.durabilities[0]);
        let title = match phase {
            PutOrGet::Put => format!("Put: bulk against the loop, durability {durability}"),
            PutOrGet::Get => "Get: bulk against the loop".to_owned(),
        };
        let mut chart = Chart::bars(&title, "data", "rows/s");
        for data in &self.options.data {
            let of = |method| self.labels(*data, phase, method);
            self.add_bars(&mut chart, data.name(), &CallMethod::ALL.map(of));
        }
        chart
    }

    /// Puts by what they survive.
    fn durabilities(&self, data: DataKind) -> Chart {
        let title = format!("Put by durability: {}", data.name());
        let mut chart = Chart::bars(&title, "durability", "rows/s");
        for durability in &self.options.durabilities {
            let of = |method| Labels {
                durability: Some(*durability),
                ..self.labels(data, PutOrGet::Put, method)
            };
            let labels = [CallMethod::Single, CallMethod::Bulk].map(of);
            self.add_bars(&mut chart, &lower(durability), &labels);
        }
        chart
    }

    /// A bar for each method on each system.
    fn add_bars(&self, chart: &mut Chart, category: &str, labels: &[Labels]) {
        for system in self.systems() {
            for labels in labels {
                let name = format!("{system} {}", labels.method.name());
                chart.add_bar(category, &name, self.rate(system, *labels));
            }
        }
    }

    /// Bulk gets over the requests in flight.
    fn sweep(&self) -> Chart {
        let requests = "requests in flight";
        let mut chart = Chart::lines("Bulk get by requests in flight", requests, "rows/s");
        for system in self.systems() {
            for data in &self.options.data {
                for &requests in &self.options.parallelism {
                    let labels = self.labels(*data, PutOrGet::Get, CallMethod::Bulk);
                    let labels = Labels { parallelism: Some(requests), ..labels };
                    if let Some(rate) = self.rate(system, labels) {
                        let name = format!("{system} {}", data.name());
                        chart.add(&name, (requests as f64, rate));
                    }
                }
            }
        }
        chart
    }
}
