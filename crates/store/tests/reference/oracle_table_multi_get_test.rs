//! Oracle NoSQL, `TableMultiRowOptionsTest` and the proxy's `MultiDeleteTest`: a key with rows of
//! the tables above and below.

use rstest::rstest;
use tonnage::{BulkGetOptions, DeleteOptions, Direction, ErrorKind, KeySource, Row};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::{assert_error, failure, row};
use crate::users::{self, ADDRESSES, EMAILS, INFOS, USERS, address, user};

fn names(relatives: &[&str]) -> Vec<String> {
    relatives.iter().map(|name| (*name).to_owned()).collect()
}

/// The six cases, each in all directions.
#[rstest]
#[case::case_1("User", user(1), &["User.Address"], 1 + ADDRESSES)]
#[case::case_2("User", user(2), &["User.Info"], 1 + INFOS)]
#[case::case_3("User", user(3), &["User.Address", "User.Address.Email"],
    1 + ADDRESSES + ADDRESSES * EMAILS)]
#[case::case_4("User.Address.Email", address(4, 1), &["User"], EMAILS + 1)]
#[case::case_5("User.Address.Email", address(5, 1), &["User.Address", "User"], EMAILS + 2)]
#[case::case_6("User.Address", address(6, 1), &["User", "User.Address.Email"], EMAILS + 2)]
fn test_multi_get(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Unordered, Direction::Forward, Direction::Reverse)] direction: Direction,
    #[case] table: &str,
    #[case] key: Row,
    #[case] relatives: &[&str],
    #[case] expected: i32,
) {
    let store = users::stocked(on);
    let options = BulkGetOptions { direction, relatives: names(relatives), ..Default::default() };
    let rows = store.table(table).unwrap().bulk_get(KeySource::from(vec![key]), &options);
    let rows: Vec<_> = rows.unwrap().into_rows().map(|row| row.unwrap()).collect();
    assert_eq!(rows.len(), expected as usize);
    let mut distinct: Vec<_> = rows.iter().map(|row| (row.table.clone(), &row.row)).collect();
    distinct.dedup();
    assert_eq!(distinct.len(), rows.len(), "no row comes twice");
}

#[rstest]
#[case::case_1("User", user(1), &["User.Address"], 1 + ADDRESSES)]
#[case::case_2("User", user(2), &["User.Info"], 1 + INFOS)]
#[case::case_3("User", user(3), &["User.Address", "User.Address.Email"],
    1 + ADDRESSES + ADDRESSES * EMAILS)]
#[case::case_4("User.Address.Email", address(4, 1), &["User"], EMAILS + 1)]
#[case::case_5("User.Address.Email", address(5, 1), &["User.Address", "User"], EMAILS + 2)]
#[case::case_6("User.Address", address(6, 1), &["User", "User.Address.Email"], EMAILS + 2)]
fn test_multi_delete(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] table: &str,
    #[case] key: Row,
    #[case] relatives: &[&str],
    #[case] expected: i32,
) {
    let store = users::stocked(on);
    let options = DeleteOptions { relatives: names(relatives), ..Default::default() };
    let handle = store.table(table).unwrap();
    assert_eq!(handle.delete_range(&key, &options).unwrap(), expected as u64);
    assert_eq!(handle.delete_range(&key, &options).unwrap(), 0, "they are gone");
    let users = store.table("User").unwrap().count().unwrap();
    let goes = table == "User" || relatives.contains(&"User");
    assert_eq!(users, USERS as u64 - u64::from(goes));
}

/// The proxy's `testInvalidArgument`.
#[rstest]
#[case::a_key_without_its_shard_key("User.Address", row! { "addrId" => 1 }, &[], "'id'")]
#[case::a_relative_that_is_none("User", user(1), &["Nobody"], "Nobody")]
fn test_invalid_argument(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] table: &str,
    #[case] key: Row,
    #[case] relatives: &[&str],
    #[case] named: &str,
) {
    let store = users::stocked(on);
    let options = DeleteOptions { relatives: names(relatives), ..Default::default() };
    let refused = failure(store.table(table).unwrap().delete_range(&key, &options));
    assert!([ErrorKind::Invalid, ErrorKind::NotFound].contains(&refused.kind()), "{refused:?}");
    let kind = refused.kind();
    assert_error(refused, kind, &[named]);
}

/// The proxy's `testMultiDelete` with a limit of what is written and a key to continue from.
#[rstest]
fn test_multi_delete_with_a_continuation_key(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(1, 3, 4, 100)] limit: u64,
) {
    let store = users::stocked(on);
    let addresses = store.table("User.Address").unwrap();
    let mut options = DeleteOptions {
        relatives: names(&["User.Address.Email"]),
        limit: Some(limit),
        ..Default::default()
    };
    let mut deleted = 0;
    for _ in 0..=ADDRESSES {
        let step = addresses.delete_some(&user(1), &options).unwrap();
        assert!(step.rows <= limit * (1 + EMAILS as u64));
        deleted += step.rows;
        options.start_after = step.rest;
        if options.start_after.is_none() {
            break;
        }
    }
    assert_eq!(deleted, (ADDRESSES + ADDRESSES * EMAILS) as u64);
    assert_eq!(addresses.count().unwrap(), ((USERS - 1) * ADDRESSES) as u64);
}
