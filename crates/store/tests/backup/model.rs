//! Random writes, deletions, backups, compactions and prunes: each backup that is there gives what
//! a store in memory held at the time of the backup.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tonnage::{Cancel, Depth, Durability, Key, Store};

use crate::place::{Place, backup, pairs, put};

#[derive(Clone, Debug)]
enum Step {
    Put(u8, u16),
    Delete(u8),
    Settle,
    Backup,
    Prune(usize),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        12 => (any::<u8>(), 0_u16..3_000).prop_map(|(key, len)| Step::Put(key % 40, len)),
        4 => any::<u8>().prop_map(|key| Step::Delete(key % 40)),
        1 => Just(Step::Settle),
        4 => Just(Step::Backup),
        1 => (1_usize..4).prop_map(Step::Prune),
        1 => Just(Step::Reopen),
    ]
}

fn delete(store: &Store, key: u8) {
    let key = Key::of_major([key.to_string()]);
    store.kv().delete_subtree(&key, Depth::ParentOnly, None, Durability::Write).unwrap();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 8, ..ProptestConfig::default() })]

    #[test]
    fn every_backup_holds_what_was_there(
        directories in 1_usize..3,
        steps in proptest::collection::vec(step(), 1..60),
    ) {
        let place = Place::new();
        let model = Store::open("memory:").unwrap();
        let mut store = place.store(directories);
        let mut made: BTreeMap<u64, BTreeMap<String, Vec<u8>>> = BTreeMap::new();
        for step in steps {
            match step {
                Step::Put(key, len) => {
                    let value = vec![key; usize::from(len)];
                    [&store, &model].iter().for_each(|to| put(to, &key.to_string(), &value));
                }
                Step::Delete(key) => [&store, &model].iter().for_each(|store| delete(store, key)),
                Step::Settle => store.settle().unwrap(),
                Step::Backup => {
                    let number = backup(&store, &place.repository()).info.number;
                    made.insert(number, pairs(&model));
                }
                Step::Prune(keep) => {
                    let removed = place.repository().prune(keep).unwrap().removed;
                    removed.iter().for_each(|number| drop(made.remove(number)));
                    prop_assert!(made.len() <= keep);
                }
                Step::Reopen => {
                    drop(store);
                    store = place.store(directories);
                }
            }
        }
        let listed = place.repository().list().unwrap();
        let numbers: Vec<u64> = listed.iter().map(|info| info.number).collect();
        prop_assert_eq!(numbers, made.keys().copied().collect::<Vec<_>>());
        prop_assert!(place.repository().verify(None, &Cancel::new()).unwrap().is_sound());
        for (number, held) in made {
            prop_assert_eq!(place.restored(Some(number)), held);
        }
    }
}
