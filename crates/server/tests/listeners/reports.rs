//! Every entry that exists or fails is reported, however many there are and whenever the client
//! reads.

use std::sync::Arc;

use arrow::array::{Int64Array, RecordBatch};
use serde_json::{Value as Json, json};
use tonic::Code;
use tonnage_server::Settings;

use crate::support::{Running, code, command, end, messages, ships, told};

const ROWS: i64 = 200_000;

/// The positions in all messages of this name.
fn positions(said: &[Json], name: &str) -> Vec<u64> {
    let told = said.iter().filter_map(|message| message.get(name));
    let positions = told.flat_map(|told| match name {
        "existing" => told["positions"].as_array().unwrap().clone(),
        _ => told.as_array().unwrap().iter().map(|failed| failed["position"].clone()).collect(),
    });
    positions.map(|position| position.as_u64().unwrap()).collect()
}

/// A stream of ships in batches.
fn stream(reports: &str, batch: impl Fn(std::ops::Range<i64>) -> RecordBatch) -> (Vec<Json>, bool) {
    stream_to(&Running::new(), reports, batch)
}

fn stream_to(
    server: &Running,
    reports: &str,
    batch: impl Fn(std::ops::Range<i64>) -> RecordBatch,
) -> (Vec<Json>, bool) {
    let put = command(json!({"bulk_put": {"table": "ships", "reports": reports}}));
    let batches = (0..ROWS).step_by(10_000).map(|first| batch(first..first + 10_000));
    let mut sent = messages(put, batches.collect());
    sent.push(end(ROWS as u64));
    // The client reads nothing before it has sent everything.
    let (said, status) = server.client().put(sent);
    assert_eq!(code(&status), None, "{status:?}");
    let is_completed = told(&said, "completed").is_some();
    (said, is_completed)
}

fn nameless(ids: std::ops::Range<i64>) -> RecordBatch {
    let ids: Int64Array = ids.map(|id| (id % 2 == 0).then_some(id)).collect();
    RecordBatch::try_from_iter_with_nullable([("id", Arc::new(ids) as _, true)]).unwrap()
}

#[test]
fn all_rows_that_exist_are_told() {
    let server = Running::new();
    stream_to(&server, "all", ships);
    let (said, is_completed) = stream_to(&server, "all", ships);
    let mut existing = positions(&said, "existing");
    existing.sort_unstable();
    assert!(is_completed && existing.into_iter().eq(0..ROWS as u64));
    assert!(told(said.last_chunk::<2>().unwrap(), "completed").is_some(), "it comes behind them");
}

#[test]
fn all_rows_that_fail_are_told_with_the_first_of_those_that_exist() {
    let server = Running::new();
    stream_to(&server, "first", ships);
    let (said, _) = stream_to(&server, "failed", nameless);
    let mut failed = positions(&said, "failed");
    failed.sort_unstable();
    assert!(failed.into_iter().eq((1..ROWS as u64).step_by(2)));
    assert_eq!(positions(&said, "existing").len(), 10_000);
}

#[test]
fn without_a_choice_the_first_ones_are_told() {
    let (said, _) = stream("first", nameless);
    assert_eq!(positions(&said, "failed").len(), 10_000);
}

#[test]
fn a_load_whose_reports_have_no_room_on_the_disk_stops_and_says_so() {
    let settings = Settings { spool_bytes_max: Some("100KiB".into()), ..Settings::default() };
    let server = Running::with(settings);
    let put = command(json!({"bulk_put": {"table": "ships", "reports": "all"}}));
    let batches = (0..ROWS).step_by(10_000).map(|first| nameless(first..first + 10_000));
    let mut sent = messages(put, batches.collect());
    sent.push(end(ROWS as u64));
    let (said, status) = server.client().put(sent);
    assert_eq!(code(&status), Some(Code::ResourceExhausted), "{status:?}");
    assert!(status.unwrap().message().contains("spool_bytes_max"));
    assert!(told(&said, "completed").is_none());
}
