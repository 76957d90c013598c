//! Documents: what is written reads back, and no bytes do harm.

use proptest::prelude::*;
use tonnage_nosql::nson::{DEPTH_MAX, NsonFault, NsonView, NsonWriter, read_document};

/// A random value.
#[derive(Clone, Debug)]
enum Made {
    Array(Vec<Made>),
    Binary(Vec<u8>),
    Boolean(bool),
    Double(f64),
    Integer(i32),
    Long(i64),
    Map(Vec<(String, Made)>),
    String(String),
    Timestamp(String),
    Number(String),
    JsonNull,
    Null,
    Empty,
}

fn made() -> impl Strategy<Value = Made> {
    let atom = prop_oneof![
        any::<Vec<u8>>().prop_map(Made::Binary),
        any::<bool>().prop_map(Made::Boolean),
        any::<f64>().prop_map(Made::Double),
        any::<i32>().prop_map(Made::Integer),
        any::<i64>().prop_map(Made::Long),
        any::<String>().prop_map(Made::String),
        any::<String>().prop_map(Made::Timestamp),
        any::<String>().prop_map(Made::Number),
        Just(Made::JsonNull),
        Just(Made::Null),
        Just(Made::Empty),
    ];
    atom.prop_recursive(4, 64, 8, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..8).prop_map(Made::Array),
            proptest::collection::vec((any::<String>(), inner), 0..8).prop_map(Made::Map),
        ]
    })
}

fn write(value: &Made, writer: &mut NsonWriter) {
    match value {
        Made::Array(items) => {
            writer.begin_array();
            items.iter().for_each(|item| write(item, writer));
            writer.end();
        }
        Made::Map(fields) => {
            writer.begin_map();
            fields.iter().for_each(|(name, value)| write(value, writer.field(name)));
            writer.end();
        }
        Made::Binary(bytes) => writer.binary(bytes),
        Made::Boolean(truth) => writer.boolean(*truth),
        Made::Double(number) => writer.double(*number),
        Made::Integer(number) => writer.integer(*number),
        Made::Long(number) => writer.long(*number),
        Made::String(text) => writer.string(text),
        Made::Timestamp(text) => writer.timestamp(text),
        Made::Number(text) => writer.number(text),
        Made::JsonNull => writer.json_null(),
        Made::Null => writer.null(),
        Made::Empty => writer.empty(),
    }
}

fn written(value: &Made) -> Vec<u8> {
    let mut writer = NsonWriter::default();
    write(value, &mut writer);
    writer.finish()
}

/// Whether a value that was read is the random one.
fn is_same(read: NsonView<'_>, made: &Made) -> bool {
    match (read, made) {
        (NsonView::Array(mut items), Made::Array(made)) => {
            made.iter().all(|made| items.next().is_some_and(|item| is_same(item, made)))
                && items.next().is_none()
        }
        (NsonView::Map(mut fields), Made::Map(made)) => {
            let is_field = |(name, made): &(String, Made)| {
                fields.next().is_some_and(|(own, value)| own == name && is_same(value, made))
            };
            made.iter().all(is_field) && fields.next().is_none()
        }
        (NsonView::Binary(bytes), Made::Binary(made)) => bytes == made,
        (NsonView::Boolean(truth), Made::Boolean(made)) => truth == *made,
        (NsonView::Double(number), Made::Double(made)) => number.to_bits() == made.to_bits(),
        (NsonView::Integer(number), Made::Integer(made)) => number == *made,
        (NsonView::Long(number), Made::Long(made)) => number == *made,
        (NsonView::String(text), Made::String(made))
        | (NsonView::Timestamp(text), Made::Timestamp(made))
        | (NsonView::Number(text), Made::Number(made)) => text == made,
        (NsonView::JsonNull, Made::JsonNull)
        | (NsonView::Null, Made::Null)
        | (NsonView::Empty, Made::Empty) => true,
        _ => false,
    }
}

/// Visits everything.
fn count(value: NsonView<'_>) -> usize {
    1 + match value {
        NsonView::Array(items) => items.map(count).sum(),
        NsonView::Map(fields) => fields.map(|(_, value)| count(value)).sum(),
        _ => 0,
    }
}

proptest! {
    #[test]
    fn what_is_written_reads_back(value in made()) {
        let bytes = written(&value);
        prop_assert!(is_same(read_document(&bytes).unwrap(), &value));
    }

    #[test]
    fn no_bytes_do_harm(bytes: Vec<u8>) {
        if let Ok(value) = read_document(&bytes) {
            prop_assert!(count(value) <= 1 + bytes.len());
        }
    }

    #[test]
    fn documents_with_a_changed_byte_do_no_harm(value in made(), at: usize, byte: u8) {
        let mut bytes = written(&value);
        let at = at % bytes.len();
        bytes[at] = byte;
        if let Ok(value) = read_document(&bytes) {
            prop_assert!(count(value) <= 1 + bytes.len());
        }
    }

    #[test]
    fn a_document_that_is_cut_off_is_none(value in made(), end: usize) {
        let bytes = written(&value);
        prop_assert!(read_document(&bytes[..end % bytes.len()]).is_err());
    }
}

/// As another writer has it: `{"h": {"v": 4}, "p": [1.5, null]}`.
#[test]
fn the_bytes_are_those_of_other_writers() {
    let bytes = [
        6, 0, 0, 0, 47, 0, 0, 0, 2, 0x80, b'h', 6, 0, 0, 0, 8, 0, 0, 0, 1, 0x80, b'v', 4, 0x83,
        0x80, b'p', 0, 0, 0, 0, 14, 0, 0, 0, 2, 3, 0x3f, 0xf8, 0, 0, 0, 0, 0, 0, 11,
    ];
    let mut bytes = bytes.to_vec();
    bytes[4] = u8::try_from(bytes.len() - 5).unwrap();
    let value = Made::Map(vec![
        ("h".into(), Made::Map(vec![("v".into(), Made::Integer(4))])),
        ("p".into(), Made::Array(vec![Made::Double(1.5), Made::Null])),
    ]);
    assert_eq!(written(&value), bytes);
    assert!(is_same(read_document(&bytes).unwrap(), &value));
}

#[test]
fn values_lie_only_so_deep_in_each_other() {
    let nested = |depth: usize| {
        let mut writer = NsonWriter::default();
        (0..depth).for_each(|_| writer.begin_array());
        writer.finish()
    };
    assert!(read_document(&nested(DEPTH_MAX)).is_ok());
    assert_eq!(read_document(&nested(DEPTH_MAX + 1)), Err(NsonFault::Depth));
    // A recursion without bound would end the process.
    assert_eq!(read_document(&nested(1_000_000)), Err(NsonFault::Depth));
}

/// A few bytes that announce gigabytes cost nothing.
#[test]
fn what_is_announced_is_held_against_what_is_there() {
    let array = [0, 0x7f, 0xff, 0xff, 0xff, 0x7f, 0xff, 0xff, 0xff];
    let cut_off = NsonFault::CutOff { wanted: 0x7fff_ffff, left: 4 };
    assert_eq!(read_document(&array), Err(cut_off));
    let count = [0, 0, 0, 0, 4, 0x7f, 0xff, 0xff, 0xff];
    assert_eq!(read_document(&count), Err(NsonFault::CutOff { wanted: 1, left: 0 }));
    let negative = [6, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0];
    assert_eq!(read_document(&negative), Err(NsonFault::Length(-1)));
    assert_eq!(read_document(&[7, 0x7e]), Err(NsonFault::Length(-1)));
    assert_eq!(read_document(&[60]), Err(NsonFault::UnknownKind(60)));
}

/// A reader that skips an array by its size must reach the end of its elements.
#[test]
fn sizes_in_front_are_those_of_what_follows() {
    let array = [0, 0, 0, 0, 6, 0, 0, 0, 1, 10, 10];
    assert_eq!(read_document(&array), Err(NsonFault::Size { behind: 1 }));
    // An INTEGER of more than 32 bits.
    let mut long = NsonWriter::default();
    long.long(1 << 40);
    let mut bytes = long.finish();
    bytes[0] = 4;
    assert_eq!(read_document(&bytes), Err(NsonFault::Number));
}
