//! Numbers of an identity column after a `kill -9`: none is given twice.

use std::collections::BTreeSet;
use std::time::Duration;

use tonnage::{Condition, Durability, Store, Value, WriteOptions};
use tonnage_testkit::{Random, kill_rounds};

use crate::child::{child_store, run_and_kill, say};
use crate::common::row;

const TABLE: &str = "CREATE TABLE IF NOT EXISTS tickets (
    id LONG GENERATED ALWAYS AS IDENTITY (CACHE 25), run LONG, PRIMARY KEY (id))";

const KILLS: i64 = 8;
/// So many numbers are given, or the children hardly ran.
const GIVEN_MIN: usize = 100;

/// Stores rows and tells the number of each, without waiting for the disk.
fn number_rows(store: &Store, run: i64) {
    let table = store.table("tickets").unwrap();
    let options = WriteOptions { durability: Durability::Write, ..Default::default() };
    loop {
        let put = table.put_returning(&row! { "run" => run }, Condition::IfAbsent, &options);
        let put = put.unwrap();
        match (put.generated, put.result.is_stored()) {
            (Some(Value::Long(number)), true) => say(format_args!("gave {number}")),
            other => say(format_args!("taken {other:?}")),
        }
    }
}

#[test]
fn no_number_is_given_twice() {
    if let Some((store, run)) = child_store(TABLE) {
        number_rows(&store, run);
    }
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("store");
    let (mut random, mut given) = (Random(11), BTreeSet::new());
    for (run, longer) in kill_rounds(KILLS) {
        if run >= KILLS && given.len() > GIVEN_MIN {
            break;
        }
        let life = Duration::from_millis(60 + random.below(200)) * longer;
        let said = run_and_kill("identities::no_number_is_given_twice", &path, run, life);
        assert!(!said.iter().any(|line| line.starts_with("taken")), "a row had the number");
        for number in said.iter().filter_map(|line| line.strip_prefix("gave ")) {
            let number: i64 = number.trim().parse().unwrap();
            assert!(given.insert(number), "{number} was given twice");
        }
    }
    assert!(
        given.len() > GIVEN_MIN,
        "only {} numbers were given: the children hardly ran",
        given.len()
    );
}
