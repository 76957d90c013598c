//! An invented report that looks like one of the real ones, and what its files hold.

use std::collections::BTreeMap;

use hdrhistogram::Histogram;
use tonnage_bench::measure::{Disk, Environment};
use tonnage_bench::report::{
    Chart, Latency, OperationReport, ProgressPoint, Report, Run, Second, write,
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
    let mut report = Report {
        format: 1,
        workload: "matrix".to_owned(),
        command: "tonnage bench matrix --dir ssd=/mnt/fast --memory 1GiB --repeats 3".to_owned(),
        started: "2026-11-20T08:30:00Z".to_owned(),
        environment: environment(),
        settings: texts([("records", "1,000,000"), ("memory", "1 GiB"), ("direct I/O", "on")]),
        runs: Vec::new(),
        charts: Vec::new(),
        notes: Vec::new(),
    };
    for (workload, distribution, size, rate) in CELLS {
        for (target, factor) in TARGETS {
            let name = format!("{workload} / {distribution} / {size} / ssd");
            report.runs.push(run(&name, target, rate * factor));
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

/// What one of the files of a report holds.
pub(super) fn written(report: &Report, file: &str) -> String {
    let directory = tempfile::tempdir().unwrap();
    write(report, directory.path()).unwrap();
    std::fs::read_to_string(directory.path().join(file)).unwrap()
}

fn texts<const N: usize>(texts: [(&str, &str); N]) -> BTreeMap<String, String> {
    texts.map(|(name, text)| (name.to_owned(), text.to_owned())).into()
}

fn environment() -> Environment {
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
        disks: vec![disk],
        load_average: 1.4,
        ..Environment::default()
    }
}

/// A run of a minute about a rate, with three repeats.
pub(super) fn run(name: &str, target: &str, rate: f64) -> Run {
    Run {
        name: name.to_owned(),
        target: target.to_owned(),
        labels: texts([("workload", &name[..1]), ("phase", "run")]),
        settings: texts([("cache", "512 MiB"), ("compression", "lz4")]),
        threads: 4,
        operations_count: (rate * 55.0) as u64,
        seconds: 55.0,
        throughputs: vec![rate * 0.985, rate, rate * 1.012],
        operations: [("READ", 1.0), ("UPDATE", 2.5), ("ALL", 1.4)]
            .map(|(name, slow)| operation(name, rate, slow))
            .into(),
        series: (0..60).map(|second| reading(second, rate)).collect(),
        progress: (1..=50)
            .map(|step| ProgressPoint { percent: f64::from(step) * 2.0, throughput: rate })
            .collect(),
        figures: [
            ("memory_peak_bytes", 1.3e9),
            ("disk_bytes", 1.17e9),
            ("settle_seconds", 4.2),
            ("cpu_cores_mean", 1.93),
        ]
        .map(|(name, figure)| (name.to_owned(), figure))
        .into(),
        ..Run::default()
    }
}

fn operation(name: &str, rate: f64, slow: f64) -> OperationReport {
    let mut histogram = Histogram::<u64>::new_with_bounds(1, 3_600_000_000_000, 3).unwrap();
    let typical = 4e9 / rate * slow;
    for rank in 0..20_000 {
        let tail = (1.0 - f64::from(rank) / 20_000.0).powf(-0.6);
        histogram.saturating_record((typical * 0.6 * tail) as u64);
    }
    let service = Latency::of(&histogram);
    let intended = (name == "READ").then(|| service.clone());
    OperationReport { name: name.to_owned(), count: histogram.len(), failed: 0, service, intended }
}

fn reading(second: u32, rate: f64) -> Second {
    let stalled = rate < 100_000.0 && (30..34).contains(&second);
    let about = |mean: f64| (mean * (0.95 + 0.02 * f64::from(second % 6))).round();
    Second {
        at_seconds: f64::from(second) + 1.0,
        warm_up: second < 5,
        throughput: about(if stalled { 0.35 * rate } else { rate }),
        p99_us: Some(about(2e7 / rate)),
        stalled,
        compaction_pending_bytes: u64::from(second % 20) * 11_000_000,
        cpu_cores: about(192.0) / 100.0,
        memory_bytes: 900_000_000 + u64::from(second) * 6_000_000,
        disk_read_bytes_per_second: about(120e6),
        disk_write_bytes_per_second: about(60e6),
        disk_bytes: 1_100_000_000 + u64::from(second) * 1_000_000,
    }
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
