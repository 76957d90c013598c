//! Parquet as other programs write it: its own types, and footers that say more or less than others.
//!
//! The files are written here with the types and annotations that the named versions write.

use std::sync::Arc;

use arrow::array::{
    ArrayRef, AsArray, Int64Array, Int64Builder, MapBuilder, RecordBatch, StringArray,
    StringBuilder,
};
use arrow::datatypes::{DataType, Field, Int64Type, Schema, TimeUnit};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use parquet::arrow::{ARROW_SCHEMA_META_KEY, encode_arrow_schema};
use parquet::basic::Encoding;
use parquet::data_type::{
    ByteArray, ByteArrayType, DataType as ParquetType, FixedLenByteArray, FixedLenByteArrayType,
    Int32Type, Int96, Int96Type,
};
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;
use parquet::file::reader::FileReader;
use parquet::file::serialized_reader::SerializedFileReader;
use parquet::file::writer::{SerializedFileWriter, SerializedRowGroupWriter};
use parquet::schema::parser::parse_message_type;
use rstest::rstest;
use tonnage_engine::ErrorKind;
use tonnage_files::{
    Compression, Format, ReadOptions, RecordReader, Source, TYPE_BINARY, TYPE_JSON, TYPE_KEY,
    infer_schema, is_variant_field,
};

use crate::common::{lines, read, schema, wanting, written};

/// A Parquet file of one row group.
fn parquet_file(
    message: &str,
    arrow_schema: Option<String>,
    write: impl FnOnce(&mut SerializedRowGroupWriter<'_, Vec<u8>>),
) -> Source {
    let arrow = arrow_schema.map(|arrow| KeyValue::new(ARROW_SCHEMA_META_KEY.to_owned(), arrow));
    let properties =
        WriterProperties::builder().set_key_value_metadata(arrow.map(|pair| vec![pair])).build();
    let schema = Arc::new(parse_message_type(message).unwrap());
    let mut writer = SerializedFileWriter::new(Vec::new(), schema, Arc::new(properties)).unwrap();
    let mut group = writer.next_row_group().unwrap();
    write(&mut group);
    group.close().unwrap();
    Source::memory("a.parquet", writer.into_inner().unwrap())
}

/// Writes the next column of a row group, whose values stand at these levels.
fn column<T: ParquetType>(
    group: &mut SerializedRowGroupWriter<'_, Vec<u8>>,
    values: &[T::T],
    levels: Option<&[i16]>,
    repetition: Option<&[i16]>,
) {
    let mut column = group.next_column().unwrap().unwrap();
    column.typed::<T>().write_batch(values, levels, repetition).unwrap();
    column.close().unwrap();
}

/// A timestamp as Spark and Impala write it.
fn int96(julian_day: u32, nanoseconds: u64) -> Int96 {
    let mut value = Int96::new();
    value.set_data(nanoseconds as u32, (nanoseconds >> 32) as u32, julian_day);
    value
}

/// 9999-12-31, 0001-01-01 and 1969-12-31, all of which Spark 3.5 writes as INT96.
fn far_moments() -> [Int96; 3] {
    [
        int96(5_373_484, 86_399_999_900_000),
        int96(1_721_426, 0),
        int96(2_440_587, 86_399_999_999_000),
    ]
}

const FAR_LINES: [&str; 4] =
    ["9999-12-31T23:59:59.9999", "0001-01-01T00:00:00", "1969-12-31T23:59:59.999999", ""];

fn file_of_far_moments() -> Source {
    parquet_file("message m { optional int96 at; }", None, |group| {
        column::<Int96Type>(group, &far_moments(), Some(&[1, 1, 1, 0]), None);
    })
}

/// They wrapped around: 9999-12-31 was read as a day of 1816, and 0001-01-01 as one of 1754.
#[test]
fn int96_reach_as_far_as_calendars() {
    let source = file_of_far_moments();
    let inferred = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
    let microseconds = DataType::Timestamp(TimeUnit::Microsecond, None);
    assert_eq!(inferred.field(0).data_type(), &microseconds);
    for options in
        [ReadOptions::default(), wanting(schema(&[("AT", microseconds)])), wanting(inferred.into())]
    {
        let (batch, rejected) = read(&source, &options);
        assert_eq!(rejected, []);
        assert_eq!(lines(&batch), FAR_LINES);
    }
}

#[test]
fn int96_are_text_and_days_where_these_are_wanted() {
    let source = file_of_far_moments();
    let (batch, rejected) = read(&source, &wanting(schema(&[("at", DataType::Date32)])));
    assert_eq!(lines(&batch), ["0001-01-01", ""]);
    assert_eq!(rejected.iter().map(|row| row.record).collect::<Vec<_>>(), [0, 2]);
    let (batch, rejected) = read(&source, &wanting(schema(&[("at", DataType::Utf8)])));
    assert_eq!((batch.num_rows(), rejected.len()), (4, 0));
    assert_eq!(batch.column(0).as_string::<i32>().value(1), "0001-01-01T00:00:00");
}

#[test]
fn an_int96_that_the_wanted_unit_cannot_keep_rejects_its_row() {
    let source = parquet_file("message m { required int96 at; }", None, |group| {
        let values = [far_moments()[0], int96(2_440_588, 1), int96(2_440_588, 1_000)];
        column::<Int96Type>(group, &values, None, None);
    });
    for (unit, kept, lost) in [
        (TimeUnit::Nanosecond, "1970-01-01T00:00:00.000000001 1970-01-01T00:00:00.000001", vec![0]),
        (TimeUnit::Microsecond, "9999-12-31T23:59:59.9999 1970-01-01T00:00:00.000001", vec![1]),
        (TimeUnit::Second, "", vec![0, 1, 2]),
    ] {
        let wanted = schema(&[("at", DataType::Timestamp(unit, None))]);
        let (batch, rejected) = read(&source, &wanting(wanted));
        assert_eq!(lines(&batch).join(" "), kept, "{unit:?}");
        assert_eq!(rejected.iter().map(|row| row.record).collect::<Vec<_>>(), lost, "{unit:?}");
        assert_eq!(rejected[0].column.as_deref(), Some("at"));
        // Kept as a person reads it.
        let original = String::from_utf8_lossy(&rejected[0].original).into_owned();
        let far = lost[0] == 0;
        let told = if far { "9999-12-31T23:59:59.9999" } else { "1970-01-01T00:00:00.000000001" };
        assert_eq!(original, format!("{{\"at\":\"{told}\"}}"));
    }
    // Impala and pandas write nanoseconds, too: a table created for them keeps these.
    let inferred = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
    assert_eq!(inferred.field(0).data_type(), &DataType::Timestamp(TimeUnit::Nanosecond, None));
}

#[test]
fn int96_in_lists_and_structs_reach_as_far() {
    let message = "message m {
        optional group list (LIST) { repeated group list { optional int96 element; } }
        required group pair { required int96 at; required int32 n; }
    }";
    let source = parquet_file(message, None, |group| {
        column::<Int96Type>(group, &far_moments(), Some(&[3, 3, 3, 2, 0]), Some(&[0, 1, 0, 1, 0]));
        column::<Int96Type>(group, &far_moments(), None, None);
        column::<Int32Type>(group, &[1, 2, 3], None, None);
    });
    let inferred = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
    let text = |index: usize| inferred.field(index).data_type().to_string();
    assert!(text(0).contains("Timestamp(µs"), "{}", text(0));
    assert!(text(1).contains("Timestamp(µs"), "{}", text(1));
    let (batch, rejected) = read(&source, &wanting(inferred.into()));
    assert_eq!(rejected, []);
    let json = written(Format::JsonLines, Compression::None, &batch);
    let first = "{\"list\":[\"9999-12-31T23:59:59.9999\",\"0001-01-01T00:00:00\"],\
                 \"pair\":{\"at\":\"9999-12-31T23:59:59.9999\",\"n\":1}}\n";
    assert!(String::from_utf8(json).unwrap().starts_with(first));
}

/// The counts of rows in the footer and in its only row group, one of which is changed.
fn with_count(source: &str, from: [u8; 4], to: [u8; 4]) -> Source {
    let numbers: ArrayRef = Arc::new(Int64Array::from_iter_values(0..7));
    let batch = RecordBatch::try_from_iter([(source, numbers)]).unwrap();
    let mut bytes = written(Format::Parquet, Compression::None, &batch);
    let place = bytes.windows(4).rposition(|part| part == from).unwrap();
    bytes[place..place + 4].copy_from_slice(&to);
    Source::memory("a.parquet", bytes)
}

/// In the compact form of Thrift: the count of rows, and the list of row groups after it.
const SEVEN_ROWS: [u8; 4] = [0x16, 14, 0x19, 0x1c];

/// parquet-rs 0.3.0 left it so. Nothing was read, and nothing was said.
#[test]
fn a_footer_that_counts_no_rows_hides_none() {
    let source = with_count("n", SEVEN_ROWS, [0x16, 0, 0x19, 0x1c]);
    let (batch, _) = read(&source, &ReadOptions::default());
    assert_eq!(batch.column(0).as_primitive::<Int64Type>().values(), &[0, 1, 2, 3, 4, 5, 6]);
    let later = ReadOptions { start_record: 5, ..ReadOptions::default() };
    assert_eq!(read(&source, &later).0.num_rows(), 2);
}

#[rstest]
#[case::more(22, "its footer counts 11 rows, and its row groups 7")]
#[case::fewer(2, "its footer counts 1 rows, and its row groups 7")]
fn other_counts_that_disagree_are_damage(#[case] count: u8, #[case] says: &str) {
    let source = with_count("n", SEVEN_ROWS, [0x16, count, 0x19, 0x1c]);
    let error = RecordReader::open(&source, &ReadOptions::default()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.message().contains(says), "{error}");
}

/// Such a file ended the program with an internal error.
#[test]
fn a_group_without_fields_is_an_error_that_names_it() {
    let message = "message m { required int32 a; required group hollow { } required int32 b; }";
    let source = parquet_file(message, None, |group| {
        column::<Int32Type>(group, &[1], None, None);
        column::<Int32Type>(group, &[2], None, None);
    });
    let error = RecordReader::open(&source, &ReadOptions::default()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("the column hollow is a group without fields"), "{error}");
}

/// As DuckDB 2.0 writes it. The months vanished.
#[test]
fn intervals_keep_their_months() {
    let message = "message m { optional fixed_len_byte_array(12) v (INTERVAL); }";
    let source = parquet_file(message, None, |group| {
        let interval = |months: i32, days: i32, milliseconds: i32| {
            let parts = [months, days, milliseconds].map(i32::to_le_bytes).concat();
            FixedLenByteArray::from(parts)
        };
        let values = [interval(3, 2, 4_500), interval(0, 5, 0)];
        column::<FixedLenByteArrayType>(group, &values, Some(&[1, 1, 0]), None);
    });
    let (batch, rejected) = read(&source, &wanting(schema(&[("v", DataType::Utf8)])));
    assert_eq!(rejected, []);
    assert_eq!(lines(&batch), ["3 mons 2 days 4.500000000 secs", "5 days", ""]);
}

/// As DuckDB 2.0 writes it. It became a record of bytes, which only that program understands.
#[test]
fn a_variant_is_no_record_of_bytes() {
    let source = parquet_file(VARIANT, None, |group| {
        column::<Int32Type>(group, &[1], None, None);
        column::<ByteArrayType>(group, &[ByteArray::from(vec![1, 0, 0])], None, None);
        column::<ByteArrayType>(group, &[ByteArray::from(vec![12, 5])], Some(&[1]), None);
    });
    let inferred = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
    assert!(is_variant_field(inferred.field(1)) && !is_variant_field(inferred.field(0)));
    let json = Field::new("v", DataType::Utf8, true)
        .with_metadata([(TYPE_KEY.to_owned(), TYPE_JSON.to_owned())].into());
    let reader = RecordReader::open(&source, &wanting(Schema::new(vec![json]).into())).unwrap();
    assert_eq!(tonnage_files::type_name(reader.schema().field(1)), "VARIANT");
}

const VARIANT: &str = "message m {
    required int32 id;
    required group v (VARIANT) { required binary metadata; optional binary value; }
}";

/// As Go's parquet writes `[16]byte`, and DuckDB 2.0 and pyarrow 26 UUID and JSON.
#[test]
fn annotations_tell_uuids_and_json() {
    let message = "message m {
        required fixed_len_byte_array(16) plain;
        required fixed_len_byte_array(16) uuid (UUID);
        required group uuids (LIST) {
            repeated group list { required fixed_len_byte_array(16) element (UUID); }
        }
        required binary json (JSON);
        required binary text (UTF8);
    }";
    let source = parquet_file(message, None, |group| {
        for _ in 0..2 {
            let value = FixedLenByteArray::from(vec![7; 16]);
            column::<FixedLenByteArrayType>(group, &[value], None, None);
        }
        let value = FixedLenByteArray::from(vec![7; 16]);
        column::<FixedLenByteArrayType>(group, &[value], Some(&[1]), Some(&[0]));
        for _ in 0..2 {
            column::<ByteArrayType>(group, &[ByteArray::from("{\"a\":1}")], None, None);
        }
    });
    let inferred = infer_schema(&source, &ReadOptions::default(), 100).unwrap();
    let mark = |name: &str| inferred.field_with_name(name).unwrap().metadata().get(TYPE_KEY);
    assert_eq!(mark("plain").map(String::as_str), Some(TYPE_BINARY));
    assert_eq!(mark("json").map(String::as_str), Some(TYPE_JSON));
    assert_eq!((mark("uuid"), mark("text")), (None, None));
    let names = inferred.fields().iter().map(|field| tonnage_files::type_name(field));
    assert_eq!(names.collect::<Vec<_>>(), ["BINARY(16)", "UUID", "ARRAY(UUID)", "JSON", "STRING"]);
}

/// As pyarrow 26 writes a dictionary of decimals: plain decimals, and an Arrow schema that the decoder
/// has no reader for. The whole file was refused.
#[test]
fn an_embedded_schema_that_cannot_be_followed_is_left_out() {
    let dictionary =
        DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Decimal128(10, 2)));
    let seconds = DataType::Duration(TimeUnit::Microsecond);
    let arrow = Schema::new(vec![
        Field::new("v", dictionary, true),
        Field::new("took", seconds.clone(), true),
    ]);
    let message = "message m {
        optional fixed_len_byte_array(5) v (DECIMAL(10,2));
        optional int64 took;
    }";
    for (embedded, took) in
        [(encode_arrow_schema(&arrow), seconds), ("no schema".to_owned(), DataType::Int64)]
    {
        let source = parquet_file(message, Some(embedded), |group| {
            let value = FixedLenByteArray::from(vec![0, 0, 0, 0, 125]);
            column::<FixedLenByteArrayType>(group, &[value], Some(&[1, 0]), None);
            column::<parquet::data_type::Int64Type>(group, &[5], Some(&[1, 0]), None);
        });
        let (batch, _) = read(&source, &ReadOptions::default());
        assert_eq!(batch.column(0).data_type(), &DataType::Decimal128(10, 2));
        // What can be followed is followed.
        assert_eq!(batch.column(1).data_type(), &took);
        let numbers = read(&source, &wanting(schema(&[("v", DataType::Utf8)]))).0;
        assert!(lines(&numbers)[0].starts_with("1.25,"), "{:?}", lines(&numbers));
    }
}

/// The Arrow schema that Polars 2.1.0 embeds for the columns `id`, of 64 bits, and `v`, of 128.
const POLARS_INT128: &str = concat!(
    "/////6cAAAAEAAAA8v///xQAAAAEAAEAAAAKAAsACAAKAAQA+P///wwAAAAIAAgAAAAEAAIAAAA0AAAABAAAAMD///8gAAAA",
    "EAAAAAgAAAABAgAAAAAAALj///+AAAAAAQAAAAEAAAB2AAAA7P///zgAAAAgAAAAGAAAAAECAAAQABIABAAQABEACAAAAAwA",
    "AAAAAPT///9AAAAAAQAAAAgACQAEAAgAAgAAAGlkAA=="
);

#[test]
fn whole_numbers_of_128_bits_are_numbers() {
    let message = "message m { optional int64 id; optional fixed_len_byte_array(16) v; }";
    let source = parquet_file(message, Some(POLARS_INT128.to_owned()), |group| {
        column::<parquet::data_type::Int64Type>(group, &[1, 2], Some(&[1, 1]), None);
        let values = [1_i128 << 100, -5].map(|value| value.to_le_bytes().to_vec());
        let values = values.map(FixedLenByteArray::from);
        column::<FixedLenByteArrayType>(group, &values, Some(&[1, 1]), None);
    });
    let (batch, _) = read(&source, &ReadOptions::default());
    assert_eq!(batch.column(1).data_type(), &DataType::Decimal256(39, 0));
    assert_eq!(lines(&batch), ["1,1267650600228229401496703205376", "2,-5"]);
    let (batch, rejected) = read(&source, &wanting(schema(&[("v", DataType::Int64)])));
    assert_eq!((lines(&batch), rejected.len()), (vec!["2,-5".to_owned()], 1));
}

/// Arrow has no such type, so its files cannot be read, and say what to do.
#[test]
fn whole_numbers_of_128_bits_in_arrow_are_refused_with_the_remedy() {
    let mut stream = BASE64_STANDARD.decode(POLARS_INT128).unwrap();
    // A message of a stream is padded to whole words.
    stream[4] += 1;
    stream.push(0);
    stream.extend_from_slice(&[0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0]);
    let source = Source::memory("a.arrows", stream);
    let error = RecordReader::open(&source, &ReadOptions::default()).err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("write them as decimals of 38 digits"), "{error}");
}

/// fastparquet 2026.9 finds no values in lists and maps whose parts have other names than those of the
/// specification, and DuckDB takes UUIDs without an annotation for bytes.
#[test]
fn what_is_written_has_the_names_and_annotations_of_parquet() {
    let marked = |name: &str, data_type: DataType, mark: &str| {
        Field::new(name, data_type, true)
            .with_metadata([(TYPE_KEY.to_owned(), mark.to_owned())].into())
    };
    let uuid = DataType::FixedSizeBinary(16);
    let entries = vec![
        Field::new("keys", DataType::Utf8, false),
        Field::new("values", DataType::Int64, true),
    ];
    let entries = Field::new("entries", DataType::Struct(entries.into()), false);
    let columns = Schema::new(vec![
        marked("json", DataType::Utf8, TYPE_JSON),
        marked("bytes", uuid.clone(), TYPE_BINARY),
        marked("uuid", uuid.clone(), "arrow.uuid"),
        Field::new("list", DataType::new_list(uuid, true), true),
        Field::new("map", DataType::Map(entries.into(), false), true),
    ]);
    let batch = RecordBatch::new_empty(columns.into());
    let bytes = written(Format::Parquet, Compression::None, &batch);
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, &bytes).unwrap();
    let reader = SerializedFileReader::new(file).unwrap();
    let leaves = reader.metadata().file_metadata().schema_descr().columns().to_vec();
    let leaves = leaves.iter().map(|leaf| {
        let logical = leaf.logical_type_ref().map(|logical| format!("{logical:?}"));
        format!("{} {}", leaf.path().string(), logical.unwrap_or_default())
    });
    assert_eq!(
        leaves.collect::<Vec<_>>(),
        [
            "json Json",
            "bytes ",
            "uuid Uuid",
            "list.list.element Uuid",
            "map.key_value.key String",
            "map.key_value.value ",
        ]
    );
    let again = infer_schema(&Source::memory("a.parquet", bytes), &ReadOptions::default(), 10);
    let names = again.unwrap();
    let names = names.fields().iter().map(|field| tonnage_files::type_name(field));
    assert_eq!(
        names.collect::<Vec<_>>(),
        ["JSON", "BINARY(16)", "UUID", "ARRAY(UUID)", "MAP(LONG)"]
    );
}

/// fastparquet 2026.9 finds maps by the dictionary of their keys. The writer gave it up where the keys
/// of a row group came to more than a mebibyte: each map was a key then.
#[test]
fn keys_of_maps_keep_their_dictionary() {
    let mut maps = MapBuilder::new(None, StringBuilder::new(), Int64Builder::new());
    for row in 0..40_000_i64 {
        maps.keys().append_value(format!("a key of which there is one, {row}"));
        maps.values().append_value(row);
        maps.append(true).unwrap();
    }
    let batch = RecordBatch::try_from_iter([("m", Arc::new(maps.finish()) as ArrayRef)]).unwrap();
    let bytes = written(Format::Parquet, Compression::None, &batch);
    let mut file = tempfile::tempfile().unwrap();
    std::io::Write::write_all(&mut file, &bytes).unwrap();
    let file = SerializedFileReader::new(file).unwrap();
    let keys = file.get_row_group(0).unwrap().get_column_page_reader(0).unwrap();
    let pages = keys.map(|page| page.unwrap()).filter(|page| page.is_data_page());
    let encodings: Vec<_> = pages.map(|page| page.encoding()).collect();
    assert!(!encodings.is_empty());
    assert!(encodings.iter().all(|it| *it == Encoding::RLE_DICTIONARY), "{encodings:?}");
}

/// Files that were unloaded before UUID was annotated say it in the embedded Arrow schema alone.
#[test]
fn a_uuid_of_the_embedded_schema_stays_one() {
    let uuid = Field::new("u", DataType::FixedSizeBinary(16), true)
        .with_metadata([(TYPE_KEY.to_owned(), "arrow.uuid".to_owned())].into());
    let embedded = encode_arrow_schema(&Schema::new(vec![uuid]));
    let message = "message m { optional fixed_len_byte_array(16) u; }";
    let source = parquet_file(message, Some(embedded), |group| {
        let value = FixedLenByteArray::from(vec![7; 16]);
        column::<FixedLenByteArrayType>(group, &[value], Some(&[1]), None);
    });
    let (batch, _) = read(&source, &ReadOptions::default());
    assert_eq!(lines(&batch), ["07070707-0707-0707-0707-070707070707"]);
}

/// Text that is read beside a timestamp: the column after it in the file is found all the same.
#[test]
fn other_columns_of_the_file_stay_as_they_are() {
    let message = "message m { required int96 at; required binary name (UTF8); }";
    let source = parquet_file(message, None, |group| {
        column::<Int96Type>(group, &far_moments()[..1], None, None);
        column::<ByteArrayType>(group, &[ByteArray::from("x")], None, None);
    });
    let (batch, _) = read(&source, &ReadOptions::default());
    let names = batch.column(1).as_any().downcast_ref::<StringArray>().unwrap();
    assert_eq!((lines(&batch)[0].as_str(), names.value(0)), ("9999-12-31T23:59:59.9999,x", "x"));
}
