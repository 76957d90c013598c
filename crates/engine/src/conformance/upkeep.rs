//! Upkeep: sync, settle, checkpoint, verification, statistics, placement.

use super::Harness;
use super::fixture::{Fixture, entries, group, key, kind};
use crate::{Condition, Durability, ErrorKind, LoadOptions, OnExisting, Ranges, WriteBatch};

/// What was only in the process is kept once `sync` returns.
pub fn sync_keeps_what_was_written_without_durability(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let mut batch = WriteBatch::new(fixture.space);
    batch.put(&key("a", "put"), b"", 0, Condition::Always);
    fixture.engine().write(&batch, Durability::None).unwrap();
    let session = fixture
        .engine()
        .load(LoadOptions { durability: Durability::None, ..LoadOptions::default() })
        .unwrap();
    session.push(fixture.space, 0, &entries(&[(&key("a", "loaded"), b"")])).unwrap();
    session.finish().unwrap();
    fixture.engine().sync().unwrap();
    fixture.reopen();
    assert_eq!(fixture.all_names(), ["a/loaded", "a/put"]);
}

/// Settling changes nothing that can be seen; an engine that cannot wait for it says so.
pub fn settling_changes_nothing_that_can_be_seen(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 3);
    fixture.delete(&key("a", "01"));
    let before = fixture.all_names();
    fixture.settle();
    assert_eq!(fixture.all_names(), before);
}

/// A copy is never written over something that exists; an engine that makes no copies says so.
pub fn a_checkpoint_needs_a_directory_that_does_not_exist(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let kind = kind(fixture.engine().checkpoint(&std::env::temp_dir()));
    if fixture.engine().capability().checkpoint {
        assert!(matches!(kind, ErrorKind::Invalid | ErrorKind::Conflict), "{kind:?}");
    } else {
        assert_eq!(kind, ErrorKind::Unsupported);
    }
}

/// Verification reads every row and finds a sound store sound.
pub fn verification_reads_every_row(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 5);
    fixture.load(OnExisting::Keep, &entries(&[(&key("c", "1"), b"value")])).unwrap();
    for _ in 0..2 {
        let report = fixture.engine().verify().unwrap();
        assert_eq!(report.damages, []);
        assert!(report.rows >= 11, "{} rows", report.rows);
        assert!(report.bytes >= 11 * key("a", "00").len() as u64, "{} bytes", report.bytes);
        fixture.reopen();
    }
}

/// Statistics have one reading a shard, each of a shard of its own, or a single one of the whole.
pub fn statistics_have_one_reading_a_shard(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c"], 50);
    let statistics = fixture.engine().statistics().unwrap();
    let shards: Vec<u32> = statistics.shards.iter().map(|shard| shard.shard.0).collect();
    let each: Vec<u32> = (0..fixture.engine().capability().shards).collect();
    assert!(shards == each || shards == [0], "{shards:?}");
    assert!(statistics.rows_estimate() > 0);
}

/// An estimate of few rows is their number, and excludes what is outside its ranges.
pub fn few_rows_are_estimated_by_counting(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let estimate = |fixture: &Fixture, ranges: &Ranges| {
        fixture.engine().rows_estimate(fixture.space, ranges).unwrap()
    };
    assert_eq!(estimate(&fixture, &Ranges::whole_space()), 0);
    fixture.fill(&["a", "b", "c"], 50);
    for _ in 0..2 {
        assert_eq!(estimate(&fixture, &Ranges::whole_space()), 150);
        let mut ranges = Ranges::new();
        ["a", "c", "d"].iter().for_each(|name| ranges.push_prefix(&group(name)));
        assert_eq!(estimate(&fixture, &ranges), 100);
        fixture.reopen();
    }
}

/// The shard of a shard key is one of those that there are, and stays the same.
pub fn the_shard_of_a_shard_key_never_changes(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let shards = |fixture: &Fixture| {
        (0..100)
            .map(|row| fixture.engine().shard_of(&group(&format!("g{row}"))))
            .collect::<Vec<_>>()
    };
    let before = shards(&fixture);
    assert!(before.iter().all(|shard| shard.0 < fixture.engine().capability().shards));
    fixture.fill(&["g1", "g2"], 2);
    fixture.reopen();
    assert_eq!(shards(&fixture), before);
}
