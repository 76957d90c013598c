//! Handles on indexes that were dropped.

use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{Deadline, Engine, ErrorKind, MemoryEngine, Result, SystemClock};

use super::{Index, IndexRange, IndexScanOptions};
use crate::members::Members;
use crate::row::Row;
use crate::single_calls::WriteOptions;
use crate::store::Store;
use crate::table::Table;

fn put(ships: &Table, id: i64, port: &str) {
    let row = Row::new().with("id", id).with("port", port);
    ships.put(&row, &WriteOptions::default()).unwrap();
}

/// Ships with an index by port, and a handle on it.
fn ships() -> (Store, Table, Index) {
    ships_in(Store::open("memory:").unwrap())
}

fn ships_in(store: Store) -> (Store, Table, Index) {
    let ddl = "CREATE TABLE ships (id LONG, port STRING, PRIMARY KEY (id)); CREATE INDEX by_port ON ships (port)";
    store.execute(ddl).unwrap();
    let ships = store.table("ships").unwrap();
    put(&ships, 1, "Delft");
    let index = ships.index("by_port").unwrap();
    (store, ships, index)
}

fn count(
    index: &Index,
    ports: impl Iterator<Item = &'static str> + Send + 'static,
) -> Result<usize> {
    let ranges = ports.map(|port| IndexRange::prefix([port]));
    let rows = index.bulk_get(ranges, &IndexScanOptions::default())?;
    rows.map(|batch| batch.map(|batch| batch.rows.num_rows())).sum()
}

/// The story of a bug: DROP INDEX took the index off the table, then waited for a write, or had no
/// time left for the space. Until that was gone a handle from before read on, and gave none of the
/// rows that were written meanwhile, without a word.
#[test]
fn an_index_that_is_not_kept_up_any_more_gives_no_answer() {
    let (store, ships, index) = ships();
    let left = store.catalog().remove_index_named("ships", "by_port", false, Deadline::NONE);
    assert!(left.unwrap().is_some(), "its space is still there");
    put(&ships, 2, "Delft");
    let delft = IndexRange::prefix(["Delft"]);
    let counted = count(&index, ["Delft"].into_iter());
    let answers = [
        counted.map(|count| count as u64),
        index.count_entries(&delft, 10),
        index.estimate_entries(std::slice::from_ref(&delft)),
    ];
    for answer in answers {
        let error = answer.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert!(error.message().contains("index by_port on ships was dropped"), "{error}");
    }
}

/// A request that is drawn from a source after the index went is not answered by it either.
#[test]
fn an_index_that_goes_while_it_is_read_ends_the_read() {
    let (store, ships, index) = ships();
    let mut step = 0;
    let ports = std::iter::from_fn(move || {
        step += 1;
        if step == 2 {
            let catalog = store.catalog();
            catalog.remove_index_named("ships", "by_port", false, Deadline::NONE).unwrap();
            put(&ships, 2, "Delft");
        }
        (step <= 2).then_some("Delft")
    });
    assert_eq!(count(&index, ports).unwrap_err().kind(), ErrorKind::NotFound);
}

/// An engine that several processes may have open, and a store of one of them.
fn shared_ships() -> (Arc<dyn Engine>, Store, Table, Index) {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::shared());
    let store = Store::over(engine.clone(), Arc::new(SystemClock)).unwrap();
    let (store, ships, index) = ships_in(store);
    (engine, store, ships, index)
}

/// The story of a bug: DROP INDEX took the index from the writers of its own process at once. A
/// process that had not heard of it read on, and missed what was written meanwhile, without an
/// error.
#[test]
fn an_index_that_another_process_drops_misses_no_row() {
    let (engine, here, ships, _) = shared_ships();
    let there = Store::over(engine, Arc::new(SystemClock)).unwrap();
    let index = there.table("ships").unwrap().index("by_port").unwrap();
    let left = here.catalog().remove_index_named("ships", "by_port", false, Deadline::NONE);
    assert!(left.unwrap().is_some(), "its space is still there");
    put(&ships, 2, "Delft");
    match count(&index, ["Delft"].into_iter()) {
        Ok(count) => assert_eq!(count, 2),
        Err(error) => assert_eq!(error.kind(), ErrorKind::Unavailable),
    }
}

/// One process does not take the drop over in time. The readers of the others continue.
#[test]
fn an_index_that_is_not_dropped_in_time_is_as_it_was() {
    let (engine, here, ships, index) = shared_ships();
    let idle = Members::join(&engine).unwrap();
    let soon = Deadline::after(Duration::from_millis(200));
    let error = here.catalog().remove_index_named("ships", "by_port", false, soon).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
    put(&ships, 2, "Delft");
    assert_eq!(count(&index, ["Delft"].into_iter()).unwrap(), 2);
    drop(idle);
    here.drop_index("ships", "by_port", false).unwrap();
    assert!(ships.index("by_port").is_err());
}
