//! Parents with their children in one bulk get.

use std::sync::Arc;

use tonnage::arrow::array::{ArrayRef, Int64Array, RecordBatch};
use tonnage::{BulkGetOptions, Direction, ErrorKind, KeySource, Row};
use tonnage_client::RemoteStore;

use crate::support::{BulkCalls, Running, ships};

fn filled() -> (Running, RemoteStore) {
    let server = Running::new();
    let client = server.client();
    client.execute("CREATE TABLE ships.calls (port LONG, at DOUBLE NOT NULL DEFAULT 0.5, PRIMARY KEY (port))").unwrap();
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
        let options = BulkGetOptions { direction, relatives, ..BulkGetOptions::default() };
        let asked = || KeySource::batches([Ok(keys((0..2_100).rev()))]);
        let table = client.table("ships").unwrap().with_versions();
        let rows = table.bulk_get(asked(), &options).unwrap();
        let paths: Vec<_> = rows.schemas().iter().map(|(path, _)| path.to_string()).collect();
        assert_eq!(paths, ["ships", "ships.calls"]);
        let mut found = Vec::new();
        for related in rows.into_interleaved() {
            let related = related.unwrap();
            let mut taken = vec![0; related.batches.len()];
            for batch in related.order.iter().map(|batch| *batch as usize) {
                let (of, place) = (&related.batches[batch], taken[batch]);
                let row = Row::from_batch(&of.rows, place).unwrap();
                found.push((of.table.to_string(), row, of.versions[place]));
                taken[batch] += 1;
            }
        }
        let table = server.store.table("ships").unwrap();
        let stored = table.bulk_get(asked(), &options).unwrap().into_rows();
        let stored = stored.map(|row| row.unwrap());
        let stored: Vec<_> =
            stored.map(|row| (row.table.to_string(), row.row, row.version)).collect();
        assert_eq!(found.len(), 5_000);
        assert!(found == stored, "{direction:?}");
    }
}

#[test]
fn without_relatives_it_is_a_bulk_get_of_one_table() {
    let (_server, client) = filled();
    let options = BulkGetOptions { limit: Some(3), ..BulkGetOptions::default() };
    let asked = KeySource::batches([Ok(keys(0..10))]);
    let rows = client.table("ships").unwrap().bulk_get(asked, &options).unwrap();
    let counts = rows.into_interleaved().map(|related| {
        let related = related.unwrap();
        assert_eq!(related.order.len(), related.batches[0].rows.num_rows());
        related.order.len()
    });
    assert_eq!(counts.sum::<usize>(), 3);
}

#[test]
fn batches_of_several_tables_come_one_after_another() {
    let (_server, client) = filled();
    let table = client.table("ships").unwrap();
    let of = |relative: &str| BulkGetOptions {
        relatives: vec![relative.to_owned()],
        ..BulkGetOptions::default()
    };
    let asked = || KeySource::batches([Ok(keys([3]))]);
    let rows = table.bulk_get(asked(), &of("ships.calls")).unwrap();
    let counts = rows.map(|batch| batch.unwrap()).map(|batch| (batch.table, batch.rows.num_rows()));
    assert_eq!(counts.collect::<Vec<_>>(), [("ships".into(), 1), ("ships.calls".into(), 3)]);
    let missing = table.bulk_get(asked(), &of("ships.crew"));
    assert_eq!(missing.err().unwrap().kind(), ErrorKind::NotFound);
}
