//! Indexes are created, shown, dropped, and still there after reopening.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::time::Duration;

use rstest::rstest;
use tonnage::{
    CreateIndexOptions, DdlOutcome, ErrorKind, Index, IndexColumn, IndexDefinition, IndexRange,
    IndexScanOptions, Store, WriteOptions,
};

use super::{car, cars, plates};
use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{assert_error, failure};

#[rstest]
fn an_index_is_there_after_reopening(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = cars(on);
    store.table("cars").unwrap().put(&car(1, "red", 2001), &WriteOptions::default()).unwrap();
    store.reopen();
    let index = store.table("cars").unwrap().index("BY_COLOUR").unwrap();
    assert_eq!((index.name(), index.table_path(), index.is_ready()), ("by_colour", "cars", true));
    assert_eq!(index.columns(), [IndexColumn::new("colour"), IndexColumn::new("year")]);
    assert_eq!(plates(&store, "by_colour", IndexRange::prefix(["red"])), [1]);
}

#[rstest]
fn statements_tell_what_they_did(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (k LONG, a STRING, PRIMARY KEY (k))");
    let told = store
        .execute("CREATE INDEX i ON t (a); CREATE INDEX IF NOT EXISTS i ON t (a); DROP INDEX i ON t; DROP INDEX IF EXISTS i ON t")
        .unwrap();
    let [index, table] = ["i", "t"].map(str::to_owned);
    let made = |new| DdlOutcome::CreatedIndex { index: index.clone(), table: table.clone(), new };
    let dropped =
        |existed| DdlOutcome::DroppedIndex { index: index.clone(), table: table.clone(), existed };
    assert_eq!(told, [made(true), made(false), dropped(true), dropped(false)]);
}

#[rstest]
fn describe_shows_the_statements_that_make_the_indexes(#[values(Memory, RocksDb)] on: Backend) {
    let ddl = r#"CREATE TABLE t (k LONG, a STRING, d JSON, PRIMARY KEY (k));
        CREATE INDEX "odd name" ON t (a, d.x."y z"); CREATE INDEX second ON t (a)"#;
    let store = on.with_tables(ddl);
    let shown = store.execute("DESCRIBE t").unwrap().remove(0);
    let DdlOutcome::Description(text) = &shown else { panic!("{shown:?}") };
    assert!(text.contains("CREATE INDEX second ON t (a)"), "{text}");
    assert_eq!(on.with_tables(text).execute("DESCRIBE t").unwrap().remove(0), shown);
}

#[rstest]
fn an_index_that_cannot_be_is_refused(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE t (k LONG, a STRING, d JSON, PRIMARY KEY (k)); CREATE INDEX i ON t (a)",
    );
    for (sql, kind, named) in [
        ("CREATE INDEX i ON t (a)", ErrorKind::Conflict, "i already"),
        ("CREATE INDEX j ON t (b)", ErrorKind::Invalid, "no column 'b'"),
        ("CREATE INDEX j ON t (a, a)", ErrorKind::Invalid, "twice"),
        ("CREATE INDEX j ON t (d)", ErrorKind::Invalid, "JSON"),
        ("CREATE INDEX j ON t (a.x)", ErrorKind::Invalid, "not of type JSON"),
        ("CREATE INDEX j ON u (a)", ErrorKind::NotFound, "no table u"),
        ("CREATE UNIQUE INDEX j ON t (a)", ErrorKind::Invalid, "UNIQUE"),
        ("DROP INDEX j ON t", ErrorKind::NotFound, "its indexes are i"),
        ("ALTER TABLE t DROP COLUMN a", ErrorKind::Conflict, "index i"),
    ] {
        assert_error(failure(store.execute(sql)), kind, &[named]);
    }
    assert_error(
        failure(store.table("t").unwrap().index("j")),
        ErrorKind::NotFound,
        &["no index j"],
    );
}

#[rstest]
fn nothing_is_left_of_what_was_dropped(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = cars(on);
    let before = store.engine().spaces().unwrap().len();
    store.execute("CREATE INDEX second ON cars (note); DROP INDEX by_colour ON cars").unwrap();
    assert_eq!(store.engine().spaces().unwrap().len(), before);
    store.execute("DROP TABLE cars").unwrap();
    assert_eq!(store.engine().spaces().unwrap().len(), before - 2);
    store.reopen();
    assert_eq!(store.engine().spaces().unwrap().len(), before - 2);
}

#[rstest]
fn dropping_a_child_table_drops_its_indexes(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE t (k LONG, PRIMARY KEY (k)); CREATE TABLE t.c (n LONG, x LONG, PRIMARY KEY (n))");
    let before = store.engine().spaces().unwrap().len();
    store.execute("CREATE INDEX i ON t.c (x); DROP TABLE t.c").unwrap();
    assert_eq!(store.engine().spaces().unwrap().len(), before);
}

#[rstest]
fn an_index_is_made_from_a_definition(#[values(Memory, RocksDb)] on: Backend) {
    let store = cars(on);
    let definition = IndexDefinition {
        name: "by_year".into(),
        table: "cars".into(),
        columns: vec![IndexColumn::new("year")],
    };
    assert!(store.create_index(&definition, &CreateIndexOptions::default()).unwrap());
    let again = CreateIndexOptions { if_not_exists: true, ..Default::default() };
    assert!(!store.create_index(&definition, &again).unwrap());
    assert!(store.drop_index("cars", "by_year", false).unwrap());
}

/// How many red cars an index gives; nothing where it is being built or was dropped.
fn count_red(index: &Index) -> Option<usize> {
    let read = || -> tonnage::Result<usize> {
        let red = index.scan(&IndexRange::prefix(["red"]), &IndexScanOptions::default())?;
        red.map(|batch| batch.map(|batch| batch.rows.num_rows())).sum()
    };
    match read() {
        Ok(count) => Some(count),
        Err(error) => {
            let kinds = [ErrorKind::NotFound, ErrorKind::Unavailable];
            assert!(kinds.contains(&error.kind()), "{error}");
            None
        }
    }
}

/// Reads by handles from before, while the index is dropped and created again and rows are written.
#[rstest]
fn an_index_that_comes_and_goes_misses_no_row(#[values(Memory, RocksDb)] on: Backend) {
    const ROUNDS: usize = 40;
    let store = cars(on);
    let (acknowledged, is_over) = (AtomicI64::new(0), AtomicBool::new(false));
    let put_all = |store: &Store| {
        let cars = store.table("cars").unwrap();
        for plate in (0..).take_while(|_| !is_over.load(Ordering::SeqCst)) {
            cars.put(&car(plate, "red", 2001), &WriteOptions::default()).unwrap();
            acknowledged.store(plate + 1, Ordering::SeqCst);
            std::thread::sleep(Duration::from_micros(100));
        }
    };
    let read_all = |store: &Store| {
        let mut answers = 0;
        while !is_over.load(Ordering::SeqCst) {
            let Ok(index) = store.table("cars").unwrap().index("by_colour") else { continue };
            while !is_over.load(Ordering::SeqCst) {
                let least = acknowledged.load(Ordering::SeqCst) as usize;
                let Some(count) = count_red(&index) else { break };
                assert!(count >= least, "{count} of {least} rows");
                answers += 1;
            }
        }
        assert!(answers > 0);
    };
    std::thread::scope(|scope| {
        scope.spawn(|| put_all(&store));
        scope.spawn(|| read_all(&store));
        for _ in 0..ROUNDS {
            store.execute("DROP INDEX by_colour ON cars").unwrap();
            store.execute("CREATE INDEX by_colour ON cars (colour, year)").unwrap();
            std::thread::sleep(Duration::from_millis(20));
        }
        is_over.store(true, Ordering::SeqCst);
    });
}
