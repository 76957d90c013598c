//! Settings out of their range are refused, each by name and with its limits.

use std::time::Duration;

use rstest::rstest;
use tonnage::{BulkPutOptions, ErrorKind, ErrorsMax, Progress, Store};

use crate::common::shop::rows_of;
use crate::common::{assert_error, failure};

fn refusal(options: BulkPutOptions) -> tonnage::Error {
    let store = Store::open("memory:").unwrap();
    failure(store.bulk_put(vec![rows_of("t", [])], &options)).into()
}

#[rstest]
#[case::too_few_streams(BulkPutOptions { stream_parallelism: Some(0), ..Default::default() }, &["stream_parallelism", "1", "1024"])]
#[case::too_many_streams(BulkPutOptions { stream_parallelism: Some(1_025), ..Default::default() }, &["stream_parallelism", "1025", "1024"])]
#[case::too_few_writers(BulkPutOptions { per_shard_parallelism: Some(0), ..Default::default() }, &["per_shard_parallelism", "1024"])]
#[case::too_little_memory(BulkPutOptions { memory_bytes_max: Some(1_000), ..Default::default() }, &["memory_bytes_max", "1048576"])]
#[case::too_small_requests(BulkPutOptions { request_bytes_max: 1, ..Default::default() }, &["request_bytes_max", "4096"])]
#[case::too_large_requests(BulkPutOptions { request_bytes_max: 1 << 30, ..Default::default() }, &["request_bytes_max", "67108864"])]
#[case::too_small_flushes(BulkPutOptions { flush_bytes_max: 1, ..Default::default() }, &["flush_bytes_max", "1048576"])]
#[case::no_rows(BulkPutOptions { rows_per_second_max: Some(0), ..Default::default() }, &["rows_per_second_max", "1"])]
#[case::no_bytes(BulkPutOptions { bytes_per_second_max: Some(0), ..Default::default() }, &["bytes_per_second_max", "1"])]
#[case::no_time(BulkPutOptions { timeout: Some(Duration::ZERO), ..Default::default() }, &["timeout", "0"])]
#[case::over_all(BulkPutOptions { errors_max: ErrorsMax::Percent(100.5), ..Default::default() }, &["errors_max", "100"])]
#[case::no_number(BulkPutOptions { errors_max: ErrorsMax::Percent(f64::NAN), ..Default::default() }, &["errors_max"])]
fn a_setting_out_of_range_is_refused_by_name(#[case] options: BulkPutOptions, #[case] named: &[&str]) {
    assert_error(refusal(options), ErrorKind::Invalid, named);
}

#[test]
fn a_progress_watches_one_load_only() {
    let store = Store::open("memory:").unwrap();
    let options = BulkPutOptions { progress: Progress::default(), ..Default::default() };
    store.bulk_put(vec![rows_of("t", [])], &options).unwrap();
    assert_error(failure(store.bulk_put(vec![rows_of("t", [])], &options)), ErrorKind::Invalid, &["progress", "fresh"]);
}
