//! What workloads a command line of YCSB names.

use std::time::Duration;

use rstest::rstest;
use tonnage::{ErrorKind, Result};
use tonnage_bench::workload::ycsb::{CoreOptions, InsertOrder, Lengths, Mix, Requests, Workload};

fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|&text| text.to_owned()).collect()
}

fn one(files: &[&str], arguments: &[&str]) -> Result<Workload> {
    Workload::from_arguments(&strings(files), &strings(arguments)).map(|mut all| all.remove(0))
}

/// A directory with property files, and their paths.
fn files(texts: &[(&str, &str)]) -> (tempfile::TempDir, Vec<String>) {
    let directory = tempfile::tempdir().unwrap();
    let path = |(name, text): &(&str, &str)| {
        let path = directory.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let paths = texts.iter().map(path).collect();
    (directory, paths)
}

#[test]
fn a_core_workload_needs_no_file() {
    assert_eq!(one(&["workloadb"], &[]).unwrap(), Workload::builtin("b").unwrap());
}

#[test]
fn arguments_win_over_the_workload() {
    let arguments = ["recordcount=5000", "readproportion=0.9", "requestdistribution=uniform"];
    let core = one(&["a"], &arguments).unwrap().core;
    assert_eq!((core.record_count, core.requests), (5000, Requests::Uniform));
    assert_eq!((core.mix.read, core.mix.update), (0.9, 0.5));
}

#[test]
fn without_files_the_arguments_alone_make_a_workload() {
    let workload = one(&[], &["recordcount=7"]).unwrap();
    assert_eq!(workload.core, CoreOptions { record_count: 7, ..CoreOptions::default() });
}

#[test]
fn a_file_of_ycsb_is_read_as_it_is() {
    let text = "\
# Yahoo! Cloud System Benchmark
#   Scan/insert ratio: 95/5

recordcount=1000
operationcount=2000
workload=site.ycsb.workloads.CoreWorkload

readallfields=true

readproportion=0
updateproportion=0
scanproportion=0.95
insertproportion=0.05

requestdistribution=zipfian

maxscanlength=100

scanlengthdistribution=uniform

";
    let (_directory, paths) = files(&[("workloade", text)]);
    let workload = Workload::from_arguments(&paths, &[]).unwrap().remove(0);
    assert_eq!(workload.name, "workloade");
    let builtin = Workload::builtin("e").unwrap().core;
    let expected = CoreOptions { record_count: 1000, operation_count: 2000, ..builtin };
    assert_eq!(workload.core, expected);
    assert!(workload.ignored.is_empty(), "{:?}", workload.ignored);
}

#[test]
fn a_file_of_sizes_adds_to_the_workload_before_it() {
    let (_directory, paths) = files(&[("large.dat", "recordcount=100000\n")]);
    let all =
        Workload::from_arguments(&[strings(&["a"]), paths, strings(&["b"])].concat(), &[]).unwrap();
    let sizes: Vec<_> =
        all.iter().map(|workload| (workload.name.as_str(), workload.core.record_count)).collect();
    assert_eq!(sizes, [("a", 100_000), ("b", 1_000_000)]);
}

#[test]
fn every_core_property_is_understood() {
    let all = "recordcount=10 operationcount=20 insertstart=2 insertcount=5 fieldcount=3 \
        fieldlength=50 minfieldlength=5 fieldlengthdistribution=zipfian readallfields=false \
        writeallfields=true readproportion=0.1 updateproportion=0.2 insertproportion=0.3 \
        scanproportion=0.4 readmodifywriteproportion=0.5 requestdistribution=hotspot \
        hotspotdatafraction=0.3 hotspotopnfraction=0.7 exponential.percentile=90 \
        exponential.frac=0.5 minscanlength=2 maxscanlength=20 scanlengthdistribution=zipfian \
        insertorder=ordered zeropadding=8 table=people dataintegrity=false target=1000 \
        threadcount=4 maxexecutiontime=60 core_workload_insertion_retry_limit=3 \
        core_workload_insertion_retry_interval=1 \
        workload=com.yahoo.ycsb.workloads.CoreWorkload";
    let text = all.replace(' ', "\n");
    let (_directory, paths) = files(&[("all", text.as_str())]);
    let workload = Workload::from_arguments(&paths, &[]).unwrap().remove(0);
    let expected = CoreOptions {
        record_count: 10,
        operation_count: 20,
        insert_start: 2,
        insert_count: Some(5),
        table: "people".to_owned(),
        field_count: 3,
        field_bytes: 50,
        field_bytes_min: 5,
        field_length: Lengths::Zipfian,
        read_all_fields: false,
        write_all_fields: true,
        mix: Mix { read: 0.1, update: 0.2, insert: 0.3, scan: 0.4, read_modify_write: 0.5 },
        requests: Requests::Hotspot,
        hotspot_data_fraction: 0.3,
        hotspot_operation_fraction: 0.7,
        exponential_percentile: 90.0,
        exponential_fraction: 0.5,
        scan_length_min: 2,
        scan_length_max: 20,
        scan_length: Lengths::Zipfian,
        insert_order: InsertOrder::Ordered,
        zero_padding: 8,
        data_integrity: false,
        rate: Some(1000.0),
        threads: Some(4),
        seconds_max: Some(Duration::from_secs(60)),
        insert_retries: 3,
        insert_retry_interval: Duration::from_secs(1),
    };
    assert_eq!((workload.core, workload.ignored), (expected, Vec::new()));
}

#[test]
fn what_means_nothing_here_is_told() {
    let arguments = ["measurementtype=hdrhistogram", "jdbc.url=x", "recordcount=2", "jdbc.url=y"];
    let workload = one(&["a"], &arguments).unwrap();
    assert_eq!(workload.ignored, ["jdbc.url", "measurementtype"]);
}

#[rstest]
#[case("recordcount=many", "whole number")]
#[case("recordcount=-1", "whole number")]
#[case("readproportion=NaN", "0 or more")]
#[case("hotspotdatafraction=1.5", "from 0 to 1")]
#[case("requestdistribution=zipf", "zipfian, latest")]
#[case("readallfields=yes", "true, false")]
#[case("table=", "a name")]
fn a_wrong_value_is_named_with_its_place_and_the_remedy(#[case] line: &str, #[case] remedy: &str) {
    let (_directory, paths) = files(&[("wrong", &format!("# sizes\n{line}\n"))]);
    let error = Workload::from_arguments(&paths, &[]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    let message = error.to_string();
    for told in ["wrong, line 2", line, remedy] {
        assert!(message.contains(told), "{message}");
    }
}

#[rstest]
#[case(&["recordcount=0"], "recordcount")]
#[case(&["recordcount=10", "insertstart=5", "insertcount=6"], "exceed recordcount")]
#[case(&["fieldcount=0"], "fieldcount")]
#[case(&["fieldcount=10000", "fieldlength=60000000"], "fieldlength")]
#[case(&["readproportion=0", "updateproportion=0"], "all proportions are 0")]
#[case(&["minscanlength=0"], "minscanlength")]
#[case(&["dataintegrity=true", "fieldlengthdistribution=uniform"], "dataintegrity")]
#[case(&["fieldlengthdistribution=uniform", "minfieldlength=101"], "minfieldlength")]
fn what_does_not_fit_together_is_refused(#[case] arguments: &[&str], #[case] named: &str) {
    let error = one(&["a"], arguments).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.to_string().contains(named), "{error}");
}

#[rstest]
#[case("fieldlengthdistribution=histogram")]
#[case("workload=site.ycsb.workloads.TimeSeriesWorkload")]
fn what_ycsb_knows_and_this_program_does_not_is_unsupported(#[case] argument: &str) {
    assert_eq!(one(&["a"], &[argument]).unwrap_err().kind(), ErrorKind::Unsupported);
}

#[test]
fn a_file_that_is_not_there_is_told() {
    let error = one(&["workloadz"], &[]).unwrap_err().to_string();
    assert!(error.contains("workloadz") && error.contains("a to f"), "{error}");
}
