//! Files that are not what they seem: of other kinds, in other encodings, with something behind
//! their end.

mod support;

use rstest::rstest;
use support::{csv, gzip, lines, read, small_schema, wanting};
use tonnage_engine::ErrorKind;
use tonnage_files::{Encoding, ReadOptions, RecordReader, Source};

#[rstest]
#[case(b"\xfd7zXZ\0\0\x04".as_slice(), "is packed with xz")]
#[case(b"BZh91AY&SY\x12\x34".as_slice(), "is packed with bzip2")]
#[case(b"PK\x03\x04\x14\0".as_slice(), "is a zip archive")]
#[case(b"<!DOCTYPE html><html>".as_slice(), "is an HTML page")]
#[case(b"i\0d\0\n\0\x31\0\n\0".as_slice(), "is UTF-16 without a mark")]
#[case(b"id,name\r1,a\r2,b\r".as_slice(), "its lines end in carriage returns alone")]
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
    assert_eq!(read(&bare, &options), (expected, vec![]));
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
        error.message().contains("something that is no gzip follows")
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
    assert_eq!(rejected.len(), 2, "quotes keep their blanks, and blanks alone are no number");
}
