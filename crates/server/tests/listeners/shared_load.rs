//! Streams without a name share a load where there is no place for one of their own.

use arrow_flight::PutResult;
use futures::StreamExt;
use serde_json::{Value as Json, json};
use tonic::{Code, Status, Streaming};
use tonnage_server::Settings;

use crate::support::{Client, Running, code, command, end, messages, ships, told};

/// One load at a time, and no patience.
fn server() -> Running {
    Running::with(Settings {
        loads_max: Some(1),
        admission_wait: Some("100ms".into()),
        ..Settings::default()
    })
}

/// A put that continues until its sender is dropped.
struct Open {
    client: Client,
    answers: Streaming<PutResult>,
    sender: futures::channel::mpsc::UnboundedSender<arrow_flight::FlightData>,
}

fn open(server: &Running, put: Json) -> Open {
    let mut client = server.client();
    let (sender, receiver) = futures::channel::mpsc::unbounded();
    for message in messages(command(json!({"bulk_put": put})), vec![ships(0..10)]) {
        sender.unbounded_send(message).unwrap();
    }
    let answers = client.runtime.block_on(async {
        let mut answers = client.flight.do_put(receiver).await.unwrap().into_inner();
        answers.message().await.unwrap().unwrap();
        answers
    });
    Open { client, answers, sender }
}

impl Open {
    fn finish(self, rows: u64) -> (Vec<Json>, Option<Status>) {
        let Open { client, mut answers, sender } = self;
        sender.unbounded_send(end(rows)).unwrap();
        drop(sender);
        client.runtime.block_on(async {
            let mut said = Vec::new();
            loop {
                match answers.next().await {
                    Some(Ok(put)) => said.push(serde_json::from_slice(&put.app_metadata).unwrap()),
                    Some(Err(status)) => return (said, Some(status)),
                    None => return (said, None),
                }
            }
        })
    }
}

fn put(server: &Running, mut put: Json, ids: std::ops::Range<i64>) -> (Vec<Json>, Option<Status>) {
    put["table"] = "ships".into();
    let rows = ids.end - ids.start;
    let mut sent = messages(command(json!({"bulk_put": put})), vec![ships(ids)]);
    sent.push(end(rows as u64));
    server.client().put(sent)
}

#[test]
fn each_stream_of_a_shared_load_completes_and_hears_of_itself_alone() {
    let server = server();
    let first = open(&server, json!({"table": "ships", "stream": "first"}));
    let (said, status) = put(&server, json!({"stream": "second"}), 100..103);
    assert_eq!(code(&status), None, "{status:?}");
    assert_eq!(told(&said, "completed").unwrap()["counts"]["inserted"], 3);
    let report = told(&said, "report").unwrap();
    assert_eq!(report["total"]["inserted"], 3);
    assert_eq!(report["streams"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(report["streams"][0]["name"], "second");
    let (said, status) = first.finish(10);
    assert_eq!(code(&status), None, "{status:?}");
    let report = told(&said, "report").unwrap();
    assert_eq!(
        (&report["total"]["read"], &report["streams"][0]["name"]),
        (&10.into(), &"first".into())
    );
    assert_eq!(report["streams"].as_array().unwrap().len(), 1, "{report}");
    assert_eq!(server.ended_jobs(1)[0]["report"]["total"]["inserted"], 13);
}

#[test]
fn what_is_wrong_with_one_stream_does_not_stop_the_others() {
    let server = server();
    let first = open(&server, json!({"table": "ships"}));
    let mut wrong = messages(command(json!({"bulk_put": {"table": "ships"}})), vec![ships(20..30)]);
    wrong.push(end(11));
    let (_, status) = server.client().put(wrong);
    assert_eq!(code(&status), Some(Code::InvalidArgument), "{status:?}");
    let (said, status) = first.finish(10);
    assert_eq!(code(&status), None, "{status:?}");
    assert!(told(&said, "completed").is_some());
}

#[test]
fn a_load_is_shared_on_the_same_terms_only() {
    let server = server();
    let first = open(&server, json!({"table": "ships"}));
    for other in [
        json!({"on_existing": "replace"}),
        json!({"durability": "fsync"}),
        json!({"errors_max": "1%"}),
        json!({"job": "nightly"}),
    ] {
        let (_, status) = put(&server, other.clone(), 100..103);
        assert_eq!(code(&status), Some(Code::ResourceExhausted), "{other}: {status:?}");
    }
    assert!(told(&first.finish(10).0, "completed").is_some());
}
