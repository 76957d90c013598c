//! Columns of Parquet and Arrow files become the types that are wanted, or reject their row.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, BinaryArray, DictionaryArray, Float64Array, Int8Array, Int64Array,
    Int64Builder, LargeListArray, ListArray, MapBuilder, RecordBatch, StringArray,
    TimestampMicrosecondArray,
};
use arrow::datatypes::{DataType, Int8Type, Int32Type, Int64Type, TimeUnit};
use rstest::rstest;
use tonnage_files::{
    Compression, ExtraColumns, Format, ReadOptions, RecordReader, Source, infer_schema,
};

use crate::common::{csv, lines, read, schema, wanting, written};

fn sample() -> RecordBatch {
    let columns: [(&str, ArrayRef); 3] = [
        ("ID", Arc::new(Int64Array::from(vec![1, 5_000_000_000, 3]))),
        ("value", Arc::new(Float64Array::from(vec![Some(1.0), Some(2.5), None]))),
        ("at", Arc::new(StringArray::from(vec!["2022-01-03T00:00:00", "2022-01-04", "never"]))),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, column)| (name, column, true)))
        .unwrap()
}

#[rstest]
#[case(Format::Parquet)]
#[case(Format::ArrowFile)]
#[case(Format::ArrowStream)]
fn values_that_would_be_changed_by_a_cast_reject_their_row(#[case] format: Format) {
    let source = Source::memory("x", written(format, Compression::None, &sample()));
    let (batch, rejected) =
        read(&source, &wanting(schema(&[("id", DataType::Int32), ("value", DataType::Int64)])));
    assert_eq!(batch.schema().field(0).name(), "id");
    assert_eq!(batch.column(0).as_primitive::<Int32Type>().values(), &[1, 3]);
    assert_eq!(rejected.len(), 1);
    assert_eq!(
        (rejected[0].record, rejected[0].line, rejected[0].column.as_deref()),
        (1, None, Some("id"))
    );
    assert_eq!(rejected[0].original, br#"{"ID":5000000000,"value":2.5,"at":"2022-01-04"}"#);
}

#[test]
fn text_in_a_parquet_file_is_parsed_for_the_wanted_type() {
    let source = Source::memory("x", written(Format::Parquet, Compression::None, &sample()));
    let (batch, rejected) =
        read(&source, &wanting(schema(&[("at", DataType::Timestamp(TimeUnit::Second, None))])));
    assert_eq!(lines(&batch), ["1,1.0,2022-01-03T00:00:00", "5000000000,2.5,2022-01-04T00:00:00"]);
    assert_eq!(rejected[0].reason, "`never` is not a point in time such as 2022-01-03T00:00:00");
}

/// Text and CSV said `7.0`, which an INTEGER rejected.
#[rstest]
#[case(Format::Csv)]
#[case(Format::Parquet)]
#[case(Format::ArrowStream)]
fn whole_numbers_are_taken_in_every_form(#[case] format: Format) {
    let texts: ArrayRef = Arc::new(StringArray::from(vec!["7.0", "1.2e3", "7.5", "8"]));
    let batch = RecordBatch::try_from_iter([("n", texts)]).unwrap();
    let source = Source::memory("x", written(format, Compression::None, &batch));
    for wanted in [DataType::Int32, DataType::Int64, DataType::UInt16] {
        let (batch, rejected) = read(&source, &wanting(schema(&[("n", wanted)])));
        assert_eq!(lines(&batch), ["7", "1200", "8"]);
        assert_eq!(rejected.len(), 1);
        assert_eq!(rejected[0].reason, "`7.5` is not a whole number");
    }
}

#[rstest]
#[case(Format::Csv)]
#[case(Format::Parquet)]
#[case(Format::ArrowFile)]
#[case(Format::ArrowStream)]
fn columns_that_nobody_mentioned_can_be_left_out(#[case] format: Format) {
    let source = Source::memory("x", written(format, Compression::None, &sample()));
    let options = ReadOptions {
        unmentioned: ExtraColumns::Skip,
        ..wanting(schema(&[("value", DataType::Float64)]))
    };
    assert_eq!(lines(&read(&source, &options).0), ["1.0", "2.5", ""]);
}

#[test]
fn a_column_that_no_cast_leads_to_keeps_its_type_for_the_caller_to_see() {
    let list: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), None])]));
    let batch = RecordBatch::try_from_iter([("list", list)]).unwrap();
    let source = Source::memory("x", written(Format::Parquet, Compression::None, &batch));
    let reader =
        RecordReader::open(&source, &wanting(schema(&[("list", DataType::Int32)]))).unwrap();
    assert!(reader.schema().field(0).data_type().is_nested());
}

#[test]
fn nested_columns_keep_their_type_where_a_table_is_made_for_them() {
    let list: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1), None])]));
    let batch = RecordBatch::try_from_iter([("list", list.clone())]).unwrap();
    let source = Source::memory("x", written(Format::Parquet, Compression::None, &batch));
    let inferred = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
    let (batch, _) = read(&source, &wanting(Arc::new(inferred)));
    // Its items are called `element` in Parquet.
    let read = batch.column(0).as_list::<i32>();
    assert_eq!(read.values(), list.as_list::<i32>().values());
    assert_eq!(read.offsets(), list.as_list::<i32>().offsets());
}

/// The story of a bug: a column of lists took no lists from a dictionary, though it took texts and
/// numbers from one.
#[rstest]
#[case::lists(Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>(lists())))]
#[case::large_lists(Arc::new(LargeListArray::from_iter_primitive::<Int32Type, _, _>(lists())))]
fn lists_of_a_dictionary_become_lists(#[case] lists: ArrayRef) {
    let keys = Int8Array::from(vec![Some(1), Some(0), None, Some(1)]);
    let column: ArrayRef = Arc::new(DictionaryArray::<Int8Type>::try_new(keys, lists).unwrap());
    let batch = RecordBatch::try_from_iter_with_nullable([("list", column, true)]).unwrap();
    let wanted = wanting(schema(&[("list", DataType::new_list(DataType::Int64, true))]));
    for format in [Format::ArrowFile, Format::ArrowStream] {
        let source = Source::memory("x", written(format, Compression::None, &batch));
        let (read, rejected) = read(&source, &wanted);
        assert_eq!(rejected, [], "{format}");
        let expected = [Some(vec![]), Some(vec![Some(1), None]), None, Some(vec![])];
        let expected = ListArray::from_iter_primitive::<Int64Type, _, _>(expected);
        assert_eq!(read.column(0).as_list::<i32>(), &expected, "{format}");
    }
}

/// Two lists.
fn lists() -> [Option<Vec<Option<i32>>>; 2] {
    [Some(vec![Some(1), None]), Some(vec![])]
}

/// A table was created for such a column, and then nothing could be loaded into it.
#[test]
fn maps_whose_keys_are_no_text_become_objects() {
    let mut map = MapBuilder::new(None, Int64Builder::new(), Int64Builder::new());
    map.keys().append_value(7);
    map.values().append_value(10);
    map.keys().append_value(-1);
    map.values().append_null();
    map.append(true).unwrap();
    map.append(false).unwrap();
    let map: ArrayRef = Arc::new(map.finish());
    let batch = RecordBatch::try_from_iter_with_nullable([("m", map, true)]).unwrap();
    for format in [Format::Parquet, Format::ArrowFile] {
        let source = Source::memory("x", written(format, Compression::None, &batch));
        let inferred = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
        let (batch, rejected) = read(&source, &wanting(Arc::new(inferred)));
        assert_eq!(rejected, [], "{format}");
        let texts: Vec<_> = batch.column(0).as_string::<i32>().iter().collect();
        assert_eq!(texts, [Some("{\"7\":10,\"-1\":null}"), None], "{format}");
    }
}

#[test]
fn nested_values_in_text_are_read_as_json() {
    let list = DataType::new_list(DataType::Int32, true);
    let source = csv("list,n\n\"[1, null]\",1\n");
    let (batch, _) = read(&source, &wanting(schema(&[("list", list), ("n", DataType::Int64)])));
    assert_eq!(batch.column(0).as_string::<i32>().value(0), "[1, null]");
}

#[rstest]
#[case(Format::Parquet)]
#[case(Format::ArrowFile)]
#[case(Format::ArrowStream)]
fn reading_can_be_taken_up_at_any_row(#[case] format: Format) {
    let source = Source::memory("x", written(format, Compression::None, &sample()));
    for start_record in 0..5 {
        let options = ReadOptions { start_record, batch_rows: 2, ..ReadOptions::default() };
        let (batch, _) = read(&source, &options);
        let start = (start_record as usize).min(3);
        assert_eq!(batch, sample().slice(start, 3 - start));
    }
}

#[test]
fn a_row_knows_its_record_and_its_text() {
    let source = Source::memory("x", written(Format::Parquet, Compression::None, &sample()));
    let batch =
        RecordReader::open(&source, &ReadOptions::default()).unwrap().next().unwrap().unwrap();
    let original = batch.original(2).unwrap();
    assert_eq!((original.record, original.line), (2, None));
    assert_eq!(original.text, br#"{"ID":3,"value":null,"at":"never"}"#);
}

/// Timestamps of every zone but UTC were rejected as if they did not fit: taking the zone away
/// turned them into what clocks show there.
#[rstest]
#[case("America/New_York")]
#[case("+02:00")]
#[case("UTC")]
fn a_moment_keeps_its_instant_whatever_its_zone(#[case] zone: &str) {
    let instant = 1_706_713_200_000_000_i64;
    let at: ArrayRef =
        Arc::new(TimestampMicrosecondArray::from(vec![Some(instant), None]).with_timezone(zone));
    let batch = RecordBatch::try_from_iter_with_nullable([("at", at, true)]).unwrap();
    for format in [Format::Parquet, Format::ArrowFile, Format::ArrowStream] {
        let source = Source::memory("x", written(format, Compression::None, &batch));
        for unit in [TimeUnit::Second, TimeUnit::Microsecond] {
            let (read, rejected) =
                read(&source, &wanting(schema(&[("at", DataType::Timestamp(unit, None))])));
            assert_eq!(rejected, [], "{format}");
            assert_eq!(lines(&read), ["2024-01-31T15:00:00", ""], "{format} {zone}");
        }
    }
}

/// Arrow's casts of text rounded decimals, cut fractions of seconds and times of day off, and
/// turned too large numbers into infinity. All of that was stored without a word, though the same
/// text in CSV was rejected. Of texts in a dictionary those were rejected that are not written as
/// Arrow writes them, such as 1.5 for a column with two places.
#[rstest]
#[case::decimal("1.5", "1.239", DataType::Decimal128(10, 2), "1.50")]
#[case::wide_decimal("1.5", "1.239", DataType::Decimal256(50, 2), "1.50")]
#[case::timestamp(
    "2022-01-03 10:00:00",
    "2022-01-03T10:00:00.1239",
    DataType::Timestamp(TimeUnit::Millisecond, None),
    "2022-01-03T10:00:00"
)]
#[case::offset(
    "2022-01-03T10:00:00+02:00",
    "2022-01-03T10:00:00.5Z",
    DataType::Timestamp(TimeUnit::Second, None),
    "2022-01-03T08:00:00"
)]
#[case::day("2022-01-03", "2022-01-03T10:00:00", DataType::Date32, "2022-01-03")]
#[case::double("1e3", "1e400", DataType::Float64, "1000.0")]
#[case::float("1e3", "1e39", DataType::Float32, "1000.0")]
#[case::float_near_zero("1e3", "1e-60", DataType::Float32, "1000.0")]
#[case::time(
    "13:45:30.10",
    "13:45:30.1234567891",
    DataType::Time64(TimeUnit::Nanosecond),
    "13:45:30.1"
)]
#[case::minute("1:45 PM", "10:30:60", DataType::Time64(TimeUnit::Nanosecond), "13:45:00")]
#[case::boolean("T", "yes", DataType::Boolean, "true")]
#[case::bytes("YWI=", "ab", DataType::Binary, "YWI=")]
fn text_of_columnar_files_is_read_as_that_of_csv(
    #[case] good: &str,
    #[case] lost: &str,
    #[case] wanted: DataType,
    #[case] shown: &str,
) {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![good, lost, good]));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8));
    let mut told = Vec::new();
    for column in [texts.clone(), arrow::compute::cast(&texts, &dictionary).unwrap()] {
        let batch = RecordBatch::try_from_iter_with_nullable([("v", column, true)]).unwrap();
        for format in [Format::Parquet, Format::ArrowFile] {
            let source = Source::memory("x", written(format, Compression::None, &batch));
            let (batch, rejected) = read(&source, &wanting(schema(&[("v", wanted.clone())])));
            assert_eq!(lines(&batch), [shown, shown], "{format} {:?}", batch.schema());
            assert_eq!((rejected.len(), rejected[0].record), (1, 1), "{format}");
            told.push(rejected[0].reason.clone());
        }
    }
    let (batch, rejected) =
        read(&csv(format!("v\n{good}\n{lost}\n{good}\n")), &wanting(schema(&[("v", wanted)])));
    assert_eq!((lines(&batch), rejected.len()), (vec![shown.to_owned(); 2], 1));
    assert!(told.iter().all(|reason| *reason == rejected[0].reason), "{told:?}");
}

/// A double closer to 0 than a float can be was stored as 0.
#[test]
fn doubles_that_a_float_would_take_for_another_number_reject_their_row() {
    let doubles = vec![0.1, 1e-60, 1e300, f64::INFINITY, 0.0, -0.0];
    let column: ArrayRef = Arc::new(Float64Array::from(doubles));
    let batch = RecordBatch::try_from_iter([("v", column)]).unwrap();
    let source = Source::memory("x", written(Format::Parquet, Compression::None, &batch));
    let (batch, rejected) = read(&source, &wanting(schema(&[("v", DataType::Float32)])));
    assert_eq!(lines(&batch), ["0.1", "inf", "0.0", "-0.0"]);
    let records: Vec<_> = rejected.iter().map(|rejected| rejected.record).collect();
    assert_eq!(records, [1, 2]);
    assert_eq!(rejected[0].reason, "the value does not fit FLOAT without loss");
}

/// pandas and others write UUIDs to Parquet as text, which no UUID column took.
#[test]
fn uuids_are_read_from_text() {
    let texts = ["550E8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-44665544000x"];
    let texts: ArrayRef = Arc::new(StringArray::from(texts.to_vec()));
    let batch = RecordBatch::try_from_iter([("u", texts)]).unwrap();
    let source = Source::memory("x", written(Format::Parquet, Compression::None, &batch));
    let (batch, rejected) =
        read(&source, &wanting(schema(&[("u", DataType::FixedSizeBinary(16))])));
    assert_eq!(lines(&batch), ["550e8400-e29b-41d4-a716-446655440000"]);
    assert_eq!(rejected[0].original, br#"{"u":"550e8400-e29b-41d4-a716-44665544000x"}"#);
}

/// Text is base64 for a column of bytes, but bytes that are text are that text.
#[test]
fn bytes_that_are_text_are_read_as_text() {
    let bytes: ArrayRef = Arc::new(BinaryArray::from_vec(vec![b"ab".as_slice(), b"\xff", b"YWI="]));
    let batch = RecordBatch::try_from_iter([("v", bytes)]).unwrap();
    let source = Source::memory("x", written(Format::Parquet, Compression::None, &batch));
    let (batch, rejected) = read(&source, &wanting(schema(&[("v", DataType::Utf8)])));
    assert_eq!(lines(&batch), ["ab", "YWI="]);
    assert_eq!((rejected.len(), rejected[0].record), (1, 1));
}

/// The day of a timestamp was lost in a column of times of the day, and a number became its bytes,
/// both without a word.
#[rstest]
#[case(DataType::Timestamp(TimeUnit::Microsecond, None), DataType::Time64(TimeUnit::Nanosecond))]
#[case(DataType::Int64, DataType::Binary)]
fn a_cast_that_keeps_a_part_is_no_way(#[case] own: DataType, #[case] wanted: DataType) {
    let values: ArrayRef = Arc::new(Int64Array::from(vec![1_641_205_800_000_000]));
    let values = arrow::compute::cast(&values, &own).unwrap();
    let batch = RecordBatch::try_from_iter([("v", values)]).unwrap();
    let source = Source::memory("x", written(Format::Parquet, Compression::None, &batch));
    let reader = RecordReader::open(&source, &wanting(schema(&[("v", wanted)]))).unwrap();
    assert_eq!(reader.schema().field(0).data_type(), &own, "the caller sees that it does not fit");
}

/// A column of milliseconds was taken for one of seconds where the table had seconds: timestamps in
/// the year 53976. The same numbers in CSV are rejected.
#[rstest]
#[case(DataType::Int64, DataType::Timestamp(TimeUnit::Second, None))]
#[case(DataType::Int32, DataType::Date32)]
#[case(DataType::Timestamp(TimeUnit::Millisecond, None), DataType::Int64)]
fn numbers_are_no_times_and_times_are_no_numbers(#[case] own: DataType, #[case] wanted: DataType) {
    let values: ArrayRef = Arc::new(arrow::array::Int32Array::from(vec![18_000]));
    let values = arrow::compute::cast(&values, &DataType::Int64).unwrap();
    let values = arrow::compute::cast(&values, &own).unwrap();
    let batch = RecordBatch::try_from_iter([("v", values)]).unwrap();
    let source = Source::memory("x", written(Format::Parquet, Compression::None, &batch));
    let reader = RecordReader::open(&source, &wanting(schema(&[("v", wanted)]))).unwrap();
    assert_eq!(reader.schema().field(0).data_type(), &own, "the caller sees that it does not fit");
}
