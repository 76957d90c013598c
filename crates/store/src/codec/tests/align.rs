//! What fits a table, what is adapted, and what is rejected.

use std::sync::Arc;

use arrow::array::{
    Array, ArrayRef, AsArray, BooleanArray, Date32Array, DictionaryArray, FixedSizeBinaryArray,
    Float64Array, Int8Array, Int32Array, Int64Array, LargeStringArray, NullArray, RecordBatch,
    StringArray, StringViewArray, TimestampMicrosecondArray, TimestampNanosecondArray, UInt64Array,
};
use arrow::datatypes::Int32Type;
use proptest::prelude::*;
use tonnage_engine::ErrorKind;

use super::support::{any_type, any_value, codec, schema};
use crate::codec::{Aligned, Limits, TableCodec};
use crate::row::Row;
use crate::schema::ColumnType;
use crate::value::Value;
use crate::value::array_of;

fn batch(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

fn longs(values: Vec<Option<i64>>) -> ArrayRef {
    Arc::new(Int64Array::from(values))
}

fn texts(values: Vec<Option<&str>>) -> ArrayRef {
    Arc::new(StringArray::from(values))
}

/// Casts one column: what its rows are then, and for rejected ones the reason.
fn cast(array: ArrayRef, column_type: &str) -> Vec<Result<Value, String>> {
    let codec = codec(&format!("CREATE TABLE t (k LONG, v {column_type}, PRIMARY KEY (k))"));
    let rows = array.len();
    let keys = longs((0..rows as i64).map(Some).collect());
    let aligned = codec.align(&batch(vec![("k", keys), ("v", array)])).unwrap();
    let mut cells: Vec<Result<Value, String>> = vec![Ok(Value::Null); rows];
    for rejected in &aligned.rejected {
        assert_eq!(rejected.column, "v");
        cells[rejected.row] = Err(rejected.reason.clone());
    }
    for row in 0..aligned.batch.num_rows() {
        let original = aligned.kept.as_ref().map_or(row, |kept| kept[row] as usize);
        assert_eq!(
            aligned.batch.column(0).as_primitive::<arrow::datatypes::Int64Type>().value(row),
            original as i64
        );
        cells[original] =
            Ok(Row::from_batch(&aligned.batch, row).unwrap().get("v").unwrap().clone());
    }
    cells
}

fn assert_cast(array: ArrayRef, column_type: &str, expected: Vec<Result<Value, &str>>) {
    let found = cast(array, column_type);
    assert_eq!(found.len(), expected.len());
    for (found, expected) in found.iter().zip(&expected) {
        match (found, expected) {
            (Err(reason), Err(part)) => {
                assert!(reason.contains(part), "{reason} should say {part}")
            }
            (Ok(found), Ok(expected)) => assert_eq!(found, expected, "as {column_type}"),
            _ => panic!("{found:?} should be {expected:?} as {column_type}"),
        }
    }
}

#[test]
fn columns_are_found_by_name_and_missing_ones_filled() {
    let codec = codec("CREATE TABLE t (k LONG, a INTEGER DEFAULT 7, b STRING, PRIMARY KEY (k))");
    let aligned = codec.align(&batch(vec![("K", longs(vec![Some(1)]))])).unwrap();
    let row = Row::from_batch(&aligned.batch, 0).unwrap();
    assert_eq!(row, Row::new().with("k", 1_i64).with("a", 7).with("b", Value::Null));
}

#[test]
fn a_batch_that_can_never_fit_is_refused_whole() {
    let codec = codec("CREATE TABLE t (k LONG, n INTEGER NOT NULL, flag BOOLEAN, PRIMARY KEY (k))");
    let number = || longs(vec![Some(1)]);
    for (columns, what) in [
        (vec![("n", number())], "key column 'k' of table t is missing"),
        (vec![("k", number())], "'n' is missing, and declared NOT NULL"),
        (
            vec![("k", number()), ("n", number()), ("x", number())],
            "no column 'x'; its columns are k, n, flag",
        ),
        (vec![("k", number()), ("n", number()), ("N", number())], "'N' twice"),
        (
            vec![("k", number()), ("n", number()), ("flag", number())],
            "'flag': values of type LONG cannot go into a column of type BOOLEAN",
        ),
    ] {
        let error = codec.align(&batch(columns)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains(what), "{error} should say {what}");
    }
}

#[test]
fn a_cell_that_does_not_fit_rejects_its_row_only() {
    let codec = codec("CREATE TABLE t (k LONG, n INTEGER NOT NULL, j JSON, PRIMARY KEY (k))");
    let Aligned { batch, rejected, kept } = codec
        .align(&batch(vec![
            ("k", longs(vec![Some(1), None, Some(3), Some(4), Some(5)])),
            ("n", longs(vec![Some(1), Some(1), None, Some(1 << 40), Some(1)])),
            ("j", texts(vec![Some("[]"), None, None, Some("{"), Some("{")])),
        ]))
        .unwrap();
    assert_eq!(batch.num_rows(), 1);
    assert_eq!(kept, Some(vec![0]));
    let faults: Vec<_> =
        rejected.iter().map(|rejected| (rejected.row, rejected.column.as_str())).collect();
    assert_eq!(faults, [(1, "k"), (2, "n"), (3, "n"), (4, "j")]);
    let reasons = [
        "part of the primary key",
        "NOT NULL",
        "out of range for INTEGER (-2147483648 to 2147483647)",
        "not JSON",
    ];
    assert!(
        rejected.iter().zip(reasons).all(|(rejected, reason)| rejected.reason.contains(reason)),
        "{rejected:?}"
    );
}

#[test]
fn rows_over_the_limits_are_rejected() {
    let schema = schema("CREATE TABLE t (k STRING, v BINARY, PRIMARY KEY (k))");
    let limits = Limits { key_bytes_max: 8, value_bytes_max: 20, ..Limits::default() };
    let codec = TableCodec::new(schema, limits);
    let keys = texts(vec![Some("short"), Some("long enough"), Some("also"), Some("\0\0\0\0")]);
    let values =
        texts(vec![Some("0x00"), None, Some("0x000102030405060708090a0b0c0d0e0f10111213"), None]);
    let aligned = codec.align(&batch(vec![("k", keys), ("v", values)])).unwrap();
    assert_eq!(aligned.kept, Some(vec![0]));
    let reasons: Vec<_> =
        aligned.rejected.iter().map(|rejected| rejected.reason.as_str()).collect();
    assert_eq!(
        reasons,
        [
            "the key takes 13 bytes; the limit is 8",
            "the value takes 27 bytes; the limit is 20",
            "the key takes 10 bytes; the limit is 8"
        ]
    );
    let (mut key, mut value) = (Vec::new(), Vec::new());
    assert!(codec.encode_row(&Row::new().with("k", "long enough"), &mut key, &mut value).is_err());
}

#[test]
fn text_becomes_any_type() {
    let text = |text| texts(vec![Some(text), None, Some("abc")]);
    let at = |value, precision| Value::Timestamp { value, precision };
    for (source, column_type, value, reason) in [
        ("-5", "INTEGER", Value::Integer(-5), "is not an INTEGER"),
        ("5", "LONG", Value::Long(5), "is not a LONG"),
        ("2.5", "FLOAT", Value::Float(2.5), "is not a FLOAT"),
        ("1e3", "DOUBLE", Value::Double(1000.0), "is not a DOUBLE"),
        ("-1.255", "NUMBER(9, 2)", Value::Number { unscaled: -126, scale: 2 }, "is not a NUMBER"),
        ("Yes", "BOOLEAN", Value::Boolean(true), "is not a BOOLEAN"),
        (
            "2022-01-03T06:00:00+02:00",
            "TIMESTAMP(0)",
            at(1_641_182_400, 0),
            "is not a TIMESTAMP(0)",
        ),
        ("2022-01-03 06:00:00.1239", "TIMESTAMP(3)", at(1_641_189_600_123, 3), "a timestamp like"),
        (
            "00112233-4455-6677-8899-AABBCCDDEEFF",
            "UUID",
            Value::Uuid([
                0, 0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xAA, 0xBB, 0xCC, 0xDD,
                0xEE, 0xFF,
            ]),
            "is not a UUID",
        ),
        ("{\"a\": 1}", "JSON", Value::Json("{\"a\": 1}".into()), "is not JSON"),
        ("AAEC", "BINARY", Value::Binary(vec![0, 1, 2]), "is not a BINARY"),
    ] {
        let expected = || vec![Ok(value.clone()), Ok(Value::Null), Err(reason)];
        assert_cast(text(source), column_type, expected());
        let large: LargeStringArray = text(source).as_string::<i32>().iter().collect();
        assert_cast(Arc::new(large), column_type, expected());
        let view: StringViewArray = text(source).as_string::<i32>().iter().collect();
        assert_cast(Arc::new(view), column_type, expected());
        let dictionary: DictionaryArray<Int32Type> =
            text(source).as_string::<i32>().iter().collect();
        assert_cast(Arc::new(dictionary), column_type, expected());
    }
}

#[test]
fn numbers_become_numbers_that_can_hold_them() {
    let doubles = |values: Vec<f64>| Arc::new(Float64Array::from(values)) as ArrayRef;
    assert_cast(Arc::new(Int8Array::from(vec![-3])), "LONG", vec![Ok(Value::Long(-3))]);
    assert_cast(
        longs(vec![Some(7), Some(1 << 31)]),
        "INTEGER",
        vec![Ok(Value::Integer(7)), Err("out of range for INTEGER")],
    );
    assert_cast(longs(vec![Some(7)]), "DOUBLE", vec![Ok(Value::Double(7.0))]);
    assert_cast(
        longs(vec![Some(7)]),
        "NUMBER(3, 2)",
        vec![Ok(Value::Number { unscaled: 700, scale: 2 })],
    );
    assert_cast(longs(vec![Some(70)]), "NUMBER(3, 2)", vec![Err("out of range for NUMBER(3, 2)")]);
    assert_cast(longs(vec![Some(7)]), "STRING", vec![Ok("7".into())]);
    assert_cast(
        doubles(vec![3.0, 3.5, 1e300]),
        "LONG",
        vec![Ok(Value::Long(3)), Err("a whole number is needed"), Err("out of range for LONG")],
    );
    assert_cast(
        doubles(vec![0.5, 1e300]),
        "FLOAT",
        vec![Ok(Value::Float(0.5)), Err("out of range for FLOAT")],
    );
    assert_cast(
        doubles(vec![0.1]),
        "NUMBER",
        vec![Ok(Value::Number { unscaled: 100_000_000, scale: 9 })],
    );
    assert_cast(
        Arc::new(UInt64Array::from(vec![7, u64::MAX])),
        "LONG",
        vec![Ok(Value::Long(7)), Err("out of range for LONG")],
    );
}

#[test]
fn moments_are_counted_in_the_columns_unit() {
    let at = |value, precision| Value::Timestamp { value, precision };
    let micros = |values: Vec<i64>| Arc::new(TimestampMicrosecondArray::from(values)) as ArrayRef;
    assert_cast(micros(vec![1_999_999, -1]), "TIMESTAMP(0)", vec![Ok(at(1, 0)), Ok(at(-1, 0))]);
    assert_cast(
        micros(vec![5, i64::MAX]),
        "TIMESTAMP(9)",
        vec![Ok(at(5_000, 9)), Err("too far from 1970")],
    );
    let zoned = TimestampNanosecondArray::from(vec![1_000_000_000]).with_timezone("+02:00");
    assert_cast(Arc::new(zoned), "TIMESTAMP(3)", vec![Ok(at(1_000, 3))]);
    assert_cast(
        Arc::new(Date32Array::from(vec![1, -1])),
        "TIMESTAMP(3)",
        vec![Ok(at(86_400_000, 3)), Ok(at(-86_400_000, 3))],
    );
}

#[test]
fn bytes_and_nothing_fit_too() {
    let uuids = FixedSizeBinaryArray::try_from_iter([[7_u8; 16]].into_iter()).unwrap();
    assert_cast(Arc::new(uuids.clone()), "UUID", vec![Ok(Value::Uuid([7; 16]))]);
    assert_cast(Arc::new(uuids), "BINARY", vec![Ok(Value::Binary(vec![7; 16]))]);
    assert_cast(Arc::new(NullArray::new(2)), "INTEGER", vec![Ok(Value::Null), Ok(Value::Null)]);
    assert_cast(Arc::new(BooleanArray::from(vec![true])), "STRING", vec![Ok("true".into())]);
    assert_cast(Arc::new(Int32Array::from(vec![3])), "JSON", vec![Ok(Value::Json("3".into()))]);
}

proptest! {
    /// A column cast as a whole and its values converted one by one must agree, whatever the types.
    #[test]
    fn columns_and_single_values_are_cast_alike(
        (from, to, values) in (any_type(), any_type()).prop_flat_map(|(from, to)| (Just(from), Just(to), proptest::collection::vec(any_value(from), 1..5)))
    ) {
        let codec = codec(&format!("CREATE TABLE t (k LONG, v {to}, PRIMARY KEY (k))"));
        let field = from.to_arrow("v", true);
        let arrow = arrow::datatypes::Schema::new(vec![ColumnType::Long.to_arrow("k", false), field]);
        let keys = longs((0..values.len() as i64).map(Some).collect());
        let batch = RecordBatch::try_new(Arc::new(arrow), vec![keys, array_of(&values, from)]).unwrap();
        let singles: Vec<_> = values.iter().map(|value| value.convert(to)).collect();
        match codec.align(&batch) {
            Ok(aligned) => {
                let rejected: Vec<_> = aligned.rejected.iter().map(|rejected| (rejected.row, rejected.reason.clone())).collect();
                let expected: Vec<_> = singles.iter().enumerate().filter_map(|(row, single)| single.clone().err().map(|reason| (row, reason))).collect();
                prop_assert_eq!(rejected, expected);
                let fitting: Vec<Value> = singles.into_iter().flatten().collect();
                prop_assert_eq!(aligned.batch.column(1).to_data(), array_of(&fitting, to).to_data());
            }
            Err(error) => {
                prop_assert_eq!(error.kind(), ErrorKind::Invalid);
                prop_assert!(singles.iter().all(Result::is_err), "{} but {:?}", error, singles);
            }
        }
    }
}

/// A default for rows that lack its column, and a dictionary that is spelled out, may be larger
/// than an array can be.
#[test]
fn a_column_beyond_what_an_array_holds_is_refused_and_known_beforehand() {
    const ROWS: i32 = 600;
    let schema = schema(&format!(
        "CREATE TABLE t (k LONG, v STRING DEFAULT '{}', PRIMARY KEY (k))",
        "d".repeat(4_000)
    ));
    let limits = Limits { column_bytes_max: 2_000_000, ..Limits::default() };
    let codec = TableCodec::new(schema, limits);
    let keys: ArrayRef = Arc::new(Int32Array::from_iter_values(0..ROWS));
    let word = "w".repeat(4_000);
    let words = DictionaryArray::new(
        Int32Array::from_iter_values((0..ROWS).map(|_| 0)),
        texts(vec![Some(&word)]),
    );
    for large in
        [batch(vec![("k", keys.clone())]), batch(vec![("k", keys.clone()), ("v", Arc::new(words))])]
    {
        let refused = codec.align(&large).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Invalid);
        assert!(
            refused.message().contains("column 'v'") && refused.message().contains("fewer rows"),
            "{refused}"
        );
        assert!(!codec.has_room(&large) && codec.has_room(&large.slice(0, 400)));
        assert!(
            (2_400_000..2_410_000).contains(&codec.bytes_of(&large)),
            "{}",
            codec.bytes_of(&large)
        );
        assert_eq!(codec.align(&large.slice(0, 10)).unwrap().batch.num_rows(), 10);
    }
}
