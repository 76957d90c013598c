//! Parents, children and grandchildren in one space.

use std::sync::Arc;

use proptest::prelude::*;
use tonnage_engine::ErrorKind;

use super::support::definition;
use crate::codec::{KeyClassifier, KeyOwner, Limits, TableCodec};
use crate::row::Row;
use crate::schema::TableSchema;
use crate::value::Value;

/// A table, two children of it, and a child of the first.
fn family(key_type: &str) -> Vec<TableCodec> {
    let root = format!("CREATE TABLE a (x {key_type}, y INTEGER, PRIMARY KEY (SHARD(x), y))");
    let mut codecs: Vec<TableCodec> = Vec::new();
    for (sql, parent, id) in [
        (root.as_str(), None, 0),
        ("CREATE TABLE a.b (z STRING, v DOUBLE, PRIMARY KEY (z))", Some(0), 1),
        ("CREATE TABLE a.c (z LONG, PRIMARY KEY (z))", Some(0), 2),
        ("CREATE TABLE a.b.d (w BOOLEAN, PRIMARY KEY (w))", Some(1), 3),
    ] {
        let parent = parent.map(|parent: usize| codecs[parent].schema().clone());
        let schema = TableSchema::define(&definition(sql), parent.as_ref(), id).unwrap();
        codecs.push(TableCodec::new(Arc::new(schema), Limits::default()));
    }
    codecs
}

fn classifier(codecs: &[TableCodec]) -> KeyClassifier {
    KeyClassifier::new(&codecs.iter().map(|codec| codec.schema().clone()).collect::<Vec<_>>())
}

fn key(codec: &TableCodec, values: &[Value]) -> Vec<u8> {
    let mut key = Vec::new();
    codec.encode_key_values(values, &mut key).unwrap();
    key
}

#[test]
fn children_lie_right_behind_their_parent() {
    let codecs = family("STRING");
    let x = || Value::from("n");
    let in_order = [
        key(&codecs[0], &[x(), 1.into()]),
        key(&codecs[1], &[x(), 1.into(), "".into()]),
        key(&codecs[3], &[x(), 1.into(), "".into(), false.into()]),
        key(&codecs[3], &[x(), 1.into(), "".into(), true.into()]),
        key(&codecs[1], &[x(), 1.into(), "a".into()]),
        key(&codecs[2], &[x(), 1.into(), Value::Long(-5)]),
        key(&codecs[0], &[x(), 2.into()]),
        key(&codecs[1], &[x(), 2.into(), "".into()]),
        key(&codecs[0], &["na".into(), 1.into()]),
    ];
    assert!(in_order.is_sorted());
}

#[test]
fn a_key_tells_its_table_and_its_ancestors_keys() {
    for key_type in ["STRING", "LONG"] {
        let codecs = family(key_type);
        let classifier = classifier(&codecs);
        let values: [Value; 4] = ["5".into(), 1.into(), "7".into(), true.into()];
        let keys = [
            key(&codecs[0], &values[..2]),
            key(&codecs[1], &values[..3]),
            key(&codecs[2], &values[..3]),
            key(&codecs[3], &values),
        ];
        for (id, key) in (0..).zip(&keys) {
            assert_eq!(classifier.classify(key).unwrap(), KeyOwner::Table(id));
            assert_eq!(classifier.ancestor_key_len(key, id).unwrap(), key.len());
            assert_eq!(&key[..classifier.ancestor_key_len(key, 0).unwrap()], keys[0]);
        }
        assert_eq!(&keys[3][..classifier.ancestor_key_len(&keys[3], 1).unwrap()], keys[1]);
        assert_eq!(
            classifier.ancestor_key_len(&keys[2], 1).unwrap_err().kind(),
            ErrorKind::Invalid
        );
    }
}

#[test]
fn rows_of_tables_that_the_classifier_does_not_know_are_told_apart() {
    let codecs = family("LONG");
    let grandchild = key(&codecs[3], &[1.into(), 1.into(), "z".into(), true.into()]);
    let alone = classifier(&codecs[..1]);
    assert_eq!(alone.classify(&grandchild).unwrap(), KeyOwner::Other);
    let without_b = KeyClassifier::new(&[codecs[0].schema().clone(), codecs[2].schema().clone()]);
    assert_eq!(without_b.classify(&grandchild).unwrap(), KeyOwner::Other);
}

#[test]
fn a_row_of_one_table_is_not_decoded_as_one_of_another() {
    let codecs = family("LONG");
    let (mut key, mut value) = (Vec::new(), Vec::new());
    let row = Row::new().with("x", 1).with("y", 2).with("z", 3).with("v", 0.5);
    codecs[1].encode_row(&row, &mut key, &mut value).unwrap();
    assert_eq!(codecs[1].decode_row(&key, &value).unwrap().get("z"), Some(&"3".into()));
    for other in [0, 2, 3] {
        assert_eq!(
            codecs[other].decode_row(&key, &value).unwrap_err().kind(),
            ErrorKind::Corruption
        );
    }
}

proptest! {
    #[test]
    fn any_bytes_are_classified_or_refused(bytes in proptest::collection::vec(prop_oneof![Just(0), Just(1), any::<u8>()], 0..40), ancestor in 0_u32..5) {
        for key_type in ["STRING", "LONG"] {
            let classifier = classifier(&family(key_type));
            if let Err(error) = classifier.classify(&bytes) {
                prop_assert_eq!(error.kind(), ErrorKind::Corruption);
            }
            if let Ok(len) = classifier.ancestor_key_len(&bytes, ancestor) {
                prop_assert!(len <= bytes.len());
            }
        }
    }
}
