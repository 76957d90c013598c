//! The process that is killed: this same test program, run once more for one test, which then plays
//! the child's part.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tonnage::{
    BulkPutCallbacks, BulkPutOptions, Durability, Result, RowOperation, Store, StreamReport,
    WriteOptions, row_stream,
};
use tonnage_testkit::{again, kill_after};

use crate::common::builder;
use crate::ledger::{Id, SINGLES, TABLE, hash, mark, pair_key, pair_value, track};

const STORE: &str = "TONNAGE_CRASH_STORE";
const RUN: &str = "TONNAGE_CRASH_RUN";

/// What a child does until it is killed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// Bulk puts of many streams.
    BulkPuts(Durability),
    /// Single atomic writes.
    Singles(Durability),
}

/// The store and the number of the run, if this process is a child.
pub(crate) fn child_store(tables: &str) -> Option<(Store, i64)> {
    let (Ok(path), Ok(run)) = (std::env::var(STORE), std::env::var(RUN)) else { return None };
    // The test harness has begun a line of its own.
    say(format_args!(""));
    let store = builder(&path).open().unwrap();
    store.execute(tables).unwrap();
    Some((store, run.parse().unwrap()))
}

/// Plays the part and never returns, if this process is a child.
pub(crate) fn play_if_child(part: Part) {
    let Some((store, run)) = child_store(TABLE) else { return };
    match part {
        Part::BulkPuts(durability) => bulk_puts(&store, run, durability),
        Part::Singles(durability) => singles(&store, run, durability),
    }
    unreachable!("a child runs until it is killed");
}

/// A whole line at once, past the capture of the test harness.
pub(crate) fn say(line: std::fmt::Arguments<'_>) {
    std::io::stdout().lock().write_all(format!("{line}\n").as_bytes()).unwrap();
}

fn rows_in(stream: i64) -> i64 {
    // Empty, small and larger streams: through the log, and by data files.
    [50, 0, 400, 3_000, 10, 9_000][stream as usize % 6]
}

fn bulk_puts(store: &Store, run: i64, durability: Durability) {
    struct Tell {
        run: i64,
    }
    impl BulkPutCallbacks for Tell {
        fn completed(&self, stream: &StreamReport) {
            let number: i64 = stream.name.parse().unwrap();
            say(format_args!("done {} {number} {}", self.run, rows_in(number)));
        }
    }
    for load in 0.. {
        let streams = (load * 3..load * 3 + 3).map(|number| {
            say(format_args!("begin {run} {number} {}", rows_in(number)));
            let rows =
                (0..rows_in(number)).map(move |at| Ok(("tracks".into(), track((run, number, at)))));
            row_stream(number.to_string(), rows)
        });
        let options = BulkPutOptions {
            durability,
            callbacks: std::sync::Arc::new(Tell { run }),
            memory_bytes_max: Some(1 << 20),
            flush_bytes_max: 1 << 20,
            ..Default::default()
        };
        let report = store.bulk_put(streams.collect(), &options).unwrap();
        assert_eq!(report.total.inserted, report.total.read);
    }
}

fn singles(store: &Store, run: i64, durability: Durability) {
    let options = WriteOptions { durability, ..Default::default() };
    for at in 0.. {
        let id = (run, SINGLES, at);
        say(format_args!("try {run} {at}"));
        put_single(store, id, &options).unwrap();
        say(format_args!("ack {run} {at} {}", hash(id)));
    }
}

/// A row, its child row, and a pair.
pub(crate) fn put_single(store: &Store, id: Id, options: &WriteOptions) -> Result<()> {
    let operations =
        [RowOperation::put("tracks", track(id)), RowOperation::put("tracks.marks", mark(id))];
    store.atomic_write(&operations, options)?;
    store.kv().put(&pair_key(id), &pair_value(id), options)?;
    Ok(())
}

/// Runs the test of this name as a child, kills it after a while, and gives the lines that it said.
pub(crate) fn run_and_kill(test: &str, path: &Path, run: i64, life: Duration) -> Vec<String> {
    let mut child = again(test)
        .env(STORE, path)
        .env(RUN, run.to_string())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let (begun, begins) = std::sync::mpsc::channel();
    // Read while the child runs, lest it waits for room in the pipe.
    let said = std::thread::spawn(move || {
        let mut said = Vec::new();
        loop {
            let mut line = String::new();
            let read = lines.read_line(&mut line);
            let _ = begun.send(());
            match read {
                Ok(0) | Err(_) => return said,
                // A line cut short by the kill says nothing.
                Ok(_) if !line.ends_with('\n') => return said,
                Ok(_) => said.push(line),
            }
        }
    });
    // A busy machine may take long to start it.
    let _ = begins.recv();
    let was_at_work = kill_after(&mut child, life);
    let output = child.wait_with_output().unwrap();
    let said = said.join().unwrap();
    assert!(
        was_at_work,
        "the child ended by itself: {}\n{}",
        said.concat(),
        String::from_utf8_lossy(&output.stderr)
    );
    said
}
