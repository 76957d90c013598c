//! Reads beside the drop of their space: they give all rows, or an error.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tonnage_engine::{
    Direction, Engine, Entries, ErrorKind, FilterDecision, KeyFilter, KeyPart, KeyShape,
    LoadOptions, Projection, Ranges, Rows, ScanOptions, Slices, SpaceId,
};
use tonnage_rocksdb::RocksEngine;

use crate::common::open;

fn filled(engine: &RocksEngine, rows: u32) -> SpaceId {
    let space = engine.create_space("rows", &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    let mut entries = Entries::new();
    (0..rows).for_each(|row| entries.push(&row.to_be_bytes(), &[7; 600], row.into(), 0));
    let session = engine.load(LoadOptions::default()).unwrap();
    session.push(space, 0, &entries).unwrap();
    session.finish().unwrap();
    space
}

/// Drops the space at the first row.
struct Dropping {
    engine: Arc<RocksEngine>,
    space: SpaceId,
    done: AtomicBool,
}

impl KeyFilter for Dropping {
    fn decide(&self, _: &[u8]) -> FilterDecision {
        if !self.done.swap(true, Ordering::SeqCst) {
            self.engine.drop_space(self.space).unwrap();
        }
        FilterDecision::Count
    }
}

/// The story of a bug: a scan of many ranges, as of an index, was at the first of them when the
/// space was dropped. All others seemed empty, and the scan ended as if that had been all.
#[test]
fn a_scan_of_a_space_that_goes_does_not_end_as_if_it_were_whole() {
    for direction in [Direction::Unordered, Direction::Forward, Direction::Reverse] {
        let place = tempfile::tempdir().unwrap();
        let engine = Arc::new(open(&place.path().join("store")).unwrap());
        let space = filled(&engine, 10);
        let mut ranges = Ranges::new();
        (0..10_u32).for_each(|row| ranges.push_prefix(&row.to_be_bytes()));
        let filter = Dropping { engine: engine.clone(), space, done: AtomicBool::new(false) };
        let filter: Arc<dyn KeyFilter> = Arc::new(filter);
        let options = ScanOptions { direction, filter: Some(filter), ..ScanOptions::default() };
        let mut scanner = engine.scan(space, ranges, options).unwrap();
        let (mut rows, mut found) = (Rows::new(), 0);
        let ended = loop {
            match scanner.next_batch(&mut rows) {
                Ok(true) => found += rows.len(),
                Ok(false) => break None,
                Err(error) => break Some(error.kind()),
            }
        };
        assert_eq!(ended, Some(ErrorKind::NotFound), "{direction:?}: {found} of 10 rows");
    }
}

/// The story of a bug: keys that were looked up while their space was dropped seemed to have no
/// rows.
#[test]
fn rows_of_a_space_that_goes_are_not_taken_for_missing() {
    const ROWS: u32 = 20_000;
    let place = tempfile::tempdir().unwrap();
    let engine = Arc::new(open(&place.path().join("store")).unwrap());
    // Every third, so that they are looked up together, and not walked to.
    let keys: Vec<[u8; 4]> = (0..ROWS).rev().step_by(3).map(u32::to_be_bytes).collect();
    let keys: Slices = keys.iter().map(|key| &key[..]).collect();
    for round in 0..12 {
        let space = filled(&engine, ROWS);
        std::thread::scope(|scope| {
            let reading = scope.spawn(|| {
                let mut rows = Rows::new();
                loop {
                    match engine.read(space, &keys, Projection::KeysAndValues, &mut rows) {
                        Ok(()) => assert_eq!(rows.len(), keys.len(), "round {round}"),
                        Err(error) => return error.kind(),
                    }
                }
            });
            std::thread::sleep(std::time::Duration::from_millis(5 + 7 * round));
            engine.drop_space(space).unwrap();
            assert_eq!(reading.join().unwrap(), ErrorKind::NotFound);
        });
    }
}
