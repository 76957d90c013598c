//! Handles on indexes that were dropped.

use tonnage_engine::{Deadline, ErrorKind, Result};

use super::{Index, IndexRange, IndexScanOptions};
use crate::{Row, Store, Table, WriteOptions};

fn put(ships: &Table, id: i64, port: &str) {
    let row = Row::new().with("id", id).with("port", port);
    ships.put(&row, &WriteOptions::default()).unwrap();
}

/// Ships with an index by port, and a handle on it.
fn ships() -> (Store, Table, Index) {
    let store = Store::open("memory:").unwrap();
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
