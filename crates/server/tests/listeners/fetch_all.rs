//! Many statements in one action of Flight.

use std::io::Cursor;

use arrow::array::AsArray;
use arrow::datatypes::Int64Type;
use arrow_ipc::reader::StreamReader;

use crate::support::Running;

/// The header and the rows of a frame.
fn frame(bytes: &[u8]) -> (serde_json::Value, Vec<arrow::array::RecordBatch>) {
    let length = |at: usize| u32::from_le_bytes(bytes[at..at + 4].try_into().unwrap()) as usize;
    let header = serde_json::from_slice(&bytes[4..4 + length(0)]).unwrap();
    let data = &bytes[8 + length(0)..];
    let batches = match data.is_empty() {
        true => Vec::new(),
        false => {
            StreamReader::try_new(Cursor::new(data), None).unwrap().map(Result::unwrap).collect()
        }
    };
    (header, batches)
}

#[test]
fn each_statement_has_rows_or_an_error_of_its_own_in_the_order_given() {
    let server = Running::new();
    server.sql().update("INSERT INTO ships VALUES (1, 'a'), (2, 'b')").unwrap();
    let mut client = server.client();
    let body = r#"[{"sql": "SELECT count(*) FROM ships"}, {"sql": "SELECT * FROM boats"},
        {"sql": "SELECT id FROM ships WHERE name = ?", "parameters": ["b"]},
        {"sql": "INSERT INTO ships VALUES (3, 'c')"},
        {"sql": "SELECT id FROM ships WHERE id = 99"}]"#;
    let answers = client.act_bytes("tonnage.FetchAll", body.as_bytes().to_vec()).unwrap();
    let answers: Vec<_> = answers.iter().map(|answer| frame(answer)).collect();
    let number = |index: usize| {
        let batches: &[arrow::array::RecordBatch] = &answers[index].1;
        batches[0].column(0).as_primitive::<Int64Type>().value(0)
    };
    assert!(number(0) >= 2);
    assert_eq!(answers[1].0["error"]["kind"], "not found");
    assert_eq!(number(2), 2);
    assert_eq!(answers[3].0["ok"]["changed"], 1);
    assert_eq!(answers[4].1[0].num_rows(), 0, "columns are told even where there is no row");
    assert!(answers.iter().enumerate().all(|(index, answer)| answer.0["index"] == index));
}

#[test]
fn parameters_have_the_types_that_are_told() {
    let server = Running::new();
    let stays = "CREATE TABLE stays (at TIMESTAMP(3), day DATE, n NUMBER(20, 2), b BINARY, \
                 PRIMARY KEY (at, day))";
    server.store.execute(stays).unwrap();
    let mut client = server.client();
    let body = r#"[
        {"sql": "INSERT INTO stays VALUES (?, ?, ?, ?)",
         "parameters": ["2022-01-03T06:00:00.5", "2022-01-03", "123456789012345678.25", "AP8="],
         "types": ["TIMESTAMP(3)", "DATE", "NUMBER(20, 2)", "BINARY"]},
        {"sql": "SELECT arrow_typeof(?), arrow_typeof(?)", "parameters": ["2022-01-03", 2],
         "types": ["DATE", "DOUBLE"]}]"#;
    let answers = client.act_bytes("tonnage.FetchAll", body.as_bytes().to_vec()).unwrap();
    let changed = frame(&answers[0]).0;
    assert_eq!(changed["ok"]["changed"], 1, "{changed}");
    let (header, rows) = frame(&answers[1]);
    assert!(header.get("ok").is_some(), "{header}");
    assert_eq!(rows[0].column(0).as_string::<i32>().value(0), "Date32");
    assert_eq!(rows[0].column(1).as_string::<i32>().value(0), "Float64");
    let body =
        r#"[{"sql": "SELECT 1"}, {"sql": "SELECT ?", "parameters": ["soon"], "types": ["DATE"]}]"#;
    let status = client.act_bytes("tonnage.FetchAll", body.as_bytes().to_vec()).unwrap_err();
    assert!(status.message().starts_with("statement 1: parameter 1: "), "{status}");
}

#[test]
fn too_many_statements_are_refused() {
    let server = Running::new();
    let many = vec![serde_json::json!({"sql": "SELECT 1"}); 10_001];
    let body = serde_json::Value::from(many).to_string();
    let status = server.client().act_bytes("tonnage.FetchAll", body.into_bytes()).unwrap_err();
    assert!(status.message().contains("10001 statements"), "{status}");
}
