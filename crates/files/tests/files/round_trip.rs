//! What was written reads back as the same rows, in every format and compression.

use std::collections::HashMap;
use std::io::Write;
use std::sync::Arc;

use arrow::array::{
    ArrayRef, BinaryArray, BooleanArray, Date32Array, Decimal128Array, Decimal256Array,
    FixedSizeBinaryArray, Float32Array, Float64Array, Int32Array, Int64Array, RecordBatch,
    StringArray, TimestampMicrosecondArray, TimestampMillisecondArray, TimestampSecondArray,
};
use arrow::datatypes::{DataType, Field, IntervalUnit, Schema, TimeUnit, i256};
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::LogicalType;
use proptest::option::weighted;
use proptest::prelude::*;
use tonnage_files::{
    Compression, Format, ReadOptions, RecordWriter, Source, TYPE_JSON, TYPE_KEY, infer_schema,
};

use crate::common::{read, wanting, written};

#[derive(Clone, Debug)]
struct Row {
    small: Option<i32>,
    large: Option<i64>,
    float: Option<f32>,
    double: Option<f64>,
    truth: Option<bool>,
    text: Option<String>,
    bytes: Option<Vec<u8>>,
    time: Option<i64>,
    uuid: Option<[u8; 16]>,
    json: Option<String>,
    decimal: Option<i64>,
    day: Option<i32>,
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let awkward_text = prop_oneof![
        any::<String>(),
        "[a-c,\"'\\\\\r\n\t {}\\[\\]:\u{feff}]{0,8}",
        Just("null".to_owned()),
        Just("-".to_owned())
    ];
    let json = prop::sample::select(vec![
        "{}",
        "[1, 2.50]",
        "\"a\\nb,\\\"c\\\"\"",
        "true",
        "-0.0",
        "{\"a\": {\"b\": null}}",
    ]);
    let numbers = (
        weighted(0.8, any::<i32>()),
        weighted(0.8, any::<i64>()),
        weighted(0.8, any::<f32>()),
        weighted(0.8, any::<f64>()),
    );
    let others = (
        weighted(0.8, any::<bool>()),
        weighted(0.8, awkward_text),
        weighted(0.8, any::<Vec<u8>>()),
        weighted(0.8, any::<i64>()),
    );
    let rest = (
        weighted(0.8, any::<[u8; 16]>()),
        weighted(0.8, json.prop_map(str::to_owned)),
        weighted(0.8, any::<i64>()),
        weighted(0.8, -700_000..2_000_000_i32),
    );
    let row = (numbers, others, rest).prop_map(
        |(
            (small, large, float, double),
            (truth, text, bytes, time),
            (uuid, json, decimal, day),
        )| Row {
            small,
            large,
            float,
            double,
            truth,
            text,
            bytes,
            time,
            uuid,
            json,
            decimal,
            day,
        },
    );
    prop::collection::vec(row, 1..40)
}

fn batch(rows: &[Row]) -> RecordBatch {
    fn column<T>(rows: &[Row], value: impl Fn(&Row) -> Option<T>) -> Vec<Option<T>> {
        rows.iter().map(value).collect()
    }
    let uuids =
        FixedSizeBinaryArray::try_from_sparse_iter_with_size(rows.iter().map(|row| row.uuid), 16)
            .unwrap();
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("small", Arc::new(Int32Array::from(column(rows, |row| row.small)))),
        ("large", Arc::new(Int64Array::from(column(rows, |row| row.large)))),
        ("float", Arc::new(Float32Array::from(column(rows, |row| row.float)))),
        ("double", Arc::new(Float64Array::from(column(rows, |row| row.double)))),
        ("truth", Arc::new(BooleanArray::from(column(rows, |row| row.truth)))),
        ("a, \"text\"", Arc::new(StringArray::from(column(rows, |row| row.text.clone())))),
        ("bytes", Arc::new(BinaryArray::from_iter(column(rows, |row| row.bytes.clone())))),
        ("time", Arc::new(TimestampMicrosecondArray::from(column(rows, |row| row.time)))),
        ("moment", Arc::new(TimestampMillisecondArray::from(column(rows, |row| row.time)))),
        ("uuid", Arc::new(uuids)),
        ("json", Arc::new(StringArray::from(column(rows, |row| row.json.clone())))),
        (
            "decimal",
            Arc::new(
                Decimal128Array::from(column(rows, |row| row.decimal.map(i128::from)))
                    .with_precision_and_scale(38, 4)
                    .unwrap(),
            ),
        ),
        ("day", Arc::new(Date32Array::from(column(rows, |row| row.day)))),
    ];
    let fields: Vec<Field> =
        columns.iter().map(|(name, column)| field(name, column.data_type().clone())).collect();
    RecordBatch::try_new(
        Arc::new(Schema::new(fields)),
        columns.into_iter().map(|(_, column)| column).collect(),
    )
    .unwrap()
}

fn field(name: &str, data_type: DataType) -> Field {
    let metadata = match name {
        "json" => HashMap::from([(TYPE_KEY.to_owned(), TYPE_JSON.to_owned())]),
        _ => HashMap::new(),
    };
    Field::new(name, data_type, true).with_metadata(metadata)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn every_format_and_compression_gives_back_the_rows(rows in rows(), batch_rows in 1..50_usize) {
        let batch = batch(&rows);
        for format in Format::WRITTEN {
            for compression in [Compression::None, Compression::Gzip, Compression::Zstd] {
                let source = Source::memory("x", written(format, compression, &batch));
                let options = ReadOptions { format: Some(format), batch_rows, ..wanting(batch.schema()) };
                let (again, rejected) = read(&source, &options);
                prop_assert_eq!(&rejected, &vec![]);
                prop_assert_eq!(&again, &batch, "{} {:?}", format, compression);
            }
        }
    }
}

/// `0xAB` is base64 of three bytes and the hexadecimal digits of one.
#[test]
fn bytes_whose_base64_begins_with_0x_come_back_from_every_format() {
    let values: [&[u8]; 4] =
        [&[0xd3, 0x10], &[0xd3, 0x10, 0x01], &[0xd3, 0x1d, 0x34], &[0xd3, 0x10, 0x33]];
    let bytes = Arc::new(BinaryArray::from_iter_values(values)) as ArrayRef;
    let batch = RecordBatch::try_from_iter_with_nullable([("bytes", bytes, true)]).unwrap();
    for format in Format::WRITTEN {
        let source = Source::memory("x", written(format, Compression::None, &batch));
        let options = ReadOptions { format: Some(format), ..wanting(batch.schema()) };
        assert_eq!(read(&source, &options), (batch.clone(), vec![]), "{format}");
    }
}

/// The longest decimals, as they are and in lists, in files whose types are given and guessed.
#[test]
fn decimals_of_76_digits_come_back_from_every_format() {
    let nines = "9".repeat(76);
    let digits = |text: &str| Some(i256::from_string(text).unwrap());
    let numbers = [digits(&nines), digits(&format!("-{nines}")), digits("0"), digits("-1"), None];
    let numbers = Decimal256Array::from_iter(numbers).with_precision_and_scale(76, 38).unwrap();
    let batch = RecordBatch::try_from_iter_with_nullable([("n", Arc::new(numbers) as _, true)]);
    let batch = batch.unwrap();
    for format in Format::WRITTEN {
        let source = Source::memory("x", written(format, Compression::None, &batch));
        let options = ReadOptions { format: Some(format), ..wanting(batch.schema()) };
        assert_eq!(read(&source, &options), (batch.clone(), vec![]), "{format}");
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        let found = infer_schema(&source, &options, 100_000).unwrap();
        assert_eq!(found.field(0).data_type(), &DataType::Decimal256(76, 38), "{format}");
    }
}

/// Such a file was called damaged, though it is sound.
#[test]
fn parquet_whose_pages_cannot_be_unpacked_is_refused_with_the_remedy() {
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![1, 2]));
    let batch = RecordBatch::try_from_iter([("packed", numbers)]).unwrap();
    let bytes = written(Format::Parquet, Compression::None, &batch);
    // The codec follows the name of the column: zstd, which is 6, becomes brotli or lzo.
    let name = b"packed\x15\x0c";
    let place = bytes.windows(name.len()).position(|part| part == name).unwrap();
    for (number, codec) in [(4_u8, "brotli"), (3, "lzo")] {
        let mut bytes = bytes.clone();
        bytes[place + name.len() - 1] = number * 2;
        let source = Source::memory("x.parquet", bytes);
        let error = infer_schema(&source, &ReadOptions::default(), 10).unwrap_err();
        assert_eq!(error.kind(), tonnage_engine::ErrorKind::Unsupported, "{error}");
        assert!(error.message().contains(&format!("packed with {codec}")), "{error}");
    }
}

#[test]
fn json_columns_stand_in_json_lines_as_json() {
    let text = StringArray::from(vec![Some("{\"a\":\n1}"), None, Some("broken")]);
    let schema = Arc::new(Schema::new(vec![field("json", DataType::Utf8)]));
    let batch = RecordBatch::try_new(schema, vec![Arc::new(text)]).unwrap();
    let lines = String::from_utf8(written(Format::JsonLines, Compression::None, &batch)).unwrap();
    assert_eq!(lines, "{\"json\":{\"a\": 1}}\n{\"json\":null}\n{\"json\":\"broken\"}\n");
}

#[test]
fn text_formats_are_written_plainly() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        (
            "time",
            Arc::new(TimestampMicrosecondArray::from(vec![
                1_641_168_000_000_000,
                1_641_168_000_250_000,
            ])),
        ),
        ("double", Arc::new(Float64Array::from(vec![0.1, f64::NAN]))),
        ("bytes", Arc::new(BinaryArray::from_iter_values([b"ab".as_slice(), b""]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let text = |format| String::from_utf8(written(format, Compression::None, &batch)).unwrap();
    assert_eq!(
        text(Format::Csv),
        "time,double,bytes\n2022-01-03T00:00:00,0.1,YWI=\n2022-01-03T00:00:00.25,NaN,\"\"\n"
    );
    let lines = "{\"time\":\"2022-01-03T00:00:00\",\"double\":0.1,\"bytes\":\"YWI=\"}\n{\"time\":\"2022-01-03T00:00:00.25\",\"double\":\"NaN\",\"bytes\":\"\"}\n";
    assert_eq!(text(Format::JsonLines), lines);
}

#[test]
fn a_written_file_suggests_the_types_it_was_written_from() {
    let columns: Vec<(&str, ArrayRef)> = vec![
        ("id", Arc::new(Int64Array::from(vec![1, 2]))),
        ("value", Arc::new(Float64Array::from(vec![1.0, 2.0]))),
        ("at", Arc::new(TimestampMillisecondArray::from(vec![1, 2]))),
        ("second", Arc::new(TimestampSecondArray::from(vec![1_641_168_004, -1]))),
    ];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, column)| (name, column, true)),
    )
    .unwrap();
    for format in Format::WRITTEN {
        let source = Source::memory("x", written(format, Compression::None, &batch));
        let options = ReadOptions { format: Some(format), ..ReadOptions::default() };
        let schema = infer_schema(&source, &options, 10).unwrap();
        assert_eq!(
            schema.field(2).data_type(),
            &DataType::Timestamp(TimeUnit::Millisecond, None),
            "{format}"
        );
        assert_eq!(&schema, batch.schema().as_ref(), "{format}");
    }
}

/// Parquet has no seconds. They were written as bare numbers of 64 bits, which only Arrow's own
/// note turned into timestamps again: pandas, DuckDB and Spark saw 1641168004.
#[test]
fn seconds_are_moments_in_parquet_for_every_reader() {
    let at: ArrayRef = Arc::new(TimestampSecondArray::from(vec![Some(1_641_168_004), None]));
    let batch = RecordBatch::try_from_iter_with_nullable([("at", at, true)]).unwrap();
    let bytes = written(Format::Parquet, Compression::None, &batch);
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(&bytes).unwrap();
    let told = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .parquet_schema()
        .column(0)
        .logical_type_ref()
        .cloned();
    assert_eq!(told, Some(LogicalType::timestamp(false, parquet::basic::TimeUnit::MILLIS)));
    let (again, _) = read(&Source::memory("x.parquet", bytes), &ReadOptions::default());
    assert_eq!(again, batch);
}

#[test]
fn a_moment_that_parquet_cannot_count_is_an_error_that_names_its_column() {
    let at: ArrayRef = Arc::new(TimestampSecondArray::from(vec![i64::MAX / 10]));
    let batch = RecordBatch::try_from_iter([("at", at)]).unwrap();
    let mut writer =
        RecordWriter::new(Format::Parquet, Vec::new(), batch.schema(), Compression::None).unwrap();
    assert!(
        writer.write(&batch).unwrap_err().message().starts_with("the column at holds a timestamp")
    );
}

/// The words were those of Arrow: "an Arrow interval type MonthDayNano to parquet that is not yet
/// implemented".
#[test]
fn a_column_that_parquet_has_no_type_for_is_an_error_that_names_it() {
    let interval = DataType::Interval(IntervalUnit::MonthDayNano);
    let listed = DataType::List(Field::new("item", interval.clone(), true).into());
    for (data_type, told) in [(interval, "INTERVAL"), (listed, "ARRAY(INTERVAL)")] {
        let schema = Schema::new(vec![Field::new("took", data_type, true)]);
        let writer =
            RecordWriter::new(Format::Parquet, Vec::new(), schema.into(), Compression::None);
        let error = writer.err().expect("an error");
        let expected = format!("Parquet has no type for the column took, {told}: choose another");
        assert!(error.message().starts_with(&expected), "{error}");
    }
}

/// NULL came back as an empty text, or not at all.
#[test]
fn null_and_the_empty_text_of_a_single_column_stay_apart() {
    let texts: ArrayRef = Arc::new(StringArray::from(vec![None, Some("x"), Some(""), None]));
    let numbers: ArrayRef = Arc::new(Int64Array::from(vec![None, Some(1), None]));
    for (name, column) in [("v", texts), ("n", numbers)] {
        let batch = RecordBatch::try_from_iter([(name, column)]).unwrap();
        for format in [Format::Csv, Format::Tsv] {
            let bytes = written(format, Compression::None, &batch);
            let (back, rejected) = read(&Source::memory("a.csv", bytes), &wanting(batch.schema()));
            assert_eq!((back, rejected), (batch.clone(), vec![]));
        }
    }
}

/// Their fractions ended in noughts: 06:00:00.250.
#[test]
fn times_of_day_have_no_noughts_at_the_end() {
    use arrow::array::{Time32SecondArray, Time64MicrosecondArray, Time64NanosecondArray};
    let half = 6 * 3_600_000_000_000 + 250_000_000;
    let columns: [(&str, ArrayRef); 3] = [
        ("ns", Arc::new(Time64NanosecondArray::from(vec![half, 0, 86_399_999_999_999]))),
        ("us", Arc::new(Time64MicrosecondArray::from(vec![half / 1_000, 0, 10]))),
        ("s", Arc::new(Time32SecondArray::from(vec![1, 60, 3_600]))),
    ];
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let text = String::from_utf8(written(Format::Csv, Compression::None, &batch)).unwrap();
    assert_eq!(
        text,
        "ns,us,s\n06:00:00.25,06:00:00.25,00:00:01\n00:00:00,00:00:00,00:01:00\n23:59:59.999999999,00:00:00.00001,01:00:00\n"
    );
    let text = String::from_utf8(written(Format::JsonLines, Compression::None, &batch)).unwrap();
    assert!(
        text.starts_with(r#"{"ns":"06:00:00.25","us":"06:00:00.25","s":"00:00:01"}"#),
        "{text}"
    );
}
