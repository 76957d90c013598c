//! Actions with many tables in one call.

use serde_json::{Value as Json, json};

use crate::support::{Running, frame, read_frame, ships};

#[test]
fn rows_of_many_tables_are_put_and_got_in_one_call() {
    let server = Running::new();
    let mut client = server.client();
    let define = "CREATE TABLE boats (id LONG, name STRING, PRIMARY KEY (id))";
    let made = client.act("tonnage.Define", define).unwrap();
    assert_eq!(made[0]["created"]["table"], "boats");
    let mut body = frame(json!({"table": "ships"}), &ships(0..5));
    body.extend(frame(json!({"table": "boats"}), &ships(0..7)));
    let answers = client.act_bytes("tonnage.MultiPut", body).unwrap();
    let answers: Vec<Json> =
        answers.iter().map(|answer| serde_json::from_slice(answer).unwrap()).collect();
    assert_eq!(
        (&answers[0]["ok"]["inserted"], &answers[1]["ok"]["inserted"]),
        (&json!(5), &json!(7))
    );

    let keys = ships(3..9).project(&[0]).unwrap();
    let tables = ["ships", "none", "boats"];
    let body = tables.iter().flat_map(|table| frame(json!({ "table": table }), &keys)).collect();
    let answers = client.act_bytes("tonnage.MultiGet", body).unwrap();
    let answers: Vec<_> = answers
        .iter()
        .map(|answer| read_frame(answer))
        .map(|(header, rows)| (header, rows.iter().map(|batch| batch.num_rows()).sum::<usize>()))
        .collect();
    assert_eq!((answers[0].1, answers[2].1), (2, 4));
    assert_eq!(answers[1].0["error"]["kind"], "not found", "its error is its own");
}

#[test]
fn an_action_that_there_is_not_says_so() {
    let status = Running::new().client().act("tonnage.Fly", "").unwrap_err();
    assert_eq!(status.code(), tonic::Code::Unimplemented);
}

/// Requests of the same call: those that the store reads together, and those that it cannot.
#[test]
fn each_request_of_a_multi_get_is_answered_in_its_place() {
    let server = Running::new();
    let mut client = server.client();
    client
        .act("tonnage.Define", "CREATE TABLE boats (id LONG, name STRING, PRIMARY KEY (id))")
        .unwrap();
    let mut body = frame(json!({"table": "ships"}), &ships(0..20));
    body.extend(frame(json!({"table": "boats"}), &ships(0..7)));
    client.act_bytes("tonnage.MultiPut", body).unwrap();
    let keys = ships(0..20).project(&[0]).unwrap();
    let requests = [
        json!({"table": "ships", "limit": 3}),
        json!({"table": "boats", "versions": true, "columns": ["name"]}),
        json!({"table": "ships", "columns": ["tons"]}),
        json!({"table": "ships", "limit_per_key": 0}),
        json!({"table": "boats", "timeout_ms": 60_000, "direction": "reverse"}),
        json!({"table": "ships", "origins": true, "keys_only": true}),
    ];
    let body = requests.iter().flat_map(|request| frame(request.clone(), &keys)).collect();
    let answers = client.act_bytes("tonnage.MultiGet", body).unwrap();
    let told: Vec<(Json, usize, usize)> = answers
        .iter()
        .map(|answer| read_frame(answer))
        .map(|(header, rows)| {
            let columns = rows.first().map_or(0, |batch| batch.num_columns());
            (header, rows.iter().map(|batch| batch.num_rows()).sum(), columns)
        })
        .collect();
    let found: Vec<_> = told.iter().map(|(_, rows, columns)| (*rows, *columns)).collect();
    assert_eq!(found, [(3, 2), (7, 3), (0, 0), (0, 0), (7, 2), (20, 2)]);
    for (wrong, named) in [(2, "tons"), (3, "limit_per_key")] {
        let message = told[wrong].0["error"]["message"].as_str().unwrap();
        assert!(message.contains(named), "{message}");
    }
    assert!(told.iter().enumerate().all(|(place, (header, ..))| header["index"] == json!(place)));
}

/// An answer without rows had no columns.
#[test]
fn a_multi_get_that_finds_nothing_tells_the_columns() {
    let server = Running::new();
    let keys = ships(100..101).project(&[0]).unwrap();
    let body = frame(json!({"table": "ships"}), &keys);
    let answers = server.client().act_bytes("tonnage.MultiGet", body).unwrap();
    let (header, rows) = read_frame(&answers[0]);
    assert!(header.get("ok").is_some(), "{header}");
    assert_eq!((rows.len(), rows[0].num_rows(), rows[0].num_columns()), (1, 0, 2));
}
