//! Single writes keep indexes up.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rstest::rstest;
use tonnage::{
    Condition, DeleteOptions, ErrorKind, FieldRange, IndexRange, ManualClock, RowOperation, Store,
    WriteOptions, WriteResult,
};

use super::{car, cars, plates, stale_after_writes};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{assert_error, failure, row};

fn put(store: &Store, row: tonnage::Row) -> u64 {
    store.table("cars").unwrap().put(&row, &WriteOptions::default()).unwrap()
}

fn of(store: &Store, colour: &str) -> Vec<i64> {
    plates(store, "by_colour", IndexRange::prefix([colour]))
}

#[rstest]
fn a_put_moves_the_entry(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    put(&store, car(1, "red", 2001));
    put(&store, car(1, "blue", 2001));
    assert_eq!((of(&store, "red"), of(&store, "blue")), (vec![], vec![1]));
    put(&store, car(1, "blue", 2001));
    assert_eq!((of(&store, "blue"), stale_after_writes(&store)), (vec![1], 0));
}

#[rstest]
fn conditions_hold_as_without_indexes(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    let table = store.table("cars").unwrap();
    let options = WriteOptions::default();
    assert_eq!(
        table.put_if_present(&car(1, "red", 1), &options).unwrap(),
        WriteResult::ConditionFailed { operation: 0, current: None }
    );
    let first = table.put_if_absent(&car(1, "red", 1), &options).unwrap().version().unwrap();
    let refused = WriteResult::ConditionFailed { operation: 0, current: Some(first) };
    assert_eq!(table.put_if_absent(&car(1, "blue", 1), &options).unwrap(), refused);
    assert_eq!(table.put_if_version(&car(1, "blue", 1), first + 1, &options).unwrap(), refused);
    assert!(table.put_if_version(&car(1, "green", 1), first, &options).unwrap().is_stored());
    assert_eq!(
        (of(&store, "red"), of(&store, "blue"), of(&store, "green")),
        (vec![], vec![], vec![1])
    );
    assert!(table.delete(&row! { "plate" => 1_i64 }, &options).unwrap());
    assert!(!table.delete(&row! { "plate" => 1_i64 }, &options).unwrap());
    assert!(of(&store, "green").is_empty());
    assert_eq!(stale_after_writes(&store), 0);
}

#[rstest]
fn an_atomic_write_keeps_all_entries_up(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    put(&store, car(1, "red", 1));
    let operations = [
        RowOperation::put("cars", car(1, "blue", 1)),
        RowOperation::delete("cars", row! { "plate" => 1_i64 }),
        RowOperation::put("cars", car(1, "red", 2)),
    ];
    store.atomic_write(&operations, &WriteOptions::default()).unwrap();
    assert_eq!((of(&store, "red"), of(&store, "blue")), (vec![1], vec![]));
    let refused = [RowOperation::put("cars", car(1, "green", 1)).when(Condition::IfAbsent)];
    assert!(!store.atomic_write(&refused, &WriteOptions::default()).unwrap().is_stored());
    assert!(of(&store, "green").is_empty());
}

/// The entries of the rows in between stayed, and an index that is read alone gave them for rows.
#[rstest]
fn of_several_operations_on_one_row_the_last_alone_leaves_an_entry(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = cars(on);
    put(&store, car(1, "red", 1));
    put(&store, car(2, "red", 1));
    let write = |operations: &[RowOperation]| {
        store.atomic_write(operations, &WriteOptions::default()).unwrap();
    };
    write(&[
        RowOperation::put("cars", car(1, "blue", 1)),
        RowOperation::put("cars", car(1, "green", 1)),
    ]);
    write(&[
        RowOperation::put("cars", car(2, "blue", 1)),
        RowOperation::delete("cars", row! { "plate" => 2_i64 }),
    ]);
    assert_eq!(stale_after_writes(&store), 0);
    let all = plates(&store, "by_colour", IndexRange::default());
    assert_eq!((all, of(&store, "green")), (vec![1], vec![1]));
}

#[rstest]
fn a_deleted_range_takes_the_entries_along(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE t (s LONG, k LONG, x LONG, PRIMARY KEY (SHARD(s), k)); CREATE TABLE t.c (n LONG, x LONG, PRIMARY KEY (n));
         CREATE INDEX i ON t (x); CREATE INDEX i ON t.c (x)",
    );
    for k in 0..20_i64 {
        let options = WriteOptions::default();
        store
            .table("t")
            .unwrap()
            .put(&row! { "s" => 1_i64, "k" => k, "x" => k }, &options)
            .unwrap();
        store
            .table("t.c")
            .unwrap()
            .put(&row! { "s" => 1_i64, "k" => k, "n" => 1_i64, "x" => k }, &options)
            .unwrap();
    }
    let options = DeleteOptions {
        range: Some(FieldRange::of("k").before(15_i64)),
        relatives: vec!["t.c".into()],
        ..Default::default()
    };
    let deleted = store.table("t").unwrap().delete_range(&row! { "s" => 1_i64 }, &options);
    assert_eq!((deleted.unwrap(), stale_after_writes(&store)), (30, 0));
}

#[rstest]
fn a_row_that_expired_is_not_given(#[values(Memory, RocksDb)] on: Backend) {
    let clock = Arc::new(ManualClock::new(1_000));
    let store = on.open_with_clock(clock.clone());
    store
        .execute("CREATE TABLE cars (plate LONG, colour STRING, PRIMARY KEY (plate)); CREATE INDEX by_colour ON cars (colour)")
        .unwrap();
    let options = WriteOptions { ttl: Some(Duration::from_millis(50)), ..Default::default() };
    let red = |plate: i64| row! { "plate" => plate, "colour" => "red" };
    store.table("cars").unwrap().put(&red(1), &options).unwrap();
    put(&store, red(2));
    assert_eq!(of(&store, "red"), [1, 2]);
    clock.set_ms(1_050);
    assert_eq!((of(&store, "red"), stale_after_writes(&store)), (vec![2], 0));
    put(&store, red(1));
    clock.set_ms(9_000);
    assert_eq!(of(&store, "red"), [1, 2]);
}

#[rstest]
fn a_handle_from_before_the_index_keeps_it_up(#[values(Memory, RocksDb)] on: Backend) {
    let store =
        on.with_tables("CREATE TABLE cars (plate LONG, colour STRING, PRIMARY KEY (plate))");
    let old = store.table("cars").unwrap();
    store.execute("ALTER TABLE cars ADD wheels INTEGER DEFAULT 4; CREATE INDEX by_wheels ON cars (wheels)").unwrap();
    old.put(&row! { "plate" => 1_i64, "colour" => "red" }, &WriteOptions::default()).unwrap();
    store
        .multi_put(
            [("cars", vec![row! { "plate" => 2_i64, "colour" => "red" }])],
            &Default::default(),
        )
        .unwrap();
    assert_eq!(plates(&store, "by_wheels", IndexRange::prefix([4])), [1, 2]);
    old.put(&row! { "plate" => 2_i64, "colour" => "blue" }, &WriteOptions::default()).unwrap();
    assert_eq!(stale_after_writes(&store), 0);
}

#[rstest]
fn writers_side_by_side_leave_nothing_stale(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let store = &store;
            scope.spawn(move || {
                for round in 0..100 {
                    put(
                        store,
                        car(round % 3, ["red", "blue", "green", "grey"][thread], round as i32),
                    );
                }
            });
        }
    });
    assert_eq!(stale_after_writes(&store), 0);
    assert_eq!(plates(&store, "by_colour", IndexRange::default()), [0, 1, 2]);
}

#[rstest]
fn a_value_too_long_for_the_index_is_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    let long = "x".repeat(70_000);
    let table = store.table("cars").unwrap();
    let error = failure(table.put(&car(1, long.as_str(), 1), &WriteOptions::default()));
    assert_error(error, ErrorKind::Invalid, &["by_colour", "65536"]);
    assert_eq!(table.count().unwrap(), 0);
    let rows = vec![car(1, "red", 1), car(2, long.as_str(), 1), car(3, "red", 1)];
    let put = store.multi_put([("cars", rows)], &Default::default()).unwrap();
    assert_eq!((put.report.total.inserted, put.failures[0].row), (2, 1));
    assert_eq!(of(&store, "red"), [1, 3]);
}

/// Each row of the batch is deleted on condition that it is the one that was read. A row that was
/// written all the time let the whole batch begin anew, without end.
#[rstest]
fn a_deleted_range_gets_through_beside_a_row_that_never_rests(
    #[values(Memory, RocksDb)] on: Backend,
) {
    const PATIENCE: Duration = Duration::from_secs(60);
    let store = on.with_tables("CREATE TABLE t (s LONG, k LONG, x LONG, PRIMARY KEY (SHARD(s), k)); CREATE INDEX i ON t (x)");
    let table = store.table("t").unwrap();
    let make = |k: i64, x: i64| row! { "s" => 1_i64, "k" => k, "x" => x };
    store
        .multi_put([("t", (0..3_000).map(|k| make(k, k)).collect::<Vec<_>>())], &Default::default())
        .unwrap();
    let is_over = AtomicBool::new(false);
    let started = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut x = 0;
            while !is_over.load(Ordering::Relaxed) && started.elapsed() < 2 * PATIENCE {
                x += 1;
                table.put(&make(1_500, x), &WriteOptions::default()).unwrap();
            }
        });
        let deleted = table.delete_range(&row! { "s" => 1_i64 }, &DeleteOptions::default());
        is_over.store(true, Ordering::Relaxed);
        assert_eq!(deleted.unwrap(), 3_000);
    });
    assert!(started.elapsed() < PATIENCE);
    assert!(table.count().unwrap() <= 1);
    assert_eq!(stale_after_writes(&store), 0);
}

/// The rows are read in pieces of a few mebibytes. They used to be read all together, whatever
/// their size.
#[rstest]
fn a_deleted_range_of_large_rows_takes_their_entries_along(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE t (s LONG, k LONG, x LONG, text STRING, PRIMARY KEY (SHARD(s), k)); CREATE INDEX i ON t (x); CREATE INDEX j ON t (k, x)",
    );
    let text = "x".repeat(300_000);
    for k in 0..60_i64 {
        let row = row! { "s" => 1_i64, "k" => k, "x" => k % 7, "text" => text.as_str() };
        store.table("t").unwrap().put(&row, &WriteOptions::default()).unwrap();
    }
    let range = Some(FieldRange::of("k").from(5_i64));
    let options = DeleteOptions { range, ..Default::default() };
    let deleted = store.table("t").unwrap().delete_range(&row! { "s" => 1_i64 }, &options);
    assert_eq!((deleted.unwrap(), stale_after_writes(&store)), (55, 0));
    assert_eq!(store.table("t").unwrap().count().unwrap(), 5);
}
