//! Indexes are built over rows that are there, while the table is in use.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use rstest::rstest;
use tonnage::{
    BulkPutOptions, Cancel, CreateIndexOptions, ErrorKind, IndexColumn, IndexDefinition,
    IndexRange, IndexScanOptions, OnExisting, Payload, Store, WriteOptions,
};

use super::{car, cars, plate, plates, rows, stale_entries};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::{Existing, Recorder};
use crate::common::scripted::scripted;
use crate::common::{TestStore, assert_error, failure};

fn by_year() -> IndexDefinition {
    IndexDefinition {
        name: "by_year".into(),
        table: "cars".into(),
        columns: vec![IndexColumn::new("year")],
    }
}

fn stocked(on: Backend, count: i64) -> TestStore {
    let store = cars(on);
    let rows: Vec<_> = (0..count).map(|plate| car(plate, "red", (plate % 10) as i32)).collect();
    store.multi_put([("cars", rows)], &BulkPutOptions::default()).unwrap();
    store
}

#[rstest]
fn all_rows_are_built_in_and_progress_is_told(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(40_000, 300_000)] count: i64,
) {
    let store = stocked(on, count);
    let told = Arc::new(AtomicU64::new(0));
    let noted = told.clone();
    let progress = Arc::new(move |progress: tonnage::IndexProgress| {
        assert!(noted.swap(progress.rows, Ordering::SeqCst) < progress.rows);
    });
    let options = CreateIndexOptions { progress: Some(progress), ..Default::default() };
    assert!(store.create_index(&by_year(), &options).unwrap());
    assert_eq!(told.load(Ordering::SeqCst), count as u64);
    assert_eq!(
        plates(&store, "by_year", IndexRange::prefix([7])),
        (7..count).step_by(10).collect::<Vec<i64>>()
    );
    assert_eq!(stale_entries(&store), 0);
}

#[rstest]
fn a_cancelled_index_is_taken_back(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on, 100);
    let spaces = store.engine().spaces().unwrap();
    let cancel = Cancel::new();
    cancel.cancel();
    let error = failure(
        store.create_index(&by_year(), &CreateIndexOptions { cancel, ..Default::default() }),
    );
    assert_error(error, ErrorKind::Cancelled, &["by_year", "cancelled"]);
    assert!(store.table("cars").unwrap().index("by_year").is_err());
    assert_eq!(store.engine().spaces().unwrap(), spaces);
}

#[rstest]
fn a_row_that_cannot_be_indexed_stops_the_making(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on, 10);
    let long = car(11, "red", 1).with("note", "x".repeat(70_000));
    store.table("cars").unwrap().put(&long, &WriteOptions::default()).unwrap();
    assert_error(
        failure(store.execute("CREATE INDEX by_note ON cars (note)")),
        ErrorKind::Invalid,
        &["by_note", "shorter"],
    );
    assert_eq!(store.table("cars").unwrap().indexes().unwrap().len(), 1);
}

#[rstest]
fn rows_written_while_an_index_is_built_are_in_it(#[values(Memory, RocksDb)] on: Backend) {
    let store = stocked(on, 20_000);
    std::thread::scope(|scope| {
        let store = &store;
        let building = scope
            .spawn(move || store.create_index(&by_year(), &CreateIndexOptions::default()).unwrap());
        let mut plate = 0;
        while !building.is_finished() || plate < 500 {
            let table = store.table("cars").unwrap();
            table
                .put(
                    &car(plate * 7 % 25_000, "blue", (plate % 90) as i32),
                    &WriteOptions::default(),
                )
                .unwrap();
            table
                .delete(
                    &crate::common::row! { "plate" => plate * 3 % 20_000 },
                    &WriteOptions::default(),
                )
                .unwrap();
            plate += 1;
        }
    });
    stale_entries(&store);
    let found = plates(&store, "by_year", IndexRange::default());
    assert_eq!(found.len() as u64, store.table("cars").unwrap().count().unwrap());
}

#[rstest]
fn an_index_whose_making_was_cut_short_is_told_and_made_again(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let mut store = stocked(on, 1_000);
    store.execute("CREATE INDEX by_year ON cars (year)").unwrap();
    unfinish(&store);
    store.reopen();
    store.table("cars").unwrap().put(&car(5_000, "red", 3), &WriteOptions::default()).unwrap();

    let index = store.table("cars").unwrap().index("by_year").unwrap();
    assert!(!index.is_ready());
    let refused = failure(index.scan(&IndexRange::default(), &Default::default()).map(drop));
    assert_error(refused, ErrorKind::Unavailable, &["by_year", "make it again"]);
    let shown = store.execute("DESCRIBE cars").unwrap().remove(0);
    let tonnage::DdlOutcome::Description(shown) = shown else { panic!("{shown:?}") };
    assert!(
        shown.contains("-- not ready") && tonnage::parse_ddl(&shown).unwrap().len() == 3,
        "{shown}"
    );
    let report = store.check().unwrap();
    assert!(
        report.is_sound() && report.unfinished_indexes == ["CREATE INDEX by_year ON cars (year)"],
        "{report:?}"
    );

    store.execute("CREATE INDEX IF NOT EXISTS by_year ON cars (year)").unwrap();
    let found = plates(&store, "by_year", IndexRange::prefix([3]));
    assert_eq!((found.len(), found.last(), stale_entries(&store)), (101, Some(&5_000), 0));
}

/// The plates of a year, read from the index alone where that can be.
fn plates_alone(store: &Store, year: i32) -> Vec<i64> {
    let options = IndexScanOptions {
        columns: Some(["plate", "year"].map(str::to_owned).to_vec()),
        index_only: true,
        ..Default::default()
    };
    let found = rows(store, "by_year", IndexRange::prefix([year]), &options);
    let mut plates: Vec<_> = found.iter().map(plate).collect();
    plates.sort_unstable();
    plates
}

/// It was kept up since it was begun, and loads left stale entries in it.
#[rstest]
fn an_index_that_is_made_again_is_not_taken_for_clean(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = stocked(on, 10);
    store.execute("CREATE INDEX by_year ON cars (year)").unwrap();
    unfinish(&store);
    store.reopen();
    let options = BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    for year in [3, 4] {
        store.multi_put([("cars", vec![car(5_000, "red", year)])], &options).unwrap();
    }
    store.execute("CREATE INDEX by_year ON cars (year)").unwrap();
    assert_eq!((plates_alone(&store, 3), plates_alone(&store, 4)), (vec![3], vec![4, 5_000]));
}

/// Writes beside a load remove no entries, also of an index whose creation waits for the load.
#[rstest]
fn an_index_that_writes_beside_a_load_kept_up_is_not_taken_for_clean(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = stocked(on, 10);
    let other = (*store).clone();
    let (sender, making) = mpsc::channel();
    let beside_the_load = move |_: &Existing| -> tonnage::Result<()> {
        let maker = other.clone();
        let make = move || maker.create_index(&by_year(), &CreateIndexOptions::default());
        sender.send(std::thread::spawn(make)).unwrap();
        let table = other.table("cars").unwrap();
        while table.index("by_year").is_err() {
            std::thread::sleep(Duration::from_millis(1));
        }
        for year in [3, 4] {
            table.put(&car(1, "red", year), &WriteOptions::default()).unwrap();
        }
        Ok(())
    };
    let (_, options) =
        Recorder { on_existing: Some(Box::new(beside_the_load)), ..Recorder::default() }
            .watch(BulkPutOptions::default());
    let stream = scripted(|step| {
        let rows = vec![car(0, "red", 0)];
        (step == 0).then(|| Payload::Rows { table: "cars".into(), rows }.into())
    });
    store.bulk_put(vec![stream], &options).unwrap();
    assert!(making.recv().unwrap().join().unwrap().unwrap());
    assert_eq!((plates_alone(&store, 3), plates_alone(&store, 4)), (vec![3], vec![1, 4]));
}

/// Puts the index `by_year` back to where a crash in the middle of its making leaves it.
fn unfinish(store: &TestStore) {
    use tonnage_engine::{Condition, Durability, Projection, Rows, WriteBatch};
    let engine = store.engine();
    let spaces = engine.spaces().unwrap();
    let space = |name: &str| spaces.iter().find(|space| space.name == name).unwrap().id;
    let key = b"cars\0\x01cars\0\x01";
    let mut rows = Rows::new();
    engine
        .read(
            space("catalog"),
            &[&key[..]].into_iter().collect(),
            Projection::KeysAndValues,
            &mut rows,
        )
        .unwrap();
    let stored = std::str::from_utf8(rows.values.get(0)).unwrap();
    let (before, last) = stored.rsplit_once("\"ready\"").unwrap();
    let mut batch = WriteBatch::new(space("catalog"));
    batch.put(key, format!("{before}\"building\"{last}").as_bytes(), 0, Condition::Always);
    engine.write(&batch, Durability::Fsync).unwrap();
    let index = space("index:cars.by_year");
    engine.delete_range(index, &tonnage_engine::Ranges::whole_space(), Durability::Write).unwrap();
}
