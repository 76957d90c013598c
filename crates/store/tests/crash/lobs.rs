//! Large objects after a `kill -9`: each is whole, and as new as its last acknowledgement.

use std::collections::BTreeMap;
use std::io::Read;
use std::time::Duration;

use tonnage::{Durability, Key, LobOptions, Store};
use tonnage_testkit::{Random, kill_rounds};

use crate::child::{child_store, run_and_kill, say};
use crate::common::builder;

const KILLS: i64 = 8;
const OBJECTS: u64 = 3;
const CHUNK_BYTES: usize = 4_096;

fn key(object: u64) -> Key {
    Key::new(["lobs"], [object.to_string()])
}

/// The bytes of an object as of a round: their number and each of them tell the round.
fn bytes_of(object: u64, round: u64) -> Vec<u8> {
    let mut random = Random(object << 32 | round);
    let len = 8 + random.below(20 * CHUNK_BYTES as u64) as usize;
    let mut bytes = round.to_le_bytes().to_vec();
    bytes.extend(random.bytes(len));
    bytes
}

fn replace_objects(store: &Store, run: i64) {
    let options = LobOptions {
        chunk_bytes: CHUNK_BYTES,
        durability: Durability::Write,
        ..Default::default()
    };
    let first = run as u64 * 1_000_000;
    for round in first.. {
        let object = round % OBJECTS;
        let mut writer = store.kv().put_lob(&key(object), &options).unwrap();
        writer.append(&bytes_of(object, round)).unwrap();
        writer.finish().unwrap();
        say(format_args!("stored {object} {round}"));
    }
}

#[test]
fn objects_are_whole_and_none_that_was_acknowledged_is_lost() {
    if let Some((store, run)) = child_store("") {
        replace_objects(&store, run);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let (mut random, mut acknowledged) = (Random(5), BTreeMap::new());
    for (run, longer) in kill_rounds(KILLS) {
        if run >= KILLS && acknowledged.len() as u64 == OBJECTS {
            break;
        }
        let life = Duration::from_millis(60 + random.below(200)) * longer;
        let test = "lobs::objects_are_whole_and_none_that_was_acknowledged_is_lost";
        for line in run_and_kill(test, &path, run, life) {
            if let Some(told) = line.strip_prefix("stored ") {
                let (object, round) = told.trim().split_once(' ').unwrap();
                let round: u64 = round.parse().unwrap();
                acknowledged.insert(object.parse::<u64>().unwrap(), round);
            }
        }
        let store = builder(path.to_str().unwrap()).open().unwrap();
        for (object, round) in &acknowledged {
            let mut bytes = Vec::new();
            let mut reader = store.kv().get_lob(&key(*object)).unwrap().expect("it was stored");
            reader.read_to_end(&mut bytes).unwrap();
            let stored = u64::from_le_bytes(*bytes.first_chunk().unwrap());
            assert!(stored >= *round, "object {object} is of round {stored}, {round} was stored");
            assert!(bytes == bytes_of(*object, stored), "object {object} is torn");
        }
        store.kv().clean_lobs().unwrap();
        let report = store.check().unwrap();
        assert!(report.is_sound() && report.orphan_chunks == 0, "{report:?}");
    }
    assert_eq!(acknowledged.len() as u64, OBJECTS, "the children hardly ran");
}
