//! A hundred kills at random times.

use std::time::Duration;

use tonnage::Durability;
use tonnage_testkit::{Random, kill_rounds};

use crate::child::{Part, play_if_child, run_and_kill};
use crate::ledger::Ledger;

/// So many rows are acknowledged, or the children hardly ran.
const ACKNOWLEDGED_MIN: usize = 100;
/// Kills of one store.
const KILLS_PER_STORE: i64 = 5;

/// Kills children that play a part, and reopens and checks the store after each kill.
fn survive(test: &str, part: Part, kills: i64) {
    play_if_child(part);
    let mut random = Random(kills as u64);
    let mut acknowledged = 0;
    let stores = kills / KILLS_PER_STORE;
    for (store, longer) in kill_rounds(stores) {
        if store >= stores && acknowledged > ACKNOWLEDGED_MIN {
            break;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let mut ledger = Ledger::default();
        for kill in 0..KILLS_PER_STORE {
            let life = Duration::from_millis(50 + random.below(350));
            let said = run_and_kill(
                &format!("kills::{test}"),
                &path,
                store * KILLS_PER_STORE + kill,
                life * longer,
            );
            said.iter().for_each(|line| ledger.note(line));
            ledger.verify(&path);
        }
        acknowledged += ledger.acknowledged();
    }
    assert!(
        acknowledged > ACKNOWLEDGED_MIN,
        "only {acknowledged} rows were acknowledged: the children hardly ran"
    );
}

#[test]
fn bulk_puts_with_fsync_survive_being_killed() {
    survive("bulk_puts_with_fsync_survive_being_killed", Part::BulkPuts(Durability::Fsync), 30);
}

#[test]
fn bulk_puts_handed_to_the_system_survive_being_killed() {
    survive(
        "bulk_puts_handed_to_the_system_survive_being_killed",
        Part::BulkPuts(Durability::Write),
        20,
    );
}

#[test]
fn single_writes_with_fsync_survive_being_killed() {
    survive("single_writes_with_fsync_survive_being_killed", Part::Singles(Durability::Fsync), 30);
}

#[test]
fn single_writes_handed_to_the_system_survive_being_killed() {
    survive(
        "single_writes_handed_to_the_system_survive_being_killed",
        Part::Singles(Durability::Write),
        20,
    );
}
