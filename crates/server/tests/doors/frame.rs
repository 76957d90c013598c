//! Actions with many tables in one call.

use std::io::Cursor;

use arrow::array::RecordBatch;
use arrow_ipc::reader::StreamReader;
use arrow_ipc::writer::StreamWriter;
use serde_json::{Value as Json, json};

use crate::support::{Running, ships};

fn frame(header: Json, batch: &RecordBatch) -> Vec<u8> {
    let mut data = Vec::new();
    let mut writer = StreamWriter::try_new(&mut data, batch.schema_ref()).unwrap();
    writer.write(batch).unwrap();
    writer.finish().unwrap();
    drop(writer);
    let header = header.to_string().into_bytes();
    [header, data]
        .iter()
        .flat_map(|part| (part.len() as u32).to_le_bytes().into_iter().chain(part.iter().copied()))
        .collect()
}

fn read(answer: &[u8]) -> (Json, usize) {
    let length = u32::from_le_bytes(answer[..4].try_into().unwrap()) as usize;
    let header = serde_json::from_slice(&answer[4..4 + length]).unwrap();
    let data = &answer[8 + length..];
    let rows = match data.is_empty() {
        true => 0,
        false => StreamReader::try_new(Cursor::new(data), None)
            .unwrap()
            .map(|batch| batch.unwrap().num_rows())
            .sum(),
    };
    (header, rows)
}

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
    let answers: Vec<_> = answers.iter().map(|answer| read(answer)).collect();
    assert_eq!((answers[0].1, answers[2].1), (2, 4));
    assert_eq!(answers[1].0["error"]["kind"], "not found", "its error is its own");
}

#[test]
fn an_action_that_there_is_not_says_so() {
    let status = Running::new().client().act("tonnage.Fly", "").unwrap_err();
    assert_eq!(status.code(), tonic::Code::Unimplemented);
}
