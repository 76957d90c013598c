//! What entries may be, and what becomes of those that do not fit.

use std::sync::Arc;

use rstest::rstest;
use tonnage::arrow::array::{ArrayRef, Int32Array, Int64Array, RecordBatch, StringArray};
use tonnage::{
    BulkPutOptions, EntryBatch, EntryStream, Key, Pairs, Payload, Result, Row, UnreadEntry, Value,
    record_batch_stream, row_stream,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::{Failed, Recorder};
use crate::common::shop::{self, image, phone, rows_of};
use crate::common::{TestStore, all_rows, row};

/// Batches that are given as they are.
struct Batches(std::vec::IntoIter<EntryBatch>);

impl EntryStream for Batches {
    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        Ok(self.0.next())
    }
}

fn batches(batches: Vec<EntryBatch>) -> Box<dyn EntryStream> {
    Box::new(Batches(batches.into_iter()))
}

/// Loads one stream and gives what failed in it.
fn failures(store: &TestStore, stream: Box<dyn EntryStream>) -> Vec<Failed> {
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    let report = store.bulk_put(vec![stream], &options).unwrap();
    let total = report.total;
    assert_eq!(total.read, total.inserted + total.existed + total.failed);
    assert_eq!(total.failed as usize, recorder.failed().len());
    assert!(report.streams[0].completed);
    recorder.failed()
}

#[rstest]
fn one_stream_holds_rows_of_several_tables_parents_with_children_and_pairs(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::empty(on);
    store.execute("CREATE TABLE makers (name STRING, PRIMARY KEY (name))").unwrap();
    let rows =
        |table: &str, rows: Vec<Row>| EntryBatch::from(Payload::Rows { table: table.into(), rows });
    let mut pairs = Pairs::new();
    pairs.push(&"/greeting/-/en".parse::<Key>().unwrap(), b"hello").unwrap();
    let stream = batches(vec![
        rows("phones", vec![phone("Nokia", 100, 1)]),
        rows("phones.images", vec![image("Nokia", 100, 1, 1), image("Nokia", 100, 1, 2)]),
        rows("makers", vec![row! { "name" => "Nokia" }]),
        EntryBatch::pairs(pairs),
        rows("phones", vec![phone("Nokia", 100, 2)]),
    ]);
    let report = store.bulk_put(vec![stream], &BulkPutOptions::default()).unwrap();

    assert_eq!((report.total.read, report.total.inserted), (6, 6));
    assert_eq!(all_rows(&store, "phones"), [phone("Nokia", 100, 1), phone("Nokia", 100, 2)]);
    assert_eq!(
        all_rows(&store, "phones.images"),
        [image("Nokia", 100, 1, 1), image("Nokia", 100, 1, 2)]
    );
    assert_eq!(all_rows(&store, "makers").len(), 1);
    assert_eq!(
        store.kv().get(&"/greeting/-/en".parse().unwrap()).unwrap().unwrap().value,
        b"hello"
    );
}

#[rstest]
fn rows_of_parents_and_children_may_alternate(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    let rows = (0..100).flat_map(|id| {
        [
            ("phones", phone("Apple", 1, id)),
            ("phones.images", image("Apple", 1, id, 1)),
            ("phones.images", image("Apple", 1, id, 2)),
        ]
    });
    let rows: Vec<Result<(Arc<str>, Row)>> =
        rows.map(|(table, row)| Ok((table.into(), row))).collect();
    let report =
        store.bulk_put(vec![row_stream("mixed", rows)], &BulkPutOptions::default()).unwrap();
    assert_eq!(report.total.inserted, 300);
    assert_eq!(store.table("phones").unwrap().count().unwrap(), 100);
    assert_eq!(store.table("phones.images").unwrap().count().unwrap(), 200);
}

#[rstest]
fn a_row_without_a_key_column_is_reported_and_the_load_goes_on(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = shop::empty(on);
    let keyless = row! { "maker" => "Nokia", "id" => 2_i64 };
    let failed =
        failures(&store, rows_of("phones", [phone("Nokia", 1, 1), keyless, phone("Nokia", 3, 3)]));
    assert_eq!((failed.len(), failed[0].position), (1, 1));
    assert!(failed[0].reason.contains("price"), "{}", failed[0].reason);
    assert_eq!(all_rows(&store, "phones"), [phone("Nokia", 1, 1), phone("Nokia", 3, 3)]);
}

#[rstest]
#[case::null_in_the_key(row! { "id" => Value::Null, "size" => 1 }, &["id", "NULL"])]
#[case::null_where_none_may_be(row! { "id" => 5, "size" => Value::Null }, &["size", "NULL"])]
#[case::unknown_column(row! { "id" => 5, "size" => 1, "colour" => "red" }, &["colour", "items"])]
#[case::wrong_type(row! { "id" => 5, "size" => true }, &["size", "BOOLEAN", "INTEGER"])]
#[case::text_that_is_no_number(row! { "id" => 5, "size" => "large" }, &["size", "large"])]
#[case::out_of_range(row! { "id" => 5, "size" => 3_000_000_000_i64 }, &["size", "3000000000", "2147483647"])]
#[case::key_out_of_range(row! { "id" => 3_000_000_000_i64, "size" => 1 }, &["id", "3000000000"])]
fn a_row_that_does_not_fit_is_reported_and_the_load_goes_on(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] bad: Row,
    #[case] named: &[&str],
) {
    let store =
        on.with_tables("CREATE TABLE items (id INTEGER, size INTEGER NOT NULL, PRIMARY KEY (id))");
    let good = |id: i32| row! { "id" => id, "size" => 1 };
    let failed = failures(&store, rows_of("items", [good(1), bad, good(2)]));
    assert_eq!((failed.len(), failed[0].position), (1, 1));
    let told = format!("{:?} {}", failed[0].column, failed[0].reason);
    named.iter().for_each(|name| assert!(told.contains(name), "'{name}' is not named in: {told}"));
    assert_eq!(all_rows(&store, "items"), [good(1), good(2)]);
}

fn columns(columns: Vec<(&str, ArrayRef)>) -> RecordBatch {
    RecordBatch::try_from_iter_with_nullable(
        columns.into_iter().map(|(name, array)| (name, array, true)),
    )
    .unwrap()
}

#[rstest]
fn bad_cells_of_a_record_batch_are_reported_with_row_and_column(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store =
        on.with_tables("CREATE TABLE items (id INTEGER, size INTEGER NOT NULL, PRIMARY KEY (id))");
    let batch = columns(vec![
        (
            "id",
            Arc::new(Int64Array::from(vec![Some(1), Some(3_000_000_000), None, Some(4), Some(5)])),
        ),
        (
            "size",
            Arc::new(StringArray::from(vec![
                Some("10"),
                Some("20"),
                Some("30"),
                Some("many"),
                Some("50"),
            ])),
        ),
    ]);
    let before = columns(vec![
        ("ID", Arc::new(Int32Array::from(vec![7]))),
        ("Size", Arc::new(Int32Array::from(vec![70]))),
    ]);
    let failed =
        failures(&store, record_batch_stream("items", "items", vec![Ok(before), Ok(batch)]));
    let found: Vec<_> =
        failed.iter().map(|failed| (failed.position, failed.column.as_deref())).collect();
    assert_eq!(found, [(2, Some("id")), (3, Some("id")), (4, Some("size"))]);
    let item = |id: i32, size: i32| row! { "id" => id, "size" => size };
    assert_eq!(all_rows(&store, "items"), [item(1, 10), item(5, 50), item(7, 70)]);
}

#[rstest]
fn a_batch_that_cannot_fit_at_all_is_reported_row_by_row(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE items (id INTEGER, size INTEGER, PRIMARY KEY (id))");
    let stranger = columns(vec![
        ("id", Arc::new(Int32Array::from(vec![1, 2]))),
        ("colour", Arc::new(Int32Array::from(vec![1, 2]))),
    ]);
    let good = columns(vec![("id", Arc::new(Int32Array::from(vec![3])))]);
    let failed =
        failures(&store, record_batch_stream("items", "items", vec![Ok(stranger), Ok(good)]));
    assert_eq!(failed.iter().map(|failed| failed.position).collect::<Vec<_>>(), [0, 1]);
    assert!(failed.iter().all(|failed| failed.reason.contains("colour")));
    assert_eq!(all_rows(&store, "items"), [row! { "id" => 3, "size" => Value::Null }]);
}

#[rstest]
fn rows_of_a_table_that_does_not_exist_are_reported(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables("CREATE TABLE items (id INTEGER, PRIMARY KEY (id))");
    let rows = ["items", "itms", "items"].into_iter().enumerate();
    let rows: Vec<Result<(Arc<str>, Row)>> =
        rows.map(|(number, table)| Ok((table.into(), row! { "id" => number as i32 }))).collect();
    let failed = failures(&store, row_stream("mixed", rows));
    assert_eq!((failed.len(), failed[0].position), (1, 1));
    assert!(failed[0].reason.contains("itms"), "{}", failed[0].reason);
    assert_eq!(store.table("items").unwrap().count().unwrap(), 2);
}

#[rstest]
fn entries_that_the_source_could_not_read_are_reported_at_their_places(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables("CREATE TABLE items (id INTEGER, PRIMARY KEY (id))");
    let rows = vec![row! { "id" => 1 }, row! { "id" => Value::Null }, row! { "id" => 3 }];
    let unread = |position, reason: &str| UnreadEntry {
        position,
        column: Some("id".into()),
        reason: reason.into(),
    };
    let first = EntryBatch {
        positions: Some(vec![0, 2, 5]),
        unread: vec![unread(1, "torn"), unread(6, "torn too")],
        ..Payload::Rows { table: "items".into(), rows }.into()
    };
    let second =
        Payload::Rows { table: "items".into(), rows: vec![row! { "id" => Value::Null }] }.into();
    let failed = failures(&store, batches(vec![first, second]));
    assert_eq!(failed.iter().map(|failed| failed.position).collect::<Vec<_>>(), [1, 2, 6, 7]);
    assert_eq!(failed[0].reason, "torn");
    assert_eq!(store.table("items").unwrap().count().unwrap(), 2);
}

#[rstest]
fn a_key_over_the_limit_is_reported_and_the_rows_around_it_are_stored(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.with_tables("CREATE TABLE names (name STRING, PRIMARY KEY (name))");
    let name = |name: &str| row! { "name" => name };
    let long = "x".repeat(100_000);
    let failed = failures(&store, rows_of("names", [name("a"), name(&long), name("b")]));
    assert_eq!((failed.len(), failed[0].position), (1, 1));
    let batch = columns(vec![("name", Arc::new(StringArray::from(vec!["c", &long, "d"])))]);
    let failed = failures(&store, record_batch_stream("names", "names", vec![Ok(batch)]));
    assert_eq!((failed.len(), failed[0].position), (1, 1));
    assert!(failed[0].reason.contains("limit"), "{}", failed[0].reason);
    assert_eq!(all_rows(&store, "names"), [name("a"), name("b"), name("c"), name("d")]);
}

#[rstest]
fn a_pair_over_the_limit_is_reported_and_the_pairs_around_it_are_stored(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.open();
    let mut pairs = Pairs::new();
    for major in ["a", &"x".repeat(100_000), "b"] {
        pairs.push(&Key::of_major([major]), b"value").unwrap();
    }
    let failed = failures(&store, batches(vec![EntryBatch::pairs(pairs)]));
    assert_eq!((failed.len(), failed[0].position), (1, 1));
    assert_eq!(store.kv().count().unwrap(), 2);
}

#[rstest]
fn defaults_and_nulls_fill_what_a_row_leaves_out(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.with_tables(
        "CREATE TABLE items (id INTEGER, size INTEGER DEFAULT 7, note STRING, PRIMARY KEY (id))",
    );
    let whole = |id: i32| row! { "id" => id, "size" => 7, "note" => Value::Null };
    let batch = columns(vec![("id", Arc::new(Int32Array::from(vec![2])))]);
    assert_eq!(failures(&store, rows_of("items", [row! { "id" => 1 }])), []);
    assert_eq!(failures(&store, record_batch_stream("items", "items", vec![Ok(batch)])), []);
    assert_eq!(all_rows(&store, "items"), [whole(1), whole(2)]);
}

/// Rows given one by one used to fail without the column, and without a way to the entry itself.
#[rstest]
fn a_failed_entry_comes_with_table_column_and_all_of_itself(
    #[values(Memory, RocksDb)] on: Backend,
) {
    /// Table, column and row of a failed entry.
    type Failed = (Option<String>, Option<String>, Option<Row>);
    #[derive(Default)]
    struct Keep(std::sync::Mutex<Vec<Failed>>);
    impl tonnage::BulkPutCallbacks for Keep {
        fn failed(&self, failed: &tonnage::FailedEntry<'_>) -> Result<()> {
            let entry = failed.entry.expect("its stream gave it");
            assert!(entry.pair().is_none() && entry.table() == failed.table);
            let told =
                (failed.table.map(str::to_owned), failed.column.map(str::to_owned), entry.row()?);
            self.0.lock().unwrap().push(told);
            Ok(())
        }
    }
    let store =
        on.with_tables("CREATE TABLE items (id INTEGER, size INTEGER NOT NULL, PRIMARY KEY (id))");
    let keep = Arc::new(Keep::default());
    let options = BulkPutOptions {
        callbacks: keep.clone(),
        stream_parallelism: Some(1),
        ..Default::default()
    };
    let bad = row! { "id" => 2, "size" => "many" };
    let batch = columns(vec![
        ("id", Arc::new(Int32Array::from(vec![3, 4]))),
        ("size", Arc::new(StringArray::from(vec![Some("1"), Some("few")]))),
    ]);
    let by_row = rows_of("items", [row! { "id" => 1, "size" => 1 }, bad.clone()]);
    store.bulk_put(vec![by_row, record_batch_stream("b", "items", [Ok(batch)])], &options).unwrap();
    let told = |row: Row| (Some("items".to_owned()), Some("size".to_owned()), Some(row));
    assert_eq!(*keep.0.lock().unwrap(), [told(bad), told(row! { "id" => 4, "size" => "few" })]);
}

/// Which of two entries with one key is the later one hangs on their positions.
#[rstest]
#[case::descending(vec![vec![1, 0]])]
#[case::equal(vec![vec![1, 1]])]
#[case::before_the_batch_before(vec![vec![5, 6], vec![6, 7]])]
#[case::too_few(vec![vec![0]])]
fn positions_that_do_not_ascend_are_refused(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] positions: Vec<Vec<u64>>,
) {
    let store = on.with_tables("CREATE TABLE items (id INTEGER, PRIMARY KEY (id))");
    let rows = || vec![row! { "id" => 1 }, row! { "id" => 2 }];
    let batch = |positions: Vec<u64>| EntryBatch {
        positions: Some(positions),
        ..Payload::Rows { table: "items".into(), rows: rows() }.into()
    };
    let stream = batches(positions.into_iter().map(batch).collect());
    let stopped = crate::common::failure(store.bulk_put(vec![stream], &BulkPutOptions::default()));
    crate::common::assert_error(stopped, tonnage::ErrorKind::Invalid, &["stream 0", "positions"]);
}

/// Arrow takes any digits for a decimal number of the right type; the row could be stored and never
/// be put back.
#[rstest]
fn a_number_with_more_digits_than_its_column_is_reported(#[values(Memory, RocksDb)] on: Backend) {
    let store =
        on.with_tables("CREATE TABLE items (id INTEGER, price NUMBER(5, 2), PRIMARY KEY (id))");
    let prices = tonnage::arrow::array::Decimal128Array::from(vec![12_345, 100_000, -99_999])
        .with_precision_and_scale(5, 2)
        .unwrap();
    let batch = columns(vec![
        ("id", Arc::new(Int32Array::from(vec![1, 2, 3]))),
        ("price", Arc::new(prices)),
    ]);
    let failed = failures(&store, record_batch_stream("items", "items", vec![Ok(batch)]));
    assert_eq!(
        failed.iter().map(|failed| (failed.position, failed.column.as_deref())).collect::<Vec<_>>(),
        [(1, Some("price"))]
    );
    assert_eq!(store.table("items").unwrap().count().unwrap(), 2);
}
