//! The limits of scans, and rows that a filter lets along without counting them.

use std::sync::Arc;

use super::Harness;
use super::fixture::{Fixture, START_MS, forward, group_range, key, reverse};
use crate::{FilterDecision, KeyFilter, Ranges, ScanOptions};

/// Parents count, their children (a longer minor key) come along, names with an `x` are passed
/// over.
struct FamilyFilter;

impl KeyFilter for FamilyFilter {
    fn decide(&self, key: &[u8]) -> FilterDecision {
        let minor = key.rsplit(|byte| *byte == 1).next().unwrap_or_default();
        match minor {
            minor if minor.contains(&b'x') => FilterDecision::Skip,
            [_] => FilterDecision::Count,
            _ => FilterDecision::Along,
        }
    }
}

fn family(options: ScanOptions) -> ScanOptions {
    ScanOptions { filter: Some(Arc::new(FamilyFilter)), ..options }
}

/// Under each group: parents 1, 2 and 3, each with the children a and b, and a row to pass over.
fn fill_families(fixture: &Fixture, groups: &[&str]) {
    for group in groups {
        for minor in ["1", "1a", "1b", "1x", "2", "2a", "2b", "2x", "3", "3a", "3b", "3x"] {
            fixture.put(&key(group, minor), b"");
        }
    }
}

fn groups_range(names: &[&str]) -> Ranges {
    let mut ranges = Ranges::new();
    names.iter().for_each(|name| ranges.push_prefix(&super::fixture::group(name)));
    ranges
}

/// The limit holds for each range by itself.
pub fn each_range_has_its_own_limit(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 5);
    for batch_rows_max in [1, 3, 100] {
        let limited = |options| ScanOptions { limit_per_range: Some(2), batch_rows_max, ..options };
        assert_eq!(
            fixture.names(groups_range(&["b", "a"]), limited(forward())),
            ["b/00", "b/01", "a/00", "a/01"]
        );
        assert_eq!(
            fixture.names(groups_range(&["b", "a"]), limited(reverse())),
            ["b/04", "b/03", "a/04", "a/03"]
        );
        assert_eq!(
            fixture.names(groups_range(&["b", "a"]), limited(ScanOptions::default())).len(),
            4
        );
    }
}

/// The limit for each shard key holds throughout a whole space; the rest of each shard key is left
/// out.
pub fn each_shard_key_has_its_own_limit(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c", "d"], 5);
    fixture.fill(&["single"], 1);
    for batch_rows_max in [1, 3, 100] {
        let limited =
            |options| ScanOptions { limit_per_shard_key: Some(2), batch_rows_max, ..options };
        let sorted = |options| {
            let mut names = fixture.names(Ranges::whole_space(), limited(options));
            names.sort();
            names
        };
        let first = ["a/00", "a/01", "b/00", "b/01", "c/00", "c/01", "d/00", "d/01", "single/00"];
        let last = ["a/03", "a/04", "b/03", "b/04", "c/03", "c/04", "d/03", "d/04", "single/00"];
        assert_eq!(sorted(forward()), first);
        assert_eq!(sorted(reverse()), last);
        assert_eq!(sorted(ScanOptions::default()).len(), 9);
    }
}

/// A shard key that comes up again in a later range is counted anew.
pub fn the_limit_of_a_shard_key_is_counted_within_each_range(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 6);
    let mut ranges = Ranges::new();
    ranges.push(&key("a", "00"), &key("a", "03"));
    ranges.push(&key("a", "03"), &key("a", "06"));
    let options = ScanOptions { limit_per_shard_key: Some(1), ..forward() };
    assert_eq!(fixture.names(ranges.clone(), options), ["a/00", "a/03"]);
    let options = ScanOptions { limit_per_shard_key: Some(1), ..reverse() };
    assert_eq!(fixture.names(ranges, options), ["a/02", "a/05"]);
}

/// Both limits hold together: the tighter one decides.
pub fn both_limits_hold_together(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c"], 5);
    let limited =
        |options| ScanOptions { limit_per_range: Some(5), limit_per_shard_key: Some(2), ..options };
    assert_eq!(fixture.names(group_range("a"), limited(forward())), ["a/00", "a/01"]);
    assert_eq!(fixture.names(Ranges::whole_space(), limited(forward())).len(), 5);
    assert_eq!(fixture.names(Ranges::whole_space(), limited(reverse())).len(), 5);
}

/// A limit of nothing gives nothing.
pub fn a_limit_of_nothing_gives_nothing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 2);
    for options in [ScanOptions::default(), forward(), reverse()] {
        let per_range = ScanOptions { limit_per_range: Some(0), ..options.clone() };
        let per_shard_key = ScanOptions { limit_per_shard_key: Some(0), ..options };
        assert!(fixture.names(Ranges::whole_space(), per_range).is_empty());
        assert!(fixture.names(Ranges::whole_space(), per_shard_key).is_empty());
    }
}

/// Going forward, the rows that come along with the last counted row are given too.
pub fn a_forward_scan_gives_what_comes_along_after_the_last_counted_row(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fill_families(&fixture, &["a", "b"]);
    for batch_rows_max in [1, 2, 100] {
        let per_range =
            ScanOptions { limit_per_range: Some(2), batch_rows_max, ..family(forward()) };
        let expected = ["a/1", "a/1a", "a/1b", "a/2", "a/2a", "a/2b"];
        assert_eq!(fixture.names(group_range("a"), per_range), expected);
        let per_shard_key =
            ScanOptions { limit_per_shard_key: Some(1), batch_rows_max, ..family(forward()) };
        let expected = ["b/1", "b/1a", "b/1b", "a/1", "a/1a", "a/1b"];
        assert_eq!(fixture.names(groups_range(&["b", "a"]), per_shard_key), expected);
    }
}

/// In reverse, children come before their parent; the scan stops right after the last counted row.
pub fn a_reverse_scan_gives_what_comes_along_before_a_counted_row(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fill_families(&fixture, &["a", "b"]);
    for batch_rows_max in [1, 2, 100] {
        let per_range =
            ScanOptions { limit_per_range: Some(2), batch_rows_max, ..family(reverse()) };
        let expected = ["a/3b", "a/3a", "a/3", "a/2b", "a/2a", "a/2"];
        assert_eq!(fixture.names(group_range("a"), per_range), expected);
        let per_shard_key =
            ScanOptions { limit_per_shard_key: Some(1), batch_rows_max, ..family(reverse()) };
        let expected = ["b/3b", "b/3a", "b/3", "a/3b", "a/3a", "a/3"];
        assert_eq!(fixture.names(groups_range(&["b", "a"]), per_shard_key), expected);
    }
}

/// With a limit for each shard key, a whole space gives the first families of each, children
/// included.
pub fn families_of_a_whole_space_are_limited_under_each_shard_key(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fill_families(&fixture, &["a", "b", "c"]);
    for (options, expected) in [(forward(), ["1", "1a", "1b"]), (reverse(), ["3b", "3a", "3"])] {
        let options = ScanOptions { limit_per_shard_key: Some(1), ..family(options) };
        let names = fixture.names(Ranges::whole_space(), options);
        assert_eq!(names.len(), 9);
        for group in ["a", "b", "c"] {
            let of_group: Vec<&str> =
                names.iter().filter_map(|name| name.strip_prefix(&format!("{group}/"))).collect();
            assert_eq!(of_group, expected);
        }
    }
}

/// Rows that are passed over use up no limit.
pub fn rows_passed_over_do_not_count(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for minor in ["0x", "1", "1x", "2", "2x", "3", "3x"] {
        fixture.put(&key("a", minor), b"");
    }
    let limited = |options| ScanOptions {
        limit_per_range: Some(2),
        limit_per_shard_key: Some(2),
        ..family(options)
    };
    assert_eq!(fixture.names(group_range("a"), limited(forward())), ["a/1", "a/2"]);
    assert_eq!(fixture.names(group_range("a"), limited(reverse())), ["a/3", "a/2"]);
}

/// Rows past their expiry use up no limit, and do not end what comes along.
pub fn expired_rows_do_not_count(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fill_families(&fixture, &["a"]);
    fixture.put_until(&key("a", "1"), b"", START_MS + 10);
    fixture.put_until(&key("a", "3"), b"", START_MS + 10);
    fixture.clock.set_ms(START_MS + 10);
    let limited = |options| ScanOptions { limit_per_range: Some(1), ..family(options) };
    assert_eq!(
        fixture.names(group_range("a"), limited(forward())),
        ["a/1a", "a/1b", "a/2", "a/2a", "a/2b", "a/3a", "a/3b"]
    );
    assert_eq!(
        fixture.names(group_range("a"), limited(reverse())),
        ["a/3b", "a/3a", "a/2b", "a/2a", "a/2"]
    );
}
