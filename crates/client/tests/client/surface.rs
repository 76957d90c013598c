//! The surface that a store of this process and one on a server share. Each test runs on both,
//! through a [`Connection`].

use std::sync::Arc;

use tonnage::arrow::array::{ArrayRef, AsArray, Int64Array, RecordBatch};
use tonnage::arrow::datatypes::Int64Type;
use tonnage::geo::Region;
use tonnage::{
    BulkGetOptions, BulkKey, BulkPutOptions, Condition, Depth, Direction, Durability, ErrorKind,
    FieldRange, GetOptions, IndexScanOptions, Key, KeySource, LobOptions, MultiGetRequest,
    OnExisting, PairGetOptions, Pairs, Row, RowOperation, Store, TableScanOptions, Value,
    WriteOptions, WriteResult, row_stream,
};
use tonnage_client::{CallResult, Connection};

use crate::support::Running;

/// Runs each test on both, under its name.
macro_rules! on_both {
    ($($test:ident)*) => {
        mod embedded {
            $(
                #[test]
                fn $test() {
                    super::$test(&super::Store::open("memory:").unwrap().into());
                }
            )*
        }

        mod remote {
            $(
                #[test]
                fn $test() {
                    let server = super::Running::empty();
                    super::$test(&server.client().into());
                }
            )*
        }
    };
}

on_both! {
    a_row_is_stored_under_each_condition
    a_row_is_updated_in_the_columns_that_are_named
    a_row_is_deleted_under_each_condition
    a_row_is_got_as_fresh_as_asked
    a_row_that_does_not_fit_names_its_column
    operations_are_carried_out_together_or_not_at_all
    tables_are_made_listed_and_dropped
    a_table_that_is_missing_is_told
    keys_of_every_form_find_their_rows
    keys_of_another_table_and_strange_columns_are_refused
    a_key_that_would_be_rounded_has_no_row
    no_keys_find_no_rows_but_their_columns
    partial_keys_take_ranges_limits_and_directions
    rows_tell_their_versions_and_the_keys_that_they_answer
    rows_of_children_come_in_the_order_of_the_keys
    regions_give_their_rows_with_the_place_of_each
    scans_take_columns_limits_and_parts
    many_tables_are_put_in_one_call
    rows_that_do_not_fit_are_in_the_report_of_a_multi_put
    a_multi_put_with_a_missing_table_stores_nothing
    many_tables_are_read_in_one_call
    requests_of_a_multi_get_have_options_of_their_own
    streams_are_put_and_counted
    a_pipeline_answers_in_the_order_of_the_calls
    pairs_are_stored_under_each_condition
    pairs_are_read_below_keys_and_all_together
    pairs_below_a_key_are_deleted
    large_objects_are_written_appended_and_deleted
    figures_and_checks_tell_what_is_stored
}

fn now() -> WriteOptions {
    WriteOptions::default()
}

fn call(ship: i64, at: i64) -> Row {
    Row::new().with("ship", ship).with("at", at)
}

fn with_port(ship: i64, at: i64) -> Row {
    call(ship, at).with("port", format!("port {at}"))
}

/// A call whose key fits no column.
fn strange_call() -> Row {
    Row::new().with("ship", 1_i64).with("at", true)
}

/// Calls of ships: so many of each.
fn filled(store: &Connection, ships: i64, each: i64) {
    let ddl = "CREATE TABLE calls (ship LONG, at LONG, port STRING, PRIMARY KEY (SHARD(ship), at))";
    store.execute(ddl).unwrap();
    let rows = (0..ships).flat_map(|ship| (0..each).map(move |at| with_port(ship, at)));
    let rows: Vec<Row> = rows.collect();
    store.multi_put([("calls", rows)], &BulkPutOptions::default()).unwrap();
}

fn rows_of(found: impl IntoIterator<Item = RecordBatch>) -> Vec<Row> {
    let batches = found.into_iter().flat_map(|batch| {
        (0..batch.num_rows()).map(|row| Row::from_batch(&batch, row).unwrap()).collect::<Vec<_>>()
    });
    batches.collect()
}

fn get(store: &Connection, keys: KeySource, options: &BulkGetOptions) -> Vec<Row> {
    let found = store.table("calls").unwrap().bulk_get(keys, options).unwrap();
    rows_of(found.map(|batch| batch.unwrap().rows))
}

fn forward() -> BulkGetOptions {
    BulkGetOptions { direction: Direction::Forward, ..BulkGetOptions::default() }
}

fn a_row_is_stored_under_each_condition(store: &Connection) {
    filled(store, 0, 0);
    let table = store.table("calls").unwrap();
    let missing = table.put_if_present(&with_port(1, 1), &now()).unwrap();
    assert_eq!(missing, WriteResult::ConditionFailed { operation: 0, current: None });
    let first = table.put_if_absent(&with_port(1, 1), &now()).unwrap().version().unwrap();
    let kept = table.put_if_absent(&with_port(1, 1), &now()).unwrap();
    assert_eq!(kept, WriteResult::ConditionFailed { operation: 0, current: Some(first) });
    assert!(table.put_if_present(&with_port(1, 1), &now()).unwrap().is_stored());
    assert!(!table.put_if_version(&with_port(1, 1), first, &now()).unwrap().is_stored());
    let last = table.put(&with_port(1, 1), &now()).unwrap();
    assert!(table.put_if_version(&with_port(1, 1), last, &now()).unwrap().is_stored());
    let always = table.put_if(&with_port(1, 2), Condition::Always, &now()).unwrap();
    assert!(always.is_stored());
    assert_eq!(table.count().unwrap(), 2);
}

fn a_row_is_updated_in_the_columns_that_are_named(store: &Connection) {
    filled(store, 0, 0);
    let table = store.table("calls").unwrap();
    let missing = WriteResult::ConditionFailed { operation: 0, current: None };
    assert_eq!(table.update(&with_port(1, 1), &now()).unwrap(), missing);
    let first = table.put(&with_port(1, 1), &now()).unwrap();
    // The key alone changes no column.
    let second = table.update(&call(1, 1), &now()).unwrap().version().unwrap();
    assert!(second > first);
    assert_eq!(
        table.get(&call(1, 1)).unwrap().unwrap().row.get("port"),
        with_port(1, 1).get("port")
    );
    let stale = Condition::IfVersion(first);
    let other = table.update_if(&call(1, 1).with("port", "Oslo"), stale, &now()).unwrap();
    assert_eq!(other, WriteResult::ConditionFailed { operation: 0, current: Some(second) });
    let fresh = Condition::IfVersion(second);
    assert!(table.update_if(&call(1, 1).with("port", "Oslo"), fresh, &now()).unwrap().is_stored());
    assert_eq!(table.get(&call(1, 1)).unwrap().unwrap().row.get("port"), Some(&"Oslo".into()));
    let absent = table.update_if(&call(1, 1), Condition::IfAbsent, &now()).unwrap_err();
    assert_eq!(absent.kind(), ErrorKind::Invalid);
    let strange = table.update(&call(1, 1).with("harbour", "Oslo"), &now()).unwrap_err();
    assert!(strange.message().contains("harbour"), "{strange}");
}

fn a_row_is_deleted_under_each_condition(store: &Connection) {
    filled(store, 1, 3);
    let table = store.table("calls").unwrap();
    let version = table.get(&call(0, 0)).unwrap().unwrap().version;
    assert!(!table.delete_if_version(&call(0, 0), version + 1, &now()).unwrap().is_stored());
    assert!(table.delete_if_version(&call(0, 0), version, &now()).unwrap().is_stored());
    assert!(table.delete(&call(0, 1), &now()).unwrap());
    assert!(!table.delete(&call(0, 1), &now()).unwrap());
    assert!(table.delete_if(&call(0, 2), Condition::IfPresent, &now()).unwrap().is_stored());
    assert_eq!(table.count().unwrap(), 0);
}

fn a_row_is_got_as_fresh_as_asked(store: &Connection) {
    filled(store, 1, 1);
    let table = store.table("calls").unwrap();
    let options = GetOptions {
        consistency: Some(tonnage::Consistency::None),
        timeout: Some(std::time::Duration::from_secs(60)),
    };
    let found = table.get_with(&call(0, 0), &options).unwrap().unwrap();
    assert_eq!((found.row, found.expires_at_ms), (with_port(0, 0), 0));
    assert_eq!(table.get(&call(0, 9)).unwrap(), None);
    let partial = table.get(&Row::new().with("ship", 0_i64)).unwrap_err();
    assert!(partial.kind() == ErrorKind::Invalid && partial.message().contains("at"), "{partial}");
}

fn a_row_that_does_not_fit_names_its_column(store: &Connection) {
    filled(store, 0, 0);
    let table = store.table("calls").unwrap();
    for (row, column) in [
        (strange_call(), "at"),
        (call(1, 1).with("tons", 1_i64), "tons"),
        (Row::new().with("ship", 1_i64), "at"),
    ] {
        let error = table.put(&row, &now()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.message().contains(column), "{error}");
    }
    assert_eq!(table.count().unwrap(), 0);
}

fn operations_are_carried_out_together_or_not_at_all(store: &Connection) {
    filled(store, 0, 0);
    let put = |at| RowOperation::put("calls", with_port(1, at)).when(Condition::IfAbsent);
    assert!(store.atomic_write(&[put(1), put(2)], &now()).unwrap().is_stored());
    let refused = store.atomic_write(&[put(3), put(2)], &now()).unwrap();
    assert!(matches!(refused, WriteResult::ConditionFailed { operation: 1, .. }), "{refused:?}");
    let swap = [RowOperation::delete("calls", call(1, 1)), put(4)];
    assert!(store.atomic_write(&swap, &now()).unwrap().is_stored());
    let mut left = get(store, KeySource::keys([Row::new().with("ship", 1_i64)]), &forward());
    left.sort_by_key(|row| format!("{:?}", row.get("at")));
    assert_eq!(left, [with_port(1, 2), with_port(1, 4)]);
    let apart = [put(9), RowOperation::put("calls", with_port(2, 9))];
    assert_eq!(store.atomic_write(&apart, &now()).unwrap_err().kind(), ErrorKind::Invalid);
}

fn tables_are_made_listed_and_dropped(store: &Connection) {
    filled(store, 0, 0);
    let parsed = tonnage::parse_ddl("CREATE TABLE calls.crew (n LONG, PRIMARY KEY (n))").unwrap();
    let [tonnage::Statement::CreateTable { definition, .. }] = &parsed[..] else {
        panic!("{parsed:?}");
    };
    store.create_table(definition, false).unwrap();
    assert_eq!(store.create_table(definition, false).unwrap_err().kind(), ErrorKind::Conflict);
    store.create_table(definition, true).unwrap();
    let mut paths = store.table_paths().unwrap();
    paths.sort();
    assert_eq!(paths, ["calls", "calls.crew"]);
    let crew = store.table("calls.crew").unwrap();
    let keys: Vec<_> = crew.schema().key_columns().map(|column| column.name.as_str()).collect();
    assert_eq!((crew.path(), keys), ("calls.crew", vec!["ship", "at", "n"]));
    store.drop_table("calls.crew", false).unwrap();
    assert_eq!(store.drop_table("calls.crew", false).unwrap_err().kind(), ErrorKind::NotFound);
    store.drop_table("calls.crew", true).unwrap();
}

fn a_table_that_is_missing_is_told(store: &Connection) {
    let error = store.table("nowhere").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    assert!(error.message().contains("nowhere"), "{error}");
}

fn keys_of_every_form_find_their_rows(store: &Connection) {
    filled(store, 3, 3);
    let values = |ship: i64, at: i64| vec![Value::Long(ship), Value::Long(at)];
    let column = |keys: [i64; 2]| Arc::new(Int64Array::from(keys.to_vec())) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("ship", column([0, 2])), ("at", column([1, 2]))]);
    let expected = [with_port(0, 1), with_port(2, 2)];
    for keys in [
        KeySource::keys([values(0, 1), values(2, 2)]),
        KeySource::keys([call(0, 1), call(2, 2)]),
        KeySource::keys([BulkKey::OfTable("calls".into(), call(0, 1)), call(2, 2).into()]),
        KeySource::try_keys([Ok(call(0, 1).into()), Ok(call(2, 2).into())]),
        KeySource::from(batch.unwrap()),
    ] {
        assert_eq!(get(store, keys, &forward()), expected);
    }
    // One alone, whole or not, and one that no row has.
    assert_eq!(get(store, KeySource::keys([call(1, 1)]), &forward()), [with_port(1, 1)]);
    let partial = KeySource::keys([Row::new().with("ship", 1_i64)]);
    assert_eq!(get(store, partial, &forward()).len(), 3);
    assert_eq!(get(store, KeySource::keys([call(1, 7)]), &forward()), []);
    let (sender, pushed) = KeySource::channel();
    let table = store.table("calls").unwrap();
    let mut found = table.bulk_get(pushed, &forward()).unwrap();
    sender.push(call(2, 0)).unwrap();
    // The answer comes while more keys may come.
    assert_eq!(rows_of([found.next().unwrap().unwrap().rows]), [with_port(2, 0)]);
    drop(sender);
    assert!(found.next().is_none());
}

fn keys_of_another_table_and_strange_columns_are_refused(store: &Connection) {
    filled(store, 1, 1);
    let table = store.table("calls").unwrap();
    let long = vec![Value::Long(0), Value::Long(0), Value::Long(0)];
    for key in [
        BulkKey::OfTable("ships".into(), call(0, 0)),
        call(0, 0).with("tons", 1_i64).into(),
        BulkKey::Values(long),
    ] {
        let found = table.bulk_get(KeySource::keys([key.clone()]), &forward());
        let error = found.and_then(|found| found.collect::<tonnage::Result<Vec<_>>>());
        assert_eq!(error.unwrap_err().kind(), ErrorKind::Invalid, "{key:?}");
    }
}

fn a_key_that_would_be_rounded_has_no_row(store: &Connection) {
    store.execute("CREATE TABLE fixes (at TIMESTAMP(0), PRIMARY KEY (at))").unwrap();
    let fix = |second: &str| Row::new().with("at", format!("2022-01-03T06:00:{second}"));
    let table = store.table("fixes").unwrap();
    table.put(&fix("01"), &now()).unwrap();
    assert_eq!(table.get(&fix("01.5")).unwrap(), None);
    for keys in [vec![fix("00.9"), fix("01")], vec![fix("01")]] {
        let options = BulkGetOptions { origins: true, ..forward() };
        let last = keys.len() as u64 - 1;
        let found = table.bulk_get(KeySource::keys(keys), &options).unwrap();
        let found: Vec<_> = found.map(|batch| batch.unwrap()).collect();
        let origins: Vec<_> = found.iter().flat_map(|batch| &batch.origins).collect();
        assert_eq!(origins.iter().map(|origin| origin.position).collect::<Vec<_>>(), [last]);
    }
}

fn no_keys_find_no_rows_but_their_columns(store: &Connection) {
    filled(store, 1, 1);
    let columns = Some(vec!["port".to_owned(), "ship".to_owned()]);
    let options = BulkGetOptions { columns, ..forward() };
    let none = KeySource::from(Vec::<Row>::new());
    let found = store.table("calls").unwrap().bulk_get(none, &options).unwrap();
    let names: Vec<_> = found.schema().fields().iter().map(|field| field.name().clone()).collect();
    assert_eq!(names, ["port", "ship"]);
    assert_eq!(found.count(), 0);
}

fn partial_keys_take_ranges_limits_and_directions(store: &Connection) {
    filled(store, 3, 10);
    let ships = || KeySource::keys([2, 0].map(|ship: i64| Row::new().with("ship", ship)));
    let options = BulkGetOptions {
        direction: Direction::Reverse,
        range: Some(FieldRange::of("at").to(5_i64)),
        limit_per_key: Some(2),
        ..BulkGetOptions::default()
    };
    let expected = [(2, 5), (2, 4), (0, 5), (0, 4)].map(|(ship, at)| with_port(ship, at));
    assert_eq!(get(store, ships(), &options), expected);
    let options = BulkGetOptions { limit: Some(3), keys_only: true, ..options };
    let expected = [(2, 5), (2, 4), (0, 5)].map(|(ship, at)| call(ship, at));
    assert_eq!(get(store, ships(), &options), expected);
    let zero = BulkGetOptions { limit: Some(0), ..BulkGetOptions::default() };
    let refused = store.table("calls").unwrap().bulk_get(ships(), &zero);
    let refused = refused.and_then(|found| found.collect::<tonnage::Result<Vec<_>>>());
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::Invalid);
}

fn rows_tell_their_versions_and_the_keys_that_they_answer(store: &Connection) {
    filled(store, 2, 2);
    let table = store.table("calls").unwrap().with_versions();
    let version = |ship, at| table.get(&call(ship, at)).unwrap().unwrap().version;
    let options = BulkGetOptions { origins: true, ..forward() };
    let keys = KeySource::keys([call(1, 1), call(1, 9), call(0, 0)]);
    let (mut versions, mut positions) = (Vec::new(), Vec::new());
    for batch in table.bulk_get(keys, &options).unwrap() {
        let batch = batch.unwrap();
        assert_eq!(batch.rows.num_columns(), 3);
        assert!(batch.expiries_ms.iter().all(|expiry| *expiry == 0));
        versions.extend(batch.versions);
        positions.extend(batch.origins.iter().map(|origin| (origin.source, origin.position)));
    }
    assert_eq!(versions, [version(1, 1), version(0, 0)]);
    assert_eq!(positions, [(0, 0), (0, 2)]);
    // One key alone tells the same.
    let alone = table.bulk_get(KeySource::keys([call(1, 0)]), &forward()).unwrap();
    let alone: Vec<_> = alone.flat_map(|batch| batch.unwrap().versions).collect();
    assert_eq!(alone, [version(1, 0)]);
}

fn rows_of_children_come_in_the_order_of_the_keys(store: &Connection) {
    filled(store, 2, 2);
    store.execute("CREATE TABLE calls.crew (n LONG, PRIMARY KEY (n))").unwrap();
    let crew: Vec<Row> = (0..3).map(|n: i64| call(1, 0).with("n", n)).collect();
    store.multi_put([("calls.crew", crew)], &BulkPutOptions::default()).unwrap();
    let options = BulkGetOptions { relatives: vec!["calls.crew".into()], ..forward() };
    let keys = KeySource::keys([1, 0].map(|ship: i64| Row::new().with("ship", ship)));
    let found = store.table("calls").unwrap().bulk_get(keys, &options).unwrap();
    let paths: Vec<_> = found.schemas().iter().map(|(path, _)| path.to_string()).collect();
    assert_eq!(paths, ["calls", "calls.crew"]);
    let mut order = Vec::new();
    for interleaved in found.into_interleaved() {
        let interleaved = interleaved.unwrap();
        let tables = interleaved.order.iter().map(|batch| &interleaved.batches[*batch as usize]);
        order.extend(tables.map(|batch| batch.table.to_string()));
    }
    let (parent, child) = ("calls", "calls.crew");
    assert_eq!(order, [parent, child, child, child, parent, parent, parent]);
}

fn regions_give_their_rows_with_the_place_of_each(connection: &Connection) {
    let ddl = "CREATE TABLE buoys (id LONG, lon DOUBLE, lat DOUBLE, PRIMARY KEY (id)); CREATE INDEX by_place ON buoys (geo_cell(lon, lat))";
    connection.execute(ddl).unwrap();
    let buoys = connection.table("buoys").unwrap().with_versions();
    for lon in -180..=180_i64 {
        let buoy = Row::new().with("id", lon).with("lon", lon as f64).with("lat", 52.0);
        buoys.put(&buoy, &now()).unwrap();
    }
    let regions = || {
        let port = Region::rectangle(3.5, 51.0, 5.5, 53.0).unwrap();
        let circle = Region::circle([4.0, 52.0], 1_000.0).unwrap();
        vec![
            port.clone(),
            Region::between(178.5, 50.0, f64::INFINITY, 54.0),
            Region::polygon(&[vec![[4.5, 51.0], [9.5, 51.0], [4.5, 54.0]]]).unwrap(),
            Region::all([port.clone(), circle.clone()]),
            Region::any([circle, Region::rectangle(179.5, 50.0, -179.5, 54.0).unwrap()]),
        ]
    };
    let options = IndexScanOptions { columns: Some(vec!["id".into()]), ..Default::default() };
    let rows = buoys.bulk_get_within(regions(), &options).unwrap();
    assert_eq!(rows.schema().fields().len(), 1);
    let mut found = Vec::new();
    for batch in rows {
        let batch = batch.unwrap();
        assert_eq!(batch.versions.len(), batch.rows.num_rows());
        let ids = batch.rows.column(0).as_primitive::<Int64Type>().values().to_vec();
        found.extend(batch.origins.iter().map(|origin| origin.position).zip(ids));
    }
    found.sort_unstable();
    let expected = [
        (0, 4),
        (0, 5),
        (1, 179),
        (1, 180),
        (2, 5),
        (2, 6),
        (2, 7),
        (3, 4),
        (4, -180),
        (4, 4),
        (4, 180),
    ];
    assert_eq!(found, expected);
    let limited = IndexScanOptions { limit: Some(3), ..Default::default() };
    let count: usize = buoys
        .bulk_get_within(regions(), &limited)
        .unwrap()
        .map(|batch| batch.unwrap().rows.num_rows())
        .sum();
    assert_eq!(count, 3);
    let ordered = IndexScanOptions { direction: Direction::Forward, ..Default::default() };
    let refused = buoys.bulk_get_within(regions(), &ordered).err().unwrap();
    assert_eq!(refused.kind(), ErrorKind::Invalid, "{refused}");
}

fn scans_take_columns_limits_and_parts(store: &Connection) {
    filled(store, 5, 20);
    let table = store.table("calls").unwrap();
    let count = |options: &TableScanOptions| -> usize {
        table.scan(options).unwrap().map(|batch| batch.unwrap().rows.num_rows()).sum()
    };
    assert_eq!(count(&TableScanOptions::default()), 100);
    assert_eq!(count(&TableScanOptions { limit: Some(7), ..Default::default() }), 7);
    let each = TableScanOptions { limit_per_shard_key: Some(2), ..Default::default() };
    assert_eq!(count(&each), 10);
    let some = FieldRange::of("ship").from(1_i64).to(2_i64);
    assert_eq!(count(&TableScanOptions { range: Some(some), ..Default::default() }), 40);
    let keys = TableScanOptions { keys_only: true, ..Default::default() };
    assert_eq!(table.scan(&keys).unwrap().schema().fields().len(), 2);
    let parts = table.scan_parts(&TableScanOptions::default(), 3).unwrap();
    let rows = parts.into_iter().flatten().map(|batch| batch.unwrap().rows.num_rows());
    assert_eq!(rows.sum::<usize>(), 100);
}

fn many_tables_are_put_in_one_call(store: &Connection) {
    filled(store, 0, 0);
    store.execute("CREATE TABLE ships (id LONG, name STRING, PRIMARY KEY (id))").unwrap();
    let ship = |id: i64, name: &str| Row::new().with("id", id).with("name", name);
    let puts = [
        ("calls", vec![with_port(1, 1), with_port(1, 2)]),
        ("ships", vec![ship(1, "ARGO")]),
        ("calls", vec![with_port(1, 2), with_port(2, 1)]),
    ];
    let put = store.multi_put(puts, &BulkPutOptions::default()).unwrap();
    let counts = put.report.streams.iter().map(|stream| {
        (stream.name.as_str(), stream.counts.inserted, stream.counts.existed, stream.completed)
    });
    let total = put.report.total;
    assert_eq!((total.read, total.inserted, total.existed), (5, 4, 1));
    assert_eq!(counts.map(|(name, ..)| name).collect::<Vec<_>>(), ["calls", "ships", "calls"]);
    assert!(put.report.streams.iter().all(|stream| stream.completed) && put.failures.is_empty());
    let replace = BulkPutOptions { on_existing: OnExisting::Replace, ..Default::default() };
    store.multi_put([("ships", vec![ship(1, "PEQUOD")])], &replace).unwrap();
    let stored = store.table("ships").unwrap().get(&ship(1, "")).unwrap().unwrap();
    assert_eq!(stored.row, ship(1, "PEQUOD"));
}

fn rows_that_do_not_fit_are_in_the_report_of_a_multi_put(store: &Connection) {
    filled(store, 0, 0);
    store.execute("CREATE TABLE short (k STRING, PRIMARY KEY (k))").unwrap();
    let rows = vec![with_port(1, 1), strange_call(), with_port(1, 3)];
    // Only the store itself sees that a key is too long.
    let keys = ["a".to_owned(), "b".repeat(200_000), "c".to_owned()];
    let short: Vec<Row> = keys.map(|key| Row::new().with("k", key)).into();
    let puts = [("calls", rows), ("short", short)];
    let put = store.multi_put(puts, &BulkPutOptions::default()).unwrap();
    assert_eq!((put.report.total.inserted, put.report.total.failed), (4, 2));
    let mut failures: Vec<_> = put
        .failures
        .iter()
        .map(|failure| (failure.request, failure.table.as_str(), failure.row))
        .collect();
    failures.sort_unstable();
    assert_eq!(failures, [(0, "calls", 1), (1, "short", 1)]);
    let few = BulkPutOptions { errors_max: tonnage::ErrorsMax::Count(0), ..Default::default() };
    let stopped = store.multi_put([("calls", vec![strange_call()])], &few);
    let stopped = stopped.unwrap_err();
    assert!(stopped.too_many_errors && stopped.error.kind() == ErrorKind::Invalid, "{stopped:?}");
}

fn a_multi_put_with_a_missing_table_stores_nothing(store: &Connection) {
    filled(store, 0, 0);
    let batch = RecordBatch::try_from_iter([("id", Arc::new(Int64Array::from(vec![1])) as _)]);
    let calls = RecordBatch::try_from_iter([
        ("ship", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
        ("at", Arc::new(Int64Array::from(vec![1])) as ArrayRef),
    ]);
    let puts = [("calls", calls.unwrap()), ("nowhere", batch.unwrap())];
    let stopped = store.multi_put(puts, &BulkPutOptions::default()).unwrap_err();
    assert_eq!(stopped.error.kind(), ErrorKind::NotFound);
    assert!(stopped.error.message().contains("nowhere"), "{stopped}");
    assert_eq!(store.table("calls").unwrap().count().unwrap(), 0);
}

fn many_tables_are_read_in_one_call(store: &Connection) {
    filled(store, 3, 3);
    store.execute("CREATE TABLE ships (id LONG, PRIMARY KEY (id))").unwrap();
    let ships: Vec<Row> = (0..5).map(|id: i64| Row::new().with("id", id)).collect();
    store.multi_put([("ships", ships)], &BulkPutOptions::default()).unwrap();
    let key = |name: &str, number: i64| vec![Row::new().with(name, number)];
    let asked = [
        ("calls", key("ship", 1)),
        ("nowhere", key("id", 1)),
        ("ships", key("id", 4)),
        ("calls", vec![call(2, 2), call(0, 0)]),
        ("ships", key("tons", 4)),
        ("ships", key("id", 9)),
    ];
    let answers = store.multi_get(asked, &forward()).unwrap().into_answers();
    let counts: Vec<_> = answers
        .iter()
        .map(|answer| match answer {
            Ok(batches) => Ok(batches.iter().map(|batch| batch.rows.num_rows()).sum::<usize>()),
            Err(error) => Err(error.kind()),
        })
        .collect();
    let (missing, strange) = (Err(ErrorKind::NotFound), Err(ErrorKind::Invalid));
    assert_eq!(counts, [Ok(3), missing, Ok(1), Ok(2), strange, Ok(0)]);
    let last = answers[3].as_ref().unwrap();
    let rows = rows_of(last.iter().map(|batch| batch.rows.clone()));
    assert_eq!(rows, [with_port(2, 2), with_port(0, 0)]);
    assert!(last.iter().all(|batch| batch.versions.len() == batch.rows.num_rows()));
    assert_eq!(store.multi_get([("calls", key("ship", 1))], &forward()).unwrap().count(), 1);
}

fn requests_of_a_multi_get_have_options_of_their_own(store: &Connection) {
    filled(store, 2, 5);
    let ship = || vec![Row::new().with("ship", 1_i64)];
    let few = BulkGetOptions { limit_per_key: Some(2), ..forward() };
    let columns = BulkGetOptions { columns: Some(vec!["port".into()]), ..forward() };
    let wrong = BulkGetOptions { columns: Some(vec!["tons".into()]), ..forward() };
    let asked = [
        MultiGetRequest::new("calls", ship()).with(few),
        MultiGetRequest::new("calls", ship()).with(columns),
        MultiGetRequest::new("calls", ship()).with(wrong),
        MultiGetRequest::new("calls", ship()),
    ];
    let answers = store.multi_get_requests(asked, &forward()).unwrap().into_answers();
    let shapes: Vec<_> = answers
        .iter()
        .map(|answer| {
            let batches = answer.as_ref().map_err(|error| error.kind())?;
            let rows: usize = batches.iter().map(|batch| batch.rows.num_rows()).sum();
            Ok::<_, ErrorKind>((rows, batches[0].rows.num_columns()))
        })
        .collect();
    assert_eq!(shapes, [Ok((2, 3)), Ok((5, 1)), Err(ErrorKind::Invalid), Ok((5, 3))]);
}

fn streams_are_put_and_counted(store: &Connection) {
    filled(store, 1, 10);
    let stream = |ship: i64| {
        let rows = (0..100).map(move |at| Ok((Arc::from("calls"), with_port(ship, at))));
        row_stream(format!("ship {ship}"), rows)
    };
    let options = BulkPutOptions { durability: Durability::Fsync, ..BulkPutOptions::default() };
    let report = store.bulk_put((0..3).map(stream).collect(), &options).unwrap();
    assert_eq!((report.total.read, report.total.inserted, report.total.existed), (300, 290, 10));
    let names: Vec<_> = report.streams.iter().map(|stream| stream.name.as_str()).collect();
    assert_eq!(names, ["ship 0", "ship 1", "ship 2"]);
    assert_eq!(store.table("calls").unwrap().count().unwrap(), 300);
}

fn a_pipeline_answers_in_the_order_of_the_calls(store: &Connection) {
    filled(store, 1, 1);
    let key = Key::of_major(["fleet"]);
    let mut calls = store.pipeline().unwrap();
    calls.put("calls", &call(1, 1), Condition::IfAbsent, &now()).unwrap();
    calls.put("calls", &call(1, 1), Condition::IfAbsent, &now()).unwrap();
    calls.update("calls", &with_port(1, 1), Condition::Always, &now()).unwrap();
    calls.get("calls", &call(1, 1), &GetOptions::default()).unwrap();
    calls.delete("calls", &call(1, 1), Condition::IfPresent, &now()).unwrap();
    calls.get("boats", &call(1, 1), &GetOptions::default()).unwrap();
    calls.put_pair(&key, b"x", Condition::IfAbsent, &now()).unwrap();
    calls.get_pair(&key, &GetOptions::default()).unwrap();
    calls.delete_pair(&key, Condition::IfPresent, &now()).unwrap();
    let mut next = || calls.next_answer().unwrap().unwrap();
    let is_stored = |answer| match answer {
        Ok(CallResult::Written(written)) => WriteResult::is_stored(written),
        other => panic!("{other:?}"),
    };
    assert!(is_stored(next()) && !is_stored(next()) && is_stored(next()));
    let Ok(CallResult::Row(Some(row))) = next() else { panic!("there is a row") };
    assert_eq!(row.row, with_port(1, 1));
    assert!(is_stored(next()));
    assert_eq!(next().unwrap_err().kind(), ErrorKind::NotFound);
    assert!(is_stored(next()));
    let Ok(CallResult::Pair(Some(pair))) = next() else { panic!("there is a pair") };
    assert_eq!(pair.value, b"x");
    assert!(is_stored(next()));
    assert!(calls.next_answer().unwrap().is_none());
}

fn pairs_are_stored_under_each_condition(store: &Connection) {
    let (pairs, key) = (store.kv(), Key::new(["users", "1"], ["mail"]));
    assert!(!pairs.put_if_present(&key, b"1", &now()).unwrap().is_stored());
    let first = pairs.put_if_absent(&key, b"1", &now()).unwrap().version().unwrap();
    assert!(!pairs.put_if_absent(&key, b"2", &now()).unwrap().is_stored());
    assert!(pairs.put_if_present(&key, b"2", &now()).unwrap().is_stored());
    assert!(!pairs.put_if_version(&key, b"3", first, &now()).unwrap().is_stored());
    let last = pairs.put(&key, b"", &now()).unwrap();
    let found = pairs.get_with(&key, &GetOptions::default()).unwrap().unwrap();
    assert_eq!((found.key, found.value, found.version), (key.clone(), Vec::new(), last));
    assert!(!pairs.delete_if_version(&key, first, &now()).unwrap().is_stored());
    assert!(pairs.delete_if(&key, Condition::IfVersion(last), &now()).unwrap().is_stored());
    assert!(!pairs.delete(&key, &now()).unwrap());
    assert_eq!(pairs.get(&key).unwrap(), None);
}

fn pairs_are_read_below_keys_and_all_together(store: &Connection) {
    let pairs = store.kv();
    let key = |user: usize, field: &str| Key::new(["users".to_owned(), user.to_string()], [field]);
    let mut batch = Pairs::new();
    for user in 0..50 {
        batch.push(&key(user, "mail"), b"m").unwrap();
        batch.push(&key(user, "phone"), b"p").unwrap();
    }
    let put = pairs.bulk_put([Ok(batch)], &BulkPutOptions::default()).unwrap();
    assert_eq!(put.total.inserted, 100);
    assert_eq!(pairs.count().unwrap(), 100);
    let whole = |user| key(user, "phone");
    let options = PairGetOptions { direction: Direction::Forward, ..PairGetOptions::default() };
    let found = pairs.bulk_get([7, 3, 99].map(whole), &options).unwrap();
    let found: Vec<Key> = found
        .flat_map(|batch| {
            let batch = batch.unwrap();
            assert!((0..batch.len()).all(|at| batch.value(at) == b"p" && batch.version(at) > 0));
            (0..batch.len()).map(|at| batch.key(at).unwrap()).collect::<Vec<_>>()
        })
        .collect();
    assert_eq!(found, [whole(7), whole(3)]);
    let below = PairGetOptions { depth: Depth::ChildrenOnly, keys_only: true, ..options.clone() };
    let parent = Key::of_major(["users", "7"]);
    let subtree = pairs.get_subtree(&parent, &below).unwrap();
    let keys: Vec<_> = subtree.into_iter().map(|pair| (pair.key, pair.value)).collect();
    assert_eq!(keys, [(key(7, "mail"), vec![]), (key(7, "phone"), vec![])]);
    let mut asked = Pairs::new();
    asked.push(&whole(1), b"").unwrap();
    let found = pairs.bulk_get_batches([asked], &options).unwrap();
    assert_eq!(found.map(|batch| batch.unwrap().len()).sum::<usize>(), 1);
    // The limit of a scan holds for all pairs together.
    let first = PairGetOptions { limit_per_key: Some(30), ..PairGetOptions::default() };
    let scanned = pairs.scan(&first).unwrap().map(|batch| batch.unwrap().len());
    assert_eq!(scanned.sum::<usize>(), 30);
    let deep = PairGetOptions { depth: Depth::ChildrenOnly, ..PairGetOptions::default() };
    assert_eq!(pairs.scan(&deep).err().unwrap().kind(), ErrorKind::Invalid);
}

fn pairs_below_a_key_are_deleted(store: &Connection) {
    let pairs = store.kv();
    for field in ["a", "b", "c"] {
        pairs.put(&Key::new(["u"], [field]), b"", &now()).unwrap();
    }
    let parent = Key::of_major(["u"]);
    let range =
        tonnage::KeyRange { start: Some((b"b".to_vec(), true)), end: None, prefix: Vec::new() };
    let depth = Depth::ChildrenOnly;
    let some = pairs.delete_subtree(&parent, depth, Some(&range), Durability::Write).unwrap();
    let rest = pairs.delete_subtree_with(&parent, depth, None, &now()).unwrap();
    assert_eq!((some, rest, pairs.count().unwrap()), (2, 1, 0));
}

fn large_objects_are_written_appended_and_deleted(store: &Connection) {
    use std::io::Read as _;
    let (pairs, key) = (store.kv(), Key::of_major(["film"]));
    let options = LobOptions::default();
    assert!(pairs.get_lob(&key).unwrap().is_none() && pairs.lob_info(&key).unwrap().is_none());
    let bytes: Vec<u8> = (0..3_000_000_u32).map(|n| n as u8).collect();
    let mut writer = pairs.put_lob(&key, &options).unwrap();
    writer.append(&bytes[..2_000_000]).unwrap();
    assert_eq!(writer.position(), 2_000_000);
    let first = writer.finish().unwrap();
    let mut writer = pairs.append_lob(&key, &options).unwrap();
    writer.append(&bytes[2_000_000..]).unwrap();
    let last = writer.finish().unwrap();
    assert!((first.bytes, last.bytes) == (2_000_000, 3_000_000) && first.version < last.version);
    let mut reader = pairs.get_lob(&key).unwrap().unwrap();
    let (info, mut read) = (reader.info(), Vec::new());
    reader.read_to_end(&mut read).unwrap();
    assert!(info == last && read == bytes);
    assert!(pairs.resume_lob(&key, &options).unwrap().is_none());
    assert!(pairs.delete_lob(&key, Durability::Write).unwrap());
    assert!(!pairs.delete_lob_with(&key, &now()).unwrap());
}

fn figures_and_checks_tell_what_is_stored(store: &Connection) {
    filled(store, 2, 2);
    store.kv().put(&Key::of_major(["a"]), b"", &now()).unwrap();
    store.sync().unwrap();
    let report = store.check().unwrap();
    assert!(report.is_sound());
    assert_eq!((report.rows["calls"], report.pairs), (4, 1));
    assert_eq!(store.statistics().unwrap().shards.len(), 1);
}
