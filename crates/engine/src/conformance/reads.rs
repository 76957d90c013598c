//! Reads of many keys at once.

use super::Harness;
use super::fixture::{Fixture, key};
use crate::{Deadline, Projection, ReadOptions, Rows, Slices};

/// A read of no keys succeeds and finds nothing.
pub fn no_keys_find_no_rows(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 2);
    assert!(fixture.read(&[]).is_empty());
}

/// Rows come in the order of their keys, missing ones are left out, and origins say which key each
/// row answers.
pub fn rows_come_in_the_order_of_the_keys(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c"], 2);
    let keys = [
        key("c", "01"),
        key("a", "77"),
        key("a", "01"),
        key("zz", "00"),
        key("b", "00"),
        key("a", "00"),
    ];
    let rows = fixture.read(&keys.each_ref().map(Vec::as_slice));
    let found: Vec<&[u8]> = [0, 2, 4, 5].map(|index: usize| keys[index].as_slice()).to_vec();
    assert_eq!(rows.keys.iter().collect::<Vec<_>>(), found);
    assert_eq!(rows.values.iter().collect::<Vec<_>>(), found);
    assert_eq!(rows.origins, [0, 2, 4, 5]);
}

/// Each of several equal keys is answered.
pub fn a_key_asked_for_twice_is_answered_twice(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let (once, twice) = (key("a", "1"), key("b", "1"));
    let versions = [fixture.put(&once, b"once"), fixture.put(&twice, b"twice")];
    let rows = fixture.read(&[&twice, &once, &twice, &twice]);
    assert_eq!(
        rows.values.iter().collect::<Vec<_>>(),
        [&b"twice"[..], b"once", b"twice", b"twice"]
    );
    assert_eq!(rows.versions, [versions[1], versions[0], versions[1], versions[1]]);
    assert_eq!(rows.origins, [0, 1, 2, 3]);
}

/// Without values, a read still tells keys, versions and expiries.
pub fn keys_only_leaves_out_the_values(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let version = fixture.put_until(&key, b"value", u64::MAX);
    let keys: Slices = [&key[..]].into_iter().collect();
    let mut rows = Rows::new();
    fixture.engine().read(fixture.space, &keys, Projection::KeysOnly, &mut rows).unwrap();
    let mut expected = Rows::new();
    expected.push(&key, b"", version, u64::MAX, 0);
    assert_eq!(rows, expected);
}

/// What the caller's batch held before is gone.
pub fn a_read_clears_the_batch_first(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let mut rows = Rows::new();
    rows.push(b"left", b"over", 1, 2, 3);
    fixture
        .engine()
        .read(fixture.space, &Slices::new(), Projection::KeysAndValues, &mut rows)
        .unwrap();
    assert!(rows.is_empty());
}

/// Values are any bytes, none included, and so are minor keys.
pub fn bytes_of_every_kind_come_back(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let every_byte: Vec<u8> = (0..=255).collect();
    for minor in [&[][..], &[0], &[0, 0], &[0xFF], &[0xFF, 0xFF, 0xFF, 0xFF], &every_byte] {
        let mut key = key("a", "");
        key.extend_from_slice(minor);
        for value in [&[][..], &[0], &[0xFF], &every_byte] {
            fixture.put(&key, value);
            assert_eq!(fixture.value(&key).as_deref(), Some(value));
        }
    }
    assert_eq!(fixture.all_names().len(), 6);
}

/// Thousands of keys, sorted or not, are answered in one call.
pub fn a_large_batch_of_keys_is_answered_in_one_call(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let groups: Vec<String> = (0..100).map(|group| format!("g{group}")).collect();
    fixture.fill(&groups.iter().map(String::as_str).collect::<Vec<_>>(), 50);
    let mut keys: Vec<Vec<u8>> = groups
        .iter()
        .flat_map(|group| (0..100).map(|row| key(group, &format!("{row:02}"))))
        .collect();
    for descending in [false, true] {
        keys.sort_by(|left, right| if descending { right.cmp(left) } else { left.cmp(right) });
        let rows = fixture.read(&keys.iter().map(Vec::as_slice).collect::<Vec<_>>());
        assert_eq!(rows.len(), 5_000);
        assert!((0..rows.len()).all(|row| rows.keys.get(row) == keys[rows.origins[row] as usize]));
        assert!(rows.origins.is_sorted());
    }
}

/// Reads some keys, and says how many were taken and which of them have rows.
fn read_some(
    fixture: &Fixture<'_>,
    keys: &Slices,
    first: usize,
    bytes_max: usize,
) -> (usize, Rows) {
    let options = ReadOptions {
        projection: Projection::KeysAndValues,
        keys: first..keys.len(),
        bytes_max,
        deadline: Deadline::NONE,
    };
    let mut rows = Rows::new();
    let taken = fixture.engine().read_some(fixture.space, keys, &options, &mut rows).unwrap();
    (taken, rows)
}

/// A caller that continues after the keys taken gets every row once, and never more bytes at a time
/// than it asked for.
pub fn a_read_of_some_keys_keeps_to_its_bytes(harness: &mut dyn Harness) {
    const BYTES_MAX: usize = 10_000;
    let fixture = Fixture::new(harness);
    let all: Vec<Vec<u8>> =
        (0..600).map(|row| key(&format!("g{}", row % 7), &format!("{row:03}"))).collect();
    for (row, key) in all.iter().enumerate().filter(|(row, _)| row % 5 != 0) {
        // Small rows first, so that the large ones come as a surprise.
        fixture.put(key, &vec![row as u8; if row < 400 { row % 40 } else { 1_000 + row }]);
    }
    let keys: Slices = all.iter().map(Vec::as_slice).collect();
    let (mut first, mut origins) = (0, Vec::new());
    while first < keys.len() {
        let (taken, rows) = read_some(&fixture, &keys, first, BYTES_MAX);
        assert!(taken > 0 && rows.bytes() <= BYTES_MAX, "{taken} keys, {} bytes", rows.bytes());
        assert!(
            rows.origins.iter().all(|origin| (first..first + taken).contains(&(*origin as usize)))
        );
        assert!(
            (0..rows.len()).all(|row| rows.keys.get(row) == keys.get(rows.origins[row] as usize))
        );
        origins.extend(rows.origins);
        first += taken;
    }
    assert!(origins.iter().copied().eq((0..600).filter(|row| row % 5 != 0)));
}

/// A limit that no row keeps to gives rows one by one.
pub fn a_row_larger_than_the_bytes_of_a_read_still_comes(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 3);
    let keys = [key("a", "00"), key("a", "01"), key("a", "02")];
    let keys: Slices = keys.iter().map(Vec::as_slice).collect();
    for first in 0..3 {
        let (taken, rows) = read_some(&fixture, &keys, first, 1);
        assert_eq!((taken, rows.origins), (1, vec![first as u32]));
    }
}

/// Keys without rows take no bytes: a read continues past them.
pub fn missing_keys_do_not_end_a_read_of_some(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 1);
    let keys: Vec<Vec<u8>> = (0..300).map(|row| key("a", &format!("{:02}", row % 100))).collect();
    let keys: Slices = keys.iter().map(Vec::as_slice).collect();
    let (taken, rows) = read_some(&fixture, &keys, 0, 1);
    assert_eq!((taken, rows.origins), (100, vec![0]));
    let (taken, rows) = read_some(&fixture, &keys, 201, 1);
    assert_eq!((taken, rows.len()), (99, 0));
}

/// Rows outlive the engine.
pub fn rows_are_the_same_after_reopen(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 3);
    fixture.put_until(&key("c", "00"), b"expires", u64::MAX);
    fixture.delete(&key("b", "01"));
    let keys = [key("a", "00"), key("b", "00"), key("b", "01"), key("c", "00")];
    let before = fixture.read(&keys.each_ref().map(Vec::as_slice));
    if fixture.reopen() {
        assert_eq!(fixture.read(&keys.each_ref().map(Vec::as_slice)), before);
    }
    assert_eq!(before.origins, [0, 1, 3]);
}
