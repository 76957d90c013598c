//! Scans: ranges, order, batches.

use std::sync::Arc;

use super::Harness;
use super::fixture::{Fixture, forward, group_range, key, kind, name, reverse};
use crate::{
    Cuts, Direction, ErrorKind, FilterDecision, KeyFilter, Part, Projection, Ranges, Rows,
    ScanOptions, ScanPosition,
};

/// Wants the keys whose last byte is an even digit.
struct EvenKeyFilter;

impl KeyFilter for EvenKeyFilter {
    fn decide(&self, key: &[u8]) -> FilterDecision {
        if key.last().is_some_and(|byte| byte % 2 == 0) {
            FilterDecision::Count
        } else {
            FilterDecision::Skip
        }
    }
}

fn range(start: &[u8], end: &[u8]) -> Ranges {
    let mut ranges = Ranges::new();
    ranges.push(start, end);
    ranges
}

/// A range holds its start and not its end; neither need be stored.
pub fn a_range_holds_its_start_and_not_its_end(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 6);
    assert_eq!(
        fixture.names(range(&key("a", "01"), &key("a", "04")), forward()),
        ["a/01", "a/02", "a/03"]
    );
    assert_eq!(
        fixture.names(range(&key("a", "010"), &key("a", "035")), forward()),
        ["a/02", "a/03"]
    );
    assert_eq!(
        fixture.names(range(&key("a", "010"), &key("a", "035")), reverse()),
        ["a/03", "a/02"]
    );
}

/// A forward scan of a shard key gives ascending keys, a reverse scan descending ones.
pub fn rows_of_a_shard_key_come_in_key_order(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c"], 3);
    assert_eq!(fixture.names(group_range("b"), forward()), ["b/00", "b/01", "b/02"]);
    assert_eq!(fixture.names(group_range("b"), reverse()), ["b/02", "b/01", "b/00"]);
}

/// Several ranges are scanned one after another as they are listed, in either direction; origins
/// tell them apart.
pub fn ranges_come_one_after_another(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c"], 2);
    let mut ranges = group_range("c");
    ranges.push_prefix(&key("nothing", ""));
    ranges.push_prefix(&key("a", ""));
    ranges.push(&key("c", "01"), &key("c", "02"));
    let rows = fixture.scan(ranges.clone(), forward());
    assert_eq!(rows.origins, [0, 0, 2, 2, 3]);
    assert_eq!(fixture.names(ranges.clone(), forward()), ["c/00", "c/01", "a/00", "a/01", "c/01"]);
    assert_eq!(fixture.names(ranges, reverse()), ["c/01", "c/00", "a/01", "a/00", "c/01"]);
}

/// Without an order, a scan gives the same rows.
pub fn an_unordered_scan_gives_every_row_once(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c", "d"], 5);
    let mut names = fixture.names(Ranges::whole_space(), ScanOptions::default());
    names.sort();
    let expected: Vec<String> = ["a", "b", "c", "d"]
        .iter()
        .flat_map(|group| (0..5).map(move |row| format!("{group}/0{row}")))
        .collect();
    assert_eq!(names, expected);
}

/// A whole space is scanned in order under each shard key, and with one shard and a total order in
/// order throughout.
pub fn a_whole_space_is_scanned_in_order_under_each_shard_key(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let groups = ["e", "a", "d", "b", "c", "f"];
    fixture.fill(&groups, 4);
    for (options, descending) in [(forward(), false), (reverse(), true)] {
        let names = fixture.names(Ranges::whole_space(), options);
        assert_eq!(names.len(), groups.len() * 4);
        // In which order the shard keys come is left open where there is no total order.
        for group in groups {
            let places: Vec<usize> =
                (0..names.len()).filter(|place| names[*place].starts_with(group)).collect();
            assert_eq!(places.len(), 4);
            assert_eq!(places[3] - places[0], 3, "rows of one shard key lie side by side");
            assert!(
                names[places[0]..=places[3]]
                    .is_sorted_by(|left, right| (left < right) != descending)
            );
        }
        let capability = fixture.engine().capability();
        if capability.total_order && capability.shards == 1 {
            assert!(
                names.is_sorted_by(|left, right| (left < right) != descending),
                "a total order holds across shard keys"
            );
        }
    }
}

/// A range across shard keys works where there is a total order, and is `Unsupported` elsewhere.
pub fn a_range_across_shard_keys_needs_a_total_order(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c"], 2);
    let across = range(&key("a", "01"), &key("c", "01"));
    if fixture.engine().capability().total_order {
        let mut names = fixture.names(across, forward());
        names.sort();
        assert_eq!(names, ["a/01", "b/00", "b/01", "c/00"]);
    } else {
        assert_eq!(
            kind(fixture.engine().scan(fixture.space, across, forward())),
            ErrorKind::Unsupported
        );
    }
}

/// Reads parts one after another.
fn names_of_parts(fixture: &Fixture<'_>, parts: &[Part]) -> Vec<Vec<String>> {
    let read = |part| {
        let mut scanner =
            fixture.engine().scan_part(fixture.space, part, ScanOptions::default()).unwrap();
        let (mut rows, mut names) = (Rows::new(), Vec::new());
        while scanner.next_batch(&mut rows).unwrap() {
            names.extend(rows.keys.iter().map(name));
        }
        names
    };
    parts.iter().map(read).collect()
}

/// The parts of a split together give every row once, however many are asked for.
pub fn the_parts_of_a_space_hold_every_row_once(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let groups = ["a", "b", "c", "d", "e"];
    fixture.fill(&groups, 20);
    for cuts in [Cuts::Anywhere, Cuts::BetweenShardKeys] {
        for count in [1, 2, 3, 7, 1_000] {
            let parts = fixture.engine().split(fixture.space, count, cuts).unwrap();
            assert!((1..=count).contains(&parts.len()), "{} parts of {count}", parts.len());
            let names = names_of_parts(&fixture, &parts).concat();
            let distinct: std::collections::BTreeSet<_> = names.iter().collect();
            assert_eq!((names.len(), distinct.len()), (groups.len() * 20, groups.len() * 20));
        }
    }
}

/// Where cuts lie between shard keys, all rows of one are in one part.
pub fn parts_between_shard_keys_keep_each_together(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let groups = ["a", "b", "c", "d", "e"];
    fixture.fill(&groups, 20);
    let parts = fixture.engine().split(fixture.space, 7, Cuts::BetweenShardKeys).unwrap();
    let names = names_of_parts(&fixture, &parts);
    for group in groups {
        let holding = names.iter().filter(|names| names.iter().any(|name| name.starts_with(group)));
        assert_eq!(holding.count(), 1, "{group}");
    }
}

/// A space without rows is one part; one that does not exist is not found.
pub fn an_empty_space_is_one_part(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let split = |space| fixture.engine().split(space, 8, Cuts::Anywhere);
    let parts = split(fixture.space).unwrap();
    assert_eq!(names_of_parts(&fixture, &parts), [Vec::<String>::new()]);
    assert_eq!(kind(split(crate::SpaceId(999))), ErrorKind::NotFound);
}

/// Parts and positions of another engine are refused.
pub fn parts_and_positions_of_others_are_invalid(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 3);
    let (engine, space) = (fixture.engine(), fixture.space);
    let part = Part::from_bytes(*b"\xFF\xFF\xFF\xFFnobody's");
    assert_eq!(kind(engine.scan_part(space, &part, forward())), ErrorKind::Invalid);
    let resume = Some(ScanPosition::from_bytes(*b"nobody's"));
    let options = ScanOptions { resume, ..forward() };
    assert_eq!(kind(engine.scan(space, group_range("a"), options)), ErrorKind::Invalid);
}

/// Rows that were deleted or put while a scan was closed neither stop it nor make it begin anew.
pub fn a_closed_scan_goes_on_among_changed_rows(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    for direction in [Direction::Forward, Direction::Reverse] {
        fixture.fill(&["a"], 20);
        let options = ScanOptions { direction, batch_rows_max: 10, ..ScanOptions::default() };
        let mut scanner =
            fixture.engine().scan(fixture.space, group_range("a"), options.clone()).unwrap();
        let (mut rows, mut names) = (Rows::new(), Vec::new());
        assert!(scanner.next_batch(&mut rows).unwrap());
        names.extend(rows.keys.iter().map(name));
        let resume = Some(scanner.position().unwrap());
        drop(scanner);
        // Two rows on either side of the position, in both directions.
        [8, 9, 10, 11].iter().for_each(|row| {
            fixture.delete(&key("a", &format!("{row:02}")));
        });
        // A position is bytes: it outlives the engine that gave it.
        fixture.reopen();
        let options = ScanOptions { resume, ..options };
        let mut scanner = fixture.engine().scan(fixture.space, group_range("a"), options).unwrap();
        while scanner.next_batch(&mut rows).unwrap() {
            names.extend(rows.keys.iter().map(name));
        }
        let mut expected: Vec<_> = match direction {
            Direction::Reverse => (0..8).chain(10..20).rev().collect(),
            _ => (0..10).chain(12..20).collect(),
        };
        assert_eq!(names, expected.drain(..).map(|row| format!("a/{row:02}")).collect::<Vec<_>>());
    }
}

/// Ranges that hold nothing, and no ranges at all, give nothing.
pub fn an_empty_range_gives_nothing(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 6);
    for options in [ScanOptions::default(), forward(), reverse()] {
        assert!(fixture.names(Ranges::new(), options.clone()).is_empty());
        assert!(fixture.names(range(&key("a", "03"), &key("a", "03")), options.clone()).is_empty());
        assert!(fixture.names(range(&key("a", "04"), &key("a", "02")), options.clone()).is_empty());
        assert!(fixture.names(group_range("b"), options).is_empty());
    }
}

/// The end of a scan stays the end.
pub fn a_scan_that_is_over_stays_over(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 3);
    let mut scanner =
        fixture.engine().scan(fixture.space, Ranges::whole_space(), forward()).unwrap();
    let mut rows = Rows::new();
    while scanner.next_batch(&mut rows).unwrap() {}
    for _ in 0..2 {
        rows.push(b"left", b"over", 1, 2, 3);
        assert!(!scanner.next_batch(&mut rows).unwrap());
        assert!(rows.is_empty());
    }
}

/// Batches hold about as many rows as asked for, and nothing is lost or doubled between them.
pub fn batches_keep_to_their_rows(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b", "c"], 20);
    for options in [ScanOptions::default(), forward(), reverse()] {
        for batch_rows_max in [1, 7, 20, 1_000] {
            let options = ScanOptions { batch_rows_max, ..options.clone() };
            let mut scanner =
                fixture.engine().scan(fixture.space, Ranges::whole_space(), options).unwrap();
            let (mut rows, mut keys) = (Rows::new(), Vec::new());
            while scanner.next_batch(&mut rows).unwrap() {
                assert!(
                    rows.len() <= 2 * batch_rows_max,
                    "{} rows where {batch_rows_max} were asked for",
                    rows.len()
                );
                keys.extend(rows.keys.iter().map(<[u8]>::to_vec));
            }
            keys.sort();
            assert_eq!(keys.len(), 60);
            assert!(keys.is_sorted_by(|left, right| left < right), "no row comes twice");
        }
    }
}

/// The size of further batches of an open scan can be changed, and no row is lost.
pub fn batches_change_their_size_within_a_scan(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for row in 0..60 {
        fixture.put(&key("a", &format!("{row:02}")), &[b'v'; 1_000]);
    }
    for options in [ScanOptions::default(), forward(), reverse()] {
        let options = ScanOptions { batch_rows_max: 5, ..options };
        let mut scanner = fixture.engine().scan(fixture.space, group_range("a"), options).unwrap();
        let (mut rows, mut sizes) = (Rows::new(), Vec::new());
        for (rows_max, bytes_max) in [(5, 1 << 20), (20, 1 << 20), (20, 3_000), (100, 1 << 20)] {
            scanner.set_batch_max(rows_max, bytes_max);
            // The first may still be of what was read before the change.
            for _ in 0..2 {
                scanner.next_batch(&mut rows).unwrap();
                sizes.push(rows.len());
            }
        }
        assert_eq!(sizes.iter().sum::<usize>(), 60, "{sizes:?}");
        assert!(sizes[0] <= 10 && sizes[3] > 10 && sizes[5] <= 10, "{sizes:?}");
    }
}

/// Batches hold about as many bytes as asked for; a row that is larger comes all the same.
pub fn batches_keep_to_their_bytes(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    for row in 0..40 {
        fixture.put(&key("a", &format!("{row:02}")), &[b'v'; 1_000]);
    }
    fixture.put(&key("a", "20x"), &[b'w'; 100_000]);
    for options in [ScanOptions::default(), forward(), reverse()] {
        let options = ScanOptions { batch_bytes_max: 5_000, ..options };
        let mut scanner = fixture.engine().scan(fixture.space, group_range("a"), options).unwrap();
        let (mut rows, mut count) = (Rows::new(), 0);
        while scanner.next_batch(&mut rows).unwrap() {
            let giant: usize = rows.values.iter().map(<[u8]>::len).filter(|len| *len > 5_000).sum();
            assert!(
                rows.bytes() - giant <= 10_000,
                "{} bytes where 5000 were asked for",
                rows.bytes()
            );
            count += rows.len();
        }
        assert_eq!(count, 41);
    }
}

/// Without values, a scan still tells keys, versions and expiries.
pub fn keys_only_leaves_out_the_values(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let key = key("a", "1");
    let version = fixture.put_until(&key, b"value", u64::MAX);
    let mut expected = Rows::new();
    expected.push(&key, b"", version, u64::MAX, 0);
    for options in [ScanOptions::default(), forward(), reverse()] {
        assert_eq!(
            fixture.scan(
                group_range("a"),
                ScanOptions { projection: Projection::KeysOnly, ..options }
            ),
            expected
        );
    }
}

/// Rows that the filter passes over are not given.
pub fn a_filter_passes_rows_over(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a", "b"], 5);
    let filter: Option<Arc<dyn KeyFilter>> = Some(Arc::new(EvenKeyFilter));
    let options = ScanOptions { filter: filter.clone(), batch_rows_max: 2, ..forward() };
    assert_eq!(fixture.names(group_range("a"), options), ["a/00", "a/02", "a/04"]);
    let options = ScanOptions { filter, ..reverse() };
    assert_eq!(fixture.names(group_range("b"), options), ["b/04", "b/02", "b/00"]);
}

/// A row written ahead of the scan while it runs never makes it fail, and rows that stay are given
/// once.
pub fn writes_during_a_scan_do_not_disturb_it(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    fixture.fill(&["a"], 20);
    let mut scanner = fixture
        .engine()
        .scan(fixture.space, group_range("a"), ScanOptions { batch_rows_max: 5, ..forward() })
        .unwrap();
    let (mut rows, mut names) = (Rows::new(), Vec::new());
    let mut round = 0;
    while scanner.next_batch(&mut rows).unwrap() {
        names.extend(rows.keys.iter().map(name));
        fixture.put(&key("a", &format!("{round:02}")), b"rewritten");
        fixture.delete(&key("a", "99"));
        round += 1;
    }
    assert_eq!(names, (0..20).map(|row| format!("a/{row:02}")).collect::<Vec<_>>());
}

/// A scan borrows nothing of the engine, and continues when the engine is gone.
pub fn a_scan_outlives_its_engine(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    fixture.fill(&["a"], 20);
    let options = ScanOptions { batch_rows_max: 5, ..forward() };
    let mut scanner = fixture.engine().scan(fixture.space, group_range("a"), options).unwrap();
    let (mut rows, mut count) = (Rows::new(), 0);
    assert!(scanner.next_batch(&mut rows).unwrap());
    fixture.drop_engine();
    let rest = std::thread::spawn(move || {
        while scanner.next_batch(&mut rows).unwrap() {
            count += rows.len();
        }
        count
    });
    assert_eq!(rest.join().unwrap(), 15);
}
