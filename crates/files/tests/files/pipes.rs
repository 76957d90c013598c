//! Pipes: FIFOs, process substitution, standard input.
//!
//! A pipe used to be opened once to find out what it holds and again to read it. What the first
//! look had taken was gone: up to 64 KiB of records, without a report.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::thread;
use std::time::{Duration, Instant};

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Int64Type};
use rstest::rstest;
use tempfile::TempDir;
use tonnage_engine::ErrorKind;
use tonnage_files::{
    Compression, Format, ReadOptions, RecordReader, Source, StopToken, infer_schema,
};
use tonnage_testkit::make_fifo;

use crate::common::{csv, gzip, lines, read, schema, wanting, written};

/// Long enough for a machine with other things to do.
const PATIENCE: Duration = Duration::from_secs(60);
const ROWS: i64 = 40_000;

/// A FIFO that another thread fills with `bytes`.
fn fifo(bytes: Vec<u8>) -> (TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    make_fifo(&path);
    let writer = path.clone();
    thread::spawn(move || std::fs::write(writer, bytes));
    (folder, path)
}

fn text() -> String {
    let rows: String = (0..ROWS).map(|id| format!("{id},row {id}\n")).collect();
    format!("id,name\n{rows}")
}

fn ids(source: &Source, options: &ReadOptions) -> Vec<i64> {
    let (batch, rejected) = read(source, options);
    assert_eq!(rejected, []);
    batch.column(0).as_primitive::<Int64Type>().values().to_vec()
}

#[rstest]
#[case(Format::Csv, Compression::None)]
#[case(Format::Csv, Compression::Gzip)]
#[case(Format::JsonLines, Compression::Zstd)]
#[case(Format::Parquet, Compression::None)]
#[case(Format::ArrowStream, Compression::None)]
fn a_pipe_that_was_looked_at_gives_every_record(
    #[case] format: Format,
    #[case] compression: Compression,
) {
    let wanted = schema(&[("id", DataType::Int64), ("name", DataType::Utf8)]);
    let (batch, _) = read(&csv(text()), &wanting(wanted));
    let (_folder, path) = fifo(written(format, compression, &batch));
    let source = Source::file(path);
    assert_eq!(Format::detect(&source).unwrap(), format);
    let schema = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
    assert_eq!(schema.field(0).data_type(), &DataType::Int64);
    assert_eq!(ids(&source, &wanting(Arc::new(schema))), (0..ROWS).collect::<Vec<_>>());
}

#[test]
fn a_pipe_is_read_without_a_look_too() {
    let (_folder, path) = fifo(gzip(text().as_bytes()));
    let wanted = schema(&[("id", DataType::Int64)]);
    assert_eq!(ids(&Source::file(path), &wanting(wanted)), (0..ROWS).collect::<Vec<_>>());
}

#[test]
fn a_pipe_is_read_once() {
    let (_folder, path) = fifo(text().into_bytes());
    let source = Source::file(path);
    assert!(source.reads_once() && !source.is_stdin());
    let reader = RecordReader::open(&source, &ReadOptions::default()).unwrap();
    let error =
        RecordReader::open(&source, &ReadOptions::default()).err().expect("the pipe is taken");
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().contains("can be read only once"), "{error}");
    assert!(reader.map(|batch| batch.unwrap().records).sum::<u64>() == ROWS as u64);
}

/// Reading waited for the writer, and nothing but a kill ended it.
#[test]
fn a_reader_that_is_told_to_stop_gives_what_came_and_waits_no_longer() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    make_fifo(&path);
    let (writer, stopped) = (path.clone(), Arc::new(AtomicBool::new(false)));
    let (done, waits) = channel::<()>();
    let silent = thread::spawn(move || {
        let mut pipe = std::fs::File::options().write(true).open(writer).unwrap();
        let text = format!("id,name\n{}", "1,a\n".repeat(2_000));
        pipe.write_all(text.as_bytes()).unwrap();
        // The pipe stays open, and gives nothing more.
        waits.recv().unwrap_err();
    });
    let asked = stopped.clone();
    let stop = StopToken::when(move || asked.load(Ordering::Relaxed));
    let options = ReadOptions { stop, ..wanting(schema(&[("id", DataType::Int64)])) };
    let mut reader = RecordReader::open(&Source::file(Path::new(&path)), &options).unwrap();
    let mut records = 0;
    while records < 2_000 {
        records += reader.next().unwrap().unwrap().records;
    }
    assert_eq!(records, 2_000);
    let begun = Instant::now();
    thread::spawn(move || {
        // Until the reader waits.
        thread::sleep(Duration::from_millis(300));
        stopped.store(true, Ordering::Relaxed);
    });
    assert!(reader.next().unwrap().unwrap_err().message().contains("stopped"));
    assert!(begun.elapsed() < PATIENCE);
    drop(done);
    silent.join().unwrap();
}

#[test]
fn lines_of_a_pipe_are_those_of_a_file() {
    let (_folder, path) = fifo(b"id\n1\nx\n2\n".to_vec());
    let source = Source::file(path);
    infer_schema(&source, &ReadOptions::default(), 1).unwrap();
    let (batch, rejected) = read(&source, &wanting(schema(&[("id", DataType::Int64)])));
    assert_eq!((lines(&batch), rejected[0].line), (vec!["1".to_owned(), "2".to_owned()], Some(3)));
}

/// Records waited until a mebibyte of them had come: with a decoder that writes a line a second,
/// for hours.
#[rstest]
#[case("id,name\n1,a\n", "2,b\n3,c\n")]
#[case("{\"id\":1,\"name\":\"a\"}\n", "{\"id\":2,\"name\":\"b\"}\n{\"id\":3}\n")]
#[case("[\n{\"id\":1,\n\"name\":\"a\"},", "{\"id\":2},{\"id\":3}")]
fn records_that_come_slowly_do_not_wait_for_more(
    #[case] first: &'static str,
    #[case] second: &'static str,
    #[values(1, 3)] parallelism: usize,
) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fifo");
    make_fifo(&path);
    let (go_on, waits) = channel();
    let writer = thread::spawn({
        let path = path.clone();
        move || {
            let mut pipe = std::fs::File::create(path).unwrap();
            pipe.write_all(first.as_bytes()).unwrap();
            // The reader must have read this before more comes.
            waits.recv_timeout(PATIENCE).unwrap();
            pipe.write_all(second.as_bytes()).unwrap();
            waits.recv_timeout(PATIENCE).unwrap();
        }
    });
    let wanted = schema(&[("id", DataType::Int64), ("name", DataType::Utf8)]);
    let options = ReadOptions { parallelism, ..wanting(wanted) };
    let mut reader = RecordReader::open(&Source::file(&path), &options).unwrap();
    let mut ids = Vec::new();
    for expected in [1, 3] {
        while ids.len() < expected {
            let read = reader.next().unwrap().unwrap();
            ids.extend_from_slice(read.batch.column(0).as_primitive::<Int64Type>().values());
        }
        go_on.send(()).unwrap();
    }
    assert_eq!(ids, [1, 2, 3]);
    writer.join().unwrap();
}
