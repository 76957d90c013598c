//! Rows come back as they went in, whichever way they take, and damaged ones are found out.

use std::sync::Arc;

use proptest::prelude::*;
use tonnage_engine::{ErrorKind, Slices};

use super::support::{
    any_rows, any_table, any_table_with_rows, any_value, batch_of, codec, encode, row_of, stored,
};
use crate::codec::{Limits, TableCodec};
use crate::row::Row;
use crate::schema::ColumnType;
use crate::schema::{Change, ColumnDefinition};
use crate::value::{Value, ValueRef};

proptest! {
    #[test]
    fn a_batch_comes_back_as_it_went_in((schema, rows) in any_table_with_rows(12)) {
        let codec = TableCodec::new(schema.clone(), Limits::default());
        let batch = batch_of(&schema, &rows);
        let encoded = encode(&codec, &batch);
        prop_assert_eq!(codec.decode(&encoded, None, None).unwrap(), batch.clone());

        let rest = batch.slice(rows.len() / 2, rows.len() - rows.len() / 2);
        prop_assert_eq!(codec.decode(&encode(&codec, &rest), None, None).unwrap(), rest, "a slice of a batch is a batch");
    }

    #[test]
    fn a_batch_that_fits_is_aligned_without_copies((schema, rows) in any_table_with_rows(12)) {
        let codec = TableCodec::new(schema.clone(), Limits::default());
        let batch = batch_of(&schema, &rows);
        let aligned = codec.align(&batch).unwrap();
        prop_assert!(aligned.rejected.is_empty() && aligned.kept.is_none());
        for (before, after) in batch.columns().iter().zip(aligned.batch.columns()) {
            prop_assert!(Arc::ptr_eq(before, after));
        }
    }

    #[test]
    fn single_rows_and_batches_are_the_same_bytes((schema, rows) in any_table_with_rows(6)) {
        let codec = TableCodec::new(schema.clone(), Limits::default());
        let encoded = encode(&codec, &batch_of(&schema, &rows));
        let (mut key, mut value) = (Vec::new(), Vec::new());
        for (index, values) in rows.iter().enumerate() {
            let row = row_of(&schema, values);
            codec.encode_row(&row, &mut key, &mut value).unwrap();
            prop_assert_eq!(&key, encoded.keys.get(index));
            prop_assert_eq!(&value, encoded.values.get(index));
            let decoded = codec.decode_row(&key, &value).unwrap();
            prop_assert_eq!(format!("{decoded:?}"), format!("{row:?}"));
            let key_values: Vec<Value> = schema.key.iter().map(|column| values[*column].clone()).collect();
            codec.encode_key_values(&key_values, &mut key).unwrap();
            prop_assert_eq!(&key, encoded.keys.get(index));
        }
    }

    #[test]
    fn cells_that_borrow_are_the_same_bytes_and_a_view_gives_them_back((schema, rows) in any_table_with_rows(6)) {
        let codec = TableCodec::new(schema.clone(), Limits::default());
        let encoded = encode(&codec, &batch_of(&schema, &rows));
        let (mut key, mut value) = (Vec::new(), Vec::new());
        for (index, values) in rows.iter().enumerate() {
            let cells: Vec<ValueRef<'_>> = values.iter().map(ValueRef::from).collect();
            codec.encode_cells(&cells, &mut key, &mut value).unwrap();
            prop_assert_eq!(&key, encoded.keys.get(index));
            prop_assert_eq!(&value, encoded.values.get(index));
            let view = codec.view(&key, &value, 7).unwrap();
            for (column, cell) in cells.iter().enumerate().filter(|(column, _)| !schema.is_key(*column)) {
                prop_assert_eq!(format!("{:?}", view.get(column).unwrap()), format!("{cell:?}"));
            }
            prop_assert_eq!(format!("{:?}", view.to_row().unwrap()), format!("{:?}", row_of(&schema, values)));
            let key_cells: Vec<ValueRef<'_>> = schema.key.iter().map(|column| cells[*column]).collect();
            codec.encode_key_cells(&key_cells, &mut key).unwrap();
            prop_assert_eq!(&key, encoded.keys.get(index));
        }
    }

    #[test]
    fn only_what_is_asked_for_is_decoded((schema, rows) in any_table_with_rows(8), picks in proptest::collection::vec((any::<prop::sample::Index>(), any::<prop::sample::Index>()), 1..4)) {
        prop_assume!(!rows.is_empty());
        let codec = TableCodec::new(schema.clone(), Limits::default());
        let batch = batch_of(&schema, &rows);
        let encoded = encode(&codec, &batch);
        let which: Vec<u32> = picks.iter().map(|(row, _)| row.index(rows.len()) as u32).collect();
        let columns: Vec<usize> = picks.iter().map(|(_, column)| column.index(schema.columns.len())).collect();
        let picked: Vec<Vec<Value>> = which.iter().map(|row| rows[*row as usize].clone()).collect();
        let expected = batch_of(&schema, &picked).project(&columns).unwrap();
        prop_assert_eq!(codec.decode(&encoded, Some(&which), Some(&columns)).unwrap(), expected);
    }

    #[test]
    fn damaged_bytes_are_never_a_panic(
        (schema, rows) in any_table_with_rows(3),
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<prop::sample::Index>(),
        noise in proptest::collection::vec(any::<u8>(), 0..40),
    ) {
        let codec = TableCodec::new(schema.clone(), Limits::default());
        let encoded = encode(&codec, &batch_of(&schema, &rows));
        for row in 0..encoded.len() {
            let (key, value) = (encoded.keys.get(row), encoded.values.get(row));
            for (is_key, intact) in [(true, key), (false, value)] {
                let mut flipped = intact.to_vec();
                let at = place.index(flipped.len());
                flipped[at] ^= byte;
                let cut = &intact[..cut.index(intact.len())];
                let longer = [intact, &noise].concat();
                for bytes in [&flipped[..], cut, &longer, &noise] {
                    let (key, value) = if is_key { (bytes, value) } else { (key, bytes) };
                    let mut rows = tonnage_engine::Rows::new();
                    rows.push(key, value, 1, 0, 0);
                    let whole = codec.decode(&rows, None, None);
                    let single = codec.decode_row(key, value);
                    if let Ok(view) = codec.view(key, value, 1) {
                        (0..schema.columns.len()).for_each(|column| drop(view.get(column)));
                    }
                    // A table without columns outside the key does not look at values.
                    let agree = whole.is_ok() == single.is_ok() || schema.value_columns().next().is_none();
                    prop_assert!(agree, "{:?} {:?}", whole, single);
                    if let Err(error) = whole {
                        prop_assert!(matches!(error.kind(), ErrorKind::Corruption | ErrorKind::Conflict), "{:?}", error);
                    }
                }
                // A byte less can never be a whole row again.
                let (key, value) = if is_key { (cut, value) } else { (key, cut) };
                prop_assert!(codec.decode_row(key, value).is_err());
            }
        }
    }

    #[test]
    fn rows_of_older_schemas_are_read_under_the_newer(
        (schema, old_rows, new_rows, default, dropped) in any_table().prop_flat_map(|schema| {
            let added = schema.alter(&[Change::AddColumn(ColumnDefinition::new("added", ColumnType::String)), Change::AddColumn(ColumnDefinition::new("plain", ColumnType::Long))]).unwrap();
            let (old, new) = (any_rows(&schema, 4), any_rows(&added, 4));
            (Just(schema), old, new, any_value(ColumnType::String), any::<prop::sample::Index>())
        })
    ) {
        let old_codec = TableCodec::new(schema.clone(), Limits::default());
        let added = ColumnDefinition { default: Some(default.clone()), ..ColumnDefinition::new("added", ColumnType::String) };
        let added = Arc::new(schema.alter(&[Change::AddColumn(added), Change::AddColumn(ColumnDefinition::new("plain", ColumnType::Long))]).unwrap());
        let new_codec = TableCodec::new(added.clone(), Limits::default());

        // Rows of both schemas in one batch, under the newer one.
        let mut all = encode(&old_codec, &batch_of(&schema, &old_rows));
        let newer = encode(&new_codec, &batch_of(&added, &new_rows));
        (0..newer.len()).for_each(|row| all.push(newer.keys.get(row), newer.values.get(row), 1, 0, 0));
        let filled = old_rows.iter().map(|row| [&row[..], &[default.clone(), Value::Null]].concat());
        let expected: Vec<Vec<Value>> = filled.chain(new_rows.iter().cloned()).collect();
        prop_assert_eq!(new_codec.decode(&all, None, None).unwrap(), batch_of(&added, &expected));

        // One column less, and another of its name in its place.
        let values: Vec<usize> = added.value_columns().collect();
        let gone = values[dropped.index(values.len())];
        let name = added.columns[gone].name.clone();
        let after = Arc::new(added.alter(&[Change::DropColumn(name.clone()), Change::AddColumn(ColumnDefinition::new(name, ColumnType::Double))]).unwrap());
        let expected: Vec<Vec<Value>> = expected.into_iter().map(|mut row| { row.remove(gone); row.push(Value::Null); row }).collect();
        let after_codec = TableCodec::new(after.clone(), Limits::default());
        prop_assert_eq!(after_codec.decode(&all, None, None).unwrap(), batch_of(&after, &expected));
        for (row, values) in expected.iter().enumerate() {
            let single = after_codec.decode_row(all.keys.get(row), all.values.get(row)).unwrap();
            prop_assert_eq!(format!("{single:?}"), format!("{:?}", row_of(&after, values)));
        }
    }
}

#[test]
fn a_row_written_after_an_alteration_asks_for_the_table_to_be_opened_again() {
    let old = codec("CREATE TABLE t (k LONG, PRIMARY KEY (k))");
    let new = old
        .schema()
        .alter(&[Change::AddColumn(ColumnDefinition::new("v", ColumnType::Long))])
        .unwrap();
    let new = TableCodec::new(Arc::new(new), Limits::default());
    let (mut key, mut value) = (Vec::new(), Vec::new());
    new.encode_row(&Row::new().with("k", 1), &mut key, &mut value).unwrap();
    let error = old.decode_row(&key, &value).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Conflict);
    assert!(error.message().contains("open the table again"), "{error}");
}

#[test]
fn damage_names_the_table_and_the_key() {
    let codec = codec("CREATE TABLE ships (k INTEGER, v STRING, PRIMARY KEY (k))");
    let (mut keys, mut values) = (Slices::new(), Slices::new());
    keys.push(&[0x80, 0, 0, 7]);
    values.push(&[1, 0, 0]);
    let error = codec.decode(&stored(&keys, &values), None, None).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Corruption);
    assert!(error.message().contains("ships") && error.message().contains("0x80000007"), "{error}");
    assert_eq!(
        codec.decode(&stored(&keys, &values), None, Some(&[0])).unwrap().num_rows(),
        1,
        "keys alone do not look at values"
    );
}

#[test]
fn a_row_takes_defaults_and_names_its_mistakes() {
    let codec = codec(
        "CREATE TABLE t (k LONG, a INTEGER NOT NULL DEFAULT 7, b STRING NOT NULL, c JSON, PRIMARY KEY (k))",
    );
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let mut encode = |row: Row| {
        codec
            .encode_row(&row, &mut key, &mut value)
            .map(|()| codec.decode_row(&key, &value).unwrap())
    };

    let row = encode(Row::new().with("B", "x").with("K", 5)).unwrap();
    assert_eq!(row, Row::new().with("k", 5_i64).with("a", 7).with("b", "x").with("c", Value::Null));

    let whole = || Row::new().with("k", 1).with("b", "x");
    for (row, what) in [
        (Row::new().with("b", "x"), "key column 'k'"),
        (whole().with("k", Value::Null), "'k': is NULL"),
        (Row::new().with("k", 1), "'b': is missing"),
        (whole().with("b", Value::Null), "'b': is NULL"),
        (whole().with("a", 3_000_000_000_i64), "'a': 3000000000 is out of range for INTEGER"),
        (whole().with("a", "abc"), "'a': 'abc' is not an INTEGER"),
        (whole().with("c", "{"), "'c': '{' is not JSON"),
        (whole().with("c", Value::Json("[1,".into())), "'c': '[1,' is not JSON"),
        (whole().with("d", 1), "no column 'd'; its columns are k, a, b, c"),
    ] {
        let error = encode(row).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains(what), "{error} should say {what}");
    }
}

/// A row was rounded to its columns, while a file of the same row was rejected.
#[test]
fn a_row_is_stored_as_it_is_given_or_not_at_all() {
    let store = crate::Store::open("memory:").unwrap();
    let ddl = "CREATE TABLE t (id LONG, n NUMBER(10, 3), w NUMBER(60, 2), at TIMESTAMP(0), d DATE, \
               x DOUBLE, f FLOAT, a ARRAY(NUMBER(5, 1)), m MAP(TIMESTAMP(3)), r RECORD(p NUMBER(4, 1)), \
               PRIMARY KEY (id))";
    store.execute(ddl).unwrap();
    let table = store.table("t").unwrap();
    let put = |column: &str, value: Value| {
        table.put(&Row::new().with("id", 1_i64).with(column, value), &Default::default())
    };
    let text = |text: &str| Value::String(text.to_owned());
    let fine = |value| Value::Timestamp { value, precision: 9 };
    let half = |unscaled| Value::Number { unscaled, scale: 2 };
    for (column, value) in [
        ("n", text("0.1255")),
        ("n", Value::Double(0.1255)),
        ("n", Value::Number { unscaled: 1_255, scale: 4 }),
        ("w", text("1.005")),
        ("at", text("2022-01-03T06:00:00.5")),
        ("at", fine(1)),
        ("d", text("2022-01-03T06:00:00")),
        ("a", Value::Array(vec![half(100), half(125)])),
        ("a", text("[1, 0.25]")),
        ("m", Value::Map(vec![("k".into(), fine(1))])),
        ("r", Value::Record(vec![("p".into(), half(125))])),
        ("r", text(r#"{"p": 0.25}"#)),
    ] {
        let error = put(column, value.clone()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{column}: {value:?}");
        assert!(error.message().contains(&format!("column '{column}'")), "{error}");
        assert!(error.message().contains("would be rounded to fit"), "{error}");
    }
    for (column, value) in [
        ("n", text("0.1250")),
        ("n", Value::Double(0.125)),
        ("n", Value::Number { unscaled: 1_250, scale: 4 }),
        ("at", text("2022-01-03T06:00:00.000")),
        ("at", fine(1_000_000_000)),
        ("d", text("2022-01-03T00:00:00")),
        ("x", text("12345678901234567890.1")),
        ("x", Value::Number { unscaled: 12_345_678_901_234_567_890, scale: 1 }),
        ("f", Value::Double(0.123_456_789_012)),
        ("a", Value::Array(vec![half(110), Value::Null])),
        ("m", Value::Map(vec![("k".into(), fine(1_000_000))])),
        ("r", Value::Map(vec![("P".into(), half(120))])),
    ] {
        put(column, value.clone()).unwrap_or_else(|error| panic!("{column}: {value:?}: {error}"));
    }
}
