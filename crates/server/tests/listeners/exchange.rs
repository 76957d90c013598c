//! Streams over HTTP: Arrow IPC in, message by message; lines of JSON or Arrow IPC out, while the
//! client still sends.

use std::io::{BufRead, BufReader, Cursor, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{ArrayRef, AsArray, BinaryArray, Int64Array, RecordBatch, StringArray};
use arrow::datatypes::Int64Type;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use serde_json::{Value as Json, json};

use tonnage_server::Settings;
use tonnage_testkit::wait_until;

use crate::support::{Running, ships};

/// A stream without its end: what follows may still be appended.
fn stream(batches: &[RecordBatch]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut writer = StreamWriter::try_new(&mut bytes, batches[0].schema_ref()).unwrap();
    batches.iter().for_each(|batch| writer.write(batch).unwrap());
    writer.finish().unwrap();
    bytes.truncate(bytes.len() - END.len());
    bytes
}

const END: [u8; 8] = [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0];

/// A message without rows whose metadata `tonnage` has these words: a description by hand, as
/// FlatBuffers lays it out.
fn words(words: &Json) -> Vec<u8> {
    let words = words.to_string();
    let mut bytes: Vec<u8> = Vec::new();
    let mut put = |numbers: &[u32]| numbers.iter().for_each(|n| bytes.extend(n.to_le_bytes()));
    // Where the message is; its slots: of five only the version and the metadata, at 4 and 8.
    put(&[20, 14 | 12 << 16, 4, 0, 8]);
    // The message: its slots lie 16 bytes before it, version 5 of the format, its metadata.
    put(&[16, 4, 4]);
    // One entry: where it is, its slots, itself, its name.
    put(&[1, 12, 8 | 12 << 16, 4 | 8 << 16, 8, 8, 16]);
    put(&[7]);
    bytes.extend(b"tonnage\0");
    bytes.extend(u32::try_from(words.len()).unwrap().to_le_bytes());
    bytes.extend(words.as_bytes());
    bytes.push(0);
    bytes.resize(bytes.len().next_multiple_of(8), 0);
    let length = u32::try_from(bytes.len()).unwrap().to_le_bytes();
    [&[0xFF; 4][..], &length, &bytes].concat()
}

fn end(rows: u64) -> Vec<u8> {
    [words(&json!({"end": {"rows": rows}})), END.to_vec()].concat()
}

/// A request whose body is sent in chunks.
struct Call {
    socket: TcpStream,
}

impl Call {
    fn new(server: &Running, command: &Json, headers: &str) -> Self {
        let mut socket = TcpStream::connect(server.addresses.http.unwrap()).unwrap();
        let command: String = command
            .to_string()
            .bytes()
            .map(|byte| match byte {
                b'a'..=b'z' | b'0'..=b'9' | b'_' => char::from(byte).to_string(),
                other => format!("%{other:02X}"),
            })
            .collect();
        let head = format!(
            "POST /v1/exchange?command={command} HTTP/1.1\r\nHost: localhost\r\n\
             Connection: close\r\nTransfer-Encoding: chunked\r\n{headers}\r\n"
        );
        socket.write_all(head.as_bytes()).unwrap();
        Call { socket }
    }

    fn send(&mut self, bytes: &[u8]) {
        // A server that refused the command reads no further.
        let _ = write!(self.socket, "{:x}\r\n", bytes.len())
            .and_then(|()| self.socket.write_all(bytes))
            .and_then(|()| self.socket.write_all(b"\r\n"));
    }

    /// Ends the body, and takes the whole answer: its head and its body.
    fn finish(mut self) -> (String, Vec<u8>) {
        let _ = self.socket.write_all(b"0\r\n\r\n");
        self.answer()
    }

    fn answer(mut self) -> (String, Vec<u8>) {
        let mut answer = Vec::new();
        let _ = self.socket.read_to_end(&mut answer);
        let at = answer.windows(4).position(|four| four == b"\r\n\r\n").expect("no head");
        let head = String::from_utf8(answer[..at].to_vec()).unwrap();
        let body = answer.split_off(at + 4);
        let is_chunked = head.to_lowercase().contains("transfer-encoding: chunked");
        (head, if is_chunked { unchunked(&body) } else { body })
    }
}

fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut whole = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let size = std::str::from_utf8(&body[..end]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        whole.extend(&body[end + 2..end + 2 + size]);
        body = &body[end + 4 + size..];
    }
    whole
}

fn lines(body: &[u8]) -> Vec<Json> {
    let lines = body.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
    lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
}

fn named<'a>(messages: &'a [Json], name: &str) -> Option<&'a Json> {
    messages.iter().find_map(|message| message.get(name))
}

/// Puts a body, and returns the server's answer.
fn put(server: &Running, command: &Json, body: &[u8]) -> Vec<Json> {
    let mut call = Call::new(server, command, "");
    call.send(body);
    let (head, body) = call.finish();
    assert!(head.starts_with("HTTP/1.1 200"), "{head} {}", String::from_utf8_lossy(&body));
    assert!(head.contains("application/x-ndjson"), "{head}");
    lines(&body)
}

#[test]
fn rows_are_stored_and_the_stream_is_told_completed() {
    let server = Running::new();
    let body = [stream(&[ships(0..10), ships(10..25)]), end(25)].concat();
    let told = put(&server, &json!({"bulk_put": {"table": "ships", "durability": "fsync"}}), &body);
    let completed = named(&told, "completed").unwrap();
    assert_eq!(completed["counts"]["inserted"], 25, "{told:?}");
    assert_eq!(completed["durability"], "fsync");
    assert!(named(&told, "ready").is_some() && named(&told, "report").is_some(), "{told:?}");
    assert_eq!(server.rows(), 25);
}

#[test]
fn each_entry_that_exists_or_failed_is_told() {
    let server = Running::new();
    let command = json!({"bulk_put": {"table": "ships", "reports": "all"}});
    put(&server, &command, &[stream(&[ships(0..10)]), end(10)].concat());
    let ids: ArrayRef = Arc::new(Int64Array::from(vec![Some(5), Some(50), None]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let batch =
        RecordBatch::try_from_iter_with_nullable([("id", ids, true), ("name", names, true)]);
    let told = put(&server, &command, &[stream(&[batch.unwrap()]), end(3)].concat());
    assert_eq!(named(&told, "existing").unwrap()["positions"], json!([0]));
    assert_eq!(named(&told, "failed").unwrap()[0]["position"], 2);
    assert_eq!(named(&told, "failed").unwrap()[0]["column"], "id");
    assert_eq!(named(&told, "completed").unwrap()["counts"]["inserted"], 1);
}

/// The next line of an answer whose head was read, without the sizes of chunks.
fn next_line(reader: &mut impl BufRead) -> String {
    loop {
        let mut line = String::new();
        assert!(reader.read_line(&mut line).unwrap() > 0, "the answer ended");
        if line.starts_with('{') {
            return line;
        }
    }
}

#[test]
fn a_client_hears_of_its_rows_while_it_still_sends() {
    let server = Running::new();
    let mut call = Call::new(&server, &json!({"bulk_put": {"table": "ships"}}), "");
    call.send(&stream(&[ships(0..10)]));
    call.send(&words(&json!({"id": 7, "flush": true})));
    let mut reader = BufReader::new(call.socket.try_clone().unwrap());
    while next_line(&mut reader) != "{\"ack\":7}\n" {}
    // Without the wish to flush, the acknowledgement would come after a minute.
    assert_eq!(server.rows(), 10);
    call.send(&end(10));
    while !next_line(&mut reader).contains("completed") {}
}

#[test]
fn an_upload_without_its_end_marker_is_not_complete() {
    let server = Running::new();
    let command = json!({"bulk_put": {"table": "ships"}});
    let told = put(&server, &command, &[stream(&[ships(0..10)]), END.to_vec()].concat());
    assert!(named(&told, "completed").is_none(), "{told:?}");
    assert!(named(&told, "stopped").is_some(), "{told:?}");
    let error = named(&told, "error").unwrap();
    assert_eq!(error["kind"], "invalid request");
    assert!(error["message"].as_str().unwrap().contains("end marker"), "{error}");
    let optional = json!({"bulk_put": {"table": "ships", "end": "optional"}});
    let told = put(&server, &optional, &[stream(&[ships(10..20)]), END.to_vec()].concat());
    assert!(named(&told, "ended_without_marker").is_some(), "{told:?}");
    assert_eq!(server.rows(), 20);
}

#[test]
fn an_end_marker_with_another_count_is_refused() {
    let server = Running::new();
    let command = json!({"bulk_put": {"table": "ships"}});
    let told = put(&server, &command, &[stream(&[ships(0..10)]), end(11)].concat());
    assert!(named(&told, "completed").is_none(), "{told:?}");
    let error = named(&told, "error").unwrap()["message"].as_str().unwrap();
    assert!(error.contains("tells 11 rows, but 10 came"), "{error}");
}

#[test]
fn an_upload_that_is_cut_anywhere_is_never_told_completed() {
    let server = Running::new();
    let whole = [stream(&[ships(0..100)]), end(100)].concat();
    let cuts: Vec<usize> = (600..whole.len() - 100).step_by(whole.len() / 12).collect();
    for end in &cuts {
        let mut call = Call::new(&server, &json!({"bulk_put": {"table": "ships"}}), "");
        call.send(&whole[..*end]);
        call.socket.shutdown(Shutdown::Write).unwrap();
        let mut answer = String::new();
        let _ = call.socket.read_to_string(&mut answer);
        assert!(!answer.contains("{\"completed\""), "{end}: {answer}");
    }
    for job in server.ended_jobs(cuts.len()) {
        assert_eq!(job["report"]["streams"][0]["completed"], false, "{job}");
    }
}

#[test]
fn what_is_no_arrow_is_refused_before_a_row_is_taken() {
    let server = Running::new();
    for (command, body, status, wanted) in [
        ("{\"bulk_put\": {\"table\": \"ships\"}}", "id,name\n1,a\n".as_bytes(), "400", "Arrow IPC"),
        ("{\"bulk_put\": {\"table\": \"ships\"}}", b"", "400", "empty"),
        ("{\"bulk_put\": {\"tabel\": \"ships\"}}", b"", "400", "tabel"),
        ("{\"bulk_get\": {\"table\": \"ships\"}}", &END, "400", "empty"),
        ("{\"scan\": {\"table\": \"nothing\"}}", b"", "404", "nothing"),
    ] {
        let command: Json = serde_json::from_str(command).unwrap();
        let mut call = Call::new(&server, &command, "");
        if !body.is_empty() {
            call.send(body);
        }
        let (head, told) = call.finish();
        let told = String::from_utf8_lossy(&told).into_owned();
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{command}: {head} {told}");
        assert!(told.contains(wanted), "{command}: {told}");
    }
}

#[test]
fn keys_go_in_and_rows_come_out() {
    let server = Running::new();
    let command = json!({"bulk_put": {"table": "ships"}});
    put(&server, &command, &[stream(&[ships(0..1_000)]), end(1_000)].concat());
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values((0..2_000).step_by(2)));
    let keys = RecordBatch::try_from_iter([("id", keys)]).unwrap();
    let mut call = Call::new(&server, &json!({"bulk_get": {"table": "ships"}}), "");
    call.send(&[stream(&[keys]), END.to_vec()].concat());
    let (head, body) = call.finish();
    assert!(head.contains("application/vnd.apache.arrow.stream"), "{head}");
    let rows = StreamReader::try_new(Cursor::new(body), None).unwrap();
    let ids: Vec<i64> = rows
        .flat_map(|batch| batch.unwrap()["id"].as_primitive::<Int64Type>().values().to_vec())
        .collect();
    assert_eq!(ids.len(), 500);
    assert!(ids.iter().all(|id| id % 2 == 0));
}

/// The story of a bug: the server closed with the last chunk of the keys unread. That resets a
/// connection, and a client that paused lost what it had not read of its rows.
#[test]
fn a_client_that_ends_its_body_late_and_pauses_gets_all_rows() {
    let server = Running::new();
    let command = json!({"bulk_put": {"table": "ships"}});
    put(&server, &command, &[stream(&[ships(0..10_000)]), end(10_000)].concat());
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10_000));
    let keys = RecordBatch::try_from_iter([("id", keys)]).unwrap();
    for pause in [0, 300] {
        let mut call = Call::new(&server, &json!({"bulk_get": {"table": "ships"}}), "");
        call.send(&[stream(std::slice::from_ref(&keys)), END.to_vec()].concat());
        std::thread::sleep(Duration::from_millis(pause));
        call.socket.write_all(b"0\r\n\r\n").unwrap();
        std::thread::sleep(Duration::from_millis(500));
        let (_, body) = call.answer();
        let rows = StreamReader::try_new(Cursor::new(body), None).unwrap();
        assert_eq!(rows.map(|batch| batch.unwrap().num_rows()).sum::<usize>(), 10_000, "{pause}");
    }
}

#[test]
fn rows_that_end_early_say_why_and_do_not_pass_for_all() {
    let server = Running::new();
    let keys: ArrayRef = Arc::new(Int64Array::from_iter_values(0..10));
    let keys = RecordBatch::try_from_iter([("id", keys)]).unwrap();
    let mut call = Call::new(&server, &json!({"bulk_get": {"table": "ships"}}), "");
    // The second batch is none.
    call.send(&[stream(&[keys]), b"rubbish!rubbish!".to_vec()].concat());
    let (_, body) = call.finish();
    let text = String::from_utf8_lossy(&body).into_owned();
    assert!(text.contains("tonnage.error") && text.contains("FF FF FF FF"), "{text}");
    let rows = StreamReader::try_new(Cursor::new(body), None).unwrap();
    assert!(rows.into_iter().any(|batch| batch.is_err()), "a reader takes a part for the whole");
}

#[test]
fn pairs_and_large_objects_go_the_same_way() {
    let server = Running::new();
    let keys: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"a", b"b"]));
    let values: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"1", b"2"]));
    let pairs = RecordBatch::try_from_iter([("key", keys), ("value", values)]).unwrap();
    let body = [stream(&[pairs]), end(2)].concat();
    let told = put(&server, &json!({"bulk_put": {"pairs": true}}), &body);
    assert_eq!(named(&told, "completed").unwrap()["counts"]["inserted"], 2);

    let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"hello ", b"world!"]));
    let bytes = RecordBatch::try_from_iter([("bytes", bytes)]).unwrap();
    let marker = words(&json!({"end": {"bytes": 12}}));
    let body = [stream(&[bytes]), marker, END.to_vec()].concat();
    let told = put(&server, &json!({"put_lob": {"key": "/films/x"}}), &body);
    assert_eq!(named(&told, "stored").unwrap()["bytes"], 12, "{told:?}");
    let call = Call::new(&server, &json!({"get_lob": {"key": "/films/x"}}), "");
    let (_, body) = call.finish();
    let rows = StreamReader::try_new(Cursor::new(body), None).unwrap();
    let pieces: Vec<u8> = rows
        .flat_map(|batch| batch.unwrap()["bytes"].as_binary::<i32>().value(0).to_vec())
        .collect();
    assert_eq!(pieces, b"hello world!");
}

#[test]
fn actions_of_rows_and_pairs_are_offered_and_no_others() {
    let server = Running::new();
    let row = ships(5..6);
    let stream = [stream(&[row]), END.to_vec()].concat();
    let header = br#"{"put": "ships", "if": "absent"}"#;
    let length = |bytes: &[u8]| u32::try_from(bytes.len()).unwrap().to_le_bytes();
    let frame = [&length(header)[..], header, &length(&stream), &stream].concat();
    let act = |action: &str, body: &[u8]| {
        let mut socket = TcpStream::connect(server.addresses.http.unwrap()).unwrap();
        let head = format!(
            "POST /v1/actions/{action} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
             Content-Length: {}\r\n\r\n",
            body.len()
        );
        socket.write_all(&[head.as_bytes(), body].concat()).unwrap();
        Call { socket }.answer()
    };
    let (head, told) = act("tonnage.Write", &frame);
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    assert_eq!(lines(&told)[0]["stored"], true);
    let (_, told) = act("tonnage.Write", &frame);
    assert_eq!(lines(&told)[0]["stored"], false);
    let (head, _) = act("tonnage.PruneBackups", b"{}");
    assert!(head.starts_with("HTTP/1.1 404"), "{head}");
    let (head, told) = act("tonnage.Get", b"\x05");
    assert!(head.starts_with("HTTP/1.1 400"), "{head} {}", String::from_utf8_lossy(&told));
}

#[test]
fn a_caller_without_the_right_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("users.toml");
    // The token is `reader`.
    let hash = "3d0941964aa3ebdcb00ccef58b1bb399f9f898465e9886d5aec7f31090a0fb30";
    let users = format!("[[user]]\nname = \"ann\"\ntokens = [\"{hash}\"]\nroles = [\"reader\"]\n");
    std::fs::write(&file, users).unwrap();
    let settings =
        tonnage_server::Settings { users: Some(file), ..tonnage_server::Settings::default() };
    let server = Running::with(settings);
    let command = json!({"bulk_put": {"table": "ships"}});
    for (header, status) in [("", "401"), ("Authorization: Bearer reader\r\n", "403")] {
        let mut call = Call::new(&server, &command, header);
        call.send(&[stream(&[ships(0..10)]), end(10)].concat());
        let (head, _) = call.finish();
        assert!(head.starts_with(&format!("HTTP/1.1 {status}")), "{head}");
    }
    assert_eq!(server.rows(), 0);
}

/// Once a client without gRPC could have as many first messages in memory as it liked.
#[test]
fn first_messages_in_memory_are_bounded_for_all_calls_together() {
    let server = Running::with(Settings {
        message_bytes_max: Some("1MiB".into()),
        calls_max: Some(2),
        ..Settings::default()
    });
    // A message of which the end never comes.
    let part = [&[0xFF; 4][..], &1_000_000_u32.to_le_bytes(), &[0; 900 << 10]].concat();
    let rest = |key: &str| {
        let mut call = Call::new(&server, &json!({"put_lob": {"key": key}}), "");
        call.send(&part);
        call
    };
    // A busy server takes a while to read what rests.
    let refused = (1..=8).find_map(|number| {
        let resting = [rest("/a"), rest("/b")];
        std::thread::sleep(number * Duration::from_millis(500));
        let (head, body) = rest("/c").finish();
        head.starts_with("HTTP/1.1 429").then_some((resting, body))
    });
    let (resting, body) = refused.expect("first messages without a bound");
    let told = String::from_utf8(body).unwrap();
    assert!(told.contains("2097152 bytes"), "{told}");
    drop(resting);
    wait_until("there is memory again", || !rest("/d").finish().0.starts_with("HTTP/1.1 429"));
}
