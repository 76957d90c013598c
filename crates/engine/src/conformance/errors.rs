//! Errors that an engine returns for invalid requests.

use super::Harness;
use super::fixture::{Fixture, entries, key, kind};
use crate::{
    Condition, Durability, Entries, ErrorKind, LoadOptions, Projection, Rows, Slices, SpaceId,
    WriteBatch,
};

/// A key that ends inside its shard key: the terminator is missing.
const SHORT_KEY: &[u8] = &[7, b'a'];

/// A number that no test gets to.
const NOWHERE: SpaceId = SpaceId(u32::MAX);

/// A key one byte over the limit.
fn long_key(fixture: &Fixture) -> Vec<u8> {
    let mut key = key("a", "");
    key.resize(fixture.engine().capability().key_bytes_max + 1, b'k');
    key
}

fn read_kind(fixture: &Fixture, keys: &[&[u8]]) -> ErrorKind {
    let keys: Slices = keys.iter().copied().collect();
    kind(fixture.engine().read(fixture.space, &keys, Projection::KeysAndValues, &mut Rows::new()))
}

fn write_kind(fixture: &Fixture, keys: &[&[u8]]) -> ErrorKind {
    let mut batch = WriteBatch::new(fixture.space);
    keys.iter().for_each(|key| batch.put(key, b"", 0, Condition::Always));
    kind(fixture.engine().write(&batch, Durability::Write))
}

/// A key without its whole shard key is invalid in a read.
pub fn reading_a_key_that_is_too_short_is_invalid(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    assert_eq!(read_kind(&fixture, &[&key("a", "1"), SHORT_KEY]), ErrorKind::Invalid);
    assert_eq!(read_kind(&fixture, &[b""]), ErrorKind::Invalid);
}

/// A key without its whole shard key is invalid in a write, and nothing of the batch is stored.
pub fn writing_a_key_that_is_too_short_is_invalid(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    assert_eq!(write_kind(&fixture, &[&key("a", "1"), SHORT_KEY]), ErrorKind::Invalid);
    assert!(fixture.all_names().is_empty());
}

/// The longest key is stored and read; one byte more is invalid.
pub fn keys_may_be_as_long_as_the_capability_says(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let mut key = long_key(&fixture);
    assert_eq!(read_kind(&fixture, &[&key]), ErrorKind::Invalid);
    assert_eq!(write_kind(&fixture, &[&key]), ErrorKind::Invalid);
    key.pop();
    fixture.put(&key, b"at the limit");
    assert_eq!(fixture.value(&key).as_deref(), Some(&b"at the limit"[..]));
}

/// What no store holds is `NotFound`, and the message names the space.
pub fn an_unknown_space_is_not_found_by_its_number(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let error = fixture.engine().drop_space(NOWHERE).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.message().contains(&NOWHERE.0.to_string()), "{error}");
    assert_eq!(
        kind(fixture.engine().write(&WriteBatch::new(NOWHERE), Durability::Write)),
        ErrorKind::NotFound
    );
    let keys = Slices::new();
    assert_eq!(
        kind(fixture.engine().read(NOWHERE, &keys, Projection::KeysOnly, &mut Rows::new())),
        ErrorKind::NotFound
    );
}

/// A push with a key over the limit, or without its shard key, is invalid, names the entry, and
/// nothing of it is taken. The load continues.
pub fn a_push_with_a_wrong_key_is_not_taken(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let session = fixture.engine().load(LoadOptions::default()).unwrap();
    for wrong in [&long_key(&fixture)[..], SHORT_KEY] {
        let mut batch = Entries::new();
        batch.push(&key("a", "1"), b"", 41, 0);
        batch.push(wrong, b"", 42, 0);
        let error = session.push(fixture.space, 0, &batch).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid);
        assert!(error.message().contains("42"), "the message names the entry: {error}");
    }
    session.push(fixture.space, 0, &entries(&[(&key("b", "1"), b"")])).unwrap();
    session.finish().unwrap();
    assert_eq!(fixture.all_names(), ["b/1"]);
}

/// A push with a value over the limit is invalid, and nothing of it is taken.
pub fn a_push_with_a_value_over_the_limit_is_not_taken(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let bytes = fixture.engine().capability().value_bytes_max + 1;
    // Zeroed pages are never touched unless the engine copies before it checks.
    let values = Slices::from_parts(vec![0; bytes], vec![0, bytes]);
    let keys = [&key("a", "1")[..], &key("a", "2")].into_iter().collect();
    let session = fixture.engine().load(LoadOptions::default()).unwrap();
    let batch = Entries::from_parts(keys, values, vec![0, 1], Vec::new());
    assert_eq!(kind(session.push(fixture.space, 0, &batch)), ErrorKind::Invalid);
    session.finish().unwrap();
    assert!(fixture.all_names().is_empty());
}

/// A push of columns that differ in length is invalid, and nothing of it is taken. The load
/// continues: no flush waits for that push.
pub fn a_push_of_uneven_columns_is_not_taken(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let session = fixture.engine().load(LoadOptions::default()).unwrap();
    let sound = entries(&[(&key("a", "1"), b""), (&key("a", "2"), b"")]);
    let uneven: [fn(&mut Entries); 3] = [
        |batch| batch.values.clear(),
        |batch| batch.positions.truncate(1),
        |batch| batch.expiries_ms.push(1),
    ];
    for spoil in uneven {
        let mut batch = sound.clone();
        spoil(&mut batch);
        assert_eq!(kind(session.push(fixture.space, 0, &batch)), ErrorKind::Invalid);
    }
    session.flush().unwrap();
    session.push(fixture.space, 0, &entries(&[(&key("b", "1"), b"")])).unwrap();
    session.finish().unwrap();
    assert_eq!(fixture.all_names(), ["b/1"]);
}

/// A push to a space that does not exist is `NotFound`, and the load continues.
pub fn a_push_to_an_unknown_space_is_not_found(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let session = fixture.engine().load(LoadOptions::default()).unwrap();
    let batch = entries(&[(&key("a", "1"), b"")]);
    assert_eq!(kind(session.push(NOWHERE, 0, &batch)), ErrorKind::NotFound);
    session.push(fixture.space, 0, &batch).unwrap();
    session.finish().unwrap();
    assert_eq!(fixture.all_names(), ["a/1"]);
}
