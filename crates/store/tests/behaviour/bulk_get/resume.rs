//! Reads in pieces: each resumes where the one before stopped.

use rstest::rstest;
use tonnage::{
    BulkGetOptions, Direction, ErrorKind, KeySource, ResumeToken, Row, TableScanOptions, Value,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::shop::{self, MAKERS, price_of};
use crate::common::{TestStore, assert_error, failure};

/// A token as a client keeps it.
fn kept(token: Option<ResumeToken>) -> Option<ResumeToken> {
    token.map(|token| ResumeToken::from_bytes(token.as_bytes()))
}

/// All rows of a scan in pieces of some rows.
fn in_pieces(store: &TestStore, options: &TableScanOptions, rows: u64) -> Vec<Row> {
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let options = TableScanOptions { limit: Some(rows), start_after: after, ..options.clone() };
        let mut scan = store.table("phones").unwrap().scan(&options).unwrap();
        let before = found.len();
        for batch in scan.by_ref() {
            let batch = batch.unwrap().rows;
            found.extend((0..batch.num_rows()).map(|row| Row::from_batch(&batch, row).unwrap()));
        }
        if found.len() == before {
            return found;
        }
        after = kept(scan.position());
        assert!(after.is_some());
    }
}

#[rstest]
fn a_scan_in_pieces_gives_what_a_whole_one_gives(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Forward, Direction::Reverse)] direction: Direction,
    #[values(1, 7, 1_000)] rows: u64,
) {
    let store = shop::stocked(on, 12);
    let options = TableScanOptions { direction, batch_rows_max: 5, ..Default::default() };
    let whole = store.table("phones").unwrap().scan(&options).unwrap().into_rows();
    let whole: Vec<_> = whole.map(|row| row.unwrap().row).collect();
    assert_eq!(whole.len(), 48);
    assert_eq!(in_pieces(&store, &options, rows), whole);
}

#[rstest]
fn rows_taken_one_by_one_can_be_gone_on_from_behind_each(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Forward, Direction::Reverse)] direction: Direction,
) {
    let store = shop::stocked(on, 4);
    let options = TableScanOptions { direction, batch_rows_max: 3, ..Default::default() };
    let table = store.table("phones").unwrap();
    let all: Vec<_> =
        table.scan(&options).unwrap().into_rows().map(|row| row.unwrap().row).collect();
    for taken in 1..=all.len() {
        let mut rows = table.scan(&options).unwrap().into_rows();
        rows.by_ref().take(taken).for_each(|row| drop(row.unwrap()));
        let options = TableScanOptions { start_after: kept(rows.position()), ..options.clone() };
        let rest = table.scan(&options).unwrap().into_rows();
        let rest: Vec<_> = rest.map(|row| row.unwrap().row).collect();
        assert_eq!(rest, all[taken..]);
    }
}

/// Makers by partial keys, a whole key between them, and one that no row has.
fn mixed() -> KeySource {
    KeySource::keys([
        vec![Value::from(MAKERS[2])],
        vec![Value::from(MAKERS[0]), price_of(1).into(), Value::Long(1)],
        vec![Value::from("nobody")],
        vec![Value::from(MAKERS[1])],
        vec![Value::from(MAKERS[0]), price_of(2).into(), Value::Long(2)],
    ])
}

#[rstest]
fn a_read_of_keys_in_pieces_gives_what_a_whole_one_gives(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Forward, Direction::Reverse)] direction: Direction,
    #[values(1, 2, 5, 100)] rows: u64,
) {
    let store = shop::stocked(on, 6);
    let table = store.table("phones").unwrap();
    let options =
        BulkGetOptions { direction, origins: true, batch_rows_max: 4, ..Default::default() };
    let whole = table.bulk_get(mixed(), &options).unwrap().into_rows();
    let whole: Vec<_> = whole.map(|row| row.unwrap().row).collect();
    assert_eq!(whole.len(), 14);
    let (mut found, mut after) = (Vec::new(), None);
    loop {
        let options = BulkGetOptions { limit: Some(rows), start_after: after, ..options.clone() };
        let mut piece = table.bulk_get(mixed(), &options).unwrap().into_rows();
        let before = found.len();
        for row in piece.by_ref() {
            found.push(row.unwrap().row);
        }
        assert!(found.len() - before <= rows as usize);
        if found.len() == before {
            break;
        }
        after = kept(piece.position());
        assert!(after.is_some());
    }
    assert_eq!(found, whole);
}

#[rstest]
fn a_limit_holds_for_all_keys_together(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 10);
    let options = BulkGetOptions { limit: Some(13), batch_rows_max: 4, ..Default::default() };
    assert_eq!(super::get(&store, super::makers(&MAKERS), &options).len(), 13);
}

#[rstest]
fn rows_that_are_written_meanwhile_disturb_no_place(#[values(Memory, RocksDb)] on: Backend) {
    let store = shop::stocked(on, 5);
    let table = store.table("phones").unwrap();
    let options =
        TableScanOptions { direction: Direction::Forward, limit: Some(3), ..Default::default() };
    let mut first = table.scan(&options).unwrap().into_rows();
    let taken: Vec<_> = first.by_ref().map(|row| row.unwrap().row).collect();
    table.delete(&taken[2], &Default::default()).unwrap();
    let options = TableScanOptions { limit: None, start_after: first.position(), ..options };
    assert_eq!(table.scan(&options).unwrap().into_rows().count(), 17);
}

#[test]
fn a_token_of_another_read_is_refused() {
    let store = shop::stocked(Memory, 2);
    store.execute("CREATE TABLE other (k LONG, PRIMARY KEY (k))").unwrap();
    let forward = TableScanOptions { direction: Direction::Forward, ..Default::default() };
    let mut scan = store.table("phones").unwrap().scan(&forward).unwrap();
    assert!(scan.next().unwrap().is_ok());
    let refused = |table: &str, options: TableScanOptions, named: &str| {
        let options = TableScanOptions { start_after: scan.position(), ..options };
        let error = failure(store.table(table).unwrap().scan(&options));
        assert_error(error, ErrorKind::Invalid, &["start_after", named]);
    };
    refused("other", forward.clone(), "another table");
    let reverse = TableScanOptions { direction: Direction::Reverse, ..Default::default() };
    refused("phones", reverse, "other direction");
    refused("phones", TableScanOptions::default(), "order");
    let options = BulkGetOptions {
        start_after: scan.position(),
        direction: Direction::Forward,
        ..Default::default()
    };
    let by_keys = store.table("phones").unwrap().bulk_get(mixed(), &options);
    assert_error(failure(by_keys), ErrorKind::Invalid, &["scan"]);
}
