//! Oracle NoSQL, `TableBulkGetTest`: bulk gets over users, addresses and e-mails.

use rstest::rstest;
use tonnage::{
    BulkGetOptions, Direction, Error, ErrorKind, FieldRange, KeySource, RelatedRow, Row, Value,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{TestStore, assert_error, failure, row};
use crate::users::{self, ADDRESSES, EMAILS, USERS, address, user};

fn get(
    store: &TestStore,
    table: &str,
    keys: Vec<Row>,
    options: &BulkGetOptions,
) -> Vec<RelatedRow> {
    let rows = store.table(table).unwrap().bulk_get(keys.into(), options).unwrap().into_rows();
    rows.map(|row| row.unwrap()).collect()
}

fn keys_only(keys_only: bool) -> BulkGetOptions {
    BulkGetOptions { keys_only, ..Default::default() }
}

/// Directions are offered here; Oracle refuses them. So is an empty list of iterators.
#[rstest]
fn do_test_arg_edge_cases_deviates(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    for direction in [Direction::Forward, Direction::Reverse] {
        let options = BulkGetOptions { direction, ..Default::default() };
        assert_eq!(get(&store, "User", vec![user(1), user(2)], &options).len(), 2);
    }
    let none = KeySource::side_by_side([]);
    let rows = store.table("User").unwrap().bulk_get(none, &BulkGetOptions::default()).unwrap();
    assert_eq!(rows.count(), 0);
}

#[rstest]
fn do_test_check_n_threads_heuristic(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] only_keys: bool,
) {
    let store = users::stocked(on);
    let keys = (0..USERS).map(user).collect();
    assert_eq!(get(&store, "User", keys, &keys_only(only_keys)).len(), USERS as usize);
}

#[rstest]
fn run_basic_bulk_get_full_key(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(1, 9)] requests: usize,
    #[values(false, true)] only_keys: bool,
) {
    let store = users::stocked(on);
    let options =
        BulkGetOptions { max_concurrent_requests: Some(requests), ..keys_only(only_keys) };
    let found = get(&store, "User", (0..USERS).map(user).collect(), &options);
    assert_eq!(found.len(), USERS as usize);
    assert!(found.iter().all(|row| row.row.get("age").is_some() != only_keys));
}

#[rstest]
fn run_basic_bulk_get_partial_key(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(1, 9)] requests: usize,
    #[values(false, true)] only_keys: bool,
) {
    let store = users::stocked(on);
    let options =
        BulkGetOptions { max_concurrent_requests: Some(requests), ..keys_only(only_keys) };
    let found = get(&store, "User.Address", (1..=4).map(user).collect(), &options);
    assert_eq!(found.len(), 4 * ADDRESSES as usize);
}

/// More iterators than there are threads to draw from them.
#[rstest]
fn set_num_parent_key_iterators(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(1, 3, 8)] iterators: i32,
) {
    let store = users::stocked(on);
    let sources = (0..iterators).map(|number| {
        let own = (0..USERS).filter(move |id| id % iterators == number);
        KeySource::from(own.map(user).collect::<Vec<_>>())
    });
    let table = store.table("User").unwrap();
    let rows = table.bulk_get(KeySource::side_by_side(sources), &BulkGetOptions::default());
    assert_eq!(rows.unwrap().into_rows().count(), USERS as usize);
}

#[rstest]
fn do_test_exception_passing_across_results_queue(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    let broken = Err(Error::invalid("the iterator broke"));
    let keys = (0..4).map(|id| Ok(vec![Value::from(id)].into())).chain([broken]);
    let keys = KeySource::try_keys(keys.collect::<Vec<_>>());
    let rows = store.table("User").unwrap().bulk_get(keys, &BulkGetOptions::default()).unwrap();
    let mut rows = rows.into_rows();
    let error = rows.find_map(|row| row.err()).expect("the failure comes through");
    assert_error(error, ErrorKind::Invalid, &["the iterator broke"]);
}

#[rstest]
fn do_test_cancel_iteration(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    let options = BulkGetOptions {
        max_concurrent_requests: Some(3),
        batch_rows_max: 1,
        ..Default::default()
    };
    let cancel = options.cancel.clone();
    let keys: Vec<Row> = (0..USERS).map(user).collect();
    let mut rows = store.table("User.Address").unwrap().bulk_get(keys.into(), &options).unwrap();
    assert!(rows.next().unwrap().is_ok());
    cancel.cancel();
    let end = rows.find_map(|batch| batch.err());
    assert!(end.is_none_or(|error| error.kind() == ErrorKind::Cancelled));
    assert!(rows.next().is_none());
}

/// Batches of one row, with a reader that is quick and one that stalls.
#[rstest]
fn do_test_small_batch_size(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(false, true)] stalls: bool,
    #[values("User", "User.Address")] table: &str,
) {
    let store = users::stocked(on);
    let options = BulkGetOptions {
        max_concurrent_requests: Some(9),
        batch_rows_max: 1,
        ..Default::default()
    };
    let keys: Vec<Row> = (0..USERS).map(user).collect();
    let batches = store.table(table).unwrap().bulk_get(keys.into(), &options).unwrap();
    let mut found = 0;
    for batch in batches {
        if stalls {
            std::thread::sleep(std::time::Duration::from_millis(2));
        }
        found += batch.unwrap().rows.num_rows();
    }
    let each = if table == "User" { 1 } else { ADDRESSES };
    assert_eq!(found, (USERS * each) as usize);
}

#[rstest]
#[case::keys_of_different_tables("User", address(0, 0), None, "addrId")]
#[case::an_empty_primary_key("User", Row::new(), None, "'id'")]
#[case::a_range_on_a_field_that_is_given(
    "User.Address", address(0, 0), Some(FieldRange::of("addrId").from(0)), "addrId")]
#[case::a_range_that_is_not_on_the_first_open_field(
    "User.Address.Email", user(1), Some(FieldRange::of("emailAddress").from("aa")), "emailAddress")]
fn do_test_validate_key(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] table: &str,
    #[case] key: Row,
    #[case] range: Option<FieldRange>,
    #[case] named: &str,
) {
    let store = users::stocked(on);
    let options = BulkGetOptions { range, ..Default::default() };
    let read = store.table(table).unwrap().bulk_get(KeySource::from(vec![key]), &options);
    let refused = read.and_then(|rows| rows.into_rows().next().expect("an error").map(drop));
    assert_error(failure(refused), ErrorKind::Invalid, &[named]);
}

/// Oracle refuses a descendant named as an ancestor; here the list has no roles.
#[rstest]
fn do_test_validate_key_of_relatives_deviates(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    let with =
        |relative: &str| BulkGetOptions { relatives: vec![relative.into()], ..Default::default() };
    let found = get(&store, "User.Address", vec![user(0)], &with("User.Address.Email"));
    assert_eq!(found.len(), (ADDRESSES + ADDRESSES * EMAILS) as usize);
    let brother = store.table("User.Address").unwrap();
    let refused = brother.bulk_get(KeySource::from(vec![user(0)]), &with("User.Info"));
    assert_error(failure(refused), ErrorKind::Invalid, &["User.Info"]);
}

/// Ranges of addresses with all bounds, alone and with the tables above and below.
#[rstest]
fn do_test_multi_row_options(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(8_192, 30)] batch: usize,
    #[values((Some(0), Some(3)), (Some(1), Some(2)), (Some(3), None), (None, Some(1)))] ends: (
        Option<i32>,
        Option<i32>,
    ),
    #[values((true, true), (false, true), (true, false), (false, false))] bounds: (bool, bool),
) {
    let store = users::stocked(on);
    let mut range = FieldRange::of("addrId");
    range = match ends.0 {
        Some(start) if bounds.0 => range.from(start),
        Some(start) => range.after(start),
        None => range,
    };
    range = match ends.1 {
        Some(end) if bounds.1 => range.to(end),
        Some(end) => range.before(end),
        None => range,
    };
    let is_wanted = |number: &i32| {
        ends.0.is_none_or(|start| *number > start || (bounds.0 && *number == start))
            && ends.1.is_none_or(|end| *number < end || (bounds.1 && *number == end))
    };
    let wanted = (0..ADDRESSES).filter(is_wanted).count();
    let options =
        BulkGetOptions { range: Some(range), batch_rows_max: batch, ..Default::default() };
    let keys = || (0..USERS).map(user).collect::<Vec<_>>();
    assert_eq!(get(&store, "User.Address", keys(), &options).len(), USERS as usize * wanted);
    // Without an order the rows below one ancestor may come in several runs, each after it.
    let direction = Direction::Forward;
    let relatives = vec!["User".into(), "User.Address.Email".into()];
    let all =
        get(&store, "User.Address", keys(), &BulkGetOptions { relatives, direction, ..options });
    let parents = usize::from(wanted > 0);
    let of_user = parents + wanted * (1 + EMAILS as usize);
    assert_eq!(all.len(), USERS as usize * of_user);
}

/// Ancestors come once for a run of rows that share them; in Oracle once for each row.
#[rstest]
fn do_test_multi_row_options_of_ancestors_deviates(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    let options = BulkGetOptions {
        relatives: vec!["User".into(), "User.Address".into()],
        direction: Direction::Forward,
        ..Default::default()
    };
    let found = get(&store, "User.Address.Email", (0..USERS).map(user).collect(), &options);
    let expected = USERS * (1 + ADDRESSES * (1 + EMAILS));
    assert_eq!(found.len(), expected as usize);
    let of = |table: &str| found.iter().filter(|row| &*row.table == table).count();
    assert_eq!((of("User"), of("User.Address")), (USERS as usize, (USERS * ADDRESSES) as usize));
}

#[rstest]
fn keys_without_rows_give_nothing(#[values(Memory, RocksDb)] on: Backend) {
    let store = users::stocked(on);
    let keys = vec![row! { "id" => -1 }, user(3), row! { "id" => 1_000 }];
    assert_eq!(get(&store, "User", keys, &BulkGetOptions::default()).len(), 1);
}
