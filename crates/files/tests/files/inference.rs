//! The types that a file suggests.

use std::sync::Arc;

use arrow::array::{ArrayRef, Float64Array, RecordBatch};
use arrow::datatypes::{DataType, TimeUnit};
use proptest::prelude::*;
use rstest::rstest;
use tonnage_files::{
    Compression, CsvOptions, Format, ReadOptions, Sample, Source, TYPE_JSON, TYPE_KEY,
    infer_common_schema, infer_schema,
};

use crate::common::{csv, jsonl, lines, read, wanting, written};

fn inferred(source: &Source) -> DataType {
    infer_schema(source, &ReadOptions::default(), 100_000).unwrap().field(0).data_type().clone()
}

#[rstest]
#[case::whole("1\n-20\n9223372036854775807", DataType::Int64)]
#[case::too_long_for_64_bits("1\n9223372036854775808", DataType::Utf8)]
#[case::decimal("1\n2.5\n1e-3\n.5", DataType::Float64)]
#[case::not_a_number_among_numbers("1\nNaN", DataType::Float64)]
#[case::not_a_number_alone("NaN\nNaN", DataType::Utf8)]
#[case::blanks_around(" 1\n2 ", DataType::Int64)]
#[case::what_a_double_rounds("1.5\n9007199254740993", DataType::Decimal128(38, 1))]
#[case::the_largest_whole_number("9223372036854775807\n1.25", DataType::Decimal128(38, 2))]
#[case::whole_numbers_that_end_in_zero("1000000000007617150\n1.1", DataType::Decimal128(38, 1))]
#[case::eighteen_digits("100000000000761710\n1.1", DataType::Decimal128(38, 1))]
#[case::long_numbers_that_are_doubles("1000000000007617152\n1.5", DataType::Float64)]
#[case::nineteen_digits("0.1234567890123456789", DataType::Decimal128(38, 19))]
#[case::forty_digits(
    "1234567890123456789012345678.901234567891\n1.5",
    DataType::Decimal256(76, 12)
)]
#[case::seventy_six_digits(concat!("0.12345678901234567890123456789012345678", "90123456789012345678901234567890123456"), DataType::Decimal256(76, 76))]
#[case::more_digits_than_any_number_has(concat!("9.12345678901234567890123456789012345678", "90123456789012345678901234567890123456"), DataType::Utf8)]
#[case::more_than_38_digits_before_and_behind(
    "0.1234567890123456789\n123456789012345678901.5",
    DataType::Decimal256(76, 19)
)]
#[case::digits_before_an_exponent("1.5\n10.1234567890123456789e5", DataType::Decimal128(38, 14))]
#[case::seventeen_digits_of_a_double("0.10000000000000001\n2", DataType::Float64)]
#[case::beyond_doubles("1e400\n1.5", DataType::Utf8)]
#[case::truth("true\nFALSE", DataType::Boolean)]
#[case::leading_zeros("007\n12", DataType::Utf8)]
#[case::telephone("+49123", DataType::Utf8)]
#[case::seconds(
    "2022-01-03T00:00:00\n2022-01-03 00:00:01Z",
    DataType::Timestamp(TimeUnit::Second, None)
)]
#[case::milliseconds(
    "2022-01-03T00:00:00\n2022-01-03T00:00:00.25",
    DataType::Timestamp(TimeUnit::Millisecond, None)
)]
#[case::microseconds(
    "2022-01-03T00:00:00.000001",
    DataType::Timestamp(TimeUnit::Microsecond, None)
)]
#[case::too_far_for_nanoseconds(
    "2024-01-31T10:00:00.123456789\n9999-12-31T23:59:59",
    DataType::Utf8
)]
#[case::far_in_seconds(
    "0001-01-01T00:00:00\n9999-12-31T23:59:59",
    DataType::Timestamp(TimeUnit::Second, None)
)]
#[case::dates("2022-01-03\n1969-12-31", DataType::Date32)]
#[case::dates_beyond_32_bits_of_days("2022-01-03\n-184467441969-12-31", DataType::Utf8)]
#[case::dates_among_moments("2022-01-03\n2022-01-03T00:00:00", DataType::Utf8)]
#[case::no_such_day("2022-02-30", DataType::Utf8)]
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
#[case::time(
    "\"2010-12-20T15:00:00.000Z\"",
    "null",
    DataType::Timestamp(TimeUnit::Millisecond, None)
)]
#[case::what_a_double_rounds("9007199254740993", "1.5", DataType::Decimal128(38, 1))]
#[case::whole_numbers_that_end_in_zero("1000000000007617150", "1.5", DataType::Decimal128(38, 1))]
#[case::beyond_64_bits("18446744073709551615", "1", DataType::Decimal128(38, 0))]
#[case::beyond_128_bits(
    "1234567890123456789012345678901234567890",
    "1",
    DataType::Decimal256(76, 0)
)]
#[case::beyond_doubles("1.5", "1e400", DataType::Utf8)]
#[case::mixed("1", "\"x\"", DataType::Utf8)]
fn json_members(#[case] first: &str, #[case] second: &str, #[case] expected: DataType) {
    assert_eq!(inferred(&jsonl(&format!("{{\"a\":{first}}}\n{{\"a\":{second}}}\n"))), expected);
}

#[test]
fn nested_members_are_marked_as_json() {
    let schema =
        infer_schema(&jsonl("{\"a\":[1]}\n{\"a\":{\"b\":2}}\n"), &ReadOptions::default(), 10)
            .unwrap();
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

/// The double next to 563000000000000.2 is written 563000000000000.3.
#[test]
fn a_number_whose_double_is_written_as_another_number_is_no_double() {
    let source = csv("a\n563000000000000.2\n");
    let schema = infer_schema(&source, &ReadOptions::default(), 10).unwrap();
    let (batch, rejected) = read(&source, &wanting(Arc::new(schema)));
    assert_eq!((lines(&batch), rejected), (vec!["563000000000000.2".to_owned()], vec![]));
}

proptest! {
    /// A column became a double and its whole numbers were rounded; or a type that rejected values
    /// of its own sample.
    #[test]
    fn the_type_takes_every_value_of_the_sample_and_changes_no_number(
        values in prop::collection::vec("-?[1-9][0-9]{0,20}(\\.[0-9]{0,3}[1-9])?", 1..8)
    ) {
        let source = csv(format!("a\n{}\n", values.join("\n")));
        let schema = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
        let (batch, rejected) = read(&source, &wanting(Arc::new(schema.clone())));
        prop_assert_eq!(rejected, vec![]);
        let same = |read: &str, text: &str| {
            // A decimal has as many final zeros as its column; a large double is written with an
            // exponent.
            let bare = |text: &str| text.trim_end_matches('0').trim_end_matches('.').to_owned();
            let is_decimal = text.contains('.') || read.contains('.');
            // The shortest form of a double may have fewer digits, and an exponent: written with as
            // many it is the text. 100000000000002208 is a double, and reads 1.000000000000022e17.
            let behind = text.split_once('.').map_or(0, |(_, behind)| behind.len());
            let is_double_of = |value: f64| format!("{value:.behind$}") == *text;
            let is_shortest = read.len() < text.len() || read.contains('e');
            let is_short_integer = behind == 0 && text.trim_start_matches('-').len() <= 19;
            if is_short_integer && schema.field(0).data_type() == &DataType::Float64 {
                return read.parse::<f64>().ok().map(|value| value as i128) == text.parse().ok();
            }
            if is_shortest && read.parse().is_ok_and(is_double_of) {
                return true;
            }
            if is_decimal && !read.contains('e') { bare(read) == bare(text) || !text.contains('.') && bare(read) == text } else {
                read == text || read.parse::<f64>() == text.parse::<f64>() && text.trim_matches(['-', '.', '0']).len() <= 17
            }
        };
        for (read, text) in lines(&batch).iter().zip(&values) {
            prop_assert!(same(read, text), "{} became {} as {:?}", text, read, schema.field(0).data_type());
        }
    }
}

#[test]
fn members_of_several_kinds_stay_json() {
    for (first, second) in [("1", "\"1\""), ("true", "2"), ("[1]", "\"x\"")] {
        let source = jsonl(&format!("{{\"a\":{first}}}\n{{\"a\":{second}}}\n"));
        let schema = infer_schema(&source, &ReadOptions::default(), 10).unwrap();
        assert_eq!(
            schema.field(0).metadata().get(TYPE_KEY).map(String::as_str),
            Some(TYPE_JSON),
            "{first} {second}"
        );
        let (batch, rejected) = read(&source, &wanting(Arc::new(schema)));
        let again =
            String::from_utf8(written(Format::JsonLines, Compression::None, &batch)).unwrap();
        assert_eq!((again, rejected), (format!("{{\"a\":{first}}}\n{{\"a\":{second}}}\n"), vec![]));
    }
}

/// Whole numbers in one file and fractions in the next became doubles, whatever digits the first
/// had.
#[test]
fn files_together_suggest_what_takes_the_values_of_all() {
    let whole = csv("a,b\n9007199254740993,1\n");
    let fraction = csv("a,c\n1.5,x\n");
    let found = infer_common_schema(
        &[whole.clone(), fraction],
        &ReadOptions::default(),
        &Sample::default(),
    )
    .unwrap();
    let types: Vec<_> =
        found.schema.fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(types, [DataType::Decimal128(38, 1), DataType::Int64, DataType::Utf8]);
    assert!(found.is_whole && found.records == 2);
    let doubles: ArrayRef = Arc::new(Float64Array::from(vec![1.5]));
    let doubles = RecordBatch::try_from_iter([("a", doubles)]).unwrap();
    let doubles =
        Source::memory("x.parquet", written(Format::Parquet, Compression::None, &doubles));
    let found = infer_common_schema(&[whole, doubles], &ReadOptions::default(), &Sample::default())
        .unwrap();
    assert_eq!(found.schema.field(0).data_type(), &DataType::Utf8);
}

#[test]
fn the_sample_says_whether_it_was_all() {
    let whole = |source: &Source, sample: &Sample| {
        infer_common_schema(std::slice::from_ref(source), &ReadOptions::default(), sample)
            .unwrap()
            .is_whole
    };
    let text: String = (0..1000).map(|id| format!("{id}\n")).collect();
    let few = Sample { records: 10, ..Sample::default() };
    let (csv, jsonl) = (csv(format!("a\n{text}")), jsonl(&"{\"a\":1}\n".repeat(1000)));
    for source in [&csv, &jsonl] {
        assert!(
            whole(source, &Sample::default())
                && whole(source, &Sample::ALL)
                && !whole(source, &few)
        );
    }
}

#[rstest]
#[case::names("id,v2,2024Q1,,é\n", &[])]
#[case::a_record("1,2024-01-03,-1.5,true\n", &["1", "2024-01-03", "-1.5", "true"])]
#[case::a_moment("at,2024-01-03T00:00:00\n", &["2024-01-03T00:00:00"])]
#[case::codes_and_words("007,+49,NaN,NA\n", &[])]
#[case::years("city,2023,2024\n", &["2023", "2024"])]
fn names_in_a_header_that_read_as_values_are_told(#[case] text: &str, #[case] told: &[&str]) {
    let found = |source: Source, options: &ReadOptions| {
        infer_common_schema(&[source], options, &Sample::default()).unwrap().header_values
    };
    let options = ReadOptions::default();
    assert_eq!(found(csv(text), &options), told);
    let csv_options = CsvOptions { has_header: false, ..options.csv.clone() };
    let without = ReadOptions { csv: csv_options, ..options.clone() };
    assert!(found(csv(text), &without).is_empty());
    assert!(found(jsonl("{\"2024\": 1}\n"), &options).is_empty());
}

#[test]
fn words_that_seem_to_mean_null_are_told() {
    let source = csv("temp,wind,name\n1.5,NA,x\nNA,2,NA\n-,3,y\n");
    let found =
        infer_common_schema(&[source], &ReadOptions::default(), &Sample::default()).unwrap();
    assert_eq!(found.schema.field(0).data_type(), &DataType::Utf8);
    let told: Vec<_> = found
        .null_words
        .iter()
        .map(|told| (told.column.as_str(), told.words.join(" "), &told.data_type))
        .collect();
    assert_eq!(
        told,
        [
            ("temp", "NA -".to_owned(), &DataType::Float64),
            ("wind", "NA".to_owned(), &DataType::Int64)
        ]
    );
}

/// A column of amounts became text because of one value, and no report named it.
#[test]
fn the_value_that_makes_text_of_a_column_is_told() {
    let text: String = (0..50).map(|id| format!("{id},{id}.5,2024-01-03,{id}\n")).collect();
    let source =
        csv(format!("id,amount,day,code\n{text}50,x4,0,007\n51,?,2024-01-03,1\n52,x5,,1\n"));
    let found = |sources: &[Source]| {
        infer_common_schema(sources, &ReadOptions::default(), &Sample::default()).unwrap().outliers
    };
    let told: Vec<_> = found(std::slice::from_ref(&source))
        .into_iter()
        .map(|told| (told.column, told.source, told.line, told.value, told.data_type))
        .collect();
    let place = |column: &str, value: &str, data_type| {
        (column.to_owned(), "test.csv".to_owned(), 52_u64, value.to_owned(), data_type)
    };
    // Codes such as 007 are text for a reason.
    assert_eq!(
        told,
        [place("amount", "x4", DataType::Float64), place("day", "0", DataType::Date32)]
    );
    // Words are not an exception where another file has nothing else.
    let words: String = (0..50).map(|id| format!("{id},words,2024-01-03\n")).collect();
    let words = csv(format!("id,amount,day\n{words}"));
    let columns: Vec<_> =
        found(&[words, source]).into_iter().map(|outlier| outlier.column).collect();
    assert_eq!(columns, ["day"]);
}

#[rstest]
#[case("x.csv", "", "it is empty")]
#[case("x.json", " [ ] ", "its array is empty")]
#[case("x.json", "[1,2]", "its array holds no objects but `1,2]`")]
#[case("x.jsonl", "id,v\n1,2\n", "it is not JSON: it begins with `id,v`")]
fn files_without_columns_say_why(#[case] name: &str, #[case] text: &str, #[case] says: &str) {
    let source = Source::memory(name, text.as_bytes().to_vec());
    let error =
        infer_common_schema(&[source], &ReadOptions::default(), &Sample::default()).unwrap_err();
    assert!(error.message().starts_with(&format!("{name}: {says}")), "{error}");
}
