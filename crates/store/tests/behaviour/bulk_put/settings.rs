//! Settings out of their range are refused, each by name and with its limits.

use std::time::Duration;

use rstest::rstest;
use tonnage::{BulkPutOptions, ErrorKind, ErrorsMax, Progress, Store};

use crate::common::shop::rows_of;
use crate::common::{assert_error, failure, row};

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
#[case::no_interval(BulkPutOptions { flush_interval: Some(Duration::ZERO), ..Default::default() }, &["flush_interval", "0"])]
#[case::no_time(BulkPutOptions { timeout: Some(Duration::ZERO), ..Default::default() }, &["timeout", "0"])]
#[case::no_time_for_a_flush(BulkPutOptions { flush_timeout: Some(Duration::ZERO), ..Default::default() }, &["flush_timeout", "0"])]
#[case::over_all(BulkPutOptions { errors_max: ErrorsMax::Percent(100.5), ..Default::default() }, &["errors_max", "100"])]
#[case::no_number(BulkPutOptions { errors_max: ErrorsMax::Percent(f64::NAN), ..Default::default() }, &["errors_max"])]
fn a_setting_out_of_range_is_refused_by_name(
    #[case] options: BulkPutOptions,
    #[case] named: &[&str],
) {
    assert_error(refusal(options), ErrorKind::Invalid, named);
}

#[test]
fn a_progress_watches_one_load_only() {
    let store = Store::open("memory:").unwrap();
    let options = BulkPutOptions { progress: Some(Progress::default()), ..Default::default() };
    store.bulk_put(vec![rows_of("t", [])], &options).unwrap();
    assert_error(
        failure(store.bulk_put(vec![rows_of("t", [])], &options)),
        ErrorKind::Invalid,
        &["progress", "fresh"],
    );
}

/// Options without a progress of the caller's used to serve once only: the second put was refused
/// because of one that no caller had given.
#[test]
fn the_same_options_serve_as_often_as_you_like() {
    let store = Store::open("memory:").unwrap();
    store.execute("CREATE TABLE t (id LONG, PRIMARY KEY (id))").unwrap();
    let options = BulkPutOptions::default();
    for id in 0..3_i64 {
        store.bulk_put(vec![rows_of("t", [row! { "id" => id }])], &options).unwrap();
        store.multi_put([("t", vec![row! { "id" => id + 10 }])], &options).unwrap();
    }
    assert_eq!(store.table("t").unwrap().count().unwrap(), 6);
}

/// The deadline was the sum of now and the time-out, which no clock can tell.
#[test]
fn a_time_out_may_be_as_long_as_can_be() {
    let store = Store::open("memory:").unwrap();
    store.execute("CREATE TABLE t (id LONG, PRIMARY KEY (id))").unwrap();
    let options = BulkPutOptions {
        timeout: Some(Duration::MAX),
        flush_interval: Some(Duration::MAX),
        ..Default::default()
    };
    assert_eq!(
        store
            .bulk_put(vec![rows_of("t", [row! { "id" => 1_i64 }])], &options)
            .unwrap()
            .total
            .inserted,
        1
    );
}
