//! What the workloads write: tables, and rows that follow from their key and generation.
//!
//! Each write of a key has a generation, counted from 1. A judge that reads a row knows all of its
//! columns by its key and generation, so a torn or invented row shows.

use tonnage::{Key, RocksDbSettings, Row, Store, StoreBuilder, Value};

use crate::random::SeededRandom;

/// Tables and indexes of every workload. `single` and its child take single writes and groups,
/// `loaded` bulk puts, `pushed` batches pushed into open loads, `purged` groups that are deleted by
/// range.
pub(crate) const TABLES: &str = "\
    CREATE TABLE IF NOT EXISTS single (k LONG, g LONG, v INTEGER, b STRING, PRIMARY KEY (k)); \
    CREATE TABLE IF NOT EXISTS single.child (c LONG, cg LONG, cb STRING, PRIMARY KEY (c)); \
    CREATE TABLE IF NOT EXISTS loaded (k LONG, g LONG, v INTEGER, b STRING, PRIMARY KEY (k)); \
    CREATE TABLE IF NOT EXISTS purged (p LONG, k LONG, b STRING, PRIMARY KEY (SHARD(p), k)); \
    CREATE TABLE IF NOT EXISTS pushed (k LONG, g LONG, v INTEGER, b STRING, PRIMARY KEY (k)); \
    CREATE INDEX IF NOT EXISTS pushed_v ON pushed (v); \
    CREATE INDEX IF NOT EXISTS loaded_v ON loaded (v); \
    CREATE INDEX IF NOT EXISTS single_v ON single (v)";

/// A generation of a single row that deletes it.
pub(crate) fn is_delete(generation: i64) -> bool {
    generation % 7 == 0
}

/// A store with small memory, so that little data already makes files.
pub(crate) fn builder(path: &str) -> StoreBuilder {
    Store::builder(path).rocksdb_settings(RocksDbSettings {
        cache_bytes: 8 << 20,
        memtable_bytes: 128 << 10,
        background_threads: 2,
        ..RocksDbSettings::default()
    })
}

pub(crate) fn key_row(key: i64) -> Row {
    Row::new().with("k", key)
}

pub(crate) fn child_key_row(key: i64) -> Row {
    key_row(key).with("c", 1_i64)
}

/// A row of `single`, `loaded` or `pushed`.
pub(crate) fn row(key: i64, generation: i64) -> Row {
    let row = key_row(key).with("g", generation).with("v", indexed_value(key, generation));
    row.with("b", text(key, generation))
}

/// The child of a row with an even key.
pub(crate) fn child_row(key: i64, generation: i64) -> Row {
    child_key_row(key).with("cg", generation).with("cb", text(key, generation))
}

/// Row `key` of group `group` in `purged`.
pub(crate) fn purged_row(group: i64, key: i64) -> Row {
    Row::new().with("p", group).with("k", key).with("b", text(group, key))
}

/// A row of a table that a workload makes.
pub(crate) fn member_row(key: i64) -> Row {
    key_row(key).with("a", format!("a{key}"))
}

pub(crate) fn pair_key(key: i64) -> Key {
    Key::new(["pairs".to_owned(), (key % 3).to_string()], [key.to_string()])
}

pub(crate) fn pair_value(key: i64, generation: i64) -> Vec<u8> {
    format!("{generation} {}", text(key, generation)).into_bytes()
}

fn text(key: i64, generation: i64) -> String {
    let mut random = SeededRandom::new((key as u64) << 24 ^ generation as u64);
    let len = random.below(300);
    (0..len).map(|_| (b'a' + random.below(26) as u8) as char).collect()
}

fn indexed_value(key: i64, generation: i64) -> Value {
    let mut random = SeededRandom::new((key as u64) << 20 ^ generation as u64 ^ 77);
    if random.chance(11) { Value::Null } else { Value::Integer(random.below(50) as i32) }
}

/// The number in a column.
pub(crate) fn long(row: &Row, name: &str) -> Option<i64> {
    match row.get(name) {
        Some(Value::Long(number)) => Some(*number),
        _ => None,
    }
}
