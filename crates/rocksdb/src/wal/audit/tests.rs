//! What crashes leave, and what they cannot.

use rstest::rstest;

use super::*;
use crate::wal::log_format::BLOCK;

/// A log of plain records with these payloads.
fn log(payloads: &[&[u8]]) -> Vec<u8> {
    let mut log = Vec::new();
    for payload in payloads {
        log.extend_from_slice(&checksum(1, payload).to_le_bytes());
        log.extend_from_slice(&(payload.len() as u16).to_le_bytes());
        log.push(1);
        log.extend_from_slice(payload);
    }
    log
}

/// A batch with one row that takes this sequence number.
fn batch(sequence: u64) -> Vec<u8> {
    [&sequence.to_le_bytes()[..], &1_u32.to_le_bytes(), &[0xAA; 88]].concat()
}

/// A log of batches with these sequence numbers, 107 bytes each.
fn batches(sequences: Range<u64>) -> Vec<u8> {
    let batches: Vec<_> = sequences.map(batch).collect();
    log(&batches.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

const RECORD: usize = 107;

fn verdict(logs: &[(u64, &[u8])], synced: Option<SyncedPosition>) -> LogVerdict {
    let scans: Vec<_> = logs.iter().map(|(number, log)| LogScan::of(*number, log)).collect();
    judge(&scans, synced, synced.map(|synced| synced.log))
}

fn synced(log: u64, bytes: usize) -> Option<SyncedPosition> {
    Some(SyncedPosition { log, bytes: bytes as u64 })
}

/// The verdict on one log of which nothing is known.
fn alone(log: &[u8]) -> LogVerdict {
    verdict(&[(1, log)], None)
}

fn sound() -> LogVerdict {
    LogVerdict::default()
}

fn torn(cuts: &[(u64, usize, usize)]) -> LogVerdict {
    let cuts =
        cuts.iter().map(|&(log, kept, lost)| LogCut { log, kept: kept as u64, lost: lost as u64 });
    LogVerdict { cuts: cuts.collect(), damage: None }
}

#[test]
fn a_sound_log_stays_as_it_is() {
    assert_eq!(alone(&[]), sound());
    assert_eq!(alone(&log(&[b"one", b"", b"three"])), sound());
}

#[test]
fn a_log_cut_anywhere_in_its_last_record_is_torn_there() {
    let whole = log(&[b"one", b"two", b"the last record"]);
    let last = log(&[b"one", b"two"]).len();
    for len in last + 1..whole.len() {
        assert_eq!(alone(&whole[..len]), torn(&[(1, last, len - last)]), "cut at {len}");
    }
}

#[test]
fn every_flipped_bit_is_damage() {
    let whole = log(&[b"one", b"two", b"the last record"]);
    for bit in 0..whole.len() * 8 {
        let mut flipped = whole.clone();
        flipped[bit / 8] ^= 1 << (bit % 8);
        assert!(alone(&flipped).damage.is_some(), "bit {bit}");
        assert!(
            verdict(&[(1, &flipped)], synced(1, whole.len())).damage.is_some(),
            "bit {bit}, all synced"
        );
    }
}

#[test]
fn records_go_on_in_the_next_block() {
    let mut log = log(&[&[7; BLOCK - 2 * HEADER + 2]]);
    assert!(BLOCK - log.len() < HEADER);
    log.resize(BLOCK, 0);
    log.extend(self::log(&[b"in the second block"]));
    assert_eq!(alone(&log), sound());
    log[BLOCK - 1] = 1;
    assert!(alone(&log).damage.is_some(), "the filling of a block is blank");
}

/// The story of a bug: the size of a file reaches the disk before its data, or a sector before the
/// one before it. The store did not open after such a power failure, and what was synced long
/// before was out of reach.
#[rstest]
#[case::the_end_was_never_written(8_192..12_000)]
#[case::a_page_was_not_written(4_096..8_192)]
#[case::the_end_of_a_page_was_not_written(4_091..4_096)]
#[case::a_sector_was_not_written(3_072..3_584)]
#[case::the_end_of_a_sector_was_not_written(3_060..3_072)]
fn what_was_never_written_is_torn(#[case] zeros: Range<usize>) {
    let mut log = batches(1..200);
    log.truncate(12_000);
    log[zeros.clone()].fill(0);
    let kept = zeros.start / RECORD * RECORD;
    let expected = torn(&[(1, kept, log.len() - kept)]);
    for known in [None, synced(1, 0), synced(1, kept), synced(1, zeros.start)] {
        assert_eq!(verdict(&[(1, &log)], known), expected, "{known:?}");
    }
}

#[test]
fn zeros_where_the_log_was_synced_are_damage() {
    let mut log = batches(1..100);
    log[4_096..8_192].fill(0);
    assert!(verdict(&[(1, &log)], synced(1, 8_000)).damage.is_some());
    assert!(
        verdict(&[(1, &log)], synced(2, 0)).damage.is_some(),
        "a later log was begun after it was synced"
    );
    log.truncate(8_192);
    assert!(verdict(&[(1, &log)], synced(1, 8_000)).damage.is_some(), "up to the end");
}

#[test]
fn a_log_shorter_than_what_was_synced_is_damage() {
    let log = batches(1..100);
    for len in [0, RECORD, 50 * RECORD, log.len() - 1] {
        assert!(
            verdict(&[(1, &log[..len])], synced(1, log.len())).damage.is_some(),
            "cut at {len}"
        );
    }
    assert_eq!(verdict(&[(1, &log)], synced(1, log.len())), sound());
    assert!(verdict(&[], synced(1, log.len())).damage.is_some(), "it is gone");
}

/// What was synced may end within a record that someone else was just writing.
#[test]
fn a_record_that_was_synced_in_part_may_be_torn() {
    let log = batches(1..100);
    let kept = 60 * RECORD;
    assert_eq!(verdict(&[(1, &log[..kept + 30])], synced(1, kept + 20)), torn(&[(1, kept, 30)]));
}

#[test]
fn a_record_without_its_last_fragment_is_torn() {
    let first = b"the first part";
    let mut log = batches(1..3);
    log.extend_from_slice(&checksum(2, first).to_le_bytes());
    log.extend_from_slice(&[first.len() as u8, 0, 2]);
    log.extend_from_slice(first);
    assert_eq!(alone(&log), torn(&[(1, 2 * RECORD, HEADER + first.len())]));
}

/// The story of a bug: RocksDB reads the next log after a torn one, and a later write survived an
/// earlier one.
#[test]
fn nothing_counts_behind_a_torn_log() {
    let (first, second) = (batches(1..20), batches(20..30));
    let torn_first = &first[..first.len() - 5];
    let expected = torn(&[(1, 18 * RECORD, RECORD - 5), (2, 0, second.len())]);
    assert_eq!(verdict(&[(1, torn_first), (2, &second)], synced(1, 0)), expected);
    assert_eq!(verdict(&[(1, torn_first), (2, &second)], None), expected);
}

#[test]
fn a_log_that_lacks_whole_records_is_followed_by_nothing() {
    let (first, second, third) = (batches(1..20), batches(20..30), batches(30..40));
    assert_eq!(verdict(&[(1, &first), (2, &second), (3, &third)], synced(1, 0)), sound());
    let short = &first[..10 * RECORD];
    let expected = torn(&[(2, 0, second.len()), (3, 0, third.len())]);
    assert_eq!(verdict(&[(1, short), (2, &second), (3, &third)], synced(1, 0)), expected);
    assert_eq!(verdict(&[(1, &[]), (2, &second), (3, &third)], synced(1, 0)), expected);
    // What is known to be synced is not given up for it.
    assert_eq!(verdict(&[(1, short), (2, &second)], synced(2, 0)), sound());
}

#[test]
fn sequence_numbers_that_an_ingestion_took_are_not_missing() {
    let note = sequence_note(20..23);
    let note =
        [&23_u64.to_le_bytes()[..], &0_u32.to_le_bytes(), &[NOTE_TAG, note.len() as u8], &note]
            .concat();
    let (first, second) = (batches(1..20), batches(23..30));
    let lost = torn(&[(2, 0, second.len())]);
    assert_eq!(verdict(&[(1, &first), (2, &second)], synced(1, 0)), lost);
    let noted_before = [&first[..], &log(&[&note])].concat();
    assert_eq!(verdict(&[(1, &noted_before), (2, &second)], synced(1, 0)), sound());
    let noted_after = [log(&[&note]), second.clone()].concat();
    assert_eq!(verdict(&[(1, &first), (2, &noted_after)], synced(1, 0)), sound());
    let short = &first[..first.len() - RECORD];
    assert_eq!(
        verdict(&[(1, short), (2, &noted_after)], synced(1, 0)),
        torn(&[(2, 0, noted_after.len())])
    );
}

#[test]
fn damage_says_what_would_have_to_be_given_up() {
    let (mut first, second) = (batches(1..20), batches(20..30));
    first[5 * RECORD + 50] ^= 1;
    let verdict = verdict(&[(1, &first), (2, &second)], synced(2, second.len()));
    let cuts = torn(&[(1, 5 * RECORD, 14 * RECORD), (2, 0, second.len())]).cuts;
    assert_eq!((verdict.damage.unwrap().offset, verdict.cuts), (5 * RECORD, cuts));
}
