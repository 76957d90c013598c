//! Files over HTTP: whole, in pieces, moved, missing, and with connections that break.

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use arrow::datatypes::DataType;
use rstest::rstest;
use tonnage_engine::{ErrorKind, Result};
use tonnage_files::{
    Compression, Format, ReadOptions, RecordReader, Sample, Source, StopToken, infer_common_schema,
};

use crate::common;

/// A request: its path, and its headers in small letters.
struct Asked {
    path: String,
    headers: HashMap<String, String>,
}

impl Asked {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).map(String::as_str)
    }

    /// The first byte of the range that is wanted.
    fn from(&self) -> Option<usize> {
        self.header("range")?.strip_prefix("bytes=")?.strip_suffix('-')?.parse().ok()
    }
}

/// What a server answers: status line and headers, the body, and how much of the body it sends
/// before it breaks the connection.
struct Answer {
    head: String,
    body: Vec<u8>,
    sent_max: usize,
    /// How long it is silent then.
    silence: Duration,
}

impl Answer {
    fn of(status: &str, headers: &str, body: impl Into<Vec<u8>>) -> Self {
        let body = body.into();
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n{headers}\r\n",
            body.len()
        );
        Self { head, body, sent_max: usize::MAX, silence: Duration::ZERO }
    }

    fn broken_after(self, sent_max: usize) -> Self {
        Self { sent_max, ..self }
    }
}

/// A server on this machine that answers as a function says; the answer is its address and the
/// requests that it got.
fn server(
    answer: impl Fn(&Asked, usize) -> Answer + Send + 'static,
) -> (String, Arc<Mutex<Vec<String>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let seen = Arc::new(Mutex::new(Vec::new()));
    let noted = seen.clone();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let Ok(stream) = stream else { return };
            serve(stream, &answer, &noted);
        }
    });
    (address, seen)
}

fn serve(
    mut stream: TcpStream,
    answer: &impl Fn(&Asked, usize) -> Answer,
    noted: &Mutex<Vec<String>>,
) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
    let Some(Ok(first)) = lines.next() else { return };
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let headers = lines.map_while(|line| line.ok().filter(|line| !line.is_empty()));
    let headers = headers.filter_map(|line| {
        let (name, value) = line.split_once(':')?;
        Some((name.to_ascii_lowercase(), value.trim().to_owned()))
    });
    let asked = Asked { path, headers: headers.collect() };
    let number = {
        let mut noted = noted.lock().unwrap();
        noted.push(format!("{} {}", asked.path, asked.header("range").unwrap_or("-")));
        noted.len() - 1
    };
    let Answer { head, body, sent_max, silence } = answer(&asked, number);
    // A reader that has seen enough closes the connection.
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(&body[..body.len().min(sent_max)]);
    let _ = stream.flush();
    std::thread::sleep(silence);
}

fn csv(rows: usize) -> Vec<u8> {
    let rows: String = (0..rows).map(|id| format!("{id},name {id}\n")).collect();
    format!("id,name\n{rows}").into_bytes()
}

fn rows(url: &str) -> Result<usize> {
    let source = &Source::expand(&[url.to_owned()])?[0];
    let mut rows = 0;
    for batch in RecordReader::open(source, &ReadOptions::default())? {
        rows += batch?.batch.num_rows();
    }
    Ok(rows)
}

/// A file that is served in pieces of a length, then the connection breaks.
fn broken_file(body: Vec<u8>, piece: usize) -> impl Fn(&Asked, usize) -> Answer {
    move |asked, _| match asked.from() {
        None => Answer::of("200 OK", "ETag: \"one\"\r\n", body.clone()).broken_after(piece),
        Some(from) => {
            assert_eq!(asked.header("if-range"), Some("\"one\""));
            let range = format!(
                "Content-Range: bytes {from}-{}/{}\r\nETag: \"one\"\r\n",
                body.len() - 1,
                body.len()
            );
            Answer::of("206 Partial Content", &range, &body[from..]).broken_after(piece)
        }
    }
}

#[test]
fn a_file_is_read_from_its_url() {
    let body = csv(50_000);
    let (address, seen) = server(move |_, _| Answer::of("200 OK", "", body.clone()));
    let source = Source::url(&format!("{address}/data/a.csv?page=2"));
    assert_eq!(source.name(), format!("{address}/data/a.csv?page=2"));
    assert!(!source.reads_once() && source.path().is_none());
    let found = infer_common_schema(
        std::slice::from_ref(&source),
        &ReadOptions::default(),
        &Sample::default(),
    );
    assert_eq!(found.unwrap().schema.fields().len(), 2);
    let reader = RecordReader::open(&source, &ReadOptions::default()).unwrap();
    assert_eq!(reader.format(), Format::Csv);
    assert!(reader.progress().bytes_total().is_some());
    let read: usize = reader.map(|batch| batch.unwrap().batch.num_rows()).sum();
    assert_eq!(read, 50_000);
    assert!(seen.lock().unwrap().iter().all(|asked| asked == "/data/a.csv?page=2 -"));
}

#[test]
fn packed_files_and_parquet_are_read_from_urls() {
    let packed = common::gzip(&csv(20_000));
    let (address, _) = server(move |_, _| Answer::of("200 OK", "", packed.clone()));
    assert_eq!(rows(&format!("{address}/a.csv.gz")).unwrap(), 20_000);
    // The server sends what was packed as if it were the way of sending.
    assert_eq!(rows(&format!("{address}/a")).unwrap(), 20_000);
    let source = Source::memory("a.csv", csv(20_000));
    let reader = RecordReader::open(&source, &ReadOptions::default()).unwrap();
    let mut writer = tonnage_files::RecordWriter::new(
        Format::Parquet,
        Vec::new(),
        reader.schema(),
        Compression::None,
    )
    .unwrap();
    reader.for_each(|batch| writer.write(&batch.unwrap().batch).unwrap());
    let parquet = writer.finish().unwrap();
    let (address, _) = server(broken_file(parquet, 30_000));
    assert_eq!(rows(&format!("{address}/a.parquet")).unwrap(), 20_000);
}

#[test]
fn a_connection_that_breaks_is_resumed_where_it_broke() {
    let body = csv(100_000);
    let (bytes, piece) = (body.len(), 300_000);
    let (address, seen) = server(broken_file(body, piece));
    assert_eq!(rows(&format!("{address}/a.csv")).unwrap(), 100_000);
    let seen = seen.lock().unwrap();
    assert_eq!(seen.len(), bytes.div_ceil(piece), "{seen:?}");
    assert_eq!(seen[1], format!("/a.csv bytes={piece}-"));
}

#[test]
fn a_server_without_ranges_sends_the_file_again() {
    let body = csv(50_000);
    let (address, seen) = server(move |_, number| {
        let marked = "Last-Modified: Mon, 03 Jan 2022 00:00:00 GMT\r\n";
        let answer = Answer::of("200 OK", marked, body.clone());
        if number == 0 { answer.broken_after(400_000) } else { answer }
    });
    assert_eq!(rows(&format!("{address}/a.csv")).unwrap(), 50_000);
    assert_eq!(seen.lock().unwrap().len(), 2);
}

#[test]
fn a_file_that_changes_while_it_is_read_is_no_mixture() {
    for (mark, later) in [("ETag: \"one\"\r\n", "ETag: \"two\"\r\n"), ("", "")] {
        let body = csv(50_000);
        let (address, _) = server(move |asked, number| match (number, asked.from()) {
            (0, _) => Answer::of("200 OK", mark, body.clone()).broken_after(400_000),
            _ => Answer::of("200 OK", later, body.clone()),
        });
        let error = rows(&format!("{address}/a.csv")).unwrap_err();
        assert!(error.message().contains("the connection broke after"), "{error}");
        assert!(error.message().contains("has changed"), "{error}");
    }
    // A range of another file.
    let body = csv(50_000);
    let (address, _) = server(move |asked, _| match asked.from() {
        None => Answer::of("200 OK", "", body.clone()).broken_after(400_000),
        Some(from) => {
            let range = format!("Content-Range: bytes {from}-99/100\r\n");
            Answer::of("206 Partial Content", &range, "x".repeat(10))
        }
    });
    assert!(rows(&format!("{address}/a.csv")).unwrap_err().message().contains("has changed"));
}

/// Another file of the same size may lie there by now.
#[test]
fn a_file_without_a_mark_is_not_resumed() {
    let body = csv(50_000);
    let (address, _) = server(move |asked, _| match asked.from() {
        None => Answer::of("200 OK", "", body.clone()).broken_after(400_000),
        Some(from) => {
            let (last, bytes) = (body.len() - 1, body.len());
            let range = format!("Content-Range: bytes {from}-{last}/{bytes}\r\n");
            Answer::of("206 Partial Content", &range, &body[from..])
        }
    });
    let error = rows(&format!("{address}/a.csv")).unwrap_err();
    assert!(error.message().contains("the rest cannot be had"), "{error}");
}

/// A body in chunks of rows, and the last chunk.
fn chunked(body: &[u8]) -> Vec<u8> {
    let lines = body.split_inclusive(|byte| *byte == b'\n');
    let mut sent = Vec::new();
    for line in lines {
        sent.extend(format!("{:x}\r\n", line.len()).bytes());
        sent.extend_from_slice(line);
        sent.extend_from_slice(b"\r\n");
    }
    sent.extend_from_slice(b"0\r\n\r\n");
    sent
}

/// An answer whose headers are these alone.
fn headed(head: &str, body: Vec<u8>) -> Answer {
    let head = format!("{head}\r\nConnection: close\r\n\r\n");
    Answer { head, body, sent_max: usize::MAX, silence: Duration::ZERO }
}

const CHUNKED: &str = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked";

/// Without a length only the empty last chunk tells the end. A connection that breaks before it,
/// even after a whole record, is an error or is resumed there.
#[test]
fn chunks_without_the_last_one_are_no_file() {
    let body = csv(200);
    let sent = chunked(&body);
    let end = sent.len();
    let whole = sent.clone();
    let (address, _) = server(move |_, _| headed(CHUNKED, whole.clone()));
    assert_eq!(rows(&format!("{address}/a.csv")).unwrap(), 200);
    // After the last record, within the mark before a chunk, within a record, after one.
    let middle = &sent[end / 2..];
    let behind_record = end / 2 + middle.windows(2).position(|pair| pair == b"\n\r").unwrap() + 3;
    for cut in [end - 5, behind_record, behind_record - 1, end / 2, end / 2 + 1, end / 2 + 2] {
        let whole = sent.clone();
        let (address, _) = server(move |_, _| headed(CHUNKED, whole.clone()).broken_after(cut));
        let error = rows(&format!("{address}/a.csv")).unwrap_err();
        assert!(error.message().contains("the connection broke after"), "{cut}: {error}");
        let (body, sent) = (body.clone(), sent.clone());
        let (address, _) = server(move |asked, _| match asked.from() {
            None => headed(&format!("{CHUNKED}\r\nETag: \"1\""), sent.clone()).broken_after(cut),
            Some(from) => {
                let (last, bytes) = (body.len() - 1, body.len());
                let range =
                    format!("Content-Range: bytes {from}-{last}/{bytes}\r\nETag: \"1\"\r\n");
                Answer::of("206 Partial Content", &range, &body[from..])
            }
        });
        assert_eq!(rows(&format!("{address}/a.csv")).unwrap(), 200, "{cut}");
    }
}

/// Such a file ended where the connection did: one that was cut short was loaded as if it were whole,
/// and the exit code was 0.
#[test]
fn an_answer_that_does_not_tell_its_end_is_refused() {
    for head in [
        "HTTP/1.1 200 OK",
        "HTTP/1.0 200 OK",
        // HTTP/1.0 knows no chunks.
        "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked",
    ] {
        let (address, _) = server(move |_, _| headed(head, csv(200)).broken_after(1_000));
        let error = rows(&format!("{address}/a.csv")).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{head}: {error}");
        assert!(error.message().contains("neither its length nor its last chunk"), "{error}");
        assert!(error.message().contains("curl -O"), "{error}");
    }
    // Nor is the rest of a file of unknown length.
    let sent = chunked(&csv(200));
    let (address, _) = server(move |asked, _| match asked.from() {
        None => {
            headed(&format!("{CHUNKED}\r\nETag: \"1\""), sent.clone()).broken_after(sent.len() / 2)
        }
        Some(from) => {
            let range = format!("Content-Range: bytes {from}-9999/*\r\nETag: \"1\"");
            headed(&format!("HTTP/1.1 206 Partial Content\r\n{range}"), b"1,x\n".to_vec())
        }
    });
    let error = rows(&format!("{address}/a.csv")).unwrap_err();
    assert!(error.message().contains("the rest cannot be had"), "{error}");
}

#[test]
fn a_server_that_breaks_every_connection_is_given_up() {
    let body = csv(50_000);
    let (address, seen) = server(move |asked, _| match asked.from() {
        None => Answer::of("200 OK", "ETag: \"one\"\r\n", body.clone()).broken_after(100_000),
        Some(from) => {
            let range = format!(
                "Content-Range: bytes {from}-{}/{}\r\nETag: \"one\"\r\n",
                body.len() - 1,
                body.len()
            );
            Answer::of("206 Partial Content", &range, &body[from..]).broken_after(0)
        }
    });
    let error = rows(&format!("{address}/a.csv")).unwrap_err();
    assert!(error.message().contains("times in a row after 100000 bytes"), "{error}");
    assert!(seen.lock().unwrap().len() < 10);
}

#[test]
fn passing_trouble_is_waited_out() {
    let body = csv(10);
    let (address, seen) = server(move |_, number| match number {
        0 => Answer::of("503 Slow Down", "", "wait"),
        1 => Answer::of("200 OK", "", body.clone()).broken_after(0),
        _ => Answer::of("200 OK", "ETag: \"one\"\r\n", body.clone()),
    });
    // A file of which nothing came has no mark to recognise it by.
    let read = rows(&format!("{address}/a.csv"));
    assert_eq!((read.unwrap(), seen.lock().unwrap().len()), (10, 3));
}

#[test]
fn what_is_not_there_is_told() {
    let (address, seen) = server(|asked, _| match asked.path.as_str() {
        "/none.csv" => Answer::of("404 Not Found", "", "<html>"),
        "/secret.csv" => Answer::of("403 Forbidden", "", ""),
        "/odd.csv" => Answer::of("418 I'm a teapot", "", ""),
        "/nothing.csv" => Answer::of("204 No Content", "", ""),
        "/circle.csv" => Answer::of("302 Found", "Location: /circle.csv\r\n", ""),
        _ => Answer::of("500 Internal Server Error", "", ""),
    });
    for (path, kind, says) in [
        ("none.csv", ErrorKind::NotFound, "404 Not Found"),
        ("secret.csv", ErrorKind::Invalid, "403 Forbidden"),
        ("odd.csv", ErrorKind::Invalid, "418"),
        ("nothing.csv", ErrorKind::Unavailable, "204"),
        ("circle.csv", ErrorKind::Invalid, "circle"),
        ("broken.csv", ErrorKind::Unavailable, "500 Internal Server Error"),
    ] {
        let error = rows(&format!("{address}/{path}")).unwrap_err();
        assert_eq!(error.kind(), kind, "{error}");
        assert!(error.message().starts_with(&format!("{address}/{path}: ")), "{error}");
        assert!(error.message().contains(says), "{error}");
    }
    // What passes is tried again, what does not is not.
    let seen = seen.lock().unwrap();
    let count = |path: &str| seen.iter().filter(|asked| asked.starts_with(path)).count();
    assert_eq!((count("/none.csv"), count("/secret.csv")), (1, 1));
    assert!(count("/broken.csv") > 2);
    // No server listens there.
    assert_eq!(rows("http://127.0.0.1:1/a.csv").unwrap_err().kind(), ErrorKind::Unavailable);
}

#[test]
fn redirects_are_followed_with_the_range() {
    let inner = broken_file(csv(50_000), 400_000);
    let (address, seen) = server(move |asked, number| match asked.path.as_str() {
        "/a.csv" => Answer::of("302 Found", "Location: /moved/b\r\n", ""),
        _ => inner(asked, number),
    });
    assert_eq!(rows(&format!("{address}/a.csv")).unwrap(), 50_000);
    assert!(seen.lock().unwrap().contains(&"/moved/b bytes=400000-".to_owned()));
}

/// Records waited until a mebibyte of them had come, so that nothing of them was durable for as long.
#[rstest]
#[case(Compression::None)]
#[case(Compression::Gzip)]
fn records_that_come_slowly_do_not_wait_for_more(#[case] compression: Compression) {
    let pack = |text: &str| match compression {
        Compression::None => text.as_bytes().to_vec(),
        _ => common::gzip(text.as_bytes()),
    };
    let (first, second) = (pack("id,name\n1,a\n"), pack("2,b\n3,c\n"));
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.csv", listener.local_addr().unwrap());
    let (go_on, waits) = channel();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        let length = first.len() + second.len();
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {length}\r\n\r\n").unwrap();
        stream.write_all(&first).unwrap();
        // The reader must have read this before more comes.
        waits.recv_timeout(Duration::from_secs(60)).unwrap();
        stream.write_all(&second).unwrap();
        waits.recv_timeout(Duration::from_secs(60)).unwrap();
    });
    let mut reader = RecordReader::open(&Source::url(&url), &ReadOptions::default()).unwrap();
    let mut records = 0;
    for expected in [1, 3] {
        while records < expected {
            records += reader.next().unwrap().unwrap().records;
        }
        go_on.send(()).unwrap();
    }
    assert_eq!(records, 3);
    server.join().unwrap();
}

/// The types of a table would depend on how fast the server is.
#[test]
fn who_looks_at_a_file_waits_for_as_much_as_it_wants() {
    let body = [csv(20), b"20,name,and more\nx,text\n".to_vec()].concat();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/a.csv", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut lines = BufReader::new(stream.try_clone().unwrap()).lines();
        while lines.next().is_some_and(|line| line.is_ok_and(|line| !line.is_empty())) {}
        write!(stream, "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len()).unwrap();
        let (first, rest) = body.split_at(body.len() / 2);
        stream.write_all(first).unwrap();
        // Longer than what comes slowly waits for more.
        std::thread::sleep(Duration::from_secs(1));
        stream.write_all(rest).unwrap();
    });
    let found =
        infer_common_schema(&[Source::url(&url)], &ReadOptions::default(), &Sample::default());
    assert_eq!(found.unwrap().schema.field(0).data_type(), &DataType::Utf8);
}

#[test]
fn a_wait_for_a_silent_server_can_be_stopped() {
    let body = csv(50_000);
    let (address, _) = server(move |_, _| {
        let answer = Answer::of("200 OK", "", body.clone()).broken_after(400_000);
        Answer { silence: Duration::from_secs(120), ..answer }
    });
    let stopped = Arc::new(AtomicBool::new(false));
    let asked = stopped.clone();
    let stop = StopToken::when(move || asked.load(Ordering::Relaxed));
    let options = ReadOptions { stop, ..ReadOptions::default() };
    let mut reader =
        RecordReader::open(&Source::url(&format!("{address}/a.csv")), &options).unwrap();
    let begun = Instant::now();
    std::thread::spawn(move || {
        // Until the reader has what came, and waits for the rest of a block.
        std::thread::sleep(Duration::from_secs(3));
        stopped.store(true, Ordering::Relaxed);
    });
    let mut rows = 0;
    let ended: Result<()> = reader.try_for_each(|batch| {
        rows += batch?.batch.num_rows();
        Ok(())
    });
    assert!(ended.unwrap_err().message().contains("stopped"));
    assert!(rows > 0 && begun.elapsed() < Duration::from_secs(50));
}
