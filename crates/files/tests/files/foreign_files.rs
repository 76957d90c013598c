//! Files that are not what they seem: of other kinds, in other encodings, with bytes after their
//! end.

use rstest::rstest;
use tonnage_engine::ErrorKind;
use tonnage_files::{Compression, Encoding, Format, ReadOptions, RecordReader, Source};

use crate::common::{self, csv, gzip, lines, read, small_schema, wanting};

#[rstest]
#[case(b"BZh91AY&SY\x12\x34".as_slice(), "is packed with bzip2")]
#[case(b"7z\xbc\xaf\x27\x1c\0".as_slice(), "is a 7z archive")]
#[case(b"<!DOCTYPE html><html>".as_slice(), "is an HTML page")]
#[case(b"i\0d\0\n\0\x31\0\n\0".as_slice(), "is UTF-16 without a mark")]
#[case(b"id,name\r1,a\r2,b\r".as_slice(), "its lines end in carriage returns alone")]
#[case(b"\"id\",\"a\rname\"\r1,\"a\rb\"\r".as_slice(), "its lines end in carriage returns alone")]
fn a_kind_that_is_not_read_is_named(#[case] bytes: &[u8], #[case] says: &str) {
    let error =
        RecordReader::open(&Source::memory("x.csv", bytes.to_vec()), &ReadOptions::default())
            .err()
            .unwrap();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(error.message().starts_with("x.csv: ") && error.message().contains(says), "{error}");
}

#[test]
fn text_that_only_begins_like_another_kind_is_read() {
    let (batch, _) = read(&csv("BZh,x\n1,2\n"), &ReadOptions::default());
    assert_eq!(batch.num_rows(), 1);
}

fn utf16(text: &str, unit: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(unit).collect()
}

#[rstest]
#[case::little_endian(u16::to_le_bytes, Encoding::Utf16Le)]
#[case::big_endian(u16::to_be_bytes, Encoding::Utf16Be)]
fn utf16_is_read(#[case] unit: fn(u16) -> [u8; 2], #[case] encoding: Encoding) {
    let text = format!("id,name\n{}2,grüße 🚢\n", "1,é\n".repeat(40_000));
    let (expected, _) = read(&csv(&text), &wanting(small_schema()));
    let marked = Source::memory("x.csv", utf16(&format!("\u{feff}{text}"), unit));
    assert_eq!(read(&marked, &wanting(small_schema())), (expected.clone(), vec![]));
    let bare = Source::memory("x.csv", utf16(&text, unit));
    let options = ReadOptions { encoding: Some(encoding), ..wanting(small_schema()) };
    assert_eq!(read(&bare, &options), (expected.clone(), vec![]));
    // Many say UTF-16 for both kinds, and a mark knows better: its text came out as other
    // characters.
    for told in [Encoding::Utf16Le, Encoding::Utf16Be] {
        let options = ReadOptions { encoding: Some(told), ..wanting(small_schema()) };
        assert_eq!(read(&marked, &options), (expected.clone(), vec![]), "{told}");
    }
}

/// It was taken for text of UTF-8 where a tenth of it is not ASCII.
#[test]
fn utf16_without_a_mark_is_told_by_its_first_line() {
    for text in
        ["id,a\n1,é😀\n2,\"q\n\"\n".to_owned(), format!("id,name\n{}", "1,漢字漢字\n".repeat(99))]
    {
        for unit in [u16::to_le_bytes as fn(u16) -> [u8; 2], u16::to_be_bytes] {
            let source = Source::memory("x.csv", utf16(&text, unit));
            let error = RecordReader::open(&source, &ReadOptions::default()).err().unwrap();
            assert!(error.message().contains("is UTF-16 without a mark"), "{error}");
        }
    }
}

/// It ended the load at its first record.
#[test]
fn half_a_character_of_utf16_rejects_its_record() {
    let units = "\u{feff}id,name\n1,a\n2,".encode_utf16().chain([0xd83d]);
    let units = units.chain("b\n3,c\n4,".encode_utf16()).chain([0xdea2]);
    let bytes = units.chain("\n".encode_utf16()).flat_map(u16::to_le_bytes).collect();
    let source = Source::memory("x.csv", Vec::clone(&bytes));
    let (batch, rejected) = read(&source, &wanting(small_schema()));
    assert_eq!(lines(&batch), ["1,a", "3,c"]);
    let places: Vec<_> = rejected.iter().map(|rejected| rejected.record).collect();
    assert_eq!(places, [1, 3]);
    assert!(rejected[0].reason.contains("UTF-8"), "{}", rejected[0].reason);
}

#[rstest]
#[case("latin1", b"id,name\n1,caf\xe9\n".as_slice(), "1,café,")]
#[case("windows-1252", b"id,name\n1,\x93x\x94 \x80\n".as_slice(), "1,“x” €,")]
fn encodings_of_one_byte_are_read(
    #[case] name: &str,
    #[case] bytes: &[u8],
    #[case] expected: &str,
) {
    let options = ReadOptions { encoding: Some(name.parse().unwrap()), ..wanting(small_schema()) };
    let (batch, rejected) = read(&Source::memory("x.csv", bytes.to_vec()), &options);
    assert_eq!(
        (lines(&batch), rejected),
        (vec![expected.trim_end_matches(',').to_owned()], vec![])
    );
}

#[test]
fn utf16_that_ends_within_a_character_is_an_error_behind_its_records() {
    let mut bytes = utf16("\u{feff}id\n1\n2\n", u16::to_le_bytes);
    bytes.push(b'3');
    let outcome: Vec<_> =
        RecordReader::open(&Source::memory("x.csv", bytes), &ReadOptions::default())
            .unwrap()
            .collect();
    assert_eq!(outcome[0].as_ref().unwrap().records, 2);
    assert_eq!(outcome[1].as_ref().unwrap_err().kind(), ErrorKind::Corruption);
}

#[test]
fn zeros_behind_gzip_are_padding() {
    let bytes = [gzip(b"id\n1\n2\n"), vec![0; 1000]].concat();
    assert_eq!(
        lines(&read(&Source::memory("x.csv", bytes), &ReadOptions::default()).0),
        ["1", "2"]
    );
}

/// It was called cut short, though every record had come.
#[test]
fn anything_else_behind_gzip_is_told_behind_all_records() {
    let bytes = [gzip(b"id\n1\n2\n"), b"more".to_vec()].concat();
    let outcome: Vec<_> =
        RecordReader::open(&Source::memory("x.csv", bytes), &ReadOptions::default())
            .unwrap()
            .collect();
    assert_eq!(outcome[0].as_ref().unwrap().records, 2);
    let error = outcome[1].as_ref().unwrap_err();
    assert!(
        error.message().contains("something that is not gzip follows")
            && !error.message().contains("cut short"),
        "{error}"
    );
}

#[test]
fn blanks_around_values_are_no_part_of_them() {
    let (batch, rejected) =
        read(&csv("id,name,at\n 1 , x ,\t2022-01-03\n"), &wanting(small_schema()));
    assert_eq!((lines(&batch), rejected), (vec!["1, x ,2022-01-03T00:00:00".to_owned()], vec![]));
    let (_, rejected) = read(&csv("id\n\" 1\"\n  \n"), &wanting(small_schema()));
    assert_eq!(rejected.len(), 2, "quotes keep their blanks, and blanks alone are not a number");
}

/// Writers other than this crate call the items of a list `element`, and say that keys of maps or
/// items are never NULL. No such column could be loaded.
#[test]
fn parts_of_nested_values_may_have_other_names() {
    use arrow::array::{
        Array, ArrayRef, Int32Array, Int64Array, LargeListArray, ListArray, MapArray, RecordBatch,
        StringArray, StructArray,
    };
    use arrow::buffer::OffsetBuffer;
    use arrow::datatypes::{DataType, Field, Fields};
    use std::sync::Arc;

    let offsets = || OffsetBuffer::new(vec![0, 2, 2, 3].into());
    let numbers = || Arc::new(Int32Array::from(vec![1, 2, 300])) as ArrayRef;
    let element = Arc::new(Field::new("element", DataType::Int32, false));
    let list = ListArray::new(element.clone(), offsets(), numbers(), None);
    let large = OffsetBuffer::new(vec![0_i64, 2, 2, 3].into());
    let large = LargeListArray::new(element, large, numbers(), None);
    let fields: Fields =
        vec![Field::new("key", DataType::Utf8, false), Field::new("value", DataType::Int32, true)]
            .into();
    let keys: ArrayRef = Arc::new(StringArray::from(vec!["a", "b", "c"]));
    let entries = StructArray::new(fields.clone(), vec![keys, numbers()], None);
    let entry = Arc::new(Field::new("key_value", DataType::Struct(fields), false));
    let map = MapArray::new(entry, offsets(), entries, None, false);
    let columns: [(&str, ArrayRef); 3] =
        [("list", Arc::new(list)), ("large", Arc::new(large)), ("map", Arc::new(map))];
    let batch = RecordBatch::try_from_iter(columns).unwrap();

    let item = |data_type| Arc::new(Field::new("item", data_type, true));
    let wanted_map = |data_type| {
        let fields: Fields =
            vec![Field::new("keys", DataType::Utf8, false), Field::new("values", data_type, true)]
                .into();
        DataType::Map(Arc::new(Field::new("entries", DataType::Struct(fields), false)), false)
    };
    let wanted = |data_type: DataType| {
        common::schema(&[
            ("list", DataType::List(item(data_type.clone()))),
            ("large", DataType::List(item(data_type.clone()))),
            ("map", wanted_map(data_type)),
        ])
    };
    for format in [Format::ArrowFile, Format::Parquet] {
        let source = Source::memory("a", common::written(format, Compression::None, &batch));
        let (read, rejected) = common::read(&source, &common::wanting(wanted(DataType::Int64)));
        assert_eq!(rejected, [], "{format}");
        assert_eq!(read.schema(), wanted(DataType::Int64), "{format}");
        let lists = read.column(1).as_any().downcast_ref::<ListArray>().unwrap();
        assert_eq!(lists.value(2).as_any().downcast_ref::<Int64Array>().unwrap().values(), &[300]);
        // A part that does not fit rejects its row, and no other.
        let (read, rejected) = common::read(&source, &common::wanting(wanted(DataType::Int8)));
        assert_eq!((read.num_rows(), rejected.len(), rejected[0].record), (2, 1, 2), "{format}");
    }
}

/// pandas writes a column that is empty throughout as one of type null.
#[test]
fn a_column_that_never_has_a_value_is_text() {
    use arrow::array::{ArrayRef, Int64Array, NullArray, RecordBatch};
    use arrow::datatypes::DataType;
    use std::sync::Arc;

    let columns: [(&str, ArrayRef); 2] =
        [("id", Arc::new(Int64Array::from(vec![1, 2]))), ("n", Arc::new(NullArray::new(2)))];
    let batch = RecordBatch::try_from_iter_with_nullable(
        columns.map(|(name, column)| (name, column, true)),
    )
    .unwrap();
    for format in [Format::ArrowFile, Format::Parquet] {
        let source = Source::memory("a", common::written(format, Compression::None, &batch));
        let found = tonnage_files::infer_schema(&source, &ReadOptions::default(), 10).unwrap();
        assert_eq!(found.field(1).data_type(), &DataType::Utf8, "{format}");
        let (read, rejected) = common::read(&source, &common::wanting(found.into()));
        assert_eq!((read.num_rows(), rejected.len()), (2, 0), "{format}");
    }
}
