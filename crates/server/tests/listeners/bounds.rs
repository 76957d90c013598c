//! Clients that take nothing, or send too much: others are served meanwhile, and what is a part of
//! an answer never looks like all of it.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use arrow::array::{Int64Array, RecordBatch, StringArray};
use arrow_flight::sql::{CommandStatementIngest, ProstMessageExt};
use arrow_flight::{FlightData, FlightDescriptor, PutResult, Ticket};
use futures::{Stream, StreamExt};
use prost::Message;
use serde_json::{Value as Json, json};
use tonic::Code;
use tonic::codegen::http;
use tonnage_server::Settings;
use tonnage_testkit::wait_until;

use crate::support::{Running, code, command, messages, path, say, ships};

const ROWS: i64 = 100_000;

/// How often a server is asked that may not have read yet what others sent, and how long after
/// that; each time longer.
const MAX_TRIES: u32 = 8;
const FIRST_PAUSE: Duration = Duration::from_millis(500);

/// Ships with names of 400 letters: more than sockets and queues hold.
fn fill(server: &Running) {
    let batches = (0..10).map(|batch| {
        let ids = Int64Array::from_iter_values(batch * ROWS / 10..(batch + 1) * ROWS / 10);
        let names = ids.values().iter().map(|id| format!("{id:0400}"));
        let names = StringArray::from_iter_values(names);
        let columns = [("id", Arc::new(ids) as _), ("name", Arc::new(names) as _)];
        RecordBatch::try_from_iter(columns).unwrap()
    });
    let (_, status) = server.client().put(messages(path(), batches.collect()));
    assert_eq!(code(&status), None, "{status:?}");
}

/// Once it read a part of the rows, and then an end without an error.
#[test]
fn a_client_of_flight_that_rested_too_long_hears_of_it() {
    let server =
        Running::with(Settings { reader_timeout: Some("2s".into()), ..Settings::default() });
    fill(&server);
    let mut client = server.client();
    let ticket = Ticket::new(json!({"scan": {"table": "ships"}}).to_string());
    let status = client.runtime.block_on(async {
        let mut answers = client.flight.do_get(ticket).await.unwrap().into_inner();
        answers.message().await.unwrap().unwrap();
        // So much longer that a busy machine does not make it look short.
        tokio::time::sleep(Duration::from_secs(8)).await;
        loop {
            match answers.message().await {
                Ok(Some(_)) => {}
                Ok(None) => break None,
                Err(status) => break Some(status),
            }
        }
    });
    assert_eq!(code(&status), Some(Code::DeadlineExceeded), "{status:?}");
    assert!(status.unwrap().message().contains("reader_timeout"));
}

/// Once the thread that wrote to such a client waited for it for ever, and kept its slot among the
/// calls: with a few such clients, no other was served any more.
#[test]
fn a_client_of_http_that_rests_keeps_no_place_and_gets_no_good_end() {
    let server = Running::with(Settings {
        reader_timeout: Some("300ms".into()),
        admission_wait: Some("60s".into()),
        calls_max: Some(1),
        ..Settings::default()
    });
    fill(&server);
    let mut resting = TcpStream::connect(server.addresses.http.unwrap()).unwrap();
    let query = r#"{"sql": "SELECT * FROM ships"}"#;
    write!(
        resting,
        "POST /v1/sql HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nAccept: text/csv\r\n\
         Content-Length: {}\r\n\r\n{query}",
        query.len()
    )
    .unwrap();
    // Its answer begins: by now it has its place.
    assert_eq!(resting.peek(&mut [0]).unwrap(), 1);
    let (head, body) = server.http("GET /v1/tables/ships/row?id=7", "", "");
    assert!(head.starts_with("HTTP/1.1 200"), "{head}{body}");
    let mut answer = Vec::new();
    // The connection may be reset after what was sent.
    let _ = resting.read_to_end(&mut answer);
    assert!(answer.starts_with(b"HTTP/1.1 200"));
    assert!(answer.len() < 400 * ROWS as usize, "all of it was sent: this test tests nothing");
    assert!(!answer.ends_with(b"0\r\n\r\n"), "a part of the rows ends as all of them do");
}

/// Once the server held the rows of all answers in memory, however many there were.
#[test]
fn answers_of_a_fetch_all_are_bounded() {
    let server = Running::new();
    fill(&server);
    let statements = json!([
        {"sql": "SELECT count(*) FROM ships"},
        {"sql": "SELECT * FROM ships", "limit": 10},
        {"sql": "SELECT * FROM ships"},
        {"sql": "SELECT * FROM ships"},
    ]);
    let (head, body) = server.http("POST /v1/fetch-all", "", &statements.to_string());
    assert!(head.starts_with("HTTP/1.1 200"), "{head}");
    let told: Json = serde_json::from_str(&body).unwrap();
    assert_eq!(told[0]["rows"], json!([[ROWS]]));
    assert_eq!((told[1]["rows"].as_array().unwrap().len(), &told[1]["more"]), (10, &json!(true)));
    let detail = told[3]["problem"]["detail"].as_str().unwrap();
    assert!(detail.contains("67108864 bytes"), "{detail}");
}

/// Once each connection could have as many bodies in memory as it liked.
#[test]
fn bodies_in_memory_are_bounded_for_all_requests_together() {
    let server = Running::with(Settings {
        body_bytes_max: Some("1MiB".into()),
        calls_max: Some(2),
        ..Settings::default()
    });
    let value = "x".repeat(900 << 10);
    let rest = || {
        [0, 1].map(|_| {
            let mut socket = TcpStream::connect(server.addresses.http.unwrap()).unwrap();
            let head =
                "PUT /v1/pairs/five HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1048576\r\n\r\n";
            write!(socket, "{head}{value}").unwrap();
            socket
        })
    };
    let put = || server.http("PUT /v1/pairs/six", "", &value);
    // A busy server takes a while to read what rests.
    let refused = (1..=MAX_TRIES).find_map(|number| {
        let resting = rest();
        std::thread::sleep(number * FIRST_PAUSE);
        let (head, body) = put();
        head.starts_with("HTTP/1.1 429").then_some((resting, body))
    });
    let (resting, body) = refused.expect("bodies without a bound");
    assert!(body.contains("2097152 bytes"), "{body}");
    drop(resting);
    wait_until("there is memory again", || put().0.starts_with("HTTP/1.1 204"));
}

/// Once each connection could have 256 messages of 128 MiB in memory, before anybody looked at
/// them.
#[test]
fn messages_in_memory_are_bounded_for_all_calls_together() {
    let server = Running::with(Settings {
        message_bytes_max: Some("1MiB".into()),
        calls_max: Some(2),
        ..Settings::default()
    });
    let text = "x".repeat(900 << 10);
    let mut client = server.client();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let rest = async |pause: Duration| {
        let socket = tokio::net::TcpStream::connect(server.flight_address()).await.unwrap();
        let (mut sender, connection) = h2::client::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        let mut resting = Vec::new();
        for _ in 0..2 {
            let call = "http://x/arrow.flight.protocol.FlightService/DoAction";
            let request = http::Request::post(call)
                .header("content-type", "application/grpc")
                .header("te", "trailers")
                .body(())
                .unwrap();
            let (answer, mut stream) = sender.send_request(request, false).unwrap();
            // A message of a mebibyte, of which the end never comes.
            let part = [&[0, 0, 16, 0, 0][..], text.as_bytes()].concat();
            stream.send_data(part.into(), false).unwrap();
            resting.push((answer, stream));
        }
        tokio::time::sleep(pause).await;
        resting
    };
    // It is not a definition: where there is memory for it, it is read and refused for that.
    let mut define = || client.act("tonnage.Define", text.as_str()).unwrap_err();
    // A busy server takes a while to read what rests.
    let refused = (1..=MAX_TRIES).find_map(|number| {
        let resting = runtime.block_on(rest(number * FIRST_PAUSE));
        let refused = define();
        (refused.code() == Code::ResourceExhausted).then_some((resting, refused))
    });
    let (resting, refused) = refused.expect("messages without a bound");
    assert!(refused.message().contains("2097152 bytes"), "{refused}");
    drop(resting);
    wait_until("it is read", || define().code() == Code::InvalidArgument);
}

/// The message with a body that fills most of a mebibyte. Without rows in its header that is not
/// decoded, but it is in memory.
fn swollen(message: FlightData) -> FlightData {
    message.with_data_body(vec![0_u8; 900 << 10])
}

/// The first message of an upload of a large object.
fn lob(key: &str) -> FlightData {
    FlightData::new().with_descriptor(command(json!({"put_lob": {"key": key}})))
}

/// An upload that has sent its first message, and sends no other.
fn rest_behind(first: FlightData) -> impl Stream<Item = FlightData> + Send + 'static {
    futures::stream::iter([first]).chain(futures::stream::pending())
}

fn is_ready(said: &PutResult) -> bool {
    said.app_metadata.starts_with(b"{\"ready\":")
}

/// The story of a bug: such a message counted twice until its call had a place. With one call at a
/// time, a call that needs more than half of the memory was asked to try again later, and for ever.
#[test]
fn the_first_message_of_a_stream_counts_once() {
    let server = Running::with(Settings {
        message_bytes_max: Some("1MiB".into()),
        calls_max: Some(1),
        ..Settings::default()
    });
    let mut client = server.client();
    let led_by_much = |descriptor, batch| {
        let mut messages = messages(descriptor, vec![batch]);
        messages[0] = swollen(std::mem::take(&mut messages[0]));
        messages
    };
    let (_, status) = client.put(led_by_much(path(), ships(0..3)));
    assert_eq!(code(&status), None, "a bulk put: {status:?}");
    assert_eq!(server.rows(), 3);
    let end = say(json!({"end": {"bytes": 0}}));
    let (_, status) = client.put(vec![swollen(lob("/a")), end]);
    assert_eq!(code(&status), None, "a large object: {status:?}");
    let get = command(json!({"bulk_get": {"table": "ships"}}));
    let keys = ships(0..3).project(&[0]).unwrap();
    let (_, status) = client.exchange(led_by_much(get, keys));
    assert_eq!(code(&status), None, "a bulk get: {status:?}");
}

/// Its call is answered at once, but what it sent stays in memory.
#[test]
fn an_upload_that_waits_for_its_place_counts_towards_that_memory() {
    let server = Running::with(Settings {
        message_bytes_max: Some("1MiB".into()),
        calls_max: Some(1),
        streams_max: Some(1),
        admission_wait: Some("60s".into()),
        ..Settings::default()
    });
    let mut client = server.client();
    let (end, ended) = tokio::sync::oneshot::channel::<()>();
    let runs = rest_behind(lob("/a")).take_until(ended);
    let answers = client.runtime.block_on(client.flight.do_put(runs));
    let mut running = answers.unwrap().into_inner();
    let said = client.runtime.block_on(running.message()).unwrap().unwrap();
    assert!(is_ready(&said), "{said:?}");
    let answers = client.runtime.block_on(client.flight.do_put(rest_behind(swollen(lob("/b")))));
    let mut waiting = answers.unwrap().into_inner();
    // It is not a definition: where there is memory for it, it is read and refused for that.
    let text = "x".repeat(900 << 10);
    let refused = client.act("tonnage.Define", text.as_str()).unwrap_err();
    assert_eq!(refused.code(), Code::ResourceExhausted, "{refused}");
    assert!(refused.message().contains("1048576 bytes"), "{refused}");
    // The one that has the place ends, so the other gets it.
    drop(end);
    let said = client.runtime.block_on(waiting.message()).unwrap().unwrap();
    assert!(is_ready(&said), "{said:?}");
    let refused = client.act("tonnage.Define", text.as_str()).unwrap_err();
    assert_eq!(refused.code(), Code::InvalidArgument, "{refused}");
}

/// The story of a bug: uploads of large objects, and ingestions, kept what their first message had
/// of that memory until their ends. A few slow ones, and calls with messages of data were refused.
#[test]
fn an_upload_that_has_begun_leaves_that_memory_to_others() {
    let server = Running::with(Settings {
        message_bytes_max: Some("1MiB".into()),
        calls_max: Some(2),
        loads_max: Some(2),
        ..Settings::default()
    });
    let mut client = server.client();
    let ingest = CommandStatementIngest { table: "ships".into(), ..Default::default() };
    let ingest = FlightDescriptor::new_cmd(ingest.as_any().encode_to_vec());
    // Its schema makes it a load. Only at its end is an ingestion answered.
    let first = swollen(messages(ingest, vec![ships(0..1)]).swap_remove(0));
    for _ in 0..2 {
        let (mut flight, sent) = (client.flight.clone(), rest_behind(first.clone()));
        client.runtime.spawn(async move { flight.do_put(sent).await });
    }
    let running = || {
        let (_, body) = server.http("GET /v1/jobs", "", "");
        let told: Json = serde_json::from_str(&body).unwrap();
        let jobs = told["jobs"].as_array().unwrap();
        jobs.iter().filter(|job| job["state"] == "running").count()
    };
    wait_until("both ingestions run", || running() == 2);
    let mut begun = Vec::new();
    for key in ["/a", "/b", "/c"] {
        let sent = rest_behind(swollen(lob(key)));
        let answers = client.runtime.block_on(client.flight.do_put(sent));
        let mut answers = answers.unwrap_or_else(|status| panic!("{key}: {status}")).into_inner();
        let said = client.runtime.block_on(answers.message()).unwrap().unwrap();
        assert!(is_ready(&said), "{said:?}");
        begun.push(answers);
    }
    // They wait for their next messages.
    assert_eq!(running(), 2);
}
