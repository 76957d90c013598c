//! The limits that all calls of a store share.

use crate::columns::live_columns::SegmentLimits;
use crate::read::ReadAhead;

/// What all calls of a store together may use.
#[derive(Clone, Copy, Debug)]
pub(super) struct StoreLimits {
    pub(super) read_ahead_bytes: usize,
    pub(super) load_memory_bytes: Option<usize>,
    pub(super) threads: Option<usize>,
    pub(super) segments: SegmentLimits,
}

impl Default for StoreLimits {
    fn default() -> Self {
        Self {
            read_ahead_bytes: ReadAhead::BYTES_MAX,
            load_memory_bytes: None,
            threads: None,
            segments: SegmentLimits::default(),
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::bulk::get::TableScanOptions;
    use crate::bulk::get::{BulkGetOptions, KeySource};
    use crate::bulk::put::{BulkPutOptions, Payload};
    use crate::row::Row;
    use crate::store::Store;
    use crate::value::Value;
    use tonnage_engine::Direction;

    const ROWS: i64 = 50_000;

    fn row(id: i64) -> Row {
        Row::new().with("id", id).with("name", format!("row {id}"))
    }

    fn filled(store: Store) -> Store {
        store.execute("CREATE TABLE t (id LONG, name STRING, PRIMARY KEY (id))").unwrap();
        let put =
            store.multi_put([("t", (0..ROWS).map(row).collect::<Vec<_>>())], &loading(64)).unwrap();
        assert_eq!(put.report.total.inserted, ROWS as u64);
        store
    }

    fn loading(mebibytes: usize) -> BulkPutOptions {
        BulkPutOptions { memory_bytes_max: Some(mebibytes << 20), ..BulkPutOptions::default() }
    }

    fn lent(store: &Store) -> (usize, usize) {
        (store.inner.threads.lent(), store.inner.load_memory.lent() >> 20)
    }

    #[test]
    fn loads_share_the_memory_of_the_store() {
        let store = Store::builder("memory:").load_memory_bytes(48 << 20).open().unwrap();
        store.execute("CREATE TABLE t (id LONG, name STRING, PRIMARY KEY (id))").unwrap();
        let loads: Vec<_> = (0..3).map(|_| store.load(&loading(40)).unwrap()).collect();
        // What it asked for, and twice the least that a load gets.
        assert_eq!(lent(&store).1, 40 + 16 + 16);
        for (number, load) in loads.into_iter().enumerate() {
            let stream = load.stream("rows");
            let rows = (0..1_000).map(|id| row(number as i64 * 1_000 + id)).collect();
            load.push(stream, Payload::Rows { table: "t".into(), rows }).unwrap();
            load.finish().unwrap();
        }
        assert_eq!(lent(&store), (0, 0));
        assert_eq!(store.table("t").unwrap().count().unwrap(), 3_000);
    }

    #[test]
    fn calls_share_the_threads_of_the_store_and_answer_in_full() {
        let store = filled(Store::builder("memory:").threads(3).open().unwrap());
        let wide = TableScanOptions { max_concurrent_requests: Some(8), ..Default::default() };
        let mut scans: Vec<_> =
            (0..3).map(|_| store.table("t").unwrap().scan(&wide).unwrap()).collect();
        let mut rows: Vec<usize> =
            scans.iter_mut().map(|scan| scan.next().unwrap().unwrap().rows.num_rows()).collect();
        // All three for the first, and one for each that found none left.
        assert_eq!(lent(&store).0, 3 + 1 + 1);
        for (scan, rows) in scans.into_iter().zip(&mut rows) {
            *rows += scan.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>();
        }
        assert_eq!(rows, [ROWS as usize; 3]);
        assert_eq!(lent(&store), (0, 0));
    }

    #[test]
    fn a_store_of_one_thread_carries_out_every_bulk_call() {
        let store = filled(Store::builder("memory:").threads(1).open().unwrap());
        store.execute("CREATE INDEX by_name ON t (name)").unwrap();
        let ids = (0..ROWS).rev().map(|id| Row::new().with("id", Value::Long(id)));
        let keys = KeySource::keys(ids.collect::<Vec<_>>());
        let options = BulkGetOptions { direction: Direction::Forward, ..Default::default() };
        let got = store.table("t").unwrap().bulk_get(keys, &options).unwrap();
        assert_eq!(got.map(|batch| batch.unwrap().rows.num_rows()).sum::<usize>(), ROWS as usize);
        assert_eq!(store.table("t").unwrap().count().unwrap(), ROWS as u64);
        assert!(store.check().unwrap().is_sound());
        assert_eq!(lent(&store), (0, 0));
    }
}
