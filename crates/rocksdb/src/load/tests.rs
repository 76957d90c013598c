//! Runs, spill files and merges agree with a plain sort.

use std::ops::Range;

use proptest::collection::vec;
use proptest::prelude::*;
use tempfile::TempDir;
use tonnage_engine::{ErrorKind, Header, SpaceId};

use super::lane::{Lane, SpaceKind};
use super::range::KeyBounds;
use super::record::{NewRecord, Precedence};
use super::run::{RunBuffer, SortedRun};
use super::sources::Sources;
use super::spill::{SpillFile, SpillSettings, SpillWriter};

const LANE: Lane = Lane { space_kind: SpaceKind::Ordinary, shard: 0 };

/// An entry of a test: space, key, stream, position.
type Row = (u32, Vec<u8>, u32, u64);

fn run_of(rows: &[Row], precedence: Precedence) -> SortedRun {
    let mut run = RunBuffer::new(LANE, usize::MAX);
    for (space, key, stream, position) in rows {
        let header = Header { version: 1, expires_at_ms: 0 };
        let (stream, position) = (*stream, *position);
        run.push(&NewRecord {
            space: SpaceId(*space),
            key,
            header,
            payload: &position.to_le_bytes(),
            stream,
            position,
        });
    }
    run.sort(precedence)
}

fn spill_settings(directory: &TempDir) -> SpillSettings {
    SpillSettings { directory: directory.path().join("spill"), frame_bytes: 200 }
}

fn spill_of(run: &SortedRun, spill_settings: &SpillSettings) -> SpillFile {
    let mut writer = SpillWriter::create(spill_settings).unwrap();
    (0..run.len()).for_each(|index| writer.push(run.record(index)).unwrap());
    writer.finish(LANE).unwrap()
}

fn merged(sources: &Sources, range: &KeyBounds, precedence: Precedence) -> Vec<Row> {
    let mut merge = sources.merge(range, precedence).unwrap();
    let mut rows = Vec::new();
    while let Some(record) = merge.next().unwrap() {
        assert!(
            record.value.ends_with(&record.position.to_le_bytes()),
            "a value stays with its key"
        );
        rows.push((
            record.space().0,
            record.logical_key().to_vec(),
            record.stream,
            record.position,
        ));
    }
    rows
}

/// What a merge should yield.
fn expected(rows: &[Row], precedence: Precedence) -> Vec<Row> {
    let mut rows = rows.to_vec();
    rows.sort_by(|left, right| {
        let origin = (left.2, left.3).cmp(&(right.2, right.3));
        let origin = if precedence == Precedence::First { origin } else { origin.reverse() };
        (left.0, &left.1).cmp(&(right.0, &right.1)).then(origin)
    });
    rows
}

/// Keys that collide in every way that sorting by prefixes could get wrong: equal ones, prefixes of
/// each other, trailing zeros, long common parts.
fn keys() -> impl Strategy<Value = Vec<u8>> {
    prop_oneof![
        vec(0..3_u8, 0..6),
        vec(any::<u8>(), 0..40),
        (vec(0..2_u8, 0..3), 0..30_usize).prop_map(|(tail, zeros)| [vec![0; zeros], tail].concat()),
        (vec(0..3_u8, 0..3), 0..30_usize)
            .prop_map(|(tail, same)| [vec![b'x'; same], tail].concat()),
    ]
}

fn rows(count: Range<usize>) -> impl Strategy<Value = Vec<Row>> {
    vec((prop_oneof![Just(7), Just(8), Just(900)], keys(), 0..3_u32), count).prop_map(|rows| {
        (0..)
            .zip(rows)
            .map(|(position, (space, key, stream))| (space, key, stream, position))
            .collect()
    })
}

fn precedences() -> impl Strategy<Value = Precedence> {
    prop_oneof![Just(Precedence::First), Just(Precedence::Last)]
}

proptest! {
    #[test]
    fn a_run_is_sorted_by_key_and_the_winner_comes_first(rows in rows(0..400), precedence in precedences()) {
        let run = run_of(&rows, precedence);
        let sorted: Vec<Row> = (0..run.len())
            .map(|index| run.record(index))
            .map(|record| (record.space().0, record.logical_key().to_vec(), record.stream, record.position))
            .collect();
        prop_assert_eq!(sorted, expected(&rows, precedence));
    }

    #[test]
    fn a_merge_of_runs_and_files_yields_every_entry_in_order(
        rows in rows(0..300),
        parts in 1..7_usize,
        precedence in precedences(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let mut sources = Sources::default();
        for (part, rows) in rows.chunks(rows.len() / parts + 1).enumerate() {
            let run = run_of(rows, precedence);
            match part % 2 {
                0 => sources.files.push(spill_of(&run, &spill_settings(&directory))),
                _ => sources.runs.push(run),
            }
        }
        prop_assert_eq!(merged(&sources, &KeyBounds::default(), precedence), expected(&rows, precedence));
    }

    #[test]
    fn ranges_cut_a_merge_without_loss_or_overlap(rows in rows(1..300), cut in 0..300_usize, range_bytes in 50..5_000_u64) {
        let directory = tempfile::tempdir().unwrap();
        let (in_memory, on_disk) = rows.split_at(cut.min(rows.len()));
        let mut sources = Sources::default();
        sources.runs.extend((!in_memory.is_empty()).then(|| run_of(in_memory, Precedence::First)));
        let on_disk = (!on_disk.is_empty()).then(|| run_of(on_disk, Precedence::First));
        sources.files.extend(on_disk.map(|run| spill_of(&run, &spill_settings(&directory))));

        let ranges = sources.samples().cut(&KeyBounds::default(), range_bytes, 2);
        let parts: Vec<Vec<Row>> = ranges.iter().map(|range| merged(&sources, range, Precedence::First)).collect();
        prop_assert_eq!(parts.concat(), expected(&rows, Precedence::First));
        for pair in parts.windows(2) {
            if let (Some(last), Some(first)) = (pair[0].last(), pair[1].first()) {
                prop_assert!((last.0, &last.1) < (first.0, &first.1), "equal keys stay together");
            }
        }
    }
}

#[test]
fn many_equal_keys_are_sorted_by_origin() {
    let rows: Vec<Row> =
        (0..5_000).map(|position| (1, vec![0; 40], 0, (position * 7_919) % 5_000)).collect();
    for precedence in [Precedence::First, Precedence::Last] {
        let run = run_of(&rows, precedence);
        let positions: Vec<u64> = (0..run.len()).map(|index| run.record(index).position).collect();
        assert!(
            positions
                .is_sorted_by(|left, right| (left < right) == (precedence == Precedence::First))
        );
    }
}

#[test]
fn keys_that_differ_late_are_sorted() {
    let key = |number: u32| [&[b'x'; 5_000][..], &number.to_be_bytes()].concat();
    let rows: Vec<Row> = (0..200).map(|row| (1, key(row * 77 % 200), 0, u64::from(row))).collect();
    let sources = Sources { runs: vec![run_of(&rows, Precedence::First)], files: Vec::new() };
    assert_eq!(
        merged(&sources, &KeyBounds::default(), Precedence::First),
        expected(&rows, Precedence::First)
    );
}

#[test]
fn a_spill_file_has_no_name() {
    let directory = tempfile::tempdir().unwrap();
    let spill_settings = spill_settings(&directory);
    let file = spill_of(&run_of(&[(1, vec![1], 0, 0)], Precedence::First), &spill_settings);
    assert!(file.bytes() > 0);
    assert_eq!(std::fs::read_dir(&spill_settings.directory).unwrap().count(), 0);
}

#[test]
fn a_damaged_spill_file_is_noticed() {
    let directory = tempfile::tempdir().unwrap();
    let rows: Vec<Row> = (0..100).map(|row| (1, vec![row as u8], 0, row)).collect();
    let run = run_of(&rows, Precedence::First);
    for flipped in [0, 9, 150, 1_000] {
        let file = spill_of(&run, &spill_settings(&directory));
        file.flip_bit(flipped);
        let sources = Sources { runs: Vec::new(), files: vec![file] };
        let mut merge = match sources.merge(&KeyBounds::default(), Precedence::First) {
            Ok(merge) => merge,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::Corruption, "byte {flipped}");
                continue;
            }
        };
        let error = loop {
            match merge.next() {
                Ok(Some(_)) => {}
                Ok(None) => panic!("byte {flipped}: the damage was not noticed"),
                Err(error) => break error,
            }
        };
        assert_eq!(error.kind(), ErrorKind::Corruption, "byte {flipped}");
    }
}

#[test]
fn the_index_of_a_large_spill_file_stays_small() {
    let directory = tempfile::tempdir().unwrap();
    let key = |row: u64| [&[b'k'; 20_000][..], &row.to_be_bytes()].concat();
    let rows: Vec<Row> = (0..500).map(|row| (1, key(row), 0, row)).collect();
    let run = run_of(&rows, Precedence::First);
    let file = spill_of(&run, &spill_settings(&directory));
    let index: Vec<(Vec<u8>, u64)> =
        file.index().map(|(key, bytes)| (key.to_vec(), bytes)).collect();
    assert!((2..100).contains(&index.len()), "{}", index.len());
    assert_eq!(index.iter().map(|(_, bytes)| bytes).sum::<u64>(), file.bytes());
    let lower = [&1_u32.to_be_bytes()[..], &key(333)].concat();
    let sources = Sources { runs: Vec::new(), files: vec![file] };
    let range = KeyBounds { lower: Some(lower), upper: None };
    assert_eq!(merged(&sources, &range, Precedence::First), rows[333..]);
}
