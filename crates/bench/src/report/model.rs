//! The model of a report: what the JSON file holds, and the source of everything else.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::format::threads;
use crate::measure::Environment;

/// A benchmark that was run, with everything one needs to judge it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Report {
    /// The format of this model.
    pub format: u32,
    /// Which workload: `ycsb`, `matrix`, `bulk`, `billion`, `tables`.
    pub workload: String,
    /// The command line, so that it can be run again.
    pub command: String,
    /// When it began, as RFC 3339 in UTC.
    pub started: String,
    /// The machine and the program.
    pub environment: Environment,
    /// The workload's options, as names and values.
    pub settings: BTreeMap<String, String>,
    /// What was measured.
    pub runs: Vec<Run>,
    /// Pictures across runs; a picture of each run's series is added without it.
    pub charts: Vec<Chart>,
    /// What a reader must know to judge the numbers: limits, what was left out and why.
    pub notes: Vec<String>,
}

impl Report {
    /// The format that this program writes.
    pub const FORMAT: u32 = 1;
}

/// One thing that was measured: one phase of one workload on one target, repeats included.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Run {
    /// What it is, the same in every report of the same thing, with the target left out:
    /// `a / zipfian / 0.33x / ssd`.
    pub name: String,
    /// The target's name.
    pub target: String,
    /// What sets it apart from its neighbours: `workload`, `distribution`, `size`, `directory`,
    /// `phase`, `threads`.
    pub labels: BTreeMap<String, String>,
    /// How the target was set up.
    pub settings: BTreeMap<String, String>,
    /// Threads or connections that drove it.
    pub threads: usize,
    /// Operations (or rows of a bulk call) that were measured, failed ones left out; of the median
    /// repeat.
    pub operations_count: u64,
    /// Operations that failed, of all repeats.
    pub failures: u64,
    /// The first failures in words.
    pub failure_messages: Vec<String>,
    /// Seconds that were measured, warm-up cut, of the median repeat.
    pub seconds: f64,
    /// Operations (or rows) per second of each repeat, in the order they ran.
    pub throughputs: Vec<f64>,
    /// By operation: `READ`, `UPDATE`; of the median repeat. The last one, `ALL`, is all of them
    /// when there is more than one.
    pub operations: Vec<OperationReport>,
    /// Reading by reading; of the median repeat.
    pub series: Vec<Second>,
    /// Rate against the share of the work done; of the median repeat. Empty where it makes no
    /// sense.
    pub progress: Vec<ProgressPoint>,
    /// Further figures with their unit in the name: `disk_bytes`, `memory_peak_bytes`,
    /// `settle_seconds`.
    pub figures: BTreeMap<String, f64>,
}

impl Run {
    /// The name and the target, and the number of threads: what sets it apart in a list.
    pub fn title(&self) -> String {
        format!("{} / {} / {}", self.name, self.target, threads(self.threads))
    }

    /// A label; empty where there is none of that name.
    pub fn label(&self, name: &str) -> &str {
        self.labels.get(name).map_or("", String::as_str)
    }

    /// Whether it is better than another run, from which it differs in threads alone: it is faster,
    /// or does with fewer threads what the other does.
    pub fn beats(&self, other: &Run) -> bool {
        let order = self.throughput().total_cmp(&other.throughput());
        (&self.name, &self.target) == (&other.name, &other.target)
            && order.then(other.threads.cmp(&self.threads)).is_gt()
    }

    /// Service time of all operations together; nothing for bulk calls that were not timed one by
    /// one.
    pub fn latency(&self) -> Option<&Latency> {
        let all = self.operations.last().filter(|operation| operation.count > 0);
        all.map(|operation| &operation.service)
    }

    /// How far the fastest repeat is from the slowest, as a share of the median; nothing when there
    /// is one repeat.
    pub fn spread(&self) -> Option<f64> {
        let (least, most) = self.slowest_and_fastest();
        (self.throughputs.len() > 1 && self.throughput() > 0.0)
            .then(|| (most - least) / self.throughput())
    }

    /// The least and the most of the repeats' throughputs; 0 when nothing was measured.
    pub(super) fn slowest_and_fastest(&self) -> (f64, f64) {
        let all = || self.throughputs.iter().copied();
        (all().reduce(f64::min).unwrap_or(0.0), all().fold(0.0, f64::max))
    }

    /// The median of the repeats' throughputs, operations per second; 0 when nothing was measured.
    pub fn throughput(&self) -> f64 {
        let mut sorted = self.throughputs.clone();
        sorted.sort_by(f64::total_cmp);
        match sorted.len() {
            0 => 0.0,
            len => (sorted[(len - 1) / 2] + sorted[len / 2]) / 2.0,
        }
    }
}

/// One kind of operation in a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct OperationReport {
    /// YCSB's name of it: `READ`, `UPDATE`, `INSERT`, `SCAN`, `READ-MODIFY-WRITE`; or `PUT`, `GET`,
    /// `BULK-PUT`.
    pub name: String,
    /// How many were done.
    pub count: u64,
    /// How many failed; they are in no histogram.
    pub failed: u64,
    /// From the start of the operation to its end.
    pub service: Latency,
    /// At a fixed rate: from the moment it was due to its end, waiting in line included.
    pub intended: Option<Latency>,
}

/// A distribution of times.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Latency {
    /// The mean, microseconds.
    pub mean_us: f64,
    /// The least, microseconds.
    pub min_us: f64,
    /// The most, microseconds.
    pub max_us: f64,
    /// 50, 90, 95, 99, 99.9 and 99.99 per cent.
    pub percentiles: Vec<Percentile>,
    /// The whole histogram (nanoseconds): HdrHistogram's compressed V2 format in Base64.
    pub histogram: String,
}

/// A point of a distribution.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Percentile {
    /// Per cent of the operations that took no longer.
    pub percent: f64,
    /// How long, microseconds.
    pub us: f64,
}

/// A reading of a run, about every second.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Second {
    /// Seconds from the start of the run, warm-up included, to the end of this reading.
    pub at_seconds: f64,
    /// Whether it belongs to the warm-up, which counts for nothing else.
    pub warm_up: bool,
    /// Operations (or rows) per second.
    pub throughput: f64,
    /// The 99th percentile of service time of the operations that ended in it, microseconds; none
    /// for bulk calls.
    pub p99_us: Option<f64>,
    /// Whether the target was slowing writes down when it was read.
    pub stalled: bool,
    /// Bytes that compaction still has to rewrite.
    pub compaction_pending_bytes: u64,
    /// Cores in use by this process.
    pub cpu_cores: f64,
    /// Memory of this process.
    pub memory_bytes: u64,
    /// Bytes this process read from disks, per second.
    pub disk_read_bytes_per_second: f64,
    /// Bytes this process wrote to disks, per second.
    pub disk_write_bytes_per_second: f64,
    /// Bytes of the target's data on disk.
    pub disk_bytes: u64,
}

/// The rate at a share of the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ProgressPoint {
    /// How much was done, of 100.
    pub percent: f64,
    /// Operations (or rows) per second since the point before.
    pub throughput: f64,
}

/// How a chart is drawn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChartKind {
    /// Groups of bars: each category holds one bar a series.
    #[default]
    Bars,
    /// Lines over a numeric axis.
    Lines,
}

/// A picture across runs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Chart {
    /// Its heading.
    pub title: String,
    /// How it is drawn.
    pub kind: ChartKind,
    /// What the horizontal axis is.
    pub x_label: String,
    /// What the vertical axis is, with its unit.
    pub y_label: String,
    /// For bars: what the groups are. Empty for lines.
    pub categories: Vec<String>,
    /// What is drawn.
    pub series: Vec<ChartSeries>,
}

impl Chart {
    /// A chart of groups of bars.
    pub fn bars(title: &str, x_label: &str, y_label: &str) -> Self {
        let [title, x_label, y_label] = [title, x_label, y_label].map(str::to_owned);
        Chart { title, x_label, y_label, ..Chart::default() }
    }

    /// A chart of lines.
    pub fn lines(title: &str, x_label: &str, y_label: &str) -> Self {
        Chart { kind: ChartKind::Lines, ..Self::bars(title, x_label, y_label) }
    }

    /// Adds a point to the series of a name.
    pub fn add(&mut self, name: &str, point: (f64, f64)) {
        match self.series.iter_mut().find(|series| series.name == name) {
            Some(series) => series.points.push(point),
            None => self.series.push(ChartSeries { name: name.to_owned(), points: vec![point] }),
        }
    }

    /// Adds a bar, if there is one, to the series of a name and to a category, which is created.
    pub fn add_bar(&mut self, category: &str, name: &str, height: Option<f64>) {
        let place = self.categories.iter().position(|known| known == category);
        let place = place.unwrap_or_else(|| {
            self.categories.push(category.to_owned());
            self.categories.len() - 1
        });
        if let Some(height) = height {
            self.add(name, (place as f64, height));
        }
    }

    /// Whether there is something to see.
    pub fn is_drawn(&self) -> bool {
        !self.series.is_empty()
    }
}

/// One colour of a chart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ChartSeries {
    /// Its name in the legend.
    pub name: String,
    /// For lines: horizontal and vertical. For bars: the number of the category and the height; a
    /// category may be missing.
    pub points: Vec<(f64, f64)>,
}
