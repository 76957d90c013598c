//! What is a JSON record, and what is not.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use arrow::array::{AsArray, StringArray};
use arrow::datatypes::{DataType, Float64Type, Int64Type};
use rstest::rstest;
use tonnage_engine::ErrorKind;
use tonnage_files::{
    ColumnDefaults, ExtraColumns, MakeDefaults, ReadOptions, RecordReader, Sample, TYPE_JSON,
    TYPE_KEY, infer_common_schema, infer_schema,
};

use crate::common::{csv, jsonl, lines, read, schema, small_schema, wanting};

#[test]
fn members_come_in_any_order_and_may_be_missing() {
    let text = "{\"id\":1,\"name\":\"a\",\"at\":\"2022-01-03T00:00:00Z\"}\n\n{\"AT\":null,\"Name\":\"\\u00e9\\n\"}\r\n{\"id\":3}";
    let (batch, rejected) = read(&jsonl(text), &wanting(small_schema()));
    assert_eq!(rejected, vec![]);
    assert_eq!(batch.num_rows(), 3);
    assert_eq!(batch.column(1).as_string::<i32>().value(1), "é\n");
    assert!(batch.column(0).is_null(1) && batch.column(2).is_null(1) && batch.column(1).is_null(2));
}

/// They were NULL, whatever DEFAULT the column had.
#[test]
fn a_member_that_is_not_there_takes_the_default_and_one_that_is_null_does_not() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = asked.clone();
    let make: MakeDefaults = Arc::new(move |rows| {
        counted.fetch_add(1, Ordering::Relaxed);
        Ok(Arc::new(StringArray::from(vec!["none"; rows])))
    });
    let options = ReadOptions {
        defaults: ColumnDefaults::new([("NAME".to_owned(), make)]),
        ..wanting(schema(&[("id", DataType::Int64), ("name", DataType::Utf8)]))
    };
    let text =
        "{\"id\":1}\n{\"id\":2,\"name\":null}\n{\"id\":3,\"name\":\"\"}\n{\"id\":\"x\"}\n{}\n";
    let (batch, rejected) = read(&jsonl(text), &options);
    assert_eq!(lines(&batch), ["1,none", "2,", "3,\"\"", ",none"]);
    assert_eq!(rejected.len(), 1);
    assert_eq!(asked.load(Ordering::Relaxed), 1);
    // A block that names the column everywhere asks for none, and neither does CSV.
    read(&jsonl("{\"id\":1,\"name\":\"a\"}\n"), &options);
    let (batch, _) = read(&csv("id,name\n1,\n"), &options);
    assert_eq!((lines(&batch), asked.load(Ordering::Relaxed)), (vec!["1,".to_owned()], 1));
}

#[rstest]
#[case::broken("{\"id\":2,", None, "a member name in quotes is missing")]
#[case::no_object("[1]", None, "the record is not a JSON object")]
#[case::wrong_type("{\"id\":\"two\"}", Some("id"), "`two` is not a whole number")]
#[case::out_of_range(
    "{\"id\":3000000000}",
    Some("id"),
    "`3000000000` is out of the range of a 32-bit integer"
)]
#[case::nested("{\"id\":{\"a\":1}}", Some("id"), "`{\"a\":1}` is a nested value")]
#[case::twice("{\"id\":1,\"ID\":2}", Some("id"), "the member appears twice")]
fn only_the_bad_line_is_rejected(
    #[case] bad: &str,
    #[case] column: Option<&str>,
    #[case] reason: &str,
) {
    let (batch, rejected) =
        read(&jsonl(&format!("{{\"id\":1}}\n{bad}\n{{\"id\":3}}\n")), &wanting(small_schema()));
    assert_eq!(lines(&batch), ["1,,", "3,,"]);
    assert_eq!(rejected.len(), 1);
    assert_eq!(
        (rejected[0].record, rejected[0].line, rejected[0].column.as_deref()),
        (1, Some(2), column)
    );
    assert_eq!(rejected[0].reason, reason);
    assert_eq!(rejected[0].original, bad.as_bytes());
}

#[test]
fn without_a_schema_the_first_records_tell_the_columns() {
    let text = "{\"a\":1,\"b\":{\"c\": [1, 2]}}\n{\"d\":2.5,\"a\":7}\n";
    let (batch, rejected) = read(&jsonl(text), &ReadOptions::default());
    assert_eq!(rejected, vec![]);
    assert_eq!(batch.column_by_name("a").unwrap().as_primitive::<Int64Type>().values(), &[1, 7]);
    assert_eq!(batch.column_by_name("b").unwrap().as_string::<i32>().value(0), "{\"c\": [1, 2]}");
    assert_eq!(batch.column_by_name("d").unwrap().as_primitive::<Float64Type>().value(1), 2.5);
    assert_eq!(batch.schema().field_with_name("b").unwrap().metadata()[TYPE_KEY], TYPE_JSON);
}

#[test]
fn unmentioned_members_are_kept_or_passed_over() {
    let source = jsonl("{\"id\":1,\"extra\":\"x\"}\n");
    let (kept, _) = read(&source, &wanting(schema(&[("id", DataType::Int64)])));
    assert_eq!(kept.num_columns(), 2);
    let options = ReadOptions {
        unmentioned: ExtraColumns::Skip,
        ..wanting(schema(&[("id", DataType::Int64)]))
    };
    let (passed_over, rejected) = read(&source, &options);
    assert_eq!((passed_over.num_columns(), rejected.len()), (1, 0));
}

#[test]
fn a_member_that_turns_up_late_rejects_its_record_rather_than_being_lost() {
    let early = format!("{{\"id\":1,\"pad\":\"{}\"}}\n", "x".repeat(100)).repeat(20_000);
    let (batch, rejected) =
        read(&jsonl(&format!("{early}{{\"id\":2,\"late\":true}}\n")), &ReadOptions::default());
    assert_eq!(batch.num_rows(), 20_000);
    assert_eq!(rejected.len(), 1);
    assert_eq!((rejected[0].record, rejected[0].column.as_deref()), (20_000, Some("late")));
}

#[test]
fn the_elements_of_an_array_are_records_too() {
    let text = "[\n  {\"id\": 1, \"name\": \"a]\"},\n  {\n    \"name\": \"b\",\n    \"id\": 2\n  }, {\"id\": 3}\n]\n";
    let (batch, rejected) = read(&jsonl(text), &wanting(small_schema()));
    assert_eq!(rejected, vec![]);
    assert_eq!(lines(&batch), ["1,a],", "2,b,", "3,,"]);
    let (inferred, _) = read(&jsonl(text), &ReadOptions::default());
    assert_eq!(
        inferred.column_by_name("id").unwrap().as_primitive::<Int64Type>().values(),
        &[1, 2, 3]
    );
}

#[rstest]
#[case::broken("{\"id\": 2, \"name\": }", 3, "a value is missing")]
#[case::no_object("[7]", 3, "the record is not a JSON object")]
#[case::wrong_type("{\n\"id\":\"two\"}", 3, "`two` is not a whole number")]
fn only_the_bad_element_is_rejected(#[case] bad: &str, #[case] line: u64, #[case] reason: &str) {
    let text = format!("[{{\"id\": 1}},\n\n{bad},\n{{\"id\": 3}}\n]");
    let (batch, rejected) = read(&jsonl(&text), &wanting(small_schema()));
    assert_eq!(lines(&batch), ["1,,", "3,,"]);
    assert_eq!(rejected.len(), 1);
    assert_eq!(
        (rejected[0].record, rejected[0].line, rejected[0].reason.as_str()),
        (1, Some(line), reason)
    );
    assert_eq!(rejected[0].original, bad.as_bytes());
}

/// It was one rejected record among others, and the load went on as if the file had ended: a cut
/// archive is an error.
#[test]
fn an_array_that_is_cut_short_is_an_error_behind_its_records() {
    for (text, line) in [("[{\"id\": 1},\n{\"id\"", 2), ("[{\"id\": 1},\n", 2), ("[{\"id\": 1}", 1)]
    {
        let mut reader = RecordReader::open(&jsonl(text), &wanting(small_schema())).unwrap();
        assert_eq!(lines(&reader.next().unwrap().unwrap().batch), ["1,,"], "{text}");
        let error = reader.next().unwrap().unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Corruption);
        assert!(
            error
                .message()
                .starts_with(&format!("test.jsonl: record 1 (line {line}) cannot be read")),
            "{error}"
        );
        assert!(
            error.message().ends_with("the file is cut short: get it again")
                && reader.next().is_none(),
            "{error}"
        );
    }
}

/// Each line was taken for a record, and each was rejected.
#[test]
fn objects_over_several_lines_are_records() {
    let text = "{\n  \"id\": 1,\n  \"name\": \"a}\"\n}\n{\n  \"id\": 2\n}\n{\n  \"id\": \"x\"\n}\n";
    let (batch, rejected) = read(&jsonl(text), &wanting(small_schema()));
    assert_eq!(lines(&batch), ["1,a},", "2,,"]);
    assert_eq!((rejected.len(), rejected[0].record, rejected[0].line), (1, 2, Some(8)));
    assert_eq!(infer_schema(&jsonl(text), &ReadOptions::default(), 10).unwrap().fields().len(), 2);
}

#[test]
fn a_broken_line_does_not_make_one_record_of_many() {
    let text = "{\"id\": [\n{\"id\": 2}\n{\"id\": 3}]\n{\"id\": 4}\n";
    let (batch, rejected) = read(&jsonl(text), &wanting(small_schema()));
    assert_eq!((lines(&batch), rejected.len()), (vec!["2,,".to_owned(), "4,,".to_owned()], 2));
}

#[rstest]
#[case(
    "{\"kind\": \"x\", \"bbox\": [1, 2], \"features\": [{\"id\": 1},\n {\"id\": 2}], \"more\": {\"a\": [3]}}\n",
    "features"
)]
#[case(
    "{\"n\": -1.5e3, \"data\": {\"s\": \"]}\\\"\", \"items\": [ {\"id\": 1},{\"id\": 2} ]}}",
    "data.items"
)]
fn the_array_of_records_may_stand_in_a_document(#[case] text: &str, #[case] path: &str) {
    let records = path.split('.').map(str::to_owned).collect();
    let options = ReadOptions { records, ..wanting(small_schema()) };
    let (batch, rejected) = read(&jsonl(text), &options);
    assert_eq!((lines(&batch), rejected), (vec!["1,,".to_owned(), "2,,".to_owned()], vec![]));
    assert_eq!(infer_schema(&jsonl(text), &options, 10).unwrap().fields().len(), 1);
}

#[test]
fn a_path_that_leads_to_no_array_is_told() {
    for (path, says) in [
        ("more", "no such member"),
        ("kind", "is not an array"),
        ("kind.x", "no object"),
        ("open", "ends before"),
    ] {
        let records = path.split('.').map(str::to_owned).collect();
        let text = if path == "open" { "{\"kind\": \"x\", \"op" } else { "{\"kind\": \"x\"}" };
        let error =
            RecordReader::open(&jsonl(text), &ReadOptions { records, ..wanting(small_schema()) })
                .err()
                .unwrap();
        assert!(error.message().starts_with(&format!("test.jsonl: --records {path}: ")), "{error}");
        assert!(error.message().contains(says), "{error}");
    }
}

#[test]
fn a_document_that_holds_its_records_says_where() {
    let text = "{\n\"type\": \"x\",\n\"features\": [{\"id\": 1}]\n}\n";
    let found =
        infer_common_schema(&[jsonl(text)], &ReadOptions::default(), &Sample::default()).unwrap();
    assert_eq!((found.records, found.records_at.as_deref()), (1, Some("features")));
}

#[test]
fn an_element_without_end_is_an_error_with_a_remedy() {
    let text = format!("[{{\"id\":1}},\n{{\"id\":2,\"name\":\"{}", "x".repeat(3 << 20));
    let options = ReadOptions { record_bytes_max: 100, ..wanting(small_schema()) };
    let mut reader = RecordReader::open(&jsonl(&text), &options).unwrap();
    assert_eq!(reader.next().unwrap().unwrap().batch.num_rows(), 1);
    let error = reader.next().unwrap().unwrap_err();
    assert!(
        error.message().starts_with(
            "test.jsonl: record 1 (line 2 or later) of the array is longer than 100 bytes"
        ),
        "{error}"
    );
    assert!(error.message().contains("one object per line") && reader.next().is_none());
}

#[test]
fn many_elements_come_in_order_from_whatever_thread_reads_them() {
    let elements: Vec<_> =
        (0..50_000).map(|id| format!("{{\"id\": {id},\n \"name\": \"number {id}\"}}")).collect();
    let text = format!("[{}]", elements.join(" ,\n"));
    let (batch, rejected) = read(
        &jsonl(&text),
        &ReadOptions { parallelism: 3, ..wanting(schema(&[("id", DataType::Int64)])) },
    );
    assert_eq!(rejected.len(), 0);
    assert_eq!(
        batch.column(0).as_primitive::<Int64Type>().values().to_vec(),
        (0..50_000).collect::<Vec<i64>>()
    );
}
