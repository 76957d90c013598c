//! JSON documents that are read whole.

use std::collections::HashMap;
use std::sync::Arc;

use arrow::array::{Array, AsArray};
use arrow::datatypes::{DataType, Field, Int64Type, Schema};
use tonnage_files::{
    DocumentOptions, ReadOptions, RecordReader, TYPE_JSON, TYPE_KEY, infer_schema,
};

use crate::common::{csv, jsonl, lines, read, wanting};

fn json(name: &str) -> Field {
    Field::new(name, DataType::Utf8, true)
        .with_metadata(HashMap::from([(TYPE_KEY.to_owned(), TYPE_JSON.to_owned())]))
}

/// Documents with columns beside them.
fn documents(columns: &[(&str, DataType)], paths: &[(&str, &[&str])]) -> ReadOptions {
    let beside = columns.iter().map(|(name, data_type)| Field::new(*name, data_type.clone(), true));
    let schema = Arc::new(Schema::new(beside.chain([json("doc")]).collect::<Vec<_>>()));
    let names = |path: &[&str]| path.iter().map(|name| name.to_string()).collect();
    let paths = paths.iter().map(|(column, path)| (column.to_string(), names(path))).collect();
    ReadOptions {
        documents: Some(DocumentOptions { column: "doc".into(), paths, generated_key: None }),
        ..wanting(schema)
    }
}

#[test]
fn a_document_stands_as_it_was_beside_what_is_taken_out_of_it() {
    let text = "  {\"Model\": \"a\", \"os\": {\"ver\": \"2.2\", \"n\": 7}, \"more\" : [1,  2]}\n{\"os\": {\"n\": 8}, \"model\": \"b\"}  \n";
    let columns =
        [("model", DataType::Utf8), ("version", DataType::Utf8), ("number", DataType::Int64)];
    let options = documents(&columns, &[("version", &["os", "ver"]), ("NUMBER", &["os", "n"])]);
    let (batch, rejected) = read(&jsonl(text), &options);
    assert_eq!(rejected, vec![]);
    let texts = |name: &str| batch.column_by_name(name).unwrap().as_string::<i32>().clone();
    assert_eq!(
        texts("doc").value(0),
        "{\"Model\": \"a\", \"os\": {\"ver\": \"2.2\", \"n\": 7}, \"more\" : [1,  2]}"
    );
    assert_eq!(texts("doc").value(1), "{\"os\": {\"n\": 8}, \"model\": \"b\"}");
    assert_eq!(
        (texts("model").value(0), texts("model").value(1), texts("version").value(0)),
        ("a", "b", "2.2")
    );
    assert!(texts("version").is_null(1));
    assert_eq!(
        batch.column_by_name("number").unwrap().as_primitive::<Int64Type>().values(),
        &[7, 8]
    );
}

#[test]
fn names_that_lead_to_a_place_are_taken_to_the_letter() {
    let text = "{\"a.b\": 1, \"A\": 9, \"a\": {\"b\": 2}}\n{\"a\": [3]}\n{\"a\": {\"b\": 4}, \"a\": 5}\n{\"\\u0061\": {\"b\": 6}}\n";
    let (batch, rejected) =
        read(&jsonl(text), &documents(&[("x", DataType::Int64)], &[("x", &["a", "b"])]));
    assert_eq!(rejected, vec![]);
    let found: Vec<_> = batch.column(0).as_primitive::<Int64Type>().iter().collect();
    // Of a repeated name the last counts.
    assert_eq!(found, [Some(2), None, None, Some(6)]);
    let (batch, _) =
        read(&jsonl("{\"a.b\": 1}"), &documents(&[("x", DataType::Int64)], &[("x", &["a.b"])]));
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().value(0), 1);
}

#[test]
fn a_document_that_does_not_fit_is_rejected_alone() {
    let text = "[{\"x\": 1},\n {\"x\": \"one\"},\n {\"x\": 2, },\n 17,\n {\"x\": {\"y\": 1}},\n {\"x\": 3}]";
    let (batch, rejected) = read(&jsonl(text), &documents(&[("x", DataType::Int64)], &[]));
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().values(), &[1, 3]);
    let told = rejected.iter().map(|rejected| {
        (rejected.line.unwrap(), rejected.column.as_deref(), rejected.reason.as_str())
    });
    let expected = [
        (2, Some("x"), "`one` is not a whole number"),
        (3, None, "a member name in quotes is missing"),
        (4, None, "the record is not a JSON object"),
        (5, Some("x"), "`{\"y\": 1}` is a nested value"),
    ];
    assert_eq!(told.collect::<Vec<_>>(), expected);
}

#[test]
fn the_places_tell_the_types_of_columns_to_be_made() {
    let text = "{\"id\": 1, \"at\": {\"time\": \"2022-01-03T00:00:00Z\"}}\n{\"id\": 2}\n";
    let paths = vec![
        ("id".to_owned(), vec!["id".to_owned()]),
        ("time".into(), vec!["at".into(), "time".into()]),
    ];
    let documents =
        DocumentOptions { column: "doc".into(), paths, generated_key: Some("key".into()) };
    let options = ReadOptions { documents: Some(documents), ..ReadOptions::default() };
    let schema = infer_schema(&jsonl(text), &options, 100).unwrap();
    let told: Vec<_> = schema
        .fields()
        .iter()
        .map(|field| format!("{} {}", field.name(), field.data_type()))
        .collect();
    assert_eq!(told, ["key FixedSizeBinary(16)", "id Int64", "time Timestamp(s)", "doc Utf8"]);
    assert_eq!(schema.field(3).metadata()[TYPE_KEY], TYPE_JSON);
}

#[test]
fn keys_are_made_for_documents_that_have_none() {
    let making = |data_type: DataType| {
        let mut options = documents(&[("key", data_type)], &[]);
        options.documents.as_mut().unwrap().generated_key = Some("key".into());
        options
    };
    let text = "{\"key\": \"not this\"}\n{broken\n{}\n";
    let (batch, rejected) = read(&jsonl(text), &making(DataType::Int64));
    assert_eq!(
        batch.column(0).as_primitive::<Int64Type>().values(),
        &[0, 2],
        "the number of the record in its file"
    );
    assert_eq!(rejected.len(), 1);
    let (batch, _) = read(&jsonl(&"{}\n".repeat(1000)), &making(DataType::FixedSizeBinary(16)));
    let mut keys: Vec<_> =
        batch.column(0).as_fixed_size_binary().iter().map(|key| key.unwrap().to_vec()).collect();
    assert!(
        keys.iter().all(|key| key[6] >> 4 == 4 && key[8] >> 6 == 2),
        "they say that they are random"
    );
    keys.sort_unstable();
    keys.dedup();
    assert_eq!(keys.len(), 1000);
    let error =
        RecordReader::open(&jsonl(text), &making(DataType::Float64)).err().expect("an error");
    assert!(
        error.message().contains("column key holds DOUBLE: keys are made for columns of type UUID"),
        "{error}"
    );
}

#[test]
fn what_cannot_be_read_as_documents_is_an_error_with_a_remedy() {
    let error =
        RecordReader::open(&csv("a,b\n1,2\n"), &documents(&[], &[])).err().expect("an error");
    assert!(
        error.message().starts_with("test.csv: is csv: documents are read from JSON"),
        "{error}"
    );
    let error = infer_schema(&csv("a,b\n1,2\n"), &documents(&[], &[]), 100).unwrap_err();
    assert!(
        error.message().starts_with("test.csv: is csv: documents are read from JSON"),
        "{error}"
    );
    let error = RecordReader::open(&jsonl("{}"), &documents(&[], &[("nope", &["a"])]))
        .err()
        .expect("an error");
    assert!(
        error.message().contains("there is no column nope") && error.message().contains("doc"),
        "{error}"
    );
    let mut options = documents(&[("name", DataType::Utf8)], &[]);
    options.documents.as_mut().unwrap().column = "name".into();
    let error = RecordReader::open(&jsonl("{}"), &options).err().expect("an error");
    assert!(
        error.message().contains("column name takes documents, but is not of type JSON"),
        "{error}"
    );
}

#[test]
fn the_original_of_a_document_is_at_hand() {
    let options = documents(&[("x", DataType::Int64)], &[]);
    let read: Vec<_> = RecordReader::open(&jsonl("[{\"x\": 1},\n{\"x\":\n2}]"), &options)
        .unwrap()
        .map(Result::unwrap)
        .collect();
    let original = read[0].original(1).unwrap();
    assert_eq!(
        (original.record, original.line, original.text),
        (1, Some(2), b"{\"x\":\n2}".to_vec())
    );
    assert_eq!(lines(&read[0].batch)[0].split(',').next(), Some("1"));
}
