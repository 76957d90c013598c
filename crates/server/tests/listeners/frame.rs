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
