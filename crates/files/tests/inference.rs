//! The types that a file suggests.

mod support;

use arrow::datatypes::{DataType, TimeUnit};
use rstest::rstest;
use support::{csv, jsonl};
use tonnage_files::{ReadOptions, Source, TYPE_JSON, TYPE_KEY, infer_schema};

fn inferred(source: &Source) -> DataType {
    infer_schema(source, &ReadOptions::default(), 100_000).unwrap().field(0).data_type().clone()
}

#[rstest]
#[case::whole("1\n-20\n9223372036854775807", DataType::Int64)]
#[case::too_long_for_64_bits("1\n9223372036854775808", DataType::Utf8)]
#[case::decimal("1\n2.5\n1e-3\n.5", DataType::Float64)]
#[case::not_a_number_among_numbers("1\nNaN", DataType::Float64)]
#[case::not_a_number_alone("NaN\nNaN", DataType::Utf8)]
#[case::truth("true\nFALSE", DataType::Boolean)]
#[case::leading_zeros("007\n12", DataType::Utf8)]
#[case::telephone("+49123", DataType::Utf8)]
#[case::seconds("2022-01-03T00:00:00\n2022-01-03 00:00:01Z", DataType::Timestamp(TimeUnit::Second, None))]
#[case::milliseconds("2022-01-03T00:00:00\n2022-01-03T00:00:00.25", DataType::Timestamp(TimeUnit::Millisecond, None))]
#[case::microseconds("2022-01-03T00:00:00.000001", DataType::Timestamp(TimeUnit::Microsecond, None))]
#[case::dates("2022-01-03", DataType::Utf8)]
#[case::mixed("1\nx", DataType::Utf8)]
#[case::truth_and_numbers("1\ntrue", DataType::Utf8)]
#[case::nothing("\"\"\n\"\"", DataType::Utf8)]
fn csv_columns(#[case] values: &str, #[case] expected: DataType) {
    assert_eq!(inferred(&csv(format!("a\n{values}\n"))), expected);
}

#[rstest]
#[case::whole("1", "2", DataType::Int64)]
#[case::decimal("1", "2.5", DataType::Float64)]
#[case::truth("true", "null", DataType::Boolean)]
#[case::numbers_in_quotes("\"1\"", "\"2\"", DataType::Utf8)]
#[case::time("\"2010-12-20T15:00:00.000Z\"", "null", DataType::Timestamp(TimeUnit::Millisecond, None))]
#[case::mixed("1", "\"x\"", DataType::Utf8)]
fn json_members(#[case] first: &str, #[case] second: &str, #[case] expected: DataType) {
    assert_eq!(inferred(&jsonl(&format!("{{\"a\":{first}}}\n{{\"a\":{second}}}\n"))), expected);
}

#[test]
fn nested_members_are_marked_as_json() {
    let schema = infer_schema(&jsonl("{\"a\":[1]}\n{\"a\":{\"b\":2}}\n"), &ReadOptions::default(), 10).unwrap();
    assert_eq!(schema.field(0).metadata()[TYPE_KEY], TYPE_JSON);
}

#[test]
fn only_the_sample_is_looked_at() {
    let schema = infer_schema(&csv("a\n1\n2\nx\n"), &ReadOptions::default(), 2).unwrap();
    assert_eq!(schema.field(0).data_type(), &DataType::Int64);
}

#[test]
fn an_empty_file_suggests_nothing() {
    assert_eq!(infer_schema(&csv(""), &ReadOptions::default(), 10).unwrap().fields().len(), 0);
}
