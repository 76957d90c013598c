//! `check` compares indexes with the rows of their tables.

use rstest::rstest;
use tonnage::{BulkPutOptions, Store};
use tonnage_engine::{
    Condition, Durability, Projection, Ranges, Rows, ScanOptions, SpaceId, WriteBatch,
};

use super::{car, cars, stale_entries};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::TestStore;

fn stocked(on: Backend, count: i64) -> TestStore {
    let store = cars(on);
    let rows: Vec<_> = (0..count).map(|plate| car(plate, "red", (plate % 10) as i32)).collect();
    store.multi_put([("cars", rows)], &BulkPutOptions::default()).unwrap();
    store
}

fn space_of_index(store: &Store) -> SpaceId {
    store
        .engine()
        .spaces()
        .unwrap()
        .iter()
        .find(|space| space.name == "index:cars.by_colour")
        .unwrap()
        .id
}

/// The entry in the middle of the index.
fn an_entry(store: &Store) -> Vec<u8> {
    let options = ScanOptions { projection: Projection::KeysOnly, ..ScanOptions::default() };
    let mut scanner =
        store.engine().scan(space_of_index(store), Ranges::whole_space(), options).unwrap();
    let (mut rows, mut entries) = (Rows::new(), Vec::new());
    while scanner.next_batch(&mut rows).unwrap() {
        entries.extend(rows.keys.iter().map(<[u8]>::to_vec));
    }
    entries.swap_remove(entries.len() / 2)
}

#[rstest]
fn a_row_that_is_missing_in_an_index_is_damage(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(100, 300_000)] count: i64,
) {
    let store = stocked(on, count);
    assert_eq!(stale_entries(&store), 0);
    let mut batch = WriteBatch::new(space_of_index(&store));
    batch.delete(&an_entry(&store), Condition::Always);
    store.engine().write(&batch, Durability::Write).unwrap();
    let report = store.check().unwrap();
    assert_eq!((report.damage_count, report.stale_index_entries), (1, 0));
    let damage = &report.damages[0];
    assert!(damage.location.contains("by_colour") && damage.what.contains("missing"), "{damage:?}");
}

#[rstest]
fn an_entry_without_a_row_is_counted_and_no_damage(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on, 1_000);
    let mut entry = an_entry(&store);
    *entry.last_mut().unwrap() ^= 0x80;
    entry[SHARD_AND_COLOUR] ^= 1;
    let mut batch = WriteBatch::new(space_of_index(&store));
    batch.put(&entry, &[], 0, Condition::Always);
    store.engine().write(&batch, Durability::Write).unwrap();
    assert_eq!(stale_entries(&store), 1);
}

/// The position of the last byte of the colour in an entry.
const SHARD_AND_COLOUR: usize = 2 + 1 + 2;
