//! Large objects over Flight.

use std::sync::Arc;

use arrow::array::{AsArray, BinaryArray, RecordBatch};
use arrow_flight::utils::flight_data_to_batches;
use arrow_flight::{FlightData, Ticket};
use futures::StreamExt;
use serde_json::{Value as Json, json};
use tonic::{Code, Status};
use tonnage::{Key, LobOptions};

use crate::support::{Client, Running, code, command, messages, say, told};

fn pieces(pieces: &[&[u8]]) -> RecordBatch {
    let bytes = BinaryArray::from_vec(pieces.to_vec());
    RecordBatch::try_from_iter([("bytes", Arc::new(bytes) as _)]).unwrap()
}

fn put(
    client: &mut Client,
    options: Json,
    bytes: &[&[u8]],
    end: Option<u64>,
) -> (Vec<Json>, Option<Status>) {
    let mut sent = messages(command(json!({"put_lob": options})), vec![pieces(bytes)]);
    sent.extend(end.map(|bytes| say(json!({"end": {"bytes": bytes}}))));
    client.put(sent)
}

fn get(client: &mut Client, options: Json) -> Result<(Json, Vec<u8>), Status> {
    let ticket = Ticket::new(json!({"get_lob": options}).to_string());
    let came: Vec<FlightData> = client.runtime.block_on(async {
        let rows = client.flight.do_get(ticket).await?.into_inner();
        rows.collect::<Vec<_>>().await.into_iter().collect::<Result<_, _>>()
    })?;
    let schema = arrow::datatypes::Schema::try_from(&came[0]).unwrap();
    let told = serde_json::from_str(&schema.metadata()["tonnage.lob"]).unwrap();
    let batches = flight_data_to_batches(&came).unwrap();
    let bytes = batches.iter().flat_map(|batch| {
        batch.column(0).as_binary::<i32>().iter().flatten().flatten().copied().collect::<Vec<_>>()
    });
    Ok((told, bytes.collect()))
}

fn stored(server: &Running, key: &str) -> Option<Vec<u8>> {
    let reader = server.store.kv().get_lob(&key.parse::<Key>().unwrap()).unwrap();
    reader.map(|mut reader| {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut reader, &mut bytes).unwrap();
        bytes
    })
}

#[test]
fn an_object_is_stored_once_its_end_is_told() {
    let server = Running::new();
    let mut client = server.client();
    let key = "/films/-/a%2Fb";
    let (said, status) =
        put(&mut client, json!({"key": key}), &[b"metro", b"", b"polis"], Some(10));
    assert_eq!(code(&status), None, "{status:?}");
    assert_eq!(told(&said, "ready").unwrap()["position"], 0);
    assert_eq!(told(&said, "stored").unwrap()["bytes"], 10);
    assert_eq!(stored(&server, key).unwrap(), b"metropolis");
}

#[test]
fn without_its_end_marker_or_with_a_wrong_one_nothing_is_stored() {
    let server = Running::new();
    let mut client = server.client();
    for end in [None, Some(3)] {
        let (said, status) = put(&mut client, json!({"key": "/a"}), &[b"four"], end);
        assert_eq!(code(&status), Some(Code::InvalidArgument), "{status:?}");
        assert!(told(&said, "stored").is_none());
        assert_eq!(stored(&server, "/a"), None);
    }
}

#[test]
fn a_writer_that_was_cut_short_goes_on_behind_what_is_stored() {
    let server = Running::new();
    let mut client = server.client();
    let options = |mode: &str| json!({"key": "/a", "mode": mode, "chunk_bytes": 4});
    put(&mut client, options("put"), &[b"0123456789"], None);
    assert_eq!(stored(&server, "/a"), None);
    // Two whole chunks are stored, the third was not full.
    let (said, status) = put(&mut client, options("resume"), &[b"89"], Some(2));
    assert_eq!(code(&status), None, "{status:?}");
    assert_eq!(told(&said, "ready").unwrap()["position"], 8);
    assert_eq!(stored(&server, "/a").unwrap(), b"0123456789");
    let (_, status) = put(&mut client, options("resume"), &[b"x"], Some(1));
    assert_eq!(code(&status), Some(Code::NotFound), "there is nothing to resume");
    let (said, _) = put(&mut client, options("append"), &[b"ab"], Some(2));
    assert_eq!(told(&said, "ready").unwrap()["position"], 10);
    assert_eq!(stored(&server, "/a").unwrap(), b"0123456789ab");
}

#[test]
fn a_condition_that_does_not_hold_is_a_conflict() {
    let server = Running::new();
    let mut client = server.client();
    put(&mut client, json!({"key": "/a"}), &[b"old"], Some(3));
    let again = json!({"key": "/a", "if": "absent"});
    let (_, status) = put(&mut client, again, &[b"new"], Some(3));
    assert_eq!(code(&status), Some(Code::Aborted), "{status:?}");
    assert_eq!(stored(&server, "/a").unwrap(), b"old");
}

#[test]
fn what_is_no_object_is_refused_with_what_it_should_be() {
    let server = Running::new();
    let mut client = server.client();
    for (options, said) in [
        (json!({"key": "no slash"}), "/"),
        (json!({"key": "/a", "chunk_bytes": 0}), "1 byte to 64 MiB"),
        (json!({"key": "/a", "chunk": 5}), "chunk"),
    ] {
        let (_, status) = put(&mut client, options, &[b"x"], Some(1));
        let status = status.unwrap();
        assert_eq!(status.code(), Code::InvalidArgument);
        assert!(status.message().contains(said), "{status}");
    }
    let named = crate::support::ships(0..1);
    let (_, status) = client.put(messages(command(json!({"put_lob": {"key": "/a"}})), vec![named]));
    assert!(status.unwrap().message().contains("column `bytes`"));
}

#[test]
fn an_object_is_read_in_pieces_from_any_place() {
    let server = Running::new();
    let mut client = server.client();
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| (n % 251) as u8).collect();
    let options = LobOptions { chunk_bytes: 300_001, ..LobOptions::default() };
    let key: Key = "/a/-/b".parse().unwrap();
    let mut writer = server.store.kv().put_lob(&key, &options).unwrap();
    writer.append(&bytes).unwrap();
    writer.finish().unwrap();
    let (told, whole) = get(&mut client, json!({"key": "/a/-/b"})).unwrap();
    assert_eq!((told["bytes"].as_u64(), whole == bytes), (Some(3_000_000), true));
    let version = told["version"].clone();
    let part = json!({"key": "/a/-/b", "offset": 1_500_000, "limit": 7, "version": version});
    assert_eq!(get(&mut client, part).unwrap().1, bytes[1_500_000..1_500_007]);
    let none = json!({"key": "/a/-/b", "limit": 0});
    assert!(get(&mut client, none).unwrap().1.is_empty());
    for (options, code) in [
        (json!({"key": "/a/-/c"}), Code::NotFound),
        (json!({"key": "/a/-/b", "offset": 3_000_001}), Code::InvalidArgument),
        (json!({"key": "/a/-/b", "version": 1}), Code::Aborted),
    ] {
        assert_eq!(get(&mut client, options.clone()).unwrap_err().code(), code, "{options}");
    }
}

#[test]
fn an_object_is_deleted_once() {
    let server = Running::new();
    let mut client = server.client();
    put(&mut client, json!({"key": "/a"}), &[b"x"], Some(1));
    for deleted in [true, false] {
        let answers = client.act("tonnage.DeleteLob", json!({"key": "/a"}).to_string()).unwrap();
        assert_eq!(answers[0]["deleted"], deleted);
    }
}

#[test]
fn a_silent_writer_is_stopped() {
    let settings = tonnage_server::Settings {
        idle_timeout: Some("3s".into()),
        ..tonnage_server::Settings::default()
    };
    let server = Running::with(settings);
    let mut client = server.client();
    let sent = messages(command(json!({"put_lob": {"key": "/a"}})), vec![pieces(&[b"x"])]);
    let status = client.runtime.block_on(async {
        let sent = futures::stream::iter(sent).chain(futures::stream::pending());
        let mut answers = client.flight.do_put(sent).await.unwrap().into_inner();
        loop {
            match answers.message().await {
                Ok(Some(_)) => {}
                Ok(None) => panic!("it ended well"),
                Err(status) => return status,
            }
        }
    });
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status}");
    assert_eq!(stored(&server, "/a"), None);
}
