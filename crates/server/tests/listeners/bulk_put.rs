//! Bulk puts over Flight, by clients that behave.

use arrow::array::{Int64Array, RecordBatch};
use arrow_flight::utils::flight_data_to_batches;
use serde_json::json;
use tonic::Code;
use tonnage_server::Settings;

use crate::support::{Running, code, command, end, messages, path, say, ships, told};

#[test]
fn a_stream_with_its_end_marker_completes() {
    let server = Running::new();
    let put = command(json!({"bulk_put": {"table": "ships"}}));
    let mut stream = messages(put, vec![ships(0..1_000), ships(1_000..1_500)]);
    stream.push(end(1_500));
    let (said, status) = server.client().put(stream);
    assert_eq!(code(&status), None, "{status:?}");
    assert!(told(&said, "ready").is_some(), "{said:?}");
    assert_eq!(told(&said, "completed").unwrap()["counts"]["inserted"], 1_500);
    let report = told(&said, "report").unwrap();
    assert_eq!(
        (&report["total"]["read"], &report["streams"][0]["completed"]),
        (&json!(1_500), &json!(true))
    );
    assert_eq!(server.rows(), 1_500);
}

#[test]
fn a_bare_path_stores_all_but_never_says_completed() {
    let server = Running::new();
    let (said, status) = server.client().put(messages(path(), vec![ships(0..10)]));
    assert_eq!(code(&status), None, "{status:?}");
    assert_eq!(told(&said, "ended_without_marker").unwrap()["counts"]["inserted"], 10);
    assert_eq!(told(&said, "completed"), None);
    assert_eq!(told(&said, "report").unwrap()["streams"][0]["completed"], false);
    assert_eq!(server.rows(), 10);
}

#[test]
fn a_marker_of_another_count_is_a_failure() {
    let server = Running::new();
    let put = command(json!({"bulk_put": {"table": "ships"}}));
    let mut stream = messages(put, vec![ships(0..10)]);
    stream.push(end(11));
    let (said, status) = server.client().put(stream);
    assert_eq!(code(&status), Some(Code::InvalidArgument));
    assert!(status.unwrap().message().contains("11 rows, but 10 came"));
    assert_eq!(told(&said, "completed"), None);
    let stopped = told(&said, "stopped").unwrap();
    assert_eq!((&stopped["flushed"], &stopped["counts"]["inserted"]), (&json!(true), &json!(10)));
}

#[test]
fn existing_and_failed_rows_are_told_by_position() {
    let server = Running::new();
    let mut client = server.client();
    client.put(messages(path(), vec![ships([3, 5])]));
    let put = command(json!({"bulk_put": {"table": "ships"}}));
    let mut stream = messages(put, vec![ships([1, 3, 4, 5])]);
    stream.push(end(4));
    let (came, status) = client.exchange(stream);
    assert_eq!(code(&status), None, "{status:?}");
    let batches = flight_data_to_batches(&came).unwrap();
    let rows: usize = batches.iter().map(|batch| batch.num_rows()).sum();
    assert_eq!(rows, 2, "positions 1 and 3");
    let said: Vec<serde_json::Value> = came
        .iter()
        .filter(|data| !data.app_metadata.is_empty())
        .map(|data| serde_json::from_slice(&data.app_metadata).unwrap())
        .collect();
    // Positions are sent as they are known: in one message or in several.
    let positions: Vec<u64> = said
        .iter()
        .filter_map(|message| message.get("existing")?["positions"].as_array())
        .flatten()
        .filter_map(serde_json::Value::as_u64)
        .collect();
    assert_eq!(positions, [1, 3]);
    assert_eq!(told(&said, "completed").unwrap()["counts"]["existed"], 2);
}

#[test]
fn batches_with_a_number_are_acknowledged_once_they_are_durable() {
    let server = Running::new();
    let put = command(json!({"bulk_put": {"table": "ships", "durability": "fsync"}}));
    let mut stream = messages(put, vec![ships(0..10)]);
    let last = stream.last_mut().unwrap();
    *last = last.clone().with_app_metadata(json!({"id": 7}).to_string());
    stream.push(end(10));
    let (said, _) = server.client().put(stream);
    assert_eq!(told(&said, "ack"), Some(&json!(7)));
    assert_eq!(told(&said, "completed").unwrap()["durability"], "fsync");
}

#[test]
fn streams_of_one_job_share_a_load() {
    let server = Running::new();
    let stream = |first: i64| {
        let put = command(json!({"bulk_put": {"table": "ships", "job": "nightly"}}));
        let mut stream = messages(put, vec![ships(first..first + 100)]);
        stream.push(end(100));
        stream
    };
    let (mut one, mut two) = (server.client(), server.client());
    let (one, two) = std::thread::scope(|scope| {
        let one = scope.spawn(|| one.put(stream(0)));
        let two = scope.spawn(|| two.put(stream(100)));
        (one.join().unwrap(), two.join().unwrap())
    });
    for (said, status) in [&one, &two] {
        assert_eq!(code(status), None, "{status:?}");
        assert_eq!(told(said, "completed").unwrap()["counts"]["inserted"], 100);
    }
    assert_eq!(server.rows(), 200);
}

#[test]
fn a_job_is_not_joined_on_other_terms() {
    let server =
        Running::with(Settings { idle_timeout: Some("60s".into()), ..Settings::default() });
    let put = |durability: &str| {
        command(json!({"bulk_put": {"table": "ships", "job": "j", "durability": durability}}))
    };
    let mut client = server.client();
    let open = messages(put("fsync"), vec![ships(0..1)]);
    let held = futures::StreamExt::chain(futures::stream::iter(open), futures::stream::pending());
    let mut flight = client.flight.clone();
    let first = client.runtime.block_on(async {
        let mut answers = flight.do_put(held).await.unwrap().into_inner();
        answers.message().await.unwrap().unwrap();
        answers
    });
    let (_, status) = client.put(messages(put("write"), vec![ships(1..2)]));
    assert_eq!(code(&status), Some(Code::Aborted), "{status:?}");
    assert!(status.unwrap().message().contains("durability Fsync"));
    drop(first);
}

/// Streams of a running job waited for those of another job that had no slot yet.
#[test]
fn a_job_that_runs_is_joined_while_another_one_waits_for_its_place() {
    let server = Running::with(Settings {
        loads_max: Some(1),
        admission_wait: Some("20s".into()),
        ..Settings::default()
    });
    let put = |job: &str, ids: std::ops::Range<i64>| {
        let rows = ids.end - ids.start;
        let put = command(json!({"bulk_put": {"table": "ships", "job": job}}));
        let mut sent = messages(put, vec![ships(ids)]);
        sent.push(end(rows as u64));
        sent
    };
    let mut client = server.client();
    let mut open = put("runs", 0..1);
    open.pop();
    let held = futures::StreamExt::chain(futures::stream::iter(open), futures::stream::pending());
    let mut flight = client.flight.clone();
    let first = client.runtime.block_on(async {
        let mut answers = flight.do_put(held).await.unwrap().into_inner();
        answers.message().await.unwrap().unwrap();
        answers
    });
    let mut other = server.client();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| other.put(put("waits", 1..2)));
        std::thread::sleep(std::time::Duration::from_millis(500));
        let (said, status) = client.put(put("runs", 2..3));
        assert_eq!(code(&status), None, "{status:?}");
        assert!(told(&said, "completed").is_some() && !waits.is_finished());
        drop((first, client));
        assert_eq!(code(&waits.join().unwrap().1), None);
    });
}

#[test]
fn a_table_or_column_that_there_is_not_is_refused_before_anything_is_stored() {
    let server = Running::new();
    let mut client = server.client();
    let put = command(json!({"bulk_put": {"table": "boats"}}));
    let (_, status) = client.put(messages(put, vec![ships(0..1)]));
    assert_eq!(code(&status), Some(Code::NotFound));
    server.store.execute("CREATE TABLE narrow (id LONG, PRIMARY KEY (id))").unwrap();
    let put = command(json!({"bulk_put": {"table": "narrow"}}));
    let (_, status) = client.put(messages(put, vec![ships(0..1)]));
    assert!(status.unwrap().message().contains("name"));
}

#[test]
fn a_message_that_is_too_large_names_the_remedy() {
    let settings = Settings { message_bytes_max: Some("64KiB".into()), ..Settings::default() };
    let server = Running::with(settings);
    let put = command(json!({"bulk_put": {"table": "ships"}}));
    let (_, status) = server.client().put(messages(put, vec![ships(0..10), ships(10..20_000)]));
    let status = status.unwrap();
    assert_eq!(status.code(), Code::ResourceExhausted, "{status:?}");
    assert!(status.message().contains("max_chunksize"), "{status:?}");
}

#[test]
fn a_silent_stream_is_stopped_and_what_it_brought_stays() {
    let server = Running::with(Settings { idle_timeout: Some("3s".into()), ..Settings::default() });
    let put = command(json!({"bulk_put": {"table": "ships"}}));
    let open = messages(put, vec![ships(0..10)]);
    let held = futures::StreamExt::chain(futures::stream::iter(open), futures::stream::pending());
    let mut client = server.client();
    let status = client.runtime.block_on(async {
        let mut answers = client.flight.do_put(held).await.unwrap().into_inner();
        loop {
            if let Err(status) = answers.message().await {
                break status;
            }
        }
    });
    assert_eq!(status.code(), Code::DeadlineExceeded, "{status:?}");
    assert_eq!(server.rows(), 10);
}

#[test]
fn a_job_is_cancelled_while_its_stream_waits() {
    let server = Running::new();
    let put = command(json!({"bulk_put": {"table": "ships", "job": "slow"}}));
    let open = messages(put, vec![ships(0..10)]);
    let held = futures::StreamExt::chain(futures::stream::iter(open), futures::stream::pending());
    let mut client = server.client();
    let mut answers = client.runtime.block_on(async {
        let mut answers = client.flight.do_put(held).await.unwrap().into_inner();
        answers.message().await.unwrap().unwrap();
        answers
    });
    server.client().act("tonnage.CancelJob", json!({"job": "slow"}).to_string()).unwrap();
    let status = client.runtime.block_on(async {
        loop {
            if let Err(status) = answers.message().await {
                break status;
            }
        }
    });
    assert_eq!(status.code(), Code::Cancelled);
    assert_eq!(server.ended_jobs(1)[0]["state"], "stopped");
}

#[test]
fn when_all_places_are_taken_the_next_stream_is_refused_in_words() {
    let server = Running::with(Settings {
        streams_max: Some(1),
        admission_wait: Some("100ms".into()),
        ..Settings::default()
    });
    let open = messages(command(json!({"bulk_put": {"table": "ships"}})), vec![ships(0..1)]);
    let held = futures::StreamExt::chain(futures::stream::iter(open), futures::stream::pending());
    let mut client = server.client();
    let first = client.runtime.block_on(async {
        let mut answers = client.flight.do_put(held).await.unwrap().into_inner();
        answers.message().await.unwrap().unwrap();
        answers
    });
    let (_, status) = server.client().put(messages(path(), vec![ships(1..2)]));
    assert_eq!(code(&status), Some(Code::ResourceExhausted));
    assert!(status.unwrap().message().contains("streams_max"));
    drop(first);
}

#[test]
fn a_server_that_ends_lets_streams_end_and_stops_those_that_do_not() {
    let mut server =
        Running::with(Settings { drain_timeout: Some("300ms".into()), ..Settings::default() });
    let open = messages(command(json!({"bulk_put": {"table": "ships"}})), vec![ships(0..10)]);
    let held = futures::StreamExt::chain(futures::stream::iter(open), futures::stream::pending());
    let mut client = server.client();
    let mut answers = client.runtime.block_on(async {
        let mut answers = client.flight.do_put(held).await.unwrap().into_inner();
        answers.message().await.unwrap().unwrap();
        answers
    });
    server.stop();
    let (said, status) = client.runtime.block_on(async {
        let mut said = Vec::new();
        loop {
            match answers.message().await {
                Ok(Some(result)) => {
                    said.push(serde_json::from_slice(&result.app_metadata).unwrap())
                }
                Ok(None) => break (said, None),
                Err(status) => break (said, Some(status)),
            }
        }
    });
    assert_eq!(code(&status), Some(Code::Unavailable), "{status:?}");
    assert_eq!(told(&said, "stopped").unwrap()["flushed"], true);
    assert_eq!(told(&said, "completed"), None);
    server.wait();
    assert_eq!(server.rows(), 10);
}

#[test]
fn pairs_are_put_and_their_nulls_told() {
    use std::sync::Arc;

    use arrow::array::{BinaryArray, RecordBatch};
    let server = Running::new();
    let keys = BinaryArray::from_opt_vec(vec![Some(b"a"), None, Some(b"c")]);
    let values = BinaryArray::from_vec(vec![b"1", b"2", b"3"]);
    let pairs = RecordBatch::try_from_iter_with_nullable([
        ("key", Arc::new(keys) as _, true),
        ("value", Arc::new(values) as _, true),
    ])
    .unwrap();
    let mut stream = messages(command(json!({"bulk_put": {"pairs": true}})), vec![pairs]);
    stream.push(say(json!({"end": {"rows": 3}})));
    let (said, status) = server.client().put(stream);
    assert_eq!(code(&status), None, "{status:?}");
    let counts = &told(&said, "completed").unwrap()["counts"];
    assert_eq!((&counts["inserted"], &counts["failed"]), (&json!(2), &json!(1)));
    assert_eq!(told(&said, "failed").unwrap()[0]["position"], 1);
    let stored = server.store.kv().get(&tonnage::Key::of_major([b"c".to_vec()])).unwrap().unwrap();
    assert_eq!(stored.value, b"3");
}

/// Ships of which all but one have no number.
fn nameless() -> RecordBatch {
    let ids = Int64Array::from(vec![None, Some(1), None, None]);
    RecordBatch::try_from_iter([("id", std::sync::Arc::new(ids) as _)]).unwrap()
}

/// Once a program had to look for a word in the message.
#[test]
fn too_many_errors_have_a_code_of_their_own() {
    let server = Running::new();
    let put = command(json!({"bulk_put": {"table": "ships", "errors_max": "1"}}));
    let mut stream = messages(put, vec![nameless()]);
    stream.push(end(4));
    let (said, status) = server.client().put(stream);
    let status = status.unwrap();
    assert_eq!(status.code(), Code::InvalidArgument);
    assert_eq!(status.metadata().get("tonnage-code").unwrap(), "too-many-errors");
    assert_eq!(status.metadata().get("tonnage-kind").unwrap(), "invalid request");
    let stopped = told(&said, "stopped").unwrap();
    assert_eq!(stopped["code"], "too-many-errors");
    assert_eq!(
        (&stopped["counts"]["inserted"], &stopped["counts"]["failed"]),
        (&json!(1), &json!(3))
    );
}

/// Once a count was taken as text alone, though JSON has numbers.
#[test]
fn a_count_of_errors_is_a_number_or_text() {
    let server = Running::new();
    let put = |errors_max: serde_json::Value| {
        let put = json!({"bulk_put": {"table": "ships", "errors_max": errors_max}});
        let mut stream = messages(command(put), vec![nameless()]);
        stream.push(end(4));
        server.client().put(stream).1
    };
    for one in [json!(1), json!("1")] {
        let status = put(one).unwrap();
        assert_eq!(status.metadata().get("tonnage-code").unwrap(), "too-many-errors");
    }
    for all in [json!(3), json!("100%"), json!(null)] {
        assert!(put(all.clone()).is_none(), "{all}");
    }
    for wrong in [json!(-1), json!(1.5), json!([1])] {
        let status = put(wrong.clone()).unwrap();
        assert_eq!(status.code(), Code::InvalidArgument, "{wrong}");
        assert!(status.message().contains("a count, or a share"), "{wrong}: {status}");
    }
}

#[test]
fn other_errors_have_no_code() {
    let server = Running::new();
    let put = command(json!({"bulk_put": {"table": "ships", "errors_max": "1"}}));
    let mut stream = messages(put, vec![ships(0..10)]);
    stream.push(end(11));
    let (said, status) = server.client().put(stream);
    assert!(status.unwrap().metadata().get("tonnage-code").is_none());
    assert_eq!(told(&said, "stopped").unwrap()["code"], json!(null));
}

/// Whichever stream of a job ends last, each hears why.
#[test]
fn all_streams_of_a_job_hear_of_too_many_errors() {
    let server = Running::new();
    let put = |name: &str| {
        let job = json!({"table": "ships", "errors_max": "1", "job": "nightly", "stream": name});
        command(json!({ "bulk_put": job }))
    };
    let (mut first, mut second) = (server.client(), server.client());
    let (sender, receiver) = futures::channel::mpsc::unbounded();
    for message in messages(put("first"), vec![ships(10..20)]) {
        sender.unbounded_send(message).unwrap();
    }
    let flight = &mut first.flight;
    let mut answers = first.runtime.block_on(flight.do_put(receiver)).unwrap().into_inner();
    let ready = first.runtime.block_on(answers.message()).unwrap();
    assert!(ready.is_some());
    let mut stream = messages(put("second"), vec![nameless()]);
    stream.push(end(4));
    let (_, status) = second.put(stream);
    assert_eq!(status.unwrap().metadata().get("tonnage-code").unwrap(), "too-many-errors");
    sender.unbounded_send(end(10)).unwrap();
    drop(sender);
    let status = loop {
        match first.runtime.block_on(answers.message()) {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the job was stopped"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.metadata().get("tonnage-code").unwrap(), "too-many-errors");
}

/// Only the last stream of the load heard of it: to the others the server said that all was well.
#[test]
fn a_stream_without_a_marker_hears_that_its_load_was_stopped() {
    let server = Running::new();
    let put = |name: &str| {
        let job = json!({
            "table": "ships", "errors_max": "1", "job": "nightly", "stream": name, "end": "optional",
        });
        command(json!({ "bulk_put": job }))
    };
    let open = |client: &mut crate::support::Client, name: &str, ids: std::ops::Range<i64>| {
        let (sender, receiver) = futures::channel::mpsc::unbounded();
        for message in messages(put(name), vec![ships(ids)]) {
            sender.unbounded_send(message).unwrap();
        }
        let flight = &mut client.flight;
        let mut answers = client.runtime.block_on(flight.do_put(receiver)).unwrap().into_inner();
        assert!(client.runtime.block_on(answers.message()).unwrap().is_some());
        (sender, answers)
    };
    let (mut last, mut first) = (server.client(), server.client());
    let _open = open(&mut last, "last", 0..10);
    let (sender, mut answers) = open(&mut first, "first", 10..20);
    let (_, status) = server.client().put(messages(put("second"), vec![nameless()]));
    assert!(status.is_some());
    drop(sender);
    let status = loop {
        match first.runtime.block_on(answers.message()) {
            Ok(Some(_)) => {}
            Ok(None) => panic!("the load was stopped"),
            Err(status) => break status,
        }
    };
    assert_eq!(status.metadata().get("tonnage-code").unwrap(), "too-many-errors");
}
