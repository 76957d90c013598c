//! Random loads against a model: counts add up, and what is stored is what the rules say.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tonnage::{BulkPutOptions, Durability, EntryStream, OnExisting, Row, Value};

use crate::common::Backend;
use crate::common::recorder::Recorder;
use crate::common::shop::rows_of;
use crate::common::{all_rows, row};

/// An entry: its key, and what tells it from the others; a NULL key cannot be stored.
type Entry = (Option<u8>, u32);

#[derive(Clone, Debug)]
struct Load {
    streams: Vec<Vec<Entry>>,
    replace: bool,
    memory_bytes: usize,
    parallelism: usize,
    durability: Durability,
}

fn load() -> impl Strategy<Value = Load> {
    let key = prop_oneof![9 => any::<u8>().prop_map(Some), 1 => Just(None)];
    let stream = prop::collection::vec((key, any::<u32>()), 0..200);
    let durability =
        prop_oneof![Just(Durability::None), Just(Durability::Write), Just(Durability::Fsync)];
    (
        prop::collection::vec(stream, 1..4),
        any::<bool>(),
        prop_oneof![Just(1 << 20), Just(8 << 20)],
        1_usize..4,
        durability,
    )
        .prop_map(|(streams, replace, memory_bytes, parallelism, durability)| Load {
            streams,
            replace,
            memory_bytes,
            parallelism,
            durability,
        })
}

fn entry((key, mark): Entry) -> Row {
    // Some rows are large, so that a load can be larger than its memory.
    let text = "x".repeat((mark % 7) as usize * 1_000);
    row! { "id" => key.map(i32::from), "mark" => i64::from(mark), "text" => text }
}

/// The entries that may have won under each key that was not stored before.
fn candidates(load: &Load) -> BTreeMap<i32, Vec<u32>> {
    let mut candidates: BTreeMap<i32, Vec<u32>> = BTreeMap::new();
    for stream in &load.streams {
        let mut winners: BTreeMap<i32, u32> = BTreeMap::new();
        for (key, mark) in stream.iter().filter_map(|(key, mark)| Some(((*key)?, *mark))) {
            if load.replace {
                winners.insert(key.into(), mark);
            } else {
                winners.entry(key.into()).or_insert(mark);
            }
        }
        winners.into_iter().for_each(|(key, mark)| candidates.entry(key).or_default().push(mark));
    }
    candidates
}

fn check(on: Backend, loads: &[Load]) -> Result<(), TestCaseError> {
    let store =
        on.with_tables("CREATE TABLE items (id INTEGER, mark LONG, text STRING, PRIMARY KEY (id))");
    let mut stored: BTreeMap<i32, u32> = BTreeMap::new();
    for load in loads {
        let (recorder, options) = Recorder::default().watch(BulkPutOptions {
            on_existing: if load.replace { OnExisting::Replace } else { OnExisting::Keep },
            memory_bytes_max: Some(load.memory_bytes),
            stream_parallelism: Some(load.parallelism),
            request_bytes_max: 4 << 10,
            durability: load.durability,
            ..Default::default()
        });
        let stream = |entries: &Vec<Entry>| -> Box<dyn EntryStream> {
            rows_of("items", entries.iter().copied().map(entry))
        };
        let report = store.bulk_put(load.streams.iter().map(stream).collect(), &options).unwrap();

        for (counts, entries) in report.streams.iter().zip(&load.streams) {
            let counts = counts.counts;
            prop_assert_eq!(counts.read, entries.len() as u64);
            prop_assert_eq!(counts.inserted + counts.existed + counts.failed, counts.read);
            prop_assert_eq!(
                counts.failed,
                entries.iter().filter(|(key, _)| key.is_none()).count() as u64
            );
        }
        let candidates = candidates(load);
        let new = candidates.keys().filter(|key| !stored.contains_key(key)).count();
        prop_assert_eq!(report.total.inserted, new as u64);
        prop_assert_eq!(
            recorder.existing().len() as u64,
            if load.replace { 0 } else { report.total.existed }
        );
        prop_assert_eq!(recorder.completed().len(), load.streams.len());

        let mut seen = BTreeMap::new();
        for row in all_rows(&store, "items") {
            let (Some(Value::Integer(key)), Some(Value::Long(mark))) =
                (row.get("id"), row.get("mark"))
            else {
                panic!("{row:?}")
            };
            let mark = *mark as u32;
            prop_assert_eq!(&row, &entry((Some(*key as u8), mark)));
            let kept = stored.get(key).filter(|_| !load.replace || !candidates.contains_key(key));
            match kept {
                Some(kept) => prop_assert_eq!(*kept, mark),
                None => prop_assert!(
                    candidates[key].contains(&mark),
                    "{} is none of {:?}",
                    mark,
                    candidates[key]
                ),
            }
            seen.insert(*key, mark);
        }
        prop_assert!(
            candidates.keys().chain(stored.keys()).all(|key| seen.contains_key(key)),
            "a row is missing"
        );
        stored = seen;
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn random_loads_into_memory_agree_with_the_model(loads in prop::collection::vec(load(), 1..4)) {
        check(Backend::Memory, &loads)?;
    }

    #[test]
    fn random_loads_into_rocksdb_agree_with_the_model(loads in prop::collection::vec(load(), 1..4)) {
        check(Backend::RocksDb, &loads)?;
    }
}
