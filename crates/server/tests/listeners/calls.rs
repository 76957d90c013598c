//! Calls on single rows and pairs over one stream.

use arrow_flight::FlightData;
use prost::Message;
use serde_json::{Value as Json, json};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Streaming};
use tonnage_testkit::wait_until;
use tonnage_wire::{AnswersMessage, CallAnswer, CallMessage, CallsMessage};

use crate::guarded::{BEARER, Guarded, bearing};
use crate::support::{Client, Running, command, frame, read_frame, ships};

fn call(action: &str, header: Json, id: i64) -> CallMessage {
    let rows = match action {
        "tonnage.Write" => ships([id]),
        _ => ships([id]).project(&[0]).unwrap(),
    };
    CallMessage { action: action.to_owned(), body: frame(header, &rows).into() }
}

fn put(id: i64) -> CallMessage {
    call("tonnage.Write", json!({"put": "ships"}), id)
}

fn get(id: i64) -> CallMessage {
    call("tonnage.Get", json!({"table": "ships"}), id)
}

fn message(calls: Vec<CallMessage>) -> FlightData {
    FlightData::new().with_app_metadata(CallsMessage { calls }.encode_to_vec())
}

fn opening(calls: Vec<CallMessage>) -> FlightData {
    message(calls).with_descriptor(command(json!({"calls": {}})))
}

fn answers_of(data: &FlightData) -> Vec<CallAnswer> {
    AnswersMessage::decode(data.app_metadata.clone()).unwrap().answers
}

/// A stream that stays open.
struct Held {
    client: Client,
    calls: mpsc::Sender<FlightData>,
    answers: Streaming<FlightData>,
}

impl Held {
    fn open(mut client: Client, token: &str) -> Held {
        let (calls, messages) = mpsc::channel(4);
        calls.try_send(opening(Vec::new())).unwrap();
        let request = bearing(ReceiverStream::new(messages), token);
        let exchange = client.flight.do_exchange(request);
        let answers = client.runtime.block_on(exchange).unwrap().into_inner();
        Held { client, calls, answers }
    }

    /// The answers to some calls; none where the stream has ended in good order.
    fn call(&mut self, calls: Vec<CallMessage>) -> Option<Vec<CallAnswer>> {
        let Held { client, calls: sender, answers } = self;
        client.runtime.block_on(async {
            // A stream that has ended takes none.
            let _ = sender.send(message(calls)).await;
            answers.message().await.unwrap().map(|data| answers_of(&data))
        })
    }
}

#[test]
fn calls_are_answered_in_their_order() {
    let server = Running::new();
    let messages = vec![
        opening(vec![get(1), put(1)]),
        message(vec![get(1)]),
        message(Vec::new()),
        message(vec![put(2), get(2), get(3)]),
    ];
    let (came, status) = server.client().exchange(messages);
    assert!(status.is_none(), "{status:?}");
    let answers: Vec<CallAnswer> = came.iter().flat_map(answers_of).collect();
    let counts: Vec<usize> = answers.iter().map(|answer| answer.results.len()).collect();
    assert_eq!(counts, [0, 1, 1, 1, 1, 0]);
    let written: Json = serde_json::from_slice(&answers[1].results[0]).unwrap();
    let (read, rows) = read_frame(&answers[2].results[0]);
    assert_eq!(read["version"], written["version"]);
    assert_eq!(rows[0], ships([1]).with_schema(rows[0].schema()).unwrap());
    assert_eq!(server.rows(), 2);
}

#[test]
fn a_refused_call_says_why_and_leaves_the_others() {
    let server = Running::new();
    let strange = call("tonnage.Get", json!({"table": "boats"}), 1);
    let define = CallMessage { action: "tonnage.Define".into(), body: "DROP TABLE ships".into() };
    let (came, status) =
        server.client().exchange(vec![opening(vec![strange, define, put(1), get(1)])]);
    assert!(status.is_none(), "{status:?}");
    let answers: Vec<CallAnswer> = came.iter().flat_map(answers_of).collect();
    let failures: Vec<_> = answers.iter().map(|answer| answer.failure.as_ref()).collect();
    let [Some(missing), Some(other), None, None] = failures[..] else { panic!("{answers:?}") };
    assert_eq!((missing.code, missing.kind.as_str()), (Code::NotFound.into(), "not found"));
    assert!(missing.message.contains("boats"), "{missing:?}");
    assert_eq!(other.code, i32::from(Code::Unimplemented));
    assert!(other.message.contains("use DoAction"), "{other:?}");
    assert_eq!(server.rows(), 1);
}

#[test]
fn bytes_that_are_not_calls_end_the_stream() {
    let server = Running::new();
    let garbage = FlightData::new().with_app_metadata(vec![0xff; 20]);
    let (came, status) = server.client().exchange(vec![opening(vec![put(1)]), garbage]);
    assert_eq!(status.map(|status| status.code()), Some(Code::InvalidArgument));
    // What came before may have been carried out, or not.
    assert_eq!(came.len() as u64, server.rows());
}

#[test]
fn rights_are_those_of_the_caller() {
    let guarded = Guarded::new();
    let token = guarded.ann().flight.token().unwrap().clone();
    let mut held = Held::open(guarded.server.client(), &token);
    let secret = call("tonnage.Get", json!({"table": "secrets"}), 1);
    let insert = call("tonnage.Write", json!({"put": "ships", "if": "absent"}), 1);
    let update = call("tonnage.Write", json!({"update": "ships"}), 1);
    let answers = held.call(vec![insert, get(1), secret, update]).unwrap();
    let refused: Vec<_> = answers.iter().map(|answer| answer.failure.is_some()).collect();
    assert_eq!(refused, [false, false, true, true]);
    let codes = answers.iter().filter_map(|answer| Some(answer.failure.as_ref()?.code));
    assert!(codes.into_iter().all(|code| code == i32::from(Code::PermissionDenied)));
}

/// A stream that is held must not keep rights that its user has lost.
#[test]
fn a_held_stream_ends_when_users_are_read_again() {
    let guarded = Guarded::new();
    let token = guarded.ann().flight.token().unwrap().clone();
    let mut held = Held::open(guarded.server.client(), &token);
    assert_eq!(held.call(vec![get(1)]).unwrap().len(), 1);
    let told = guarded.http("POST /v1/admin/reload", BEARER, "");
    assert!(told.starts_with("HTTP/1.1 204"), "{told}");
    assert_eq!(held.call(vec![get(1)]), None);
}

#[test]
fn a_held_stream_does_not_keep_the_server_from_its_end() {
    let mut server = Running::new();
    let mut held = Held::open(server.client(), "any");
    assert_eq!(held.call(vec![put(1)]).unwrap().len(), 1);
    server.stop();
    // What comes before the server drains is carried out.
    wait_until("the stream ends", || held.call(vec![put(2)]).is_none());
    drop(held);
    server.wait();
}
