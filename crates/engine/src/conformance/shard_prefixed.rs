//! Shard-prefixed spaces: keys that name their shard, written together with the rows of that shard.

use std::sync::Arc;

use super::fixture::{Fixture, START_MS, entries, forward, group, key, kind, load_options, scan};
use super::{Harness, LoadRecorder};
use crate::{
    Condition, Direction, Durability, Engine, ErrorKind, KeyShape, LoadOptions, OnExisting,
    Projection, Ranges, Rows, ScanOptions, Slices, SpaceId, WriteBatch, WriteOutcome,
};

/// A shard-prefixed space, or nothing where the engine says that it has none.
fn prefixed_space(fixture: &Fixture, name: &str) -> Option<SpaceId> {
    let made = fixture.engine().create_space(name, &KeyShape::shard_prefixed());
    if fixture.engine().capability().shard_prefixed_spaces {
        return Some(made.unwrap());
    }
    assert_eq!(kind(made), ErrorKind::Unsupported);
    None
}

/// A key in the shard of a group.
fn beside(engine: &dyn Engine, group_name: &str, rest: &str) -> Vec<u8> {
    [&shard_number(engine, group_name)[..], rest.as_bytes()].concat()
}

fn shard_number(engine: &dyn Engine, group_name: &str) -> [u8; 2] {
    (engine.shard_of(&group(group_name)).0 as u16).to_be_bytes()
}

/// The content of a shard-prefixed space after the shard numbers, sorted.
fn all_rests(engine: &dyn Engine, space: SpaceId) -> Vec<String> {
    let rows = scan(engine, space, Ranges::whole_space(), ScanOptions::default()).unwrap();
    let mut rests: Vec<_> =
        rows.keys.iter().map(|key| String::from_utf8_lossy(&key[2..]).into_owned()).collect();
    rests.sort();
    rests
}

/// A batch holds rows of several spaces and of their shard's part of a shard-prefixed space.
pub fn one_batch_writes_several_spaces(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let Some(index) = prefixed_space(&fixture, "index") else { return };
    if fixture.engine().capability().spaces_per_batch < 3 {
        return;
    }
    let second = fixture.engine().create_space("second", &super::fixture::shape()).unwrap();
    let mut batch = WriteBatch::new(fixture.space);
    batch.put(&key("a", "1"), b"row", 0, Condition::IfAbsent);
    batch.switch_to(index);
    batch.put(&beside(fixture.engine(), "a", "red/1"), b"", START_MS + 5, Condition::Always);
    batch.switch_to(second);
    batch.put(&key("a", "1"), b"twin", 0, Condition::Always);
    let version = fixture.write(&batch).version().unwrap();
    fixture.reopen();
    assert_eq!(all_rests(fixture.engine(), index), ["red/1"]);
    assert_eq!(fixture.version(&key("a", "1")), Some(version));
    fixture.clock.set_ms(START_MS + 5);
    assert!(all_rests(fixture.engine(), index).is_empty());
    fixture.space = second;
    assert_eq!(fixture.value(&key("a", "1")).as_deref(), Some(&b"twin"[..]));
}

/// A condition that fails on a row leaves nothing of the batch in any space; the operation is named
/// by its number in the batch.
pub fn a_refused_batch_leaves_nothing_in_any_space(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let Some(index) = prefixed_space(&fixture, "index") else { return };
    if fixture.engine().capability().spaces_per_batch < 2 {
        return;
    }
    let version = fixture.put(&key("a", "1"), b"first");
    let entry = beside(fixture.engine(), "a", "red/1");
    // The entry comes before the row that is refused: an engine must not store it on the way.
    let mut batch = WriteBatch::new(index);
    batch.put(&entry, b"", 0, Condition::IfAbsent);
    batch.switch_to(fixture.space);
    batch.put(&key("a", "1"), b"second", 0, Condition::IfAbsent);
    assert_eq!(
        fixture.write(&batch),
        WriteOutcome::Refused { operation: 1, current: Some(version) }
    );
    assert!(all_rests(fixture.engine(), index).is_empty());

    // Conditions go by what was stored before the batch, not by its own first operation.
    batch.clear();
    batch.put(&entry, b"", 0, Condition::Always);
    let version = fixture.write(&batch).version().unwrap();
    batch.put(&entry, b"", 0, Condition::IfAbsent);
    assert_eq!(
        fixture.write(&batch),
        WriteOutcome::Refused { operation: 1, current: Some(version) }
    );
}

/// Where entries are not part of the atomic step, those put stay when the rows are refused, those
/// to be deleted stay too, and none takes a condition.
pub fn entries_outside_the_atomic_step_stay_when_the_batch_is_refused(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let Some(index) = prefixed_space(&fixture, "index") else { return };
    if fixture.engine().capability().shard_prefixed_atomic {
        return;
    }
    let engine = fixture.engine();
    let (old, new) = (beside(engine, "a", "old/1"), beside(engine, "a", "new/1"));
    let batch_of = |condition| {
        let mut batch = WriteBatch::new(fixture.space);
        batch.put(&key("a", "1"), b"row", 0, condition);
        batch.switch_to(index);
        batch.delete(&old, Condition::Always);
        batch.put(&new, b"", 0, Condition::Always);
        batch
    };
    let mut first = WriteBatch::new(index);
    first.put(&old, b"", 0, Condition::Always);
    fixture.write(&first);
    // An entry too many is harmless, since readers check rows. A row without its entry is lost to
    // them.
    let refused = fixture.write(&batch_of(Condition::IfPresent));
    assert_eq!(refused, WriteOutcome::Refused { operation: 0, current: None });
    assert_eq!(all_rests(engine, index), ["new/1", "old/1"]);
    assert!(fixture.write(&batch_of(Condition::IfAbsent)).version().is_some());
    assert_eq!(all_rests(engine, index), ["new/1"]);
    // A condition would be judged apart from the rows, so it must not be accepted.
    first.clear();
    first.put(&old, b"", 0, Condition::IfAbsent);
    assert_eq!(kind(engine.write(&first, Durability::Write)), ErrorKind::Unsupported);
}

/// A key of a shard-prefixed space that names another shard than the rest of its batch, or one that
/// there is not, is refused.
pub fn a_key_that_names_another_shard_is_invalid(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let Some(index) = prefixed_space(&fixture, "index") else { return };
    let engine = fixture.engine();
    let shards = engine.capability().shards as u16;
    let own = engine.shard_of(&group("a")).0 as u16;
    for number in (0..=shards).filter(|number| *number != own) {
        // The first row or the first entry gives the shard of the batch: both must be checked.
        for rows_first in [true, false] {
            let entry = [&number.to_be_bytes()[..], b"red/1"].concat();
            let mut batch = WriteBatch::new(fixture.space);
            if rows_first {
                batch.put(&key("a", "1"), b"", 0, Condition::Always);
            }
            batch.switch_to(index);
            batch.put(&entry, b"", 0, Condition::Always);
            batch.switch_to(fixture.space);
            batch.delete(&key("a", "2"), Condition::Always);
            assert_eq!(kind(engine.write(&batch, Durability::Write)), ErrorKind::Invalid);
        }
    }
    // Reads and loads have no batch to agree with: to them only a shard that is not there is wrong.
    let missing = [&shards.to_be_bytes()[..], b"red/1"].concat();
    let keys: Slices = [&missing[..]].into_iter().collect();
    assert_eq!(
        kind(engine.read(index, &keys, Projection::KeysOnly, &mut Rows::new())),
        ErrorKind::Invalid
    );
    let session = engine.load(LoadOptions::default()).unwrap();
    assert_eq!(kind(session.push(index, 0, &entries(&[(&missing, b"")]))), ErrorKind::Invalid);
    assert!(fixture.all_names().is_empty() && all_rests(engine, index).is_empty());
}

/// What a shard-prefixed space holds of one shard is one range, in order, read from that shard
/// alone.
pub fn a_range_of_one_shard_comes_in_order(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let Some(index) = prefixed_space(&fixture, "index") else { return };
    let engine = fixture.engine();
    let groups = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for group in groups {
        let mut batch = WriteBatch::new(index);
        // Not in order, so that the order of the scan is the engine's own.
        for rest in ["2", "1", "3"] {
            batch.put(&beside(engine, group, &format!("{rest}{group}")), b"", 0, Condition::Always);
        }
        engine.write(&batch, Durability::Write).unwrap();
    }
    for shard in 0..engine.capability().shards as u16 {
        let mut expected: Vec<Vec<u8>> = groups
            .iter()
            .filter(|group| shard_number(engine, group) == shard.to_be_bytes())
            .flat_map(|group| {
                ["1", "2", "3"].map(|rest| beside(engine, group, &format!("{rest}{group}")))
            })
            .collect();
        expected.sort();
        let mut ranges = Ranges::new();
        ranges.push_prefix(&shard.to_be_bytes());
        let rows = scan(engine, index, ranges.clone(), forward()).unwrap();
        assert!(rows.keys.iter().eq(expected.iter().map(Vec::as_slice)));
        // Backwards from the end of the range, where the entries of the next shard begin.
        let options = ScanOptions {
            direction: Direction::Reverse,
            limit_per_range: Some(1),
            ..ScanOptions::default()
        };
        assert_eq!(
            scan(engine, index, ranges, options).unwrap().keys.last(),
            expected.last().map(Vec::as_slice)
        );
    }
    assert_eq!(all_rests(engine, index).len(), groups.len() * 3);
}

/// A load stores entries of shard-prefixed spaces over whatever is there, reports none as existing,
/// and counts each once.
pub fn a_load_stores_placed_entries_whatever_is_there(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let Some(index) = prefixed_space(&fixture, "index") else { return };
    let entry = beside(fixture.engine(), "a", "red/1");
    for (round, on_existing) in (0..).zip([
        OnExisting::Keep,
        OnExisting::Fail,
        OnExisting::Replace,
        OnExisting::BlindReplace,
    ]) {
        let recorder = Arc::new(LoadRecorder::default());
        let session = fixture.engine().load(load_options(on_existing, &recorder)).unwrap();
        // The same entry twice in a push and in each round: as a row it would exist, or stop the
        // load.
        let minor = round.to_string();
        session
            .push(index, 7, &entries(&[(&entry, minor.as_bytes()), (&entry, minor.as_bytes())]))
            .unwrap();
        session.push(fixture.space, 0, &entries(&[(&key("a", &minor), b"row")])).unwrap();
        session.finish().unwrap();
        // An engine may count an entry as inserted or as replaced, but only once.
        let (inserted, replaced) = recorder.of_stream(7);
        assert_eq!(
            (inserted + replaced, recorder.of_stream(0), recorder.existed().len()),
            (2, (1, 0), 0)
        );
        let keys: Slices = [&entry[..]].into_iter().collect();
        let mut rows = Rows::new();
        fixture.engine().read(index, &keys, Projection::KeysAndValues, &mut rows).unwrap();
        assert_eq!(rows.values.last(), Some(minor.as_bytes()));
    }
    assert_eq!(fixture.all_names(), ["a/0", "a/1", "a/2", "a/3"]);
}

/// A load large enough for files stores rows and shard-prefixed entries alike.
pub fn a_large_load_stores_placed_entries(harness: &mut dyn Harness) {
    const ROWS: usize = 60_000;
    let mut fixture = Fixture::new(harness);
    let Some(index) = prefixed_space(&fixture, "index") else { return };
    let recorder = Arc::new(LoadRecorder::default());
    // A fifth of what is pushed, so that runs of rows and of entries are put aside and merged.
    let options =
        LoadOptions { memory_bytes_max: 4 << 20, ..load_options(OnExisting::Keep, &recorder) };
    let session = fixture.engine().load(options).unwrap();
    let value = [b'v'; 300];
    for first in (0..ROWS).step_by(1_000) {
        let names: Vec<_> = (first..first + 1_000)
            .map(|row| (format!("g{:02}", row % 50), format!("{row:08}")))
            .collect();
        let index_keys: Vec<_> =
            names.iter().map(|(group, minor)| beside(fixture.engine(), group, minor)).collect();
        let keys: Vec<_> = names.iter().map(|(group, minor)| key(group, minor)).collect();
        session
            .push(
                index,
                1,
                &entries(&index_keys.iter().map(|key| (&key[..], &b""[..])).collect::<Vec<_>>()),
            )
            .unwrap();
        session
            .push(
                fixture.space,
                0,
                &entries(&keys.iter().map(|key| (&key[..], &value[..])).collect::<Vec<_>>()),
            )
            .unwrap();
    }
    session.finish().unwrap();
    assert_eq!(recorder.of_stream(0), (ROWS as u64, 0));
    // A newly opened engine must find what is in files.
    fixture.reopen();
    let rests = all_rests(fixture.engine(), index);
    assert!(
        rests.iter().enumerate().all(|(row, rest)| *rest == format!("{row:08}"))
            && rests.len() == ROWS
    );
    assert_eq!(fixture.all_names().len(), ROWS);
}

/// Dropping a shard-prefixed space does not disturb a load that pushed into it.
pub fn a_load_outlives_a_dropped_placed_space(harness: &mut dyn Harness) {
    drop_during_load(harness, 10);
}

/// Nor a load that is large enough for files.
pub fn a_large_load_outlives_a_dropped_placed_space(harness: &mut dyn Harness) {
    drop_during_load(harness, 30_000);
}

fn drop_during_load(harness: &mut dyn Harness, rows: u64) {
    let fixture = Fixture::new(harness);
    let Some(index) = prefixed_space(&fixture, "index") else { return };
    let kept = prefixed_space(&fixture, "kept").expect("one could be made");
    let recorder = Arc::new(LoadRecorder::default());
    let session = fixture.engine().load(load_options(OnExisting::Keep, &recorder)).unwrap();
    let value = vec![b'v'; 400];
    let names: Vec<_> = (0..rows).map(|row| format!("{row:06}")).collect();
    let keys: Vec<_> = names.iter().map(|minor| key("a", minor)).collect();
    let marks: Vec<_> = names.iter().map(|minor| beside(fixture.engine(), "a", minor)).collect();
    let of = |keys: &[Vec<u8>], value| {
        entries(&keys.iter().map(|key| (&key[..], value)).collect::<Vec<_>>())
    };
    session.push(index, 1, &of(&marks, b"")).unwrap();
    session.push(kept, 2, &of(&marks, b"")).unwrap();
    session.push(fixture.space, 0, &of(&keys, &value)).unwrap();
    fixture.engine().drop_space(index).unwrap();
    session.finish().unwrap();
    assert_eq!(recorder.of_stream(0), (rows, 0));
    assert_eq!(all_rests(fixture.engine(), kept), names);
}
