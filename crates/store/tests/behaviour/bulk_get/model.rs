//! Random rows and keys against a model.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tonnage::{BulkGetOptions, BulkPutOptions, Direction, FieldRange, KeySource, Row, Value};

use super::{get_from, rows};
use crate::common::shop::rows_of;
use crate::common::{Backend, row};

type Id = (i64, String, i32);

/// Few different values, so that keys meet rows; text with the bytes that are escaped.
fn id() -> impl Strategy<Value = Id> {
    let text = prop::collection::vec(
        prop_oneof![Just('\0'), Just('\u{1}'), Just('a'), Just('\u{7f}'), Just('é')],
        0..3,
    );
    (
        -2_i64..3,
        text.prop_map(|text| text.into_iter().collect()),
        prop_oneof![-2_i32..3, Just(i32::MIN), Just(i32::MAX)],
    )
}

/// An end of a range, and whether it belongs to the range.
type End = Option<(i32, bool)>;

#[derive(Clone, Debug)]
struct Read {
    keys: Vec<(Id, usize)>,
    direction: Direction,
    limit: Option<u64>,
    requests: usize,
    batch_rows: usize,
    range: Option<(End, End)>,
}

fn read() -> impl Strategy<Value = Read> {
    let direction =
        prop_oneof![Just(Direction::Unordered), Just(Direction::Forward), Just(Direction::Reverse)];
    let end = || prop::option::of((-3_i32..4, any::<bool>()));
    (
        prop::collection::vec((id(), 1_usize..4), 0..20),
        direction,
        prop::option::of(1_u64..4),
        1_usize..4,
        prop_oneof![Just(1_usize), Just(3), Just(1_000)],
        prop::option::of((end(), end())),
    )
        .prop_map(|(mut keys, direction, limit, requests, batch_rows, range)| {
            if range.is_some() {
                keys.iter_mut().for_each(|(_, columns)| *columns = 2);
            }
            Read { keys, direction, limit, requests, batch_rows, range }
        })
}

fn values((a, b, c): &Id) -> [Value; 3] {
    [(*a).into(), b.as_str().into(), (*c).into()]
}

fn to_row(id: &Id, mark: i64) -> Row {
    row! { "a" => id.0, "b" => id.1.as_str(), "c" => id.2, "mark" => mark }
}

/// What one key of a read gives, in key order.
fn answer(model: &BTreeMap<Id, i64>, (key, columns): &(Id, usize), read: &Read) -> Vec<Row> {
    let matches = |id: &Id| {
        let given =
            id.0 == key.0 && (*columns < 2 || id.1 == key.1) && (*columns < 3 || id.2 == key.2);
        given
            && read.range.is_none_or(|(low, high)| {
                low.is_none_or(|(low, inclusive)| id.2 > low || (inclusive && id.2 == low))
                    && high
                        .is_none_or(|(high, inclusive)| id.2 < high || (inclusive && id.2 == high))
            })
    };
    let mut found: Vec<Row> =
        model.iter().filter(|(id, _)| matches(id)).map(|(id, mark)| to_row(id, *mark)).collect();
    if read.direction == Direction::Reverse {
        found.reverse();
    }
    found.truncate(read.limit.map_or(usize::MAX, |limit| limit as usize));
    found
}

fn check(on: Backend, stored: &BTreeMap<Id, i64>, reads: &[Read]) -> Result<(), TestCaseError> {
    let store = on.with_tables(
        "CREATE TABLE t (a LONG, b STRING, c INTEGER, mark LONG, PRIMARY KEY (SHARD(a), b, c))",
    );
    store
        .bulk_put(
            vec![rows_of("t", stored.iter().map(|(id, mark)| to_row(id, *mark)))],
            &BulkPutOptions::default(),
        )
        .unwrap();
    for read in reads {
        let range = read.range.map(|(low, high)| FieldRange {
            column: "c".into(),
            low: low.map(|(value, inclusive)| (value.into(), inclusive)),
            high: high.map(|(value, inclusive)| (value.into(), inclusive)),
        });
        let options = BulkGetOptions {
            direction: read.direction,
            limit_per_key: read.limit,
            max_concurrent_requests: Some(read.requests),
            batch_rows_max: read.batch_rows,
            range,
            ..Default::default()
        };
        let keys: Vec<Vec<Value>> =
            read.keys.iter().map(|(id, columns)| values(id)[..*columns].to_vec()).collect();
        let found = rows(get_from(&store, "t", KeySource::keys(keys), &options));
        let answers: Vec<Row> =
            read.keys.iter().flat_map(|key| answer(stored, key, read)).collect();
        if read.direction == Direction::Unordered {
            let sorted = |rows: Vec<Row>| {
                let mut rows: Vec<String> = rows.iter().map(|row| format!("{row:?}")).collect();
                rows.sort();
                rows.dedup();
                rows
            };
            prop_assert_eq!(sorted(found), sorted(answers));
        } else {
            prop_assert_eq!(found, answers);
        }
    }
    Ok(())
}

fn stored() -> impl Strategy<Value = BTreeMap<Id, i64>> {
    prop::collection::btree_map(id(), any::<i64>(), 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_reads_from_memory_agree_with_the_model(stored in stored(), reads in prop::collection::vec(read(), 1..8)) {
        check(Backend::Memory, &stored, &reads)?;
    }

    #[test]
    fn random_reads_from_rocksdb_agree_with_the_model(stored in stored(), reads in prop::collection::vec(read(), 1..8)) {
        check(Backend::RocksDb, &stored, &reads)?;
    }
}
