//! Random writes, appends, deletions, cut writers and reopenings against a plain map.

use std::collections::HashMap;
use std::io::Read;

use proptest::prelude::*;
use tonnage::{Durability, Key, LobOptions};
use tonnage_testkit::Random;

use crate::common::Backend;
use crate::common::Backend::{Memory, RocksDb};

#[derive(Clone, Debug)]
enum Step {
    Put {
        key: u8,
        len: usize,
        chunk_bytes: usize,
    },
    Append {
        key: u8,
        len: usize,
    },
    /// Writes, and is gone; the next writer begins anew.
    Cut {
        key: u8,
        len: usize,
        appends: bool,
    },
    /// Writes, is gone, resumes and finishes.
    Resume {
        key: u8,
        len: usize,
        cut: usize,
        appends: bool,
    },
    Delete {
        key: u8,
    },
    Clean,
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let (key, len) = (0_u8..3, 0_usize..400);
    let write = (key.clone(), len.clone(), any::<bool>());
    prop_oneof![
        (key.clone(), len.clone(), 1_usize..60).prop_map(|(key, len, chunk_bytes)| Step::Put {
            key,
            len,
            chunk_bytes
        }),
        (key.clone(), len.clone()).prop_map(|(key, len)| Step::Append { key, len }),
        write.clone().prop_map(|(key, len, appends)| Step::Cut { key, len, appends }),
        (write, len).prop_map(|((key, len, appends), cut)| Step::Resume { key, len, cut, appends }),
        key.prop_map(|key| Step::Delete { key }),
        Just(Step::Clean),
        Just(Step::Reopen),
    ]
}

fn name(key: u8) -> Key {
    Key::new(["objects"], [vec![key]])
}

fn run(backend: Backend, steps: &[Step]) {
    let mut store = backend.open();
    let mut model: HashMap<u8, Vec<u8>> = HashMap::new();
    let options = LobOptions { chunk_bytes: 32, ..LobOptions::default() };
    for (at, step) in steps.iter().enumerate() {
        if matches!(step, Step::Reopen) {
            store.reopen();
            continue;
        }
        let pairs = store.kv();
        let noise = |len: usize| Random(at as u64).bytes(len);
        let open = |key: u8, appends: bool| match appends {
            true => pairs.append_lob(&name(key), &options).unwrap(),
            false => pairs.put_lob(&name(key), &options).unwrap(),
        };
        match *step {
            Step::Put { key, len, chunk_bytes } => {
                let options = LobOptions { chunk_bytes, ..options };
                let mut writer = pairs.put_lob(&name(key), &options).unwrap();
                writer.append(&noise(len)).unwrap();
                writer.finish().unwrap();
                model.insert(key, noise(len));
            }
            Step::Append { key, len } => {
                let mut writer = open(key, true);
                writer.append(&noise(len)).unwrap();
                writer.finish().unwrap();
                model.entry(key).or_default().extend(noise(len));
            }
            Step::Cut { key, len, appends } => open(key, appends).append(&noise(len)).unwrap(),
            Step::Resume { key, len, cut, appends } => {
                let mut whole = model.remove(&key).filter(|_| appends).unwrap_or_default();
                whole.extend(noise(len));
                let mut writer = open(key, appends);
                let from = writer.position() as usize;
                writer.append(&whole[from..cut.clamp(from, whole.len())]).unwrap();
                drop(writer);
                let mut writer = pairs.resume_lob(&name(key), &options).unwrap().unwrap();
                writer.append(&whole[writer.position() as usize..]).unwrap();
                assert_eq!(writer.finish().unwrap().bytes, whole.len() as u64);
                model.insert(key, whole);
            }
            Step::Delete { key } => {
                let there = pairs.delete_lob(&name(key), Durability::Write).unwrap();
                assert_eq!(there, model.remove(&key).is_some());
            }
            Step::Clean => assert_eq!(pairs.clean_lobs().unwrap().chunks, 0),
            Step::Reopen => {}
        }
    }
    for key in 0..3 {
        let mut found = None;
        if let Some(mut reader) = store.kv().get_lob(&name(key)).unwrap() {
            let bytes = found.insert(Vec::new());
            reader.read_to_end(bytes).unwrap();
        }
        assert_eq!(found, model.get(&key).cloned());
    }
    let checked = store.check().unwrap();
    assert!(checked.is_sound(), "{checked:?}");
    assert_eq!((checked.large_objects, checked.orphan_chunks), (model.len() as u64, 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, ..ProptestConfig::default() })]

    #[test]
    fn objects_in_memory_hold_what_was_written(
        steps in proptest::collection::vec(step(), 1..40),
    ) {
        run(Memory, &steps);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 15, ..ProptestConfig::default() })]

    #[test]
    fn objects_on_disk_hold_what_was_written(steps in proptest::collection::vec(step(), 1..40)) {
        run(RocksDb, &steps);
    }
}
