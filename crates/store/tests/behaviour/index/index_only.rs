//! Indexes that answer alone, without looking rows up.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rstest::rstest;
use tonnage::{
    BulkPutOptions, Direction, Index, IndexRange, IndexScanOptions, ManualClock, OnExisting,
    Payload, Row, Store, WriteOptions,
};

use super::{CARS, car, cars, plate, rows};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::scripted::scripted;
use crate::common::{builder, clean_all, row};

const NOW_MS: u64 = 1_700_000_000_000;
const HOUR_MS: u64 = 3_600_000;

/// What the index holds: its own columns, and the primary key.
const HELD: [&str; 3] = ["plate", "year", "colour"];

fn by_colour(store: &Store) -> Index {
    store.table("cars").unwrap().index("by_colour").unwrap()
}

fn answers(store: &Store) -> bool {
    by_colour(store).answers(&HELD)
}

fn load(store: &Store, plates: std::ops::Range<i64>, colour: &str) {
    let options = BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    let rows: Vec<_> = plates.map(|plate| car(plate, colour, plate as i32 % 7)).collect();
    store.multi_put([("cars", rows)], &options).unwrap();
}

/// The columns that the index holds, read from it alone where that can be.
fn alone(store: &Store, range: IndexRange) -> Vec<Row> {
    let options = IndexScanOptions {
        columns: Some(HELD.map(str::to_owned).to_vec()),
        index_only: true,
        ..Default::default()
    };
    let mut rows = rows(store, "by_colour", range, &options);
    rows.sort_by_key(plate);
    rows
}

fn held(plate: i64, year: i32, colour: &str) -> Row {
    row! { "plate" => plate, "year" => year, "colour" => colour }
}

/// Whether the index is read alone. On a cluster it never is: others write there.
#[track_caller]
fn assert_alone(store: &Store) {
    assert_eq!(
        (answers(store), looked_up(store)),
        match store.capability().shared {
            true => (false, true),
            false => (true, false),
        }
    );
}

/// A row that was looked up has a version; one that was not has none.
fn looked_up(store: &Store) -> bool {
    let options = IndexScanOptions {
        columns: Some(HELD.map(str::to_owned).to_vec()),
        index_only: true,
        ..Default::default()
    };
    let mut batches = by_colour(store).scan(&IndexRange::default(), &options).unwrap();
    batches.next().unwrap().unwrap().versions.iter().any(|version| *version != 0)
}

#[rstest]
fn an_index_answers_what_it_holds_as_soon_as_it_is_made(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(CARS.split(';').next().unwrap());
    load(&store, 0..5_000, "red");
    store.execute("CREATE INDEX by_colour ON cars (colour, year)").unwrap();
    assert_alone(&store);
    assert!(!by_colour(&store).answers(&["plate", "note"]), "notes are only in the rows");
    let expected: Vec<_> = (0..5_000).map(|plate| held(plate, plate as i32 % 7, "red")).collect();
    assert_eq!(alone(&store, IndexRange::prefix(["red"])), expected);
}

#[rstest]
fn columns_come_out_of_an_index_as_they_are_in_the_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE all_types (k STRING, i INTEGER, l LONG, f FLOAT, d DOUBLE, n NUMBER(20, 3),
             w NUMBER(60, 2), s STRING, b BINARY, o BOOLEAN, t TIMESTAMP(9), u UUID, e ENUM(x, y),
             a DATE, m TIME, PRIMARY KEY (k));
         CREATE INDEX all_of_it ON all_types (s, i, l, f, d, n, w, b, o, t, u, e, a, m)",
    );
    let table = store.table("all_types").unwrap();
    let full = row! {
        "k" => "a\0b", "i" => -5, "l" => i64::MIN, "f" => 1.5_f32, "d" => -2.25, "s" => "s\0\u{ff}",
        "b" => vec![0_u8, 255, 0], "o" => true
    };
    let full = full
        .with("n", "12345678901234567.125")
        .with("w", "-99999999999999999999999999999999999999999999.25")
        .with("t", "2024-02-29T12:00:00.123456789")
        .with("u", "6ba7b810-9dad-11d1-80b4-00c04fd430c8")
        .with("e", "y")
        .with("a", "1969-12-31")
        .with("m", "23:59:59.999999999");
    table.put(&full, &WriteOptions::default()).unwrap();
    table.put(&row! { "k" => "all NULL" }, &WriteOptions::default()).unwrap();
    let index = table.index("all_of_it").unwrap();
    clean_all(&store, &index);
    let names: Vec<_> = table.schema().columns.iter().map(|column| column.name.clone()).collect();
    assert_eq!(index.answers(&names), !store.capability().shared);
    let read = |index_only| {
        let options =
            IndexScanOptions { direction: Direction::Forward, index_only, ..Default::default() };
        let batches = index.scan(&IndexRange::default(), &options).unwrap();
        batches.map(|batch| batch.unwrap().rows).collect::<Vec<_>>()
    };
    assert_eq!(read(true), read(false));
}

#[rstest]
fn single_writes_leave_an_index_clean(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    clean_all(&store, &by_colour(&store));
    let table = store.table("cars").unwrap();
    for (plate, colour) in [(1, "red"), (2, "red"), (1, "blue"), (3, "green")] {
        table.put(&car(plate, colour, 7), &WriteOptions::default()).unwrap();
    }
    table.delete(&row! { "plate" => 2_i64 }, &WriteOptions::default()).unwrap();
    assert_alone(&store);
    let expected = [held(1, 7, "blue"), held(3, 7, "green")];
    assert_eq!(alone(&store, IndexRange::default()), expected);
}

#[rstest]
fn behind_a_load_rows_are_looked_up_until_the_index_is_clean(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = cars(on);
    clean_all(&store, &by_colour(&store));
    load(&store, 0..100, "red");
    load(&store, 0..60, "blue");
    assert!(!answers(&store) && looked_up(&store));
    let red: Vec<_> = (60..100).map(|plate| held(plate, plate as i32 % 7, "red")).collect();
    assert_eq!(alone(&store, IndexRange::prefix(["red"])), red);
    assert_eq!(clean_all(&store, &by_colour(&store)), 60);
    assert_alone(&store);
    assert_eq!(alone(&store, IndexRange::prefix(["red"])), red);
}

#[rstest]
fn an_index_is_not_clean_while_a_load_holds_rows(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    load(&store, 0..10, "red");
    clean_all(&store, &by_colour(&store));
    let other = (*store).clone();
    let stream = scripted(move |step| match step {
        0 => Some(Payload::Rows { table: "cars".into(), rows: vec![car(1, "blue", 1)] }.into()),
        1 => {
            assert!(!answers(&other), "the load has noted what it may leave");
            let table = other.table("cars").unwrap();
            table.put(&car(2, "green", 1), &WriteOptions::default()).unwrap();
            assert!(!answers(&other));
            assert_eq!(alone(&other, IndexRange::prefix(["green"])), [held(2, 1, "green")]);
            None
        }
        _ => None,
    });
    let options = BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    store.bulk_put(vec![stream], &options).unwrap();
    let red = [0, 3, 4, 5, 6, 7, 8, 9_i64];
    let red = red.map(|plate| held(plate, plate as i32 % 7, "red"));
    assert_eq!(alone(&store, IndexRange::prefix(["red"])), red);
}

/// Entries that a load stores live for ever, whatever becomes of their rows.
#[rstest]
fn an_index_whose_entries_outlive_their_rows_does_not_answer_alone(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let clock = Arc::new(ManualClock::new(NOW_MS));
    let store = on.open_with_clock(clock.clone());
    store.execute(CARS).unwrap();
    store.execute("ALTER TABLE cars USING TTL 1 HOURS").unwrap();
    load(&store, 0..10, "red");
    clean_all(&store, &by_colour(&store));
    assert!(!answers(&store));
    clock.set_ms(NOW_MS + 3 * HOUR_MS);
    assert_eq!(alone(&store, IndexRange::default()), []);
}

#[rstest]
fn rows_that_single_writes_give_an_end_take_their_entries_along(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let clock = Arc::new(ManualClock::new(NOW_MS));
    let store = on.open_with_clock(clock.clone());
    store.execute(CARS).unwrap();
    store.execute("ALTER TABLE cars USING TTL 1 HOURS").unwrap();
    clean_all(&store, &by_colour(&store));
    let table = store.table("cars").unwrap();
    table.put(&car(1, "red", 7), &WriteOptions::default()).unwrap();
    assert_alone(&store);
    clock.set_ms(NOW_MS + 3 * HOUR_MS);
    assert_eq!(alone(&store, IndexRange::default()), []);
}

/// What was known of an index is forgotten when the store closes.
#[rstest]
fn a_reader_that_asks_has_the_index_cleaned(#[values(RocksDb)] on: Backend) {
    let directory = tempfile::tempdir().unwrap();
    let url = match on {
        Memory => "memory:".to_owned(),
        RocksDb => directory.path().join("store").display().to_string(),
    };
    let open = || builder(&url).clean_in_background(true).open().unwrap();
    let store = open();
    store.execute(CARS).unwrap();
    load(&store, 0..500, "red");
    load(&store, 0..300, "blue");
    drop(store);
    let store = open();
    let deadline = Instant::now() + Duration::from_secs(60);
    while !answers(&store) {
        assert!(Instant::now() < deadline, "the index is cleaned in the background");
        std::thread::sleep(Duration::from_millis(20));
    }
    assert!(!looked_up(&store));
    assert_eq!(alone(&store, IndexRange::prefix(["red"])).len(), 200);
}
