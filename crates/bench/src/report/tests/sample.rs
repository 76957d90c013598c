//! A made-up report that looks like one of the real ones.

use hdrhistogram::Histogram;
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};

use crate::measure::{Disk, Environment};
use crate::report::{
    Chart, Latency, OperationReport, ProgressPoint, Report, Run, Second, labels, named,
};

/// Workloads, sizes, and what raw RocksDB does of them in a second.
const CELLS: [(&str, &str, &str, f64); 6] = [
    ("a", "uniform", "0.33x", 148_000.0),
    ("a", "zipfian", "0.33x", 171_000.0),
    ("a", "zipfian", "1.3x", 61_000.0),
    ("b", "zipfian", "0.33x", 352_000.0),
    ("c", "zipfian", "0.33x", 512_000.0),
    ("c", "uniform", "1.3x", 38_500.0),
];

const TARGETS: [(&str, f64); 3] =
    [("tonnage-rocksdb", 0.96), ("tonnage-memory", 2.1), ("rocksdb", 1.0)];

/// A report of 18 runs on three targets, with stalls, failures, notes and charts, and a name that
/// HTML must escape.
pub(super) fn report() -> Report {
    let mut random = SmallRng::seed_from_u64(7);
    let mut report = Report::new(
        "matrix",
        "tonnage bench matrix --dir ssd=/mnt/fast --memory 1GiB --repeats 3",
        labels([("records", &"1,000,000"), ("memory", &"1 GiB"), ("direct I/O", &"on")]),
        environment(),
    );
    for (workload, distribution, size, rate) in CELLS {
        for (target, factor) in TARGETS {
            report.runs.push(run(
                &mut random,
                &format!("{workload} / {distribution} / {size} / ssd"),
                target,
                rate * factor,
            ));
        }
    }
    report.runs[0].failures = 12;
    report.runs[0].failure_messages =
        vec!["Unavailable: the disk of <ssd> & its neighbour is full".to_owned()];
    report.charts = vec![bars(&report), lines()];
    report.notes = vec![
        "The machine was busy when the benchmark began (load average 1.4 on 2 cores).".to_owned(),
    ];
    report
}

pub(super) fn environment() -> Environment {
    let disk = Disk {
        label: "ssd".to_owned(),
        device: "/dev/nvme0n1p2".to_owned(),
        file_system: "ext4".to_owned(),
        kind: "ssd".to_owned(),
        size_bytes: 512 << 30,
        free_bytes: 301 << 30,
    };
    Environment {
        cpu: "Intel(R) Xeon(R) Gold 6338 CPU @ 2.00GHz".to_owned(),
        cores: 2,
        memory_bytes: 23 << 30,
        kernel: "Linux version 6.1.0".to_owned(),
        system: "Debian GNU/Linux 12 (bookworm)".to_owned(),
        disks: vec![disk],
        version: "0.1.0".to_owned(),
        load_average: 1.4,
    }
}

/// A run of a minute about a rate, with three repeats.
pub(super) fn run(random: &mut SmallRng, name: &str, target: &str, rate: f64) -> Run {
    let series = series(random, rate);
    let operations = vec![
        operation(random, "READ", rate, 1.0),
        operation(random, "UPDATE", rate, 2.5),
        operation(random, "ALL", rate, 1.4),
    ];
    Run {
        name: name.to_owned(),
        target: target.to_owned(),
        labels: labels([("workload", &&name[..1]), ("phase", &"run")]),
        settings: labels([("cache", &"512 MiB"), ("compression", &"lz4")]),
        threads: 4,
        operations_count: (rate * 55.0) as u64,
        seconds: 55.0,
        throughputs: vec![rate * 0.985, rate, rate * 1.012],
        operations,
        progress: progress(random, rate),
        figures: named([
            ("memory_peak_bytes", 1.3e9),
            ("disk_bytes", 1.17e9),
            ("settle_seconds", 4.2),
            ("cpu_cores_mean", 1.93),
        ]),
        series,
        ..Run::default()
    }
}

fn operation(random: &mut SmallRng, name: &str, rate: f64, slow: f64) -> OperationReport {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    let typical = 4e9 / rate * slow;
    for _ in 0..20_000 {
        let tail = 1.0 / (1.0 - random.random::<f64>()).powf(0.6);
        histogram.saturating_record((typical * 0.6 * tail) as u64);
    }
    let service = Latency::of(&histogram);
    let intended = (name == "READ").then(|| service.clone());
    OperationReport { name: name.to_owned(), count: histogram.len(), failed: 0, service, intended }
}

fn series(random: &mut SmallRng, rate: f64) -> Vec<Second> {
    let mut reading = |second: usize| {
        let stalled = rate < 100_000.0 && (30..34).contains(&second);
        let throughput =
            (rate * random.random_range(0.94..1.05) * if stalled { 0.35 } else { 1.0 }).round();
        let debt = (second % 20) as u64 * 11_000_000;
        Second {
            at_seconds: second as f64 + 1.0,
            warm_up: second < 5,
            throughput,
            p99_us: Some((2e7 / throughput * random.random_range(0.9..1.3)).round()),
            stalled,
            compaction_pending_bytes: debt,
            cpu_cores: (random.random_range(185.0..199.0_f64)).round() / 100.0,
            memory_bytes: 900_000_000 + second as u64 * 6_000_000,
            disk_read_bytes_per_second: (120e6 * random.random_range(0.8..1.2_f64)).round(),
            disk_write_bytes_per_second: (60e6 * random.random_range(0.2..2.0_f64)).round(),
            disk_bytes: 1_100_000_000 + second as u64 * 1_000_000 - debt / 10,
        }
    };
    (0..60).map(&mut reading).collect()
}

fn progress(random: &mut SmallRng, rate: f64) -> Vec<ProgressPoint> {
    (1..=50)
        .map(|step| ProgressPoint {
            percent: f64::from(step) * 2.0,
            throughput: (rate * random.random_range(0.95..1.04)).round(),
        })
        .collect()
}

fn bars(report: &Report) -> Chart {
    let mut chart = Chart::bars("Throughput by cell", "cell", "operations per second");
    for run in &report.runs {
        chart.add_bar(&run.name, &run.target, Some(run.throughput()));
    }
    chart
}

fn lines() -> Chart {
    let title = "Bulk get <by> parallelism";
    let mut chart = Chart::lines(title, "requests in flight", "rows per second");
    let lines =
        [("tonnage-rocksdb", 410_000.0), ("rocksdb", 380_000.0), ("single loop", 120_000.0)];
    for (name, scale) in lines {
        for streams in [1.0, 2.0, 4.0, 8.0, 16.0, 32.0_f64] {
            chart.add(name, (streams, scale * streams.sqrt().min(3.1)));
        }
    }
    chart
}
