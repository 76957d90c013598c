//! Avro object container files, written here byte by byte.

use arrow::datatypes::{DataType, TimeUnit};
use rstest::rstest;
use tonnage_engine::{ErrorKind, Result};
use tonnage_files::{Format, ReadOptions, RecordReader, Sample, Source, infer_common_schema};

use crate::common::{self, lines, read};

const SYNC: [u8; 16] = *b"sixteen bytes of";
const SCHEMA: &str = r#"{"type":"record","name":"r","fields":[
    {"name":"id","type":"long"},
    {"name":"name","type":["null","string"]},
    {"name":"x","type":"double"},
    {"name":"is","type":"boolean"},
    {"name":"at","type":{"type":"long","logicalType":"timestamp-millis"}},
    {"name":"day","type":{"type":"int","logicalType":"date"}},
    {"name":"kind","type":{"type":"enum","name":"k","symbols":["red","blue"]}},
    {"name":"tags","type":{"type":"array","items":"string"}},
    {"name":"at_sea","type":{"type":"record","name":"p","fields":[{"name":"lat","type":"float"}]}}]}"#;

fn long(number: i64) -> Vec<u8> {
    let mut rest = ((number << 1) ^ (number >> 63)) as u64;
    let mut bytes = Vec::new();
    while rest >= 0x80 {
        bytes.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    bytes.push(rest as u8);
    bytes
}

fn text(text: &[u8]) -> Vec<u8> {
    [long(text.len() as i64), text.to_vec()].concat()
}

fn header(schema: &str, codec: &str) -> Vec<u8> {
    let entries = [long(2), text(b"avro.schema"), text(schema.as_bytes())];
    let codec = [text(b"avro.codec"), text(codec.as_bytes()), long(0), SYNC.to_vec()];
    [b"Obj\x01".to_vec(), entries.concat(), codec.concat()].concat()
}

fn packed(block: &[u8], codec: &str) -> Vec<u8> {
    use std::io::Write;
    match codec {
        "deflate" => {
            let mut encoder =
                flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
            encoder.write_all(block).unwrap();
            encoder.finish().unwrap()
        }
        "snappy" => {
            let mut packed = snap::raw::Encoder::new().compress_vec(block).unwrap();
            packed.extend(crc32fast::hash(block).to_be_bytes());
            packed
        }
        "zstandard" => zstd::encode_all(block, 1).unwrap(),
        _ => block.to_vec(),
    }
}

fn block(records: i64, bytes: &[u8], codec: &str) -> Vec<u8> {
    let packed = packed(bytes, codec);
    [long(records), long(packed.len() as i64), packed, SYNC.to_vec()].concat()
}

fn record(id: i64) -> Vec<u8> {
    let name =
        if id % 3 == 0 { long(0) } else { [long(1), text(format!("n{id}").as_bytes())].concat() };
    [
        long(id),
        name,
        (id as f64 / 2.0).to_le_bytes().to_vec(),
        vec![u8::from(id % 2 == 0)],
        long(1_641_168_000_000 + id),
        long(18_995 + id),
        long(id % 2),
        [long(1), text(b"a"), long(0)].concat(),
        1.5_f32.to_le_bytes().to_vec(),
    ]
    .concat()
}

fn file(codec: &str, records: i64) -> Vec<u8> {
    let mut bytes = header(SCHEMA, codec);
    for first in (0..records).step_by(100) {
        let rows: Vec<_> = (first..records.min(first + 100)).flat_map(record).collect();
        bytes.extend(block(records.min(first + 100) - first, &rows, codec));
    }
    bytes
}

fn avro(bytes: Vec<u8>) -> Source {
    Source::memory("a.avro", bytes)
}

/// The number of rows, and the error that ended them.
fn outcome(bytes: Vec<u8>) -> (usize, Result<()>) {
    let mut rows = 0;
    let read = RecordReader::open(&avro(bytes), &ReadOptions::default());
    let ended = read.and_then(|mut reader| {
        reader.try_for_each(|batch| {
            rows += batch?.batch.num_rows();
            Ok(())
        })
    });
    (rows, ended)
}

#[rstest]
#[case("null")]
#[case("deflate")]
#[case("snappy")]
#[case("zstandard")]
fn records_are_read_whatever_packs_their_blocks(#[case] codec: &str) {
    let source = avro(file(codec, 250));
    assert_eq!(Format::detect(&Source::memory("a", file(codec, 1))).unwrap(), Format::Avro);
    let found = infer_common_schema(
        std::slice::from_ref(&source),
        &ReadOptions::default(),
        &Sample::default(),
    );
    let schema = std::sync::Arc::new(found.unwrap().schema);
    let kinds: Vec<_> = schema.fields().iter().map(|field| field.data_type().clone()).collect();
    assert_eq!(
        kinds[..6],
        [
            DataType::Int64,
            DataType::Utf8,
            DataType::Float64,
            DataType::Boolean,
            DataType::Timestamp(TimeUnit::Millisecond, Some("+00:00".into())),
            DataType::Date32
        ]
    );
    let wanted = common::schema(&[
        ("id", DataType::Int64),
        ("NAME", DataType::Utf8),
        ("x", DataType::Float64),
        ("at", DataType::Timestamp(TimeUnit::Millisecond, None)),
        ("kind", DataType::Utf8),
    ]);
    let unmentioned = tonnage_files::ExtraColumns::Skip;
    let options = ReadOptions { unmentioned, ..common::wanting(wanted) };
    let (rows, rejected) = read(&source, &options);
    assert!(rejected.is_empty());
    let lines = lines(&rows);
    assert_eq!(lines.len(), 250);
    assert_eq!(lines[0], "0,,0.0,2022-01-03T00:00:00,red");
    assert_eq!(lines[101], "101,n101,50.5,2022-01-03T00:00:00.101,blue");
    let from = ReadOptions { start_record: 200, ..options };
    assert_eq!(read(&source, &from).0.num_rows(), 50);
}

#[test]
fn nested_values_become_json() {
    let found =
        infer_common_schema(&[avro(file("null", 2))], &ReadOptions::default(), &Sample::default());
    let found = found.unwrap();
    let wanted = std::sync::Arc::new(arrow::datatypes::Schema::new(vec![
        tonnage_json("tags"),
        tonnage_json("at_sea"),
    ]));
    assert!(found.is_whole && !found.is_guessed);
    let unmentioned = tonnage_files::ExtraColumns::Skip;
    let options = ReadOptions { unmentioned, ..common::wanting(wanted) };
    let (rows, _) = read(&avro(file("null", 2)), &options);
    assert_eq!(lines(&rows)[0], "\"[\"\"a\"\"]\",\"{\"\"lat\"\":1.5}\"");
}

/// A table was created for them, and no record could be loaded into it.
#[test]
fn values_of_several_kinds_become_json() {
    let schema = r#"{"type":"record","name":"r","fields":[
        {"name":"u","type":["null","int","string"]},
        {"name":"l","type":{"type":"array","items":["null","int","string"]}}]}"#;
    let rows = [
        [long(0), long(1), long(1), long(7), long(0)].concat(),
        [long(1), long(5), long(2), long(0), long(2), text(b"x"), long(0)].concat(),
        [long(2), text(b"a\"b"), long(0)].concat(),
    ];
    let bytes = [header(schema, "null"), block(3, &rows.concat(), "null")].concat();
    let wanted = arrow::datatypes::Schema::new(vec![tonnage_json("u"), tonnage_json("l")]);
    let (rows, rejected) = read(&avro(bytes), &common::wanting(std::sync::Arc::new(wanted)));
    assert!(rejected.is_empty());
    let quoted = "\"\"\"a\\\"\"b\"\"\"";
    assert_eq!(lines(&rows), [",[7]", "5,\"[null,\"\"x\"\"]\"", &format!("{quoted},[]")]);
}

fn tonnage_json(name: &str) -> arrow::datatypes::Field {
    let json = [(tonnage_files::TYPE_KEY.to_owned(), tonnage_files::TYPE_JSON.to_owned())];
    arrow::datatypes::Field::new(name, DataType::Utf8, true).with_metadata(json.into())
}

#[test]
fn a_file_that_is_cut_short_gives_what_came_before() {
    let whole = file("deflate", 300);
    let mut ends = Vec::new();
    for len in 0..whole.len() {
        let (rows, ended) = outcome(whole[..len].to_vec());
        assert_eq!(rows % 100, 0, "{len}");
        match ended {
            // Between two blocks nothing tells that more is missing.
            Ok(()) => ends.push(rows),
            Err(error) => assert_ne!(error.kind(), ErrorKind::Internal, "{len}: {error}"),
        }
    }
    assert!(ends.iter().all(|rows| rows % 100 == 0) && ends.len() <= 5, "{ends:?}");
    assert_eq!(outcome(whole).0, 300);
}

#[test]
fn damage_is_an_error_and_takes_no_memory() {
    let with = |block: Vec<u8>| [header(SCHEMA, "null"), block].concat();
    // One more than a block, the entries of a header and an entry may have.
    let (long_block, many, long_entry) = (long((256 << 20) + 1), long(1_001), long((16 << 20) + 1));
    let rows: Vec<u8> = (0..3).flat_map(record).collect();
    for (bytes, says) in [
        (with([long(1), long_block].concat()), "a length in it is wrong"),
        (with([long(-1), long(0), SYNC.to_vec()].concat()), "cannot hold -1 records"),
        (with([long(1), long(0), SYNC.to_vec()].concat()), "cannot hold 1 records"),
        (with([long(5), text(b"few"), SYNC.to_vec()].concat()), "cannot hold 5 records"),
        (with([long(3), long(1 << 27), b"few".to_vec()].concat()), "cut short"),
        (with([long(3), text(&rows), b"sixteen bytes ov".to_vec()].concat()), "mark"),
        (with([long(9), text(&rows), SYNC.to_vec()].concat()), "record"),
        ([b"Obj\x01".to_vec(), many].concat(), "entries"),
        ([b"Obj\x01".to_vec(), long(1), long_entry].concat(), "length"),
        (header(SCHEMA, "bzip2"), "bzip2, which is not read"),
        (header("{", "null"), "not a readable Avro"),
        (header("\"long\"", "null"), "not a readable Avro"),
        ([header(SCHEMA, "snappy"), block(3, &rows, "null")].concat(), "block 1: "),
        ([header(SCHEMA, "zstandard"), block(3, &rows, "null")].concat(), "block 1: "),
    ] {
        let (rows, ended) = outcome(bytes);
        let error = ended.unwrap_err();
        assert_eq!(rows, 0, "{error}");
        assert_eq!(error.kind(), ErrorKind::Corruption, "{error}");
        assert!(error.message().contains(says), "{says}: {error}");
    }
    let large = packed(&vec![0; (512 << 20) + 1], "deflate");
    let large = [long(3), text(&large), SYNC.to_vec()].concat();
    let (_, ended) = outcome([header(SCHEMA, "deflate"), large].concat());
    assert!(ended.unwrap_err().message().contains("more than 512 MiB"));
    // Entries of the header are held all together.
    let entry = [text(b"k"), text(&vec![0; 13 << 20])].concat();
    let (_, ended) = outcome([b"Obj\x01".to_vec(), long(5), entry.repeat(5), long(0)].concat());
    assert!(ended.unwrap_err().message().contains("takes more than 64 MiB"));
}

/// Blocks were once decoded together: a wrong number of records moved records from one block into
/// another.
#[rstest]
fn a_block_holds_as_many_records_as_it_says(#[values(false, true)] last: bool) {
    let rows: Vec<u8> = (0..8).flat_map(record).collect();
    let whole = block(8, &rows, "null");
    let mut bytes = [header(SCHEMA, "null"), whole.clone(), block(9, &rows, "null")].concat();
    if !last {
        bytes.extend(whole);
    }
    let (rows, ended) = outcome(bytes);
    let error = ended.unwrap_err();
    assert_eq!((rows, error.kind()), (8, ErrorKind::Corruption), "{error}");
    assert!(error.message().contains("block 2: "), "{error}");
}

#[test]
fn blocks_without_records_are_passed_over() {
    let rows: Vec<u8> = (0..3).flat_map(record).collect();
    let (whole, empty) = (block(3, &rows, "null"), block(0, b"", "null"));
    let bytes = [header(SCHEMA, "null"), empty.clone(), empty.clone(), whole.clone(), empty, whole];
    let (rows, ended) = outcome(bytes.concat());
    ended.unwrap();
    assert_eq!(rows, 6);
}

fn big_decimal(unscaled: &[u8], scale: i64) -> Vec<u8> {
    text(&[text(unscaled), long(scale)].concat())
}

/// The bytes of such numbers went into BINARY columns, and as control characters into STRING.
#[test]
fn big_decimals_are_numbers() {
    let schema = r#"{"type":"record","name":"r","fields":[
        {"name":"n","type":["null",{"type":"bytes","logicalType":"big-decimal"}]},
        {"name":"l","type":{"type":"array","items":{"type":"bytes","logicalType":"big-decimal"}}},
        {"name":"b","type":"bytes"}]}"#;
    let one = big_decimal(&[0x04, 0xd2], 2);
    let rows = [
        [long(1), one.clone(), long(2), one, big_decimal(&[0xff], -3), long(0), text(b"x")],
        [long(0), vec![], long(0), vec![], vec![], vec![], text(b"")],
        [long(1), big_decimal(&[1], 12), long(0), vec![], vec![], vec![], text(b"")],
    ];
    let source = avro([header(schema, "null"), block(3, &rows.concat().concat(), "null")].concat());
    let sources = std::slice::from_ref(&source);
    let found = infer_common_schema(sources, &ReadOptions::default(), &Sample::default()).unwrap();
    assert_eq!(found.schema.field(0).data_type(), &DataType::Decimal128(38, 9));
    assert_eq!(found.schema.field(2).data_type(), &DataType::Binary);
    let (batch, rejected) = read(&source, &common::wanting(std::sync::Arc::new(found.schema)));
    let list = "\"[\"\"12.34\"\",\"\"-1e3\"\"]\"";
    assert_eq!(lines(&batch), [&format!("12.340000000,{list},eA=="), ",[],\"\""]);
    let told: Vec<_> = rejected.iter().map(|it| (it.record, it.column.as_deref())).collect();
    assert_eq!(told, [(2, Some("n"))], "twelve digits after the point");
    // A column of text has all digits.
    let wanted = common::schema(&[("n", DataType::Utf8)]);
    let unmentioned = tonnage_files::ExtraColumns::Skip;
    let options = ReadOptions { unmentioned, ..common::wanting(wanted) };
    assert_eq!(lines(&read(&source, &options).0), ["12.34", "", "0.000000000001"]);
}

#[test]
fn a_record_that_contains_itself_is_refused() {
    let schema = r#"{"type":"record","name":"Node","namespace":"a.b","fields":[
        {"name":"v","type":"long"},{"name":"next","type":["null","Node"]}]}"#;
    let bytes = [header(schema, "null"), block(1, &[long(1), long(0)].concat(), "null")].concat();
    let (_, ended) = outcome(bytes);
    let error = ended.unwrap_err();
    assert!(error.message().contains("its record Node contains itself"), "{error}");
    assert!(error.message().contains("JSON lines"), "{error}");
}

/// The error was that there is no file.
#[test]
fn records_without_fields_make_no_columns() {
    let schema = r#"{"type":"record","name":"r","fields":[]}"#;
    let source = Source::memory("a.avro", header(schema, "null"));
    let error =
        infer_common_schema(&[source], &ReadOptions::default(), &Sample::default()).unwrap_err();
    assert_eq!(error.message(), "a.avro: its records have no fields");
}
