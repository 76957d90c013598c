//! Bulk puts where the system has too few threads.

use std::fs;
use std::process::Command;
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

use tonnage::{BulkPutOptions, ErrorKind, record_batch_stream};
use tonnage_testkit::alone;

use crate::support::{BulkCalls, Running, ships};

const STREAMS: i64 = 50;
/// Set in the process that has few threads: each of them takes so much address space.
const STACK: (&str, u64) = ("RUST_MIN_STACK", 1 << 30);

/// The story of a bug: a put that got some of its threads and then no more failed with
/// `Unavailable`. The threads that it had read and sent all streams without the caller's knowledge.
#[test]
fn a_put_that_lacks_a_thread_sends_nothing_once_its_error_is_told() {
    let test = "few_threads::a_put_that_lacks_a_thread_sends_nothing_once_its_error_is_told";
    alone(test, (STACK.0, &STACK.1.to_string()), put_with_few_threads);
}

fn put_with_few_threads() {
    let server = Running::new();
    let client = server.client();
    // The first put starts what both ends keep.
    client.put_batches("ships", [Ok(ships([1_000]))], &BulkPutOptions::default()).unwrap();
    leave_room_for_one_thread();
    let (open, gate) = channel::<()>();
    let (asked, told) = channel();
    let gate = Arc::new(Mutex::new(gate));
    let stream = |number: i64| {
        let (gate, asked) = (gate.clone(), asked.clone());
        // Nothing is sent before the put has returned.
        let rows = std::iter::once_with(move || {
            assert!(gate.lock().unwrap().recv().is_err(), "the gate opens by its drop");
            asked.send(number).unwrap();
            Ok(ships([number]))
        });
        record_batch_stream(format!("file {number}"), "ships", rows)
    };
    let streams = (0..STREAMS).map(stream).collect();
    drop(asked);
    let parallelism = Some(STREAMS as usize);
    let options = BulkPutOptions { stream_parallelism: parallelism, ..BulkPutOptions::default() };
    let stopped = client.bulk_put(streams, &options).unwrap_err();
    assert_eq!(stopped.error.kind(), ErrorKind::Unavailable, "{}", stopped.error);
    assert!(stopped.error.message().contains("no thread"), "{}", stopped.error);
    drop(open);
    // Ends once all streams are gone.
    let asked = told.into_iter().count();
    assert!(asked < 10, "{asked} streams were read");
    assert_eq!(server.ships(), 1);
}

/// From now on the process has address space for one more stack, and half of another.
fn leave_room_for_one_thread() {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let size = status.lines().find_map(|line| line.strip_prefix("VmSize:")).unwrap();
    let kibibytes: u64 = size.trim().trim_end_matches(" kB").parse().unwrap();
    let bytes = kibibytes * 1_024 + STACK.1 + STACK.1 / 2;
    let mut limit = Command::new("prlimit");
    limit.args(["--pid", &std::process::id().to_string(), &format!("--as={bytes}")]);
    assert!(limit.status().unwrap().success());
}
