//! Row after row through one session.

use rstest::rstest;
use tonnage::{ErrorKind, RowSession, RowView, Store, ValueRef, WriteOptions};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, image, phone};
use crate::common::{TestStore, assert_error, builder, failure, row};

const SHIPS: &str = "CREATE TABLE ships (name STRING, speed DOUBLE, crew INTEGER DEFAULT 3, note STRING, PRIMARY KEY (name))";

fn ships(on: Backend) -> (TestStore, RowSession) {
    let store = on.with_tables(SHIPS);
    let session = store.table("ships").unwrap().session();
    (store, session)
}

fn put(ships: &mut RowSession, name: &str, speed: f64) -> u64 {
    ships
        .put(&[name.into(), speed.into(), 7.into(), ValueRef::Null], &WriteOptions::default())
        .unwrap()
}

fn names(session: &mut RowSession, start: &str, limit: usize) -> Vec<String> {
    let mut scan = session.scan(&[start.into()], limit).unwrap();
    let name = |row: RowView<'_>| row.to_row().unwrap().at(0).unwrap().1.to_string();
    std::iter::from_fn(|| scan.next_row().unwrap().map(name)).collect()
}

#[rstest]
fn a_row_comes_back_as_a_view(#[values(Memory, RocksDb)] on: Backend) {
    let (store, mut session) = ships(on);
    let version = put(&mut session, "ARGO", 7.5);
    let argo = session.get(&["ARGO".into()]).unwrap().unwrap();
    assert_eq!(
        (argo.get(1).unwrap(), argo.get(2).unwrap()),
        (ValueRef::Double(7.5), ValueRef::Integer(7))
    );
    assert_eq!((argo.get(3).unwrap(), argo.version()), (ValueRef::Null, version));
    let stored = store.table("ships").unwrap().get(&row! { "name" => "ARGO" }).unwrap().unwrap();
    assert_eq!(argo.to_row().unwrap(), stored.row);
    assert!(session.get(&["BEAGLE".into()]).unwrap().is_none());
}

#[rstest]
fn values_are_made_to_fit_their_columns(#[values(Memory, RocksDb)] on: Backend) {
    let (_store, mut session) = ships(on);
    session
        .put(&["ARGO".into(), 7.into(), "12".into(), "text".into()], &WriteOptions::default())
        .unwrap();
    let argo = session.get(&["ARGO".into()]).unwrap().unwrap();
    assert_eq!(
        (argo.get(1).unwrap(), argo.get(2).unwrap()),
        (ValueRef::Double(7.0), ValueRef::Integer(12))
    );
    assert_eq!(argo.get(3).unwrap(), ValueRef::String("text"));
}

#[rstest]
fn a_row_that_is_deleted_is_gone(#[values(Memory, RocksDb)] on: Backend) {
    let (_store, mut session) = ships(on);
    put(&mut session, "ARGO", 7.5);
    assert!(session.delete(&["ARGO".into()], &WriteOptions::default()).unwrap());
    assert!(!session.delete(&["ARGO".into()], &WriteOptions::default()).unwrap());
    assert!(session.get(&["ARGO".into()]).unwrap().is_none());
}

#[rstest]
fn a_scan_begins_at_its_start_and_ends_at_its_limit(#[values(Memory, RocksDb)] on: Backend) {
    let (_store, mut session) = ships(on);
    for name in ["CALYPSO", "ARGO", "DISCOVERY", "BEAGLE"] {
        put(&mut session, name, 1.0);
    }
    assert_eq!(names(&mut session, "B", 2), ["BEAGLE", "CALYPSO"]);
    assert_eq!(names(&mut session, "CALYPSO", 10), ["CALYPSO", "DISCOVERY"]);
    assert_eq!(names(&mut session, "E", 10), [""; 0]);
    assert_eq!(names(&mut session, "A", 0), [""; 0]);
}

#[rstest]
fn a_long_scan_gives_every_row_once(#[values(Memory, RocksDb)] on: Backend) {
    let (_store, mut session) = ships(on);
    let all: Vec<String> = (0..3_000).map(|number| format!("SHIP {number:04}")).collect();
    for name in &all {
        put(&mut session, name, 1.0);
    }
    assert_eq!(names(&mut session, "", usize::MAX), all);
}

#[rstest]
fn rows_of_child_tables_do_not_come_along(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::empty(on);
    let options = WriteOptions::default();
    for phone in [phone("Nokia", 1, 1), phone("Nokia", 2, 2)] {
        store.table("phones").unwrap().put(&phone, &options).unwrap();
    }
    store.table("phones.images").unwrap().put(&image("Nokia", 1, 1, 1), &options).unwrap();
    let mut phones = store.table("phones").unwrap().session();
    let mut scan = phones.scan(&["Nokia".into(), 0.into(), 0_i64.into()], 10).unwrap();
    let mut keys = Vec::new();
    while let Some(row) = scan.next_row().unwrap() {
        keys.push(row.get(3).unwrap().to_value());
    }
    assert_eq!(keys, ["Nokia 1".into(), "Nokia 2".into()]);
}

#[test]
fn rows_and_keys_that_do_not_fit_are_refused() {
    let (_store, mut session) = ships(Memory);
    let options = WriteOptions::default();
    assert_error(
        failure(session.put(&["ARGO".into()], &options)),
        ErrorKind::Invalid,
        &["1 values", "4 columns"],
    );
    let wrong = [ValueRef::from("ARGO"), "fast".into(), 1.into(), ValueRef::Null];
    assert_error(failure(session.put(&wrong, &options)), ErrorKind::Invalid, &["'speed'"]);
    assert_error(failure(session.get(&[])), ErrorKind::Invalid, &["name"]);
    assert_error(
        failure(session.get(&["A".into(), "B".into()])),
        ErrorKind::Invalid,
        &["2 values"],
    );
    put(&mut session, "ARGO", 1.0);
    let argo = session.get(&["ARGO".into()]).unwrap().unwrap();
    assert_error(failure(argo.get(0)), ErrorKind::Invalid, &["name", "primary key"]);
    assert_error(failure(argo.get(9)), ErrorKind::Invalid, &["no number 9"]);
}

#[test]
fn a_scan_across_several_data_directories_has_no_order() {
    let directory = tempfile::tempdir().unwrap();
    let places = ["one", "two"].map(|name| directory.path().join(name));
    let store: Store = builder(directory.path().join("store").to_str().unwrap())
        .data_directories(places)
        .open()
        .unwrap();
    store.execute(SHIPS).unwrap();
    let mut session = store.table("ships").unwrap().session();
    let error = failure(session.scan(&["A".into()], 10));
    assert_error(error, ErrorKind::Unsupported, &["only under each shard key"]);
}
