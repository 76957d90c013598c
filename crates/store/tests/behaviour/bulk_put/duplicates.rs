//! Keys that come twice, or exist already.

use rstest::rstest;
use tonnage::{
    BulkPutOptions, Durability, ErrorKind, Key, OnExisting, Pairs, Row, Value, pair_stream,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::Recorder;
use crate::common::shop::rows_of;
use crate::common::{all_rows, assert_error, failure, row};

const WORDS: &str = "CREATE TABLE words (id LONG, text STRING, PRIMARY KEY (id))";

fn word(id: i64, text: &str) -> Row {
    row! { "id" => id, "text" => text }
}

#[rstest]
fn of_equal_keys_in_a_stream_the_first_is_stored_and_each_later_one_called_back(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(WORDS);
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    let rows = [word(1, "first"), word(2, "other"), word(1, "second"), word(1, "third")];
    let report = store.bulk_put(vec![rows_of("words", rows)], &options).unwrap();

    assert_eq!(all_rows(&store, "words"), [word(1, "first"), word(2, "other")]);
    assert_eq!(recorder.existing_places(), [(0, 2), (0, 3)]);
    for entry in recorder.existing() {
        assert_eq!((entry.table.as_str(), entry.key), ("words", row! { "id" => 1_i64 }));
    }
    assert_eq!((report.total.read, report.total.inserted, report.total.existed), (4, 2, 2));
    assert!(recorder.completed()[0].completed);
}

#[rstest]
fn keys_that_exist_keep_their_rows_and_are_called_back(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(WORDS);
    store
        .bulk_put(
            vec![rows_of("words", [word(1, "old"), word(2, "old")])],
            &BulkPutOptions::default(),
        )
        .unwrap();
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    let rows = [word(0, "new"), word(1, "new"), word(2, "new"), word(3, "new")];
    let report = store.bulk_put(vec![rows_of("words", rows)], &options).unwrap();

    assert_eq!(
        all_rows(&store, "words"),
        [word(0, "new"), word(1, "old"), word(2, "old"), word(3, "new")]
    );
    assert_eq!(recorder.existing_places(), [(0, 1), (0, 2)]);
    assert_eq!((report.total.inserted, report.total.existed), (2, 2));
}

#[rstest]
fn replacing_stores_the_last_of_equal_keys_without_calling_back(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(WORDS);
    store.bulk_put(vec![rows_of("words", [word(1, "old")])], &BulkPutOptions::default()).unwrap();
    let (recorder, options) = Recorder::default()
        .watch(BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() });
    let rows = [word(1, "first"), word(2, "first"), word(1, "last"), word(2, "last")];
    let report = store.bulk_put(vec![rows_of("words", rows)], &options).unwrap();

    assert_eq!(all_rows(&store, "words"), [word(1, "last"), word(2, "last")]);
    assert_eq!(recorder.existing(), []);
    assert_eq!((report.total.read, report.total.inserted, report.total.existed), (4, 1, 3));
}

#[rstest]
fn a_load_that_must_not_meet_existing_keys_stops_at_one(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(WORDS);
    store.bulk_put(vec![rows_of("words", [word(2, "old")])], &BulkPutOptions::default()).unwrap();
    let (recorder, options) = Recorder::default()
        .watch(BulkPutOptions { on_existing: OnExisting::Fail, ..Default::default() });
    let stopped =
        failure(store.bulk_put(vec![rows_of("words", [word(1, "new"), word(2, "new")])], &options));

    assert_eq!(stopped.report.total.read, 2);
    assert!(!stopped.report.streams[0].completed);
    assert_eq!(recorder.completed(), []);
    // The message used to give bytes of the key, and the number of a space.
    assert_error(stopped, ErrorKind::Conflict, &["stream 0", "entry 1", "(id 2)", "table words"]);
    assert_eq!(all_rows(&store, "words").last(), Some(&word(2, "old")));
}

#[rstest]
fn a_load_that_must_not_meet_existing_keys_stops_at_a_duplicate_of_its_own(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables(WORDS);
    let options = BulkPutOptions { on_existing: OnExisting::Fail, ..Default::default() };
    let stopped =
        failure(store.bulk_put(vec![rows_of("words", [word(1, "a"), word(1, "b")])], &options));
    assert_error(stopped, ErrorKind::Conflict, &[]);
}

#[rstest]
fn of_equal_keys_in_two_streams_one_is_stored_and_the_other_reported(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Durability::None, Durability::Write, Durability::Fsync)] durability: Durability,
) {
    const KEYS: i64 = 5_000;
    let store = on.with_tables(WORDS);
    let (recorder, options) = Recorder::default().watch(BulkPutOptions {
        stream_parallelism: Some(2),
        durability,
        ..Default::default()
    });
    let stream = |text: &'static str| rows_of("words", (0..KEYS).map(move |id| word(id, text)));
    let report = store.bulk_put(vec![stream("left"), stream("right")], &options).unwrap();

    let stored = all_rows(&store, "words");
    assert_eq!(stored.len(), KEYS as usize);
    let stored_from = |text: &str| {
        stored.iter().filter(|row| row.get("text") == Some(&Value::from(text))).count() as u64
    };
    assert_eq!(report.streams[0].counts.inserted, stored_from("left"));
    assert_eq!(report.streams[1].counts.inserted, stored_from("right"));
    assert_eq!(report.total.inserted + report.total.existed, report.total.read);
    assert_eq!(report.total.existed, KEYS as u64);
    assert_eq!(recorder.existing().len(), KEYS as usize);
    for entry in recorder.existing() {
        // The entry that was called back is not the one that is stored.
        let text = if entry.stream == 0 { "left" } else { "right" };
        assert_ne!(stored[entry.position as usize].get("text"), Some(&Value::from(text)));
    }
}

#[rstest]
fn a_second_load_of_the_same_rows_inserts_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(WORDS);
    let load = || {
        let streams = vec![rows_of("words", (0..3_000).map(|id| word(id, "x")))];
        store.bulk_put(streams, &BulkPutOptions::default()).unwrap().total
    };
    assert_eq!((load().inserted, load().inserted), (3_000, 0));
    assert_eq!(store.table("words").unwrap().count().unwrap(), 3_000);
}

#[rstest]
fn duplicates_far_apart_in_a_load_larger_than_its_memory_still_keep_the_first(
    #[values(Memory, RocksDb)] on: Backend,
) {
    const KEYS: i64 = 20_000;
    let store = on.with_tables(WORDS);
    let options = BulkPutOptions {
        memory_bytes_max: Some(1 << 20),
        request_bytes_max: 64 << 10,
        ..Default::default()
    };
    let text = |round: i64, id: i64| format!("{round} {id} {}", "x".repeat(100));
    let rows = (0..2)
        .flat_map(|round| (0..KEYS).map(move |id| word((id * 7_919) % KEYS, &text(round, id))));
    let report = store.bulk_put(vec![rows_of("words", rows)], &options).unwrap();
    assert_eq!((report.total.inserted, report.total.existed), (KEYS as u64, KEYS as u64));
    for row in all_rows(&store, "words") {
        let Some(Value::String(text)) = row.get("text") else { panic!("{row:?}") };
        assert!(text.starts_with("0 "), "{text}");
    }
}

/// Through the log, and by data files.
#[rstest]
#[case(3)]
#[case(400_000)]
fn the_whole_entry_whose_key_exists_is_called_back(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] text_bytes: usize,
) {
    let store = on.with_tables(WORDS);
    let words =
        |what: &str| (0..30).map(|id| word(id, &what.repeat(text_bytes))).collect::<Vec<_>>();
    let put =
        |rows, options: &BulkPutOptions| store.bulk_put(vec![rows_of("words", rows)], options);
    put(words("a"), &BulkPutOptions::default()).unwrap();
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    put(words("b"), &options).unwrap();
    let mut existing = recorder.existing();
    existing.sort_by_key(|entry| entry.position);
    let rows: Vec<_> = existing.into_iter().filter_map(|entry| entry.row).collect();
    assert!(rows == words("b"), "the entries as the stream gave them");
}

#[rstest]
fn the_whole_pair_whose_key_exists_is_called_back(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let put = |value: &[u8], options: &BulkPutOptions| {
        let mut pairs = Pairs::new();
        pairs.push(&"/a/-/b".parse::<Key>().unwrap(), value).unwrap();
        store.bulk_put(vec![pair_stream("pairs", [Ok(pairs)])], options).unwrap()
    };
    put(b"old", &BulkPutOptions::default());
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    put(b"new", &options);
    let existing = recorder.existing();
    assert_eq!(existing[0].value.as_deref(), Some(&b"new"[..]));
    assert_eq!(existing[0].row, None);
}
