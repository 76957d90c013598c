//! The files that a report is written to.

use std::collections::BTreeMap;
use std::fs;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::Deserializer;
use hdrhistogram::serialization::interval_log::{IntervalLogIterator, LogEntry};
use tonnage::ErrorKind;
use tonnage::arrow::array::{AsArray, RecordBatch};
use tonnage::arrow::datatypes::Float64Type;
use tonnage_bench::report::{Report, read, summary, write};

use super::sample::{self, written};

#[test]
fn a_report_comes_back_from_its_directory_and_from_its_file() {
    let directory = tempfile::tempdir().unwrap();
    let place = directory.path().join("made/for it");
    let report = sample::report();
    let files = write(&report, &place).unwrap();
    assert!(files.iter().all(|file| file.is_file()));
    assert_eq!(files.len(), 5 + report.runs.len());
    for path in [&place, &files[0]] {
        assert!(read(path).unwrap() == report, "{}", path.display());
    }
}

#[test]
fn what_is_no_report_is_refused_with_its_place() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("report.json");
    assert_eq!(read(directory.path()).unwrap_err().kind(), ErrorKind::NotFound);
    fs::write(&file, "{\"format\": 1}").unwrap();
    let error = read(&file).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.to_string().contains("report.json"), "{error}");
    fs::write(&file, "{\"format\": 99, \"new\": true}").unwrap();
    assert_eq!(read(directory.path()).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn a_report_of_containers_can_be_compared_with_one_of_tables() {
    let directory = tempfile::tempdir().unwrap();
    let old = Report { workload: "containers".to_owned(), ..sample::report() };
    write(&old, directory.path()).unwrap();
    assert_eq!(read(directory.path()).unwrap().workload, "tables");
}

/// What a tool makes of YCSB's text: `[metric], measurement, value`, everything else passed over.
fn parsed(section: &str) -> BTreeMap<(&str, &str), f64> {
    let lines = section.lines().filter_map(|line| line.strip_prefix('['));
    lines
        .map(|line| {
            let (metric, rest) = line.split_once("], ").unwrap();
            let (measurement, value) = rest.split_once(", ").unwrap();
            ((metric, measurement), value.parse().unwrap())
        })
        .collect()
}

#[test]
fn a_tool_for_ycsb_reads_each_section_of_the_text() {
    let mut report = sample::report();
    report.runs[1].operations[0].failed = 3;
    let text = written(&report, "report.txt");
    let sections: Vec<&str> = text.split("\n\n").collect();
    assert_eq!(sections.len(), report.runs.len());
    let run = &report.runs[1];
    assert!(sections[1].starts_with(&format!("# {} / {} / 4 threads\n", run.name, run.target)));
    let numbers = parsed(sections[1]);
    let number = |metric, measurement| numbers[&(metric, measurement)];
    assert_eq!(number("OVERALL", "RunTime(ms)"), 55_000.0);
    assert_eq!(number("OVERALL", "Throughput(ops/sec)"), run.throughput());
    let read = &run.operations[0];
    assert_eq!(number("READ", "Operations"), read.count as f64);
    assert_eq!(number("READ", "AverageLatency(us)"), read.service.mean_us);
    assert_eq!(number("READ", "99thPercentileLatency(us)"), read.service.at(99.0));
    assert_eq!(number("READ", "99.9PercentileLatency(us)"), read.service.at(99.9));
    assert_eq!(number("Intended-READ", "MaxLatency(us)"), read.service.max_us);
    assert_eq!(number("READ", "Return=OK"), read.count as f64);
    assert_eq!(number("READ", "Return=ERROR"), 3.0);
    assert_eq!(number("READ-FAILED", "Operations"), 3.0);
    assert!(!numbers.keys().any(|(metric, _)| *metric == "ALL"), "a tool would count it again");
}

#[test]
fn histograms_are_read_back_from_the_logs() {
    let directory = tempfile::tempdir().unwrap();
    let report = sample::report();
    let files = write(&report, directory.path()).unwrap();
    let name = files[5].file_name().unwrap().to_str().unwrap();
    assert_eq!(name, "001-a-uniform-0.33x-ssd-tonnage-rocksdb-4-threads.hdr");
    let log = fs::read(&files[5]).unwrap();
    let mut tags = Vec::new();
    for entry in IntervalLogIterator::new(&log) {
        if let LogEntry::Interval(line) = entry.unwrap() {
            let bytes = BASE64_STANDARD.decode(line.encoded_histogram()).unwrap();
            let histogram: Histogram<u64> =
                Deserializer::new().deserialize(&mut bytes.as_slice()).unwrap();
            assert_eq!(histogram.len(), report.runs[0].operations[0].count);
            let max_ms = histogram.max() as f64 / 1e6;
            assert!((line.max() - max_ms).abs() < 0.002, "the maximum is in milliseconds");
            assert_eq!(line.duration().as_secs_f64(), 55.0);
            tags.push(line.tag().unwrap().to_string());
        }
    }
    assert_eq!(tags, ["READ", "Intended-READ", "UPDATE", "ALL"]);
}

#[test]
fn tables_have_a_line_for_each_operation_and_each_reading() {
    let mut report = sample::report();
    report.runs[2].name = "a, \"quoted\"".to_owned();
    report.runs[3].operations.clear();
    let runs = written(&report, "runs.csv");
    let operations: usize = report.runs.iter().map(|run| run.operations.len().max(1)).sum();
    assert_eq!(runs.lines().count(), 1 + operations);
    assert!(runs.lines().next().unwrap().ends_with("label_phase,label_workload"));
    assert!(runs.contains("\n\"a, \"\"quoted\"\"\",rocksdb,4,"));
    let fields = |line: &str| line.replace("\"a, ", "\"a ").split(',').count();
    assert!(runs.lines().all(|line| fields(line) == fields(runs.lines().next().unwrap())));
    let series = written(&report, "series.csv");
    let readings: usize = report.runs.iter().map(|run| run.series.len()).sum();
    assert_eq!(series.lines().count(), 1 + readings);
    assert!(series.contains("\na / uniform / 0.33x / ssd,tonnage-rocksdb,4,1,true,"));
}

fn column(batch: &RecordBatch, name: &str) -> Vec<Option<f64>> {
    batch.column_by_name(name).unwrap().as_primitive::<Float64Type>().iter().collect()
}

#[test]
fn the_summary_has_a_line_for_each_run_and_its_ratio_to_the_yardstick() {
    let report = sample::report();
    let batch = summary(&report);
    assert_eq!(batch.num_rows(), report.runs.len());
    assert_eq!(column(&batch, "against_rocksdb")[..3], [Some(0.96), Some(2.1), None]);
    assert_eq!(column(&batch, "per_second")[2], Some(148_000.0));
    assert_eq!(column(&batch, "spread_percent")[2], Some(2.7));
    let alone = Report { runs: report.runs[..1].to_vec(), ..report };
    assert!(summary(&alone).column_by_name("against_rocksdb").is_none());
}
