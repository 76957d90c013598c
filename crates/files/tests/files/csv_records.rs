//! What is a CSV record, what is not, and its position.

use arrow::array::AsArray;
use arrow::datatypes::DataType;
use rstest::rstest;
use tonnage_files::{
    CsvOptions, ReadOptions, RecordReader, Sample, infer_common_schema, infer_schema,
};

use crate::common::{csv, lines, read, schema, small_schema, wanting};

/// The rows of a CSV text, and for each rejected record its number, line, column and reason.
type Verdict = (Vec<String>, Vec<(u64, u64, Option<String>, String)>);

fn verdict(text: impl AsRef<[u8]>) -> Verdict {
    let (batch, rejected) = read(&csv(text), &wanting(small_schema()));
    let rejected = rejected.into_iter().map(|rejected| {
        (rejected.record, rejected.line.expect("CSV has lines"), rejected.column, rejected.reason)
    });
    (lines(&batch), rejected.collect())
}

#[rstest]
#[case::plain("id,name,at\n1,a,2022-01-03 00:00:00\n2,,\n")]
#[case::carriage_returns("id,name,at\r\n1,a,2022-01-03 00:00:00\r\n2,,\r\n")]
#[case::byte_order_mark("\u{feff}id,name,at\n1,a,2022-01-03 00:00:00\n2,,\n")]
#[case::no_last_line_end("id,name,at\n1,a,2022-01-03 00:00:00\n2,,")]
#[case::blank_lines("\nid,name,at\n\n1,a,2022-01-03 00:00:00\n\n\r\n2,,\n\n")]
#[case::quotes_everywhere(
    "\"id\",\"name\",\"at\"\n\"1\",\"a\",\"2022-01-03 00:00:00\"\n\"2\",,\"\"\n"
)]
#[case::other_case("ID,Name,AT\n1,a,2022-01-03 00:00:00\n2,,\n")]
fn the_same_records_however_they_are_written(#[case] text: &str) {
    assert_eq!(verdict(text), (vec!["1,a,2022-01-03T00:00:00".into(), "2,,".into()], vec![]));
}

#[test]
fn quoted_fields_keep_delimiters_line_ends_and_doubled_quotes() {
    let (batch, rejected) =
        read(&csv("id,name,at\n1,\"a,\"\"b\"\"\r\nc\",\n2,x\"y,\n"), &wanting(small_schema()));
    assert_eq!(rejected, vec![]);
    let names = batch.column_by_name("name").unwrap();
    let names: Vec<_> = arrow::array::AsArray::as_string::<i32>(names).iter().flatten().collect();
    assert_eq!(names, ["a,\"b\"\r\nc", "x\"y"]);
}

/// A header in Latin-1 gave columns whose names had marks for what could not be read.
#[test]
fn a_header_that_is_not_utf8_is_refused_with_the_remedy() {
    let source = csv(b"id,caf\xe9\n1,a\n");
    let error = RecordReader::open(&source, &ReadOptions::default()).err().unwrap();
    assert!(error.message().contains("the name of column 2 is not UTF-8"), "{error}");
    let encoding = Some(tonnage_files::Encoding::Latin1);
    let options = ReadOptions { encoding, ..ReadOptions::default() };
    let reader = RecordReader::open(&source, &options).unwrap();
    assert_eq!(reader.schema().field(1).name(), "café");
}

#[test]
fn an_empty_text_in_quotes_is_not_null() {
    assert_eq!(verdict("id,name,at\n1,\"\",\n2,,\n").0, ["1,\"\",", "2,,"]);
}

#[rstest]
#[case::too_few_fields("2,b", None, "the record has 2 fields instead of 3")]
#[case::too_many_fields("2,b,,", None, "the record has 4 fields instead of 3")]
#[case::wrong_type("two,b,", Some("id"), "`two` is not a whole number")]
#[case::out_of_range(
    "3000000000,b,",
    Some("id"),
    "`3000000000` is out of the range of a 32-bit integer"
)]
#[case::no_time(
    "2,b,yesterday",
    Some("at"),
    "`yesterday` is not a point in time such as 2022-01-03T00:00:00"
)]
#[case::finer_than_the_column(
    "2,b,2022-01-03T00:00:00.0001",
    Some("at"),
    "`2022-01-03T00:00:00.0001` has a finer fraction of a second than the column keeps"
)]
#[case::text_behind_a_quote(
    "2,\"b\"c,",
    None,
    "text follows a closing quote; a quote inside a quoted field has to be doubled"
)]
fn only_the_bad_record_is_rejected_and_named_in_full(
    #[case] bad: &str,
    #[case] column: Option<&str>,
    #[case] reason: &str,
) {
    let text = format!("id,name,at\n1,\"two\nlines\",\n{bad}\n3,c,\n");
    let (batch, rejected) = read(&csv(text), &wanting(small_schema()));
    assert_eq!(batch.num_rows(), 2);
    assert_eq!(rejected.len(), 1);
    assert_eq!(rejected[0].source, "test.csv");
    assert_eq!((rejected[0].record, rejected[0].line), (1, Some(4)));
    assert_eq!(rejected[0].column.as_deref(), column);
    assert_eq!(rejected[0].reason, reason);
    assert_eq!(rejected[0].original, bad.as_bytes());
}

#[test]
fn a_record_that_is_not_utf8_is_rejected_with_its_bytes() {
    let (batch, rejected) =
        read(&csv(b"id,name,at\n1,a,\n2,\xff\xfe,\n3,c,\n"), &wanting(small_schema()));
    assert_eq!(lines(&batch), ["1,a,", "3,c,"]);
    assert_eq!(rejected.len(), 1);
    assert_eq!(
        (rejected[0].record, rejected[0].line, rejected[0].column.as_deref()),
        (1, Some(3), Some("name"))
    );
    assert!(
        rejected[0]
            .reason
            .starts_with("invalid UTF-8 at byte 2 of the record: if the file is Latin-1")
    );
    assert_eq!(rejected[0].original, b"2,\xff\xfe,");
}

#[test]
fn a_quote_that_is_never_closed_costs_one_line() {
    let (rows, rejected) = verdict("id,name,at\n1,\"a,\n2,b,\n3,c,\n");
    assert_eq!(rows, ["2,b,", "3,c,"]);
    assert_eq!(rejected, [(0, 2, None, "a quote is opened and never closed".into())]);
}

#[test]
fn a_record_beyond_the_limit_costs_one_line_and_no_memory() {
    let long = "x".repeat(3 << 20);
    let options = ReadOptions { record_bytes_max: 1 << 20, ..wanting(small_schema()) };
    let (batch, rejected) = read(&csv(format!("id,name,at\n1,a,\n2,{long},\n3,c,\n")), &options);
    assert_eq!(lines(&batch), ["1,a,", "3,c,"]);
    assert_eq!(rejected.len(), 1);
    assert_eq!(
        (rejected[0].record, rejected[0].line, rejected[0].original.len()),
        (1, Some(3), 64 << 10)
    );
    assert!(rejected[0].reason.contains("longer than 1048576 bytes"), "{}", rejected[0].reason);
}

#[test]
fn records_longer_than_a_block_are_read_whole() {
    let long = "y".repeat(3 << 20);
    let (batch, rejected) =
        read(&csv(format!("id,name,at\n1,\"{long}\n\",\n2,b,\n")), &wanting(small_schema()));
    assert_eq!((batch.num_rows(), rejected.len()), (2, 0));
}

#[rstest]
#[case::nothing("")]
#[case::blank_lines("\n\r\n")]
#[case::only_a_header("id,name,at\n")]
#[case::only_a_header_without_line_end("id,name,at")]
fn a_file_without_records_is_no_error(#[case] text: &str) {
    let (batch, rejected) = read(&csv(text), &wanting(small_schema()));
    assert_eq!((batch.num_rows(), batch.schema(), rejected.len()), (0, small_schema(), 0));
}

#[test]
fn a_column_that_appears_twice_is_an_error() {
    let error =
        RecordReader::open(&csv("id,name,ID\n"), &ReadOptions::default()).err().expect("an error");
    assert_eq!(error.message(), "test.csv: the column ID appears twice; rename one of them");
}

#[test]
fn a_value_that_appears_twice_in_a_header_may_be_one_of_a_record() {
    let error =
        RecordReader::open(&csv("1,1,x\n"), &ReadOptions::default()).err().expect("an error");
    assert!(error.message().ends_with("; if they are values, the file has no header"), "{error}");
}

#[test]
fn without_a_header_the_columns_take_the_names_they_are_given() {
    let names = vec!["at".to_owned(), "id".to_owned()];
    let options = ReadOptions {
        csv: CsvOptions {
            has_header: false,
            columns: Some(names),
            delimiter: Some(b';'),
            nulls: vec!["NULL".into()],
            ..CsvOptions::default()
        },
        ..wanting(small_schema())
    };
    let (batch, rejected) = read(&csv("2022-01-03;1\nNULL;NULL\n"), &options);
    assert_eq!(
        (lines(&batch), rejected),
        (vec!["2022-01-03T00:00:00,1".into(), ",".into()], vec![])
    );
}

#[test]
fn rows_of_a_batch_know_where_they_came_from() {
    let mut reader = RecordReader::open(
        &csv("id,name,at\nx,a,\n1,\"two\nlines\",\n2,b,\n"),
        &wanting(small_schema()),
    )
    .unwrap();
    let batch = reader.next().unwrap().unwrap();
    let original = batch.original(1).unwrap();
    assert_eq!((original.record, original.line, original.text), (2, Some(5), b"2,b,".to_vec()));
    let rejected = batch.reject(0, Some("id"), "the store does not want it").unwrap();
    assert_eq!(
        (rejected.record, rejected.line, rejected.original),
        (1, Some(3), b"1,\"two\nlines\",".to_vec())
    );
    assert_eq!(batch.original(2), None);
}

#[rstest]
#[case(1, 1)]
#[case(7, 1)]
#[case(16_384, 3)]
fn reading_can_be_taken_up_at_any_record(#[case] batch_rows: usize, #[case] parallelism: usize) {
    let text: String = (0..1000)
        .map(|id| if id % 10 == 3 { "bad\n".to_owned() } else { format!("{id},n,\n") })
        .collect();
    let source = csv(format!("id,name,at\n{text}"));
    for start_record in [0, 1, 3, 4, 500, 999, 1000, 2000] {
        let options =
            ReadOptions { start_record, batch_rows, parallelism, ..wanting(small_schema()) };
        let (batch, rejected) = read(&source, &options);
        let expected: Vec<String> =
            (start_record..1000).filter(|id| id % 10 != 3).map(|id| format!("{id},n,")).collect();
        assert_eq!(lines(&batch), expected);
        let bad: Vec<u64> = (start_record..1000).filter(|id| id % 10 == 3).collect();
        assert_eq!(rejected.iter().map(|rejected| rejected.record).collect::<Vec<_>>(), bad);
        assert!(rejected.iter().all(|rejected| rejected.line == Some(rejected.record + 2)));
    }
}

#[test]
fn several_threads_give_the_same_batches_in_the_same_order() {
    let text: String = (0..200_000).map(|id| format!("{id},name {id},2022-01-03\n")).collect();
    let source = csv(format!("id,name,at\n{text}"));
    let one = read(&source, &wanting(small_schema()));
    let three = read(&source, &ReadOptions { parallelism: 3, ..wanting(small_schema()) });
    assert!(one == three);
    assert_eq!(one.0.num_rows(), 200_000);
}

/// Texts of the only column of a CSV text; none for NULL.
fn only_column(text: &str, options: &ReadOptions) -> Vec<Option<String>> {
    let (batch, rejected) = read(&csv(text), options);
    assert_eq!((batch.num_columns(), rejected), (1, vec![]));
    batch.column(0).as_string::<i32>().iter().map(|value| value.map(str::to_owned)).collect()
}

/// NULL was written as an empty text, and a blank line was not a record: of three rows two came
/// back.
#[test]
fn a_blank_line_of_a_file_of_one_column_is_null() {
    let wanted = wanting(schema(&[("v", DataType::Utf8)]));
    let (x, empty) = (Some("x".to_owned()), Some(String::new()));
    for (text, values) in [
        ("v\nx\n\n\"\"\n", vec![x.clone(), None, empty.clone()]),
        ("v\r\n\r\nx\r\n\r\n", vec![None, x.clone(), None]),
        ("\n\nv\nx", vec![x.clone()]),
        ("v\n", vec![]),
    ] {
        assert_eq!(only_column(text, &wanted), values, "{text:?}");
    }
    // Where every record must have a value, a blank line is none.
    let csv_options = CsvOptions { blank_is_null: false, ..CsvOptions::default() };
    let keys = ReadOptions { csv: csv_options, ..wanted };
    assert_eq!(only_column("v\nx\n\n\"\"\n\n", &keys), [x, empty]);
    // A type is found all the same, and lines are counted.
    let found = infer_schema(&csv("n\n1\n\n3\n"), &ReadOptions::default(), 10).unwrap();
    assert_eq!(found.field(0).data_type(), &DataType::Int64);
    let numbers = wanting(schema(&[("n", DataType::Int64)]));
    let (_, rejected) = read(&csv("n\n1\n\nx\n"), &numbers);
    assert_eq!((rejected[0].record, rejected[0].line), (2, Some(4)));
}

#[rstest]
#[case::titles("A report\nof \"May\nid,name,at\n1,a,\n", 2)]
#[case::blank_ones("\n\nid,name,at\n1,a,\n", 2)]
#[case::none("id,name,at\n1,a,\n", 0)]
#[case::with_a_mark("\u{feff}x\r\nid,name,at\r\n1,a,\r\n", 1)]
fn lines_above_the_header_can_be_skipped(#[case] text: &str, #[case] skip_lines: u32) {
    let csv_options = CsvOptions { skip_lines, ..CsvOptions::default() };
    let options = ReadOptions { csv: csv_options, ..wanting(small_schema()) };
    let (batch, rejected) = read(&csv(text), &options);
    assert_eq!((lines(&batch), rejected), (vec!["1,a,".to_owned()], vec![]));
    let (_, rejected) = read(&csv(text.replace("1,a", "x,a")), &options);
    assert_eq!(rejected[0].line, Some(u64::from(skip_lines) + 2));
}

#[test]
fn long_lines_and_many_can_be_skipped() {
    let options = |skip_lines| ReadOptions {
        csv: CsvOptions { skip_lines, ..CsvOptions::default() },
        ..wanting(small_schema())
    };
    let long = "y".repeat(3 << 20);
    let (batch, _) = read(&csv(format!("{long}\nid,name,at\n1,a,\n")), &options(1));
    assert_eq!(batch.num_rows(), 1);
    let many = "y\n".repeat(1_500_000);
    let (batch, _) = read(&csv(format!("{many}id,name,at\n1,a,\n")), &options(1_500_000));
    assert_eq!(batch.num_rows(), 1);
    let (batch, _) = read(&csv("id,name,at\n1,a,\n"), &options(9));
    assert_eq!(batch.num_rows(), 0);
}

#[rstest]
#[case::backslashes(Some(b'"'), r"a\,b", "a,b")]
#[case::escaped_escape(Some(b'"'), r"C:\\", r"C:\")]
#[case::other_backslashes(Some(b'"'), r"C:\new\table", r"C:\new\table")]
#[case::in_quotes(Some(b'"'), "\"say \\\"a, b\\\"\"", "say \"a, b\"")]
#[case::escape_before_the_end(Some(b'"'), "\"dir\\\\\"", "dir\\")]
#[case::doubled_all_the_same(Some(b'"'), "\"a\"\"b\"", "a\"b")]
#[case::line_end(Some(b'"'), "two\\\nlines", "two\nlines")]
#[case::line_end_of_windows(Some(b'"'), "two\\\r\nlines", "two\r\nlines")]
#[case::other_quotes(Some(b'\''), "'it''s, \"b\"'", "it's, \"b\"")]
#[case::no_quotes(None, "\"a\\, 5\"", "\"a, 5\"")]
fn fields_may_have_escapes_and_other_quotes(
    #[case] quote: Option<u8>,
    #[case] field: &str,
    #[case] value: &str,
) {
    let csv_options = CsvOptions { quote, escape: Some(b'\\'), ..CsvOptions::default() };
    let options = ReadOptions { csv: csv_options, ..wanting(small_schema()) };
    let text = format!("id,name,at\n1,{field},\n2,b,\n");
    let (batch, rejected) = read(&csv(&text), &options);
    assert_eq!((batch.num_rows(), rejected), (2, vec![]));
    assert_eq!(batch.column(1).as_string::<i32>().value(0), value);
    let found = infer_schema(&csv(&text), &options, 10).unwrap();
    assert_eq!(found.field(1).data_type(), &DataType::Utf8);
}

#[test]
fn characters_with_two_meanings_are_refused() {
    let options = |csv: CsvOptions| ReadOptions { csv, ..ReadOptions::default() };
    for csv_options in [
        CsvOptions { quote: Some(b','), ..CsvOptions::default() },
        CsvOptions { escape: Some(b','), ..CsvOptions::default() },
        CsvOptions { escape: Some(b'\n'), ..CsvOptions::default() },
    ] {
        assert!(RecordReader::open(&csv("a,b\n"), &options(csv_options)).is_err());
    }
}

/// It said "there is no file to make columns from".
#[test]
fn a_file_of_blank_lines_says_so() {
    let told = |skip_lines| {
        let csv_options = CsvOptions { skip_lines, ..CsvOptions::default() };
        let options = ReadOptions { csv: csv_options, ..ReadOptions::default() };
        infer_common_schema(&[csv("\n\n")], &options, &Sample::default()).unwrap_err().to_string()
    };
    assert!(told(0).contains("test.csv: it has no lines but blank ones: there is"), "{}", told(0));
    assert!(told(2).contains("blank ones after the 2 that are skipped"), "{}", told(2));
}

/// Up to twice as long ones were taken.
#[test]
fn a_record_has_at_most_16_mebibytes() {
    for (bytes, expected) in [((16 << 20) - 100, (3, 0)), (17 << 20, (2, 1)), (31 << 20, (2, 1))] {
        let long = "y".repeat(bytes);
        let text = format!("id,name,at\n1,a,\n2,{long},\n3,b,\n");
        let (batch, rejected) = read(&csv(text), &wanting(small_schema()));
        assert_eq!((batch.num_rows(), rejected.len()), expected, "{bytes}");
        assert!(rejected.iter().all(|it| it.reason.contains("longer than 16777216 bytes")));
    }
}

/// A quote after the escape character ended the field, and the return within it was refused.
#[test]
fn carriage_returns_in_quotes_are_looked_for_as_the_dialect_says() {
    let mut options = ReadOptions::default();
    options.csv.escape = Some(b'\\');
    let (batch, rejected) = read(&csv("a,b\r\n"), &options);
    assert_eq!((batch.num_rows(), rejected.len()), (0, 0));
    let head = csv("\"a\\\"\rb\",c");
    let found = infer_schema(&head, &options, 100).unwrap();
    let names: Vec<_> = found.fields().iter().map(|field| field.name().as_str()).collect();
    assert_eq!(names, ["a\"\rb", "c"]);
    let bare = csv("a\\\"\rb\",c");
    let error = infer_schema(&bare, &options, 100).unwrap_err();
    assert!(error.to_string().contains("carriage returns alone"), "{error}");
}
