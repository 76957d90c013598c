//! Byte order is value order; partial keys and ranges find exactly what they should.

use std::cmp::Ordering;
use std::sync::Arc;

use arrow::array::{ArrayRef, Int32Array, RecordBatch, StringArray};
use proptest::prelude::*;
use tonnage_engine::{Error, ErrorKind, Slices};

use super::support::{any_key_type, any_value, codec, definition};
use crate::codec::{FieldRange, Limits, TableCodec};
use crate::row::Row;
use crate::schema::ColumnType;
use crate::schema::TableSchema;
use crate::value::Value;

const PHONES: &str = "CREATE TABLE phones (maker STRING, price INTEGER, id LONG, name STRING, PRIMARY KEY (SHARD(maker), price, id))";

fn compare(left: &Value, right: &Value, column_type: ColumnType) -> Ordering {
    match (left, right) {
        (Value::String(left), Value::String(right))
            if matches!(column_type, ColumnType::Enum(_)) =>
        {
            let ColumnType::Enum(symbols) = column_type else { unreachable!() };
            symbols.place(left).cmp(&symbols.place(right))
        }
        (Value::Boolean(left), Value::Boolean(right)) => left.cmp(right),
        (Value::Integer(left), Value::Integer(right)) => left.cmp(right),
        (Value::Long(left), Value::Long(right)) => left.cmp(right),
        (Value::Float(left), Value::Float(right)) => left.total_cmp(right),
        (Value::Double(left), Value::Double(right)) => left.total_cmp(right),
        (
            Value::Number { .. } | Value::WideNumber(_),
            Value::Number { .. } | Value::WideNumber(_),
        ) => left.as_number().unwrap().0.cmp(&right.as_number().unwrap().0),
        (Value::String(left), Value::String(right)) => left.as_bytes().cmp(right.as_bytes()),
        (Value::Binary(left), Value::Binary(right)) => left.cmp(right),
        (Value::Timestamp { value: left, .. }, Value::Timestamp { value: right, .. }) => {
            left.cmp(right)
        }
        (Value::Uuid(left), Value::Uuid(right)) => left.cmp(right),
        (Value::Date(left), Value::Date(right)) => left.cmp(right),
        (Value::Time(left), Value::Time(right)) => left.cmp(right),
        other => panic!("{other:?}"),
    }
}

proptest! {
    #[test]
    fn byte_order_is_value_order(
        (types, left, right) in proptest::collection::vec(any_key_type(), 1..4).prop_flat_map(|types| {
            let row: Vec<_> = types.iter().map(|column_type| any_value(*column_type)).collect();
            (Just(types), row.clone(), row)
        }),
        shared in 0_usize..3,
    ) {
        let columns: Vec<_> = types.iter().enumerate().map(|(index, column_type)| format!("c{index} {column_type}")).collect();
        let key: Vec<_> = (0..types.len()).map(|index| format!("c{index}")).collect();
        let codec = codec(&format!("CREATE TABLE t ({}, PRIMARY KEY ({}))", columns.join(", "), key.join(", ")));
        // The first columns are often the same, so that later ones decide.
        let right: Vec<Value> = left.iter().take(shared).chain(right.iter().skip(shared)).cloned().collect();
        let (mut left_key, mut right_key) = (Vec::new(), Vec::new());
        codec.encode_key_values(&left, &mut left_key).unwrap();
        codec.encode_key_values(&right, &mut right_key).unwrap();
        let expected = left.iter().zip(&right).zip(&types).map(|((left, right), column_type)| compare(left, right, *column_type)).find(|order| order.is_ne()).unwrap_or(Ordering::Equal);
        prop_assert_eq!(left_key.cmp(&right_key), expected);
    }

    #[test]
    fn a_range_holds_exactly_the_rows_between_its_ends(
        prices in proptest::collection::vec(prop_oneof![-3_i32..3, Just(i32::MIN), Just(i32::MAX)], 1..12),
        low in proptest::option::of((prop_oneof![-3..3, Just(i32::MIN), Just(i32::MAX)], any::<bool>())),
        high in proptest::option::of((prop_oneof![-3..3, Just(i32::MIN), Just(i32::MAX)], any::<bool>())),
    ) {
        let parent = codec(PHONES);
        let images = child(&parent);
        let (mut prefix, mut start, mut end) = (Vec::new(), Vec::new(), Vec::new());
        let given = parent.partial_key(&["Nokia".into()], &mut prefix).unwrap();
        let limit = |(price, own): (i32, bool)| (Value::from(price), own);
        let range = FieldRange { column: "price".into(), low: low.map(limit), high: high.map(limit) };
        parent.range_bounds(&prefix, given, &range, &mut start, &mut end).unwrap();
        let holds = |key: &[u8]| key >= &start[..] && (end.is_empty() || key < &end[..]);
        let mut key = Vec::new();
        for price in prices as Vec<i32> {
            let expected = low.is_none_or(|(low, own): (i32, bool)| price > low || (own && price == low)) && high.is_none_or(|(high, own)| price < high || (own && price == high));
            parent.encode_key_values(&["Nokia".into(), price.into(), 7.into()], &mut key).unwrap();
            prop_assert_eq!(holds(&key), expected, "{} in {:?}", price, range);
            images.encode_key_values(&["Nokia".into(), price.into(), 7.into(), 1.into()], &mut key).unwrap();
            prop_assert_eq!(holds(&key), expected, "a child row of {} in {:?}", price, range);
            for other in ["Noki", "Nokia\0", "Nokiaa"] {
                parent.encode_key_values(&[other.into(), price.into(), 7.into()], &mut key).unwrap();
                prop_assert!(!holds(&key));
            }
        }
    }
}

fn child(parent: &TableCodec) -> TableCodec {
    let images = definition("CREATE TABLE phones.images (image INTEGER, PRIMARY KEY (image))");
    TableCodec::new(
        Arc::new(TableSchema::define(&images, Some(parent.schema()), 1).unwrap()),
        Limits::default(),
    )
}

#[test]
fn a_partial_key_is_a_prefix_of_the_rows_it_means() {
    let codec = codec(PHONES);
    let (mut key, mut prefix) = (Vec::new(), Vec::new());
    codec.encode_key_values(&["Nokia".into(), 200.into(), 7.into()], &mut key).unwrap();
    for (values, given) in [
        (vec!["Nokia".into()], 1),
        (vec!["Nokia".into(), 200.into(), Value::Null], 2),
        (vec!["Nokia".into(), 200.into(), 7.into()], 3),
    ] {
        assert_eq!(codec.partial_key(&values, &mut prefix).unwrap(), given);
        assert!(key.starts_with(&prefix));
        let row = Row::new()
            .with("PRICE", values.get(1).cloned().unwrap_or(Value::Null))
            .with("maker", "Nokia");
        let mut again = Vec::new();
        if given < 3 {
            assert_eq!(codec.partial_key_row(&row, &mut again).unwrap(), given);
            assert_eq!(again, prefix);
        }
    }
}

#[test]
fn a_partial_key_of_a_child_that_gives_the_whole_parent_leaves_the_parent_outside() {
    let parent = codec(PHONES);
    let images = child(&parent);
    let whole = ["Nokia".into(), 200.into(), 7.into()];
    let (mut parent_key, mut prefix) = (Vec::new(), Vec::new());
    parent.encode_key_values(&whole, &mut parent_key).unwrap();
    assert_eq!(images.partial_key(&whole, &mut prefix).unwrap(), 3);
    assert_eq!(prefix, [&parent_key[..], &[0, 0, 0, 1]].concat());
    assert_eq!(images.partial_key(&whole[..2], &mut prefix).unwrap(), 2);
    assert!(parent_key.starts_with(&prefix));
}

#[test]
fn many_partial_keys_at_once_are_those_one_by_one() {
    let codecs = [codec(PHONES), child(&codec(PHONES))];
    let makers: ArrayRef = Arc::new(StringArray::from(vec!["Nokia", "A\0", "", "Apple"]));
    let prices: ArrayRef = Arc::new(StringArray::from(vec![Some("200"), None, None, Some("-1")]));
    let ids: ArrayRef = Arc::new(Int32Array::from(vec![None, None, None, Some(5)]));
    let batch =
        RecordBatch::try_from_iter([("id", ids), ("Price", prices), ("maker", makers)]).unwrap();
    for codec in codecs {
        let (mut keys, mut columns, mut single) = (Slices::new(), Vec::new(), Vec::new());
        codec.partial_keys(&batch, &mut keys, &mut columns).unwrap();
        assert_eq!(columns, [2, 1, 1, 3]);
        let values: [&[Value]; 4] = [
            &["Nokia".into(), 200.into()],
            &["A\0".into()],
            &["".into()],
            &["Apple".into(), Value::Integer(-1), 5.into()],
        ];
        for (row, values) in values.iter().enumerate() {
            codec.partial_key(values, &mut single).unwrap();
            assert_eq!(keys.get(row), single, "key {row} of {}", codec.schema().path);
        }
    }
}

#[test]
fn many_whole_keys_at_once_are_those_one_by_one() {
    let codec = child(&codec(PHONES));
    let number = |value: i32| Arc::new(Int32Array::from(vec![value, value + 1])) as ArrayRef;
    let makers: ArrayRef = Arc::new(StringArray::from(vec!["Nokia", "\0"]));
    let batch = RecordBatch::try_from_iter([
        ("image", number(4)),
        ("maker", makers),
        ("price", number(2)),
        ("id", number(3)),
        ("more", number(0)),
    ])
    .unwrap();
    let (mut keys, mut single) = (Slices::new(), Vec::new());
    codec.encode_keys(&batch, &mut keys).unwrap();
    for (row, maker) in ["Nokia", "\0"].into_iter().enumerate() {
        let plus = row as i32;
        codec
            .encode_key_values(
                &[maker.into(), (2 + plus).into(), (3 + plus).into(), (4 + plus).into()],
                &mut single,
            )
            .unwrap();
        assert_eq!(keys.get(row), single);
    }
}

fn assert_invalid<T: std::fmt::Debug>(result: Result<T, Error>, what: &[&str]) {
    let error = result.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid);
    assert!(what.iter().all(|what| error.message().contains(what)), "{error} should say {what:?}");
}

#[test]
fn keys_that_are_no_keys_are_refused_by_name() {
    let codec =
        codec("CREATE TABLE t (a LONG, b LONG, c LONG, d LONG, PRIMARY KEY (SHARD(a, b), c))");
    let mut key = Vec::new();
    assert_invalid(codec.partial_key(&[], &mut key), &["lacks column 'a'", "shard key (a, b)"]);
    assert_invalid(codec.partial_key(&[1.into()], &mut key), &["lacks column 'b'"]);
    assert_invalid(
        codec.partial_key(&[1.into(), Value::Null, 3.into()], &mut key),
        &["'c'", "not 'b' before it"],
    );
    assert_invalid(
        codec.partial_key(&[1.into(), 2.into(), 3.into(), 4.into()], &mut key),
        &["4 values", "(a, b, c)"],
    );
    assert_invalid(
        codec.partial_key(&[1.into(), "x".into()], &mut key),
        &["'b'", "'x' is not a LONG"],
    );
    assert_invalid(
        codec.partial_key_row(&Row::new().with("a", 1).with("b", 1).with("d", 1), &mut key),
        &["'d' is not part of the primary key"],
    );
    assert_invalid(
        codec.partial_key_row(&Row::new().with("a", 1).with("maker", 1), &mut key),
        &["'maker' is not a column of table t"],
    );
    assert_invalid(codec.encode_key_values(&[1.into(), 2.into()], &mut key), &["key column 'c'"]);

    let (mut keys, mut columns) = (Slices::new(), Vec::new());
    let numbers = |values: Vec<Option<i32>>| Arc::new(Int32Array::from(values)) as ArrayRef;
    let batch = RecordBatch::try_from_iter([
        ("a", numbers(vec![Some(1), Some(1)])),
        ("b", numbers(vec![Some(1), None])),
    ])
    .unwrap();
    assert_invalid(
        codec.partial_keys(&batch, &mut keys, &mut columns),
        &["key 1", "lacks column 'b'"],
    );
    let batch = RecordBatch::try_from_iter([("a", numbers(vec![Some(1)]))]).unwrap();
    assert_invalid(codec.partial_keys(&batch, &mut keys, &mut columns), &["lacks column 'b'"]);
}

#[test]
fn a_range_belongs_on_the_first_open_key_column() {
    let codec = codec(PHONES);
    let (mut prefix, mut start, mut end) = (Vec::new(), Vec::new(), Vec::new());
    let mut bounds = |values: &[Value], range: FieldRange| {
        let given = codec.partial_key(values, &mut prefix).unwrap();
        codec.range_bounds(&prefix, given, &range, &mut start, &mut end)
    };
    let whole: [Value; 3] = ["Nokia".into(), 200.into(), 7.into()];
    assert_invalid(
        bounds(&whole, FieldRange::of("price")),
        &["extra fields beyond the range column"],
    );
    assert_invalid(
        bounds(&whole[..1], FieldRange::of("id")),
        &["missing fields before the range column", "'price'"],
    );
    assert_invalid(
        bounds(&whole[..1], FieldRange::of("name")),
        &["'name' is not part of the primary key"],
    );
    assert_invalid(bounds(&whole[..1], FieldRange::of("colour")), &["'colour' is not a column"]);
    assert_invalid(
        bounds(&whole[..1], FieldRange::of("price").from("cheap")),
        &["'cheap' is not an INTEGER"],
    );
    assert_invalid(bounds(&whole[..1], FieldRange::of("price").to(Value::Null)), &["NULL"]);
    bounds(&whole[..1], FieldRange::of("PRICE").from(1)).unwrap();
}

#[test]
fn an_end_between_two_moments_that_the_column_can_hold_still_divides_them() {
    let codec = codec("CREATE TABLE t (s LONG, at TIMESTAMP(0), PRIMARY KEY (SHARD(s), at))");
    let (mut prefix, mut key, mut start, mut end) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let given = codec.partial_key(&[1.into()], &mut prefix).unwrap();
    let range = FieldRange::of("at").from("2022-01-03T06:00:00.5").before("2022-01-03T06:00:02.5");
    codec.range_bounds(&prefix, given, &range, &mut start, &mut end).unwrap();
    for (second, expected) in [("00", false), ("01", true), ("02", true), ("03", false)] {
        codec
            .encode_key_values(&[1.into(), format!("2022-01-03T06:00:{second}").into()], &mut key)
            .unwrap();
        assert_eq!(key >= start && key < end, expected, "second {second}");
    }
}
