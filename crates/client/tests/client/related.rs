//! Parents with their children in one bulk get.

use std::sync::Arc;

use tonnage::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use tonnage::{BulkGetOptions, Direction, ErrorKind, KeySource, Row};
use tonnage_client::{BulkGetRequest, Client};

use crate::support::{Running, ships};

fn filled() -> (Running, Client) {
    let server = Running::new();
    let client = server.client();
    client.define("CREATE TABLE ships.calls (port LONG, at DOUBLE NOT NULL DEFAULT 0.5, PRIMARY KEY (port))").unwrap();
    client.put_batches("ships", [Ok(ships(0..2_000))], &Default::default()).unwrap();
    let calls = (0..2_000).flat_map(|id| (0..id % 4).map(move |port| (id, port)));
    let calls = calls.map(|(id, port)| Row::new().with("id", id).with("port", port));
    client.put("ships.calls", calls, &Default::default()).unwrap();
    (server, client)
}

fn keys(ids: impl IntoIterator<Item = i64>) -> RecordBatch {
    let ids: ArrayRef = Arc::new(ids.into_iter().collect::<Int64Array>());
    RecordBatch::try_from_iter([("id", ids)]).unwrap()
}

#[test]
fn they_are_the_same_rows_in_the_same_order_as_those_of_the_store() {
    let (server, client) = filled();
    for direction in [Direction::Forward, Direction::Reverse] {
        let relatives = vec!["ships.calls".to_owned()];
        let request = BulkGetRequest {
            direction,
            relatives: relatives.clone(),
            ..BulkGetRequest::of("ships")
        };
        let rows = client.bulk_get_related([Ok(keys((0..2_100).rev()))], &request).unwrap();
        let paths: Vec<_> = rows.tables().iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(paths, ["ships", "ships.calls"]);
        let mut found = Vec::new();
        for related in rows {
            let related = related.unwrap();
            let mut taken = vec![0; related.batches.len()];
            for batch in related.order.iter().map(|batch| *batch as usize) {
                let (path, of) = &related.batches[batch];
                found.push((path.to_string(), Row::from_batch(of, taken[batch]).unwrap()));
                taken[batch] += 1;
            }
        }
        let options = BulkGetOptions { direction, relatives, ..BulkGetOptions::default() };
        let table = server.store.table("ships").unwrap();
        let stored = table.bulk_get(KeySource::batches([Ok(keys((0..2_100).rev()))]), &options);
        let stored = stored.unwrap().into_rows().map(|row| row.unwrap());
        let stored: Vec<_> = stored.map(|row| (row.table.to_string(), row.row)).collect();
        assert_eq!(found.len(), 5_000);
        assert!(found == stored, "{direction:?}");
    }
}

#[test]
fn without_relatives_it_is_a_bulk_get_of_one_table() {
    let (_server, client) = filled();
    let request = BulkGetRequest { limit: Some(3), ..BulkGetRequest::of("ships") };
    let rows = client.bulk_get_related([Ok(keys(0..10))], &request).unwrap();
    let counts = rows.map(|related| {
        let related = related.unwrap();
        assert_eq!(related.order.len(), related.batches[0].1.num_rows());
        related.order.len()
    });
    assert_eq!(counts.sum::<usize>(), 3);
}

#[test]
fn rows_of_several_tables_are_no_rows_of_one() {
    let (_server, client) = filled();
    let request =
        BulkGetRequest { relatives: vec!["ships.calls".into()], ..BulkGetRequest::of("ships") };
    let error = client.bulk_get([Ok(keys(0..1))], &request).unwrap_err();
    assert!(error.message().contains("bulk_get_related"), "{error}");
    let request =
        BulkGetRequest { relatives: vec!["ships.crew".into()], ..BulkGetRequest::of("ships") };
    let rows = client.bulk_get_related([Ok(keys(0..1))], &request);
    assert_eq!(rows.err().unwrap().kind(), ErrorKind::NotFound);
}
