//! The rules, one by one.

use std::io::{Read, Seek, SeekFrom, Write};
use std::time::Duration;

use rstest::rstest;
use tonnage::{
    Condition, Durability, ErrorKind, GetOptions, Key, KeyValue, LobOptions, PairGetOptions,
    WriteOptions,
};
use tonnage_testkit::Random;

use crate::common::Backend::{Memory, RocksDb};
use crate::common::{Backend, assert_error, failure};

fn key() -> Key {
    "/films/-/1927".parse().unwrap()
}

/// Small chunks, so that small objects have many.
fn options() -> LobOptions {
    LobOptions { chunk_bytes: 100, ..LobOptions::default() }
}

fn put(pairs: &KeyValue, bytes: &[u8]) {
    let mut writer = pairs.put_lob(&key(), &options()).unwrap();
    writer.write_all(bytes).unwrap();
    assert_eq!(writer.finish().unwrap().bytes, bytes.len() as u64);
}

fn get(pairs: &KeyValue) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    pairs.get_lob(&key()).unwrap()?.read_to_end(&mut bytes).unwrap();
    Some(bytes)
}

#[rstest]
fn an_object_is_read_as_it_was_written(
    #[values(Memory, RocksDb)] backend: Backend,
    #[values(0, 1, 99, 100, 101, 1_000, 1_050)] len: usize,
) {
    let mut store = backend.open();
    let bytes = Random(len as u64).bytes(len);
    assert_eq!(get(&store.kv()), None);
    put(&store.kv(), &bytes);
    store.reopen();
    assert_eq!(get(&store.kv()), Some(bytes));
    assert_eq!(store.kv().lob_info(&key()).unwrap().unwrap().bytes, len as u64);
    let checked = store.check().unwrap();
    assert!(checked.is_sound(), "{checked:?}");
    assert_eq!((checked.large_objects, checked.orphan_chunks), (1, 0));
}

#[rstest]
fn a_reader_begins_anywhere(#[values(Memory, RocksDb)] backend: Backend) {
    let store = backend.open();
    let bytes = Random(1).bytes(750);
    put(&store.kv(), &bytes);
    let mut reader = store.kv().get_lob(&key()).unwrap().unwrap();
    for from in [700, 0, 99, 100, 250, 749, 750, 900] {
        reader.seek(SeekFrom::Start(from as u64)).unwrap();
        let mut rest = Vec::new();
        reader.read_to_end(&mut rest).unwrap();
        assert_eq!(rest, bytes.get(from..).unwrap_or_default(), "{from}");
    }
    assert_eq!(reader.seek(SeekFrom::End(-50)).unwrap(), 700);
    assert!(reader.seek(SeekFrom::End(-751)).is_err());
}

#[rstest]
fn nothing_of_an_object_is_seen_before_it_is_finished(#[values(Memory, RocksDb)] backend: Backend) {
    let store = backend.open();
    put(&store.kv(), b"before");
    let mut writer = store.kv().put_lob(&key(), &options()).unwrap();
    writer.append(&[7; 950]).unwrap();
    assert_eq!(get(&store.kv()).unwrap(), b"before");
    writer.finish().unwrap();
    assert_eq!(get(&store.kv()).unwrap(), [7; 950]);
}

#[rstest]
fn a_pair_and_a_large_object_under_one_key_know_nothing_of_each_other(
    #[values(Memory, RocksDb)] backend: Backend,
) {
    let store = backend.open();
    put(&store.kv(), b"large");
    store.kv().put(&key(), b"small", &Default::default()).unwrap();
    assert_eq!(store.kv().scan(&PairGetOptions::default()).unwrap().count(), 1);
    assert!(store.kv().delete(&key(), &Default::default()).unwrap());
    assert_eq!(get(&store.kv()).unwrap(), b"large");
}

#[rstest]
fn a_writer_that_was_cut_short_is_resumed(
    #[values(Memory, RocksDb)] backend: Backend,
    #[values(false, true)] appends: bool,
) {
    let mut store = backend.open();
    let (old, new) = (Random(1).bytes(330), Random(2).bytes(1_234));
    put(&store.kv(), &old);
    let whole = if appends { [old.clone(), new.clone()].concat() } else { new.clone() };
    let mut writer = match appends {
        true => store.kv().append_lob(&key(), &options()).unwrap(),
        false => store.kv().put_lob(&key(), &options()).unwrap(),
    };
    writer.append(&new[..10]).unwrap();
    for upto in [300, 700, 701] {
        let from = writer.position() as usize;
        writer.append(&whole[from..upto + 400]).unwrap();
        drop(writer);
        store.reopen();
        assert_eq!(get(&store.kv()).unwrap(), old);
        writer = store.kv().resume_lob(&key(), &options()).unwrap().unwrap();
        assert!(writer.position() as usize + 100 >= upto + 400, "{}", writer.position());
    }
    writer.append(&whole[writer.position() as usize..]).unwrap();
    writer.finish().unwrap();
    assert_eq!(get(&store.kv()).unwrap(), whole);
    assert!(store.kv().resume_lob(&key(), &options()).unwrap().is_none());
    assert_eq!(store.check().unwrap().orphan_chunks, 0);
}

#[rstest]
fn the_writer_that_begins_later_wins(#[values(Memory, RocksDb)] backend: Backend) {
    let store = backend.open();
    let mut first = store.kv().put_lob(&key(), &options()).unwrap();
    first.append(&[1; 950]).unwrap();
    let mut second = store.kv().put_lob(&key(), &options()).unwrap();
    assert_error(failure(first.append(&[1; 950])), ErrorKind::Conflict, &["/films/-/1927"]);
    second.append(&[2; 950]).unwrap();
    assert_error(failure(first.finish()), ErrorKind::Conflict, &["another writer"]);
    second.finish().unwrap();
    assert_eq!(get(&store.kv()).unwrap(), [2; 950]);
    assert_eq!(store.check().unwrap().orphan_chunks, 0);
}

/// Two resume what a third has left: only one of them may store anything.
#[rstest]
fn a_writer_that_is_resumed_shuts_the_one_before_out(#[values(Memory, RocksDb)] backend: Backend) {
    let store = backend.open();
    let mut old = store.kv().put_lob(&key(), &options()).unwrap();
    old.append(&[1; 350]).unwrap();
    let mut new = store.kv().resume_lob(&key(), &options()).unwrap().unwrap();
    assert_error(failure(old.append(&[9; 350])), ErrorKind::Conflict, &[]);
    new.append(&[2; 50]).unwrap();
    new.finish().unwrap();
    old.discard().unwrap();
    assert_eq!(get(&store.kv()).unwrap(), [[1; 300].as_slice(), &[2; 50]].concat());
}

#[rstest]
fn an_append_to_an_object_that_changed_meanwhile_is_refused(
    #[values(Memory, RocksDb)] backend: Backend,
) {
    let store = backend.open();
    put(&store.kv(), &[1; 250]);
    let mut append = store.kv().append_lob(&key(), &options()).unwrap();
    append.append(&[2; 250]).unwrap();
    assert!(store.kv().delete_lob(&key(), Durability::Write).unwrap());
    assert_error(failure(append.finish()), ErrorKind::Conflict, &["has changed"]);
    assert_eq!(get(&store.kv()), None);
    let checked = store.check().unwrap();
    assert_eq!((checked.large_objects, checked.orphan_chunks), (0, 0));
}

#[rstest]
fn a_condition_is_judged_when_the_object_is_finished(#[values(Memory, RocksDb)] backend: Backend) {
    let store = backend.open();
    let absent = LobOptions { condition: Condition::IfAbsent, ..options() };
    store.kv().put_lob(&key(), &absent).unwrap().finish().unwrap();
    let refused = store.kv().put_lob(&key(), &absent).unwrap();
    assert_error(failure(refused.finish()), ErrorKind::Conflict, &["condition"]);
    let version = store.kv().lob_info(&key()).unwrap().unwrap().version;
    let same = LobOptions { condition: Condition::IfVersion(version), ..options() };
    assert!(store.kv().put_lob(&key(), &same).unwrap().finish().unwrap().version > version);
}

#[rstest]
fn a_reader_of_an_object_that_is_replaced_says_so_and_mixes_nothing(
    #[values(Memory, RocksDb)] backend: Backend,
) {
    let store = backend.open();
    put(&store.kv(), &[1; 950]);
    let mut reader = store.kv().get_lob(&key()).unwrap().unwrap();
    let mut buffer = [0; 100];
    assert_eq!(reader.read_some(&mut buffer).unwrap(), 100);
    put(&store.kv(), &[2; 950]);
    assert_error(failure(reader.read_some(&mut buffer)), ErrorKind::Conflict, &["replaced"]);
}

/// An append leaves the chunks that were there alone, so a reader continues.
#[rstest]
fn many_small_appends_take_no_more_chunks_than_one_large_object(
    #[values(Memory, RocksDb)] backend: Backend,
) {
    let store = backend.open();
    let bytes = Random(5).bytes(1_000);
    for part in bytes.chunks(7) {
        let mut writer = store.kv().append_lob(&key(), &options()).unwrap();
        writer.append(part).unwrap();
        writer.finish().unwrap();
    }
    assert_eq!(get(&store.kv()).unwrap(), bytes);
    let space = store.engine().spaces().unwrap();
    let space = space.iter().find(|space| space.name == "large objects").unwrap().id;
    let whole = tonnage_engine::Ranges::whole_space();
    assert!(store.engine().rows_estimate(space, &whole).unwrap() <= 11);
    assert!(store.check().unwrap().is_sound());
}

#[rstest]
fn chunks_that_nobody_needs_are_counted_and_cleaned(#[values(Memory, RocksDb)] backend: Backend) {
    let store = backend.open();
    put(&store.kv(), &[1; 250]);
    let mut left = store.kv().put_lob(&key(), &options()).unwrap();
    left.append(&[2; 950]).unwrap();
    // What has a draft may be resumed, and is kept.
    assert_eq!(store.kv().clean_lobs().unwrap().chunks, 0);
    let engine = store.engine();
    let spaces = engine.spaces().unwrap();
    let space = spaces.iter().find(|space| space.name == "large objects").unwrap().id;
    let draft = [b"films\0\x01\0\0".as_slice(), b"1927\0\x01\0\0\x01"].concat();
    let mut batch = tonnage_engine::WriteBatch::new(space);
    batch.delete(&draft, Condition::IfPresent);
    assert!(engine.write(&batch, Durability::Write).unwrap().version().is_some());
    let checked = store.check().unwrap();
    assert!(checked.is_sound() && checked.orphan_chunks == 9, "{checked:?}");
    assert_eq!(store.kv().clean_lobs().unwrap().chunks, 9);
    assert_eq!(store.check().unwrap().orphan_chunks, 0);
    assert_eq!(get(&store.kv()).unwrap(), [1; 250]);
}

#[rstest]
fn a_chunk_that_is_missing_is_found_by_check_and_by_the_reader(
    #[values(Memory, RocksDb)] backend: Backend,
) {
    let store = backend.open();
    put(&store.kv(), &[1; 250]);
    let engine = store.engine();
    let spaces = engine.spaces().unwrap();
    let space = spaces.iter().find(|space| space.name == "large objects").unwrap().id;
    let whole = tonnage_engine::Ranges::whole_space();
    let mut scanner = engine.scan(space, whole, Default::default()).unwrap();
    let mut rows = tonnage_engine::Rows::new();
    assert!(scanner.next_batch(&mut rows).unwrap());
    drop(scanner);
    let mut batch = tonnage_engine::WriteBatch::new(space);
    batch.delete(rows.keys.last().unwrap(), Condition::IfPresent);
    engine.write(&batch, Durability::Write).unwrap();
    let checked = store.check().unwrap();
    assert!(checked.damages[0].location.contains("/films/-/1927"), "{checked:?}");
    let mut reader = store.kv().get_lob(&key()).unwrap().unwrap();
    let error = failure(std::io::copy(&mut reader, &mut std::io::sink()));
    assert!(error.to_string().contains("missing"), "{error}");
}

#[test]
fn chunks_out_of_their_range_are_refused() {
    let store = Memory.open();
    for chunk_bytes in [0, (64 << 20) + 1] {
        let options = LobOptions { chunk_bytes, ..LobOptions::default() };
        let refused = store.kv().put_lob(&key(), &options);
        assert_error(failure(refused), ErrorKind::Invalid, &["64 MiB"]);
    }
}

/// Over before the call has looked at the clock.
const NO_TIME: Option<Duration> = Some(Duration::from_nanos(1));

/// A call without time left fails with that error, and the object is as it was; a writer that was
/// cut short can be resumed.
#[rstest]
fn calls_that_are_out_of_time_leave_the_object_as_it_was(
    #[values(Memory, RocksDb)] backend: Backend,
) {
    let (store, late) = (backend.open(), LobOptions { timeout: NO_TIME, ..options() });
    let pairs = store.kv();
    let timed_out = |error: tonnage::Error| assert_eq!(error.kind(), ErrorKind::TimedOut);
    timed_out(failure(pairs.put_lob(&key(), &late)));
    put(&pairs, b"as it was");
    timed_out(failure(pairs.put_lob(&key(), &late)));
    timed_out(failure(pairs.append_lob(&key(), &late)));
    let delete = WriteOptions { timeout: NO_TIME, ..WriteOptions::default() };
    timed_out(failure(pairs.delete_lob_with(&key(), &delete)));
    let get = GetOptions { timeout: NO_TIME, ..GetOptions::default() };
    timed_out(failure(pairs.get_lob_with(&key(), &get)));
    assert_eq!(get_text(&pairs), "as it was");

    let mut writer = pairs.put_lob(&key(), &options()).unwrap();
    writer.append(&[b'n'; 150]).unwrap();
    drop(writer);
    timed_out(failure(pairs.resume_lob(&key(), &late)));
    let mut writer = pairs.resume_lob(&key(), &options()).unwrap().unwrap();
    assert_eq!(writer.position(), 100);
    writer.append(&[b'n'; 50]).unwrap();
    assert_eq!(writer.finish().unwrap().bytes, 150);
    let hour = GetOptions { timeout: Some(Duration::from_secs(3_600)), ..GetOptions::default() };
    let mut reader = pairs.get_lob_with(&key(), &hour).unwrap().unwrap();
    let mut text = String::new();
    reader.read_to_string(&mut text).unwrap();
    assert_eq!(text, "n".repeat(150));
}

fn get_text(pairs: &KeyValue) -> String {
    String::from_utf8(get(pairs).unwrap()).unwrap()
}
