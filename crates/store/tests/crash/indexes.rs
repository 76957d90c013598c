//! Kills at random times, while indexed rows are loaded, written and deleted, and an index is
//! created and dropped.
//!
//! Whatever is left must hold together: no row is missing in an index, every row is found through
//! it, and an index whose build was cut short is built again by the same statement.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use tonnage::{
    BulkPutOptions, Durability, IndexRange, IndexScanOptions, OnExisting, Row, Store, Value,
    WriteOptions, row_stream,
};
use tonnage_testkit::{Random, kill_rounds};

use crate::child::{child_store, run_and_kill, say};
use crate::common::{all_rows, builder, row};

const TABLE: &str =
    "CREATE TABLE IF NOT EXISTS cars (plate LONG, generation LONG, colour STRING, year INTEGER, PRIMARY KEY (plate));
    CREATE INDEX IF NOT EXISTS by_colour ON cars (colour, year)";
const BRIEF: &str = "CREATE INDEX IF NOT EXISTS brief ON cars (year)";

/// Plates that are loaded, over and over.
const LOADED: i64 = 20_000;
/// Plates from here on are written one by one; every third of them is never deleted.
const SINGLES: i64 = 1 << 40;

/// Kills of one store.
const KILLS_PER_STORE: i64 = 5;

/// Fewer rows than this prove nothing.
const ACKNOWLEDGED_MIN: usize = 100;

/// A car of some generation: the row follows from both, so that a torn one differs from a right
/// one.
fn car(plate: i64, generation: i64) -> Row {
    let mut random = Random((plate as u64) << 20 ^ generation as u64);
    let colour = ["red", "green", "blue", ""][random.below(4) as usize];
    let colour = if random.below(9) == 0 { Value::Null } else { colour.into() };
    row! { "plate" => plate, "generation" => generation, "colour" => colour, "year" => random.below(60) as i32 }
}

fn number(row: &Row, name: &str) -> i64 {
    match row.get(name) {
        Some(Value::Long(number)) => *number,
        other => panic!("{name}: {other:?}"),
    }
}

/// Plays the part and never returns, if this process is a child.
fn play_if_child(durability: Durability) {
    let Some((store, run)) = child_store(TABLE) else { return };
    std::thread::scope(|scope| {
        scope.spawn(|| load_for_ever(&store, run, durability));
        scope.spawn(|| write_for_ever(&store, run, durability));
        scope.spawn(|| {
            loop {
                store.execute(BRIEF).unwrap();
                store.execute("DROP INDEX brief ON cars").unwrap();
            }
        });
    });
    unreachable!("a child runs until it is killed");
}

/// Loads small and large, through the log and by files, into absent and over present rows.
fn load_for_ever(store: &Store, run: i64, durability: Durability) {
    let mut random = Random(run as u64);
    for load in 0_i64.. {
        let generation = run * 1_000_000 + load;
        let (first, count) =
            (random.below(LOADED as u64) as i64, [20, 300, 9_000][random.below(3) as usize]);
        let rows =
            (0..count).map(move |at| Ok(("cars".into(), car((first + at) % LOADED, generation))));
        let options = BulkPutOptions {
            on_existing: [OnExisting::Keep, OnExisting::Replace, OnExisting::BlindReplace]
                [random.below(3) as usize],
            durability,
            memory_bytes_max: Some(1 << 20),
            flush_bytes_max: 1 << 20,
            ..Default::default()
        };
        store.bulk_put(vec![row_stream("cars", rows)], &options).unwrap();
        // Single writes remove entries only while no load is open: give them a chance.
        std::thread::sleep(Duration::from_millis(random.below(8)));
    }
}

/// Puts new cars, changes and deletes old ones.
fn write_for_ever(store: &Store, run: i64, durability: Durability) {
    let table = store.table("cars").unwrap();
    let options = WriteOptions { durability, ..Default::default() };
    let mut random = Random(run as u64 ^ 0xBEEF);
    for at in 0.. {
        let plate = SINGLES + run * 1_000_000 + at;
        table.put(&car(plate, 0), &options).unwrap();
        say(format_args!("put {plate}"));
        let older = SINGLES + run * 1_000_000 + random.below(at as u64 + 1) as i64;
        match older % 3 {
            0 => drop(table.put(&car(older, at), &options).unwrap()),
            _ => drop(table.delete(&row! { "plate" => older }, &options).unwrap()),
        }
        let loaded = random.below(LOADED as u64) as i64;
        match random.below(2) {
            0 => drop(table.put(&car(loaded, -at), &options).unwrap()),
            _ => drop(table.delete(&row! { "plate" => loaded }, &options).unwrap()),
        }
    }
}

/// All rows that an index leads to, by plate.
fn through(store: &Store, index: &str, range: &IndexRange) -> BTreeMap<i64, Row> {
    let index = store.table("cars").unwrap().index(index).unwrap();
    let mut found = BTreeMap::new();
    for batch in index.scan(range, &IndexScanOptions::default()).unwrap() {
        let rows = batch.unwrap().rows;
        for at in 0..rows.num_rows() {
            let row = Row::from_batch(&rows, at).unwrap();
            assert!(found.insert(number(&row, "plate"), row).is_none(), "a row came twice");
        }
    }
    found
}

/// Opens the store and looks at everything. `put` holds the plates whose cars must be there.
fn verify(path: &Path, put: &[i64]) {
    let store = builder(&path.display().to_string()).open().expect("a store reopens by itself");
    let report = store.check().unwrap();
    assert!(report.is_sound(), "{:?}", report.damages);
    // A child may be killed before it has created them.
    store.execute(TABLE).unwrap();
    let rows: BTreeMap<i64, Row> =
        all_rows(&store, "cars").into_iter().map(|row| (number(&row, "plate"), row)).collect();
    for (plate, row) in &rows {
        assert_eq!(row, &car(*plate, number(row, "generation")), "a torn row");
    }
    let lost = put.iter().find(|plate| !rows.contains_key(plate));
    assert_eq!(lost, None, "an acknowledged row is lost");

    assert_eq!(through(&store, "by_colour", &IndexRange::default()), rows);
    let is_red = |row: &Row| row.get("colour") == Some(&"red".into());
    let red = rows.clone().into_iter().filter(|(_, row)| is_red(row)).collect();
    assert_eq!(through(&store, "by_colour", &IndexRange::prefix(["red"])), red);

    // Left in whatever state, or not there: the statement makes it whole.
    store.execute(BRIEF).unwrap();
    assert_eq!(through(&store, "brief", &IndexRange::default()), rows);
    assert!(store.check().unwrap().is_sound());
}

fn survive(test: &str, durability: Durability, kills: i64) {
    play_if_child(durability);
    let mut random = Random(kills as u64);
    let mut acknowledged = 0;
    let stores = kills / KILLS_PER_STORE;
    for (store, longer) in kill_rounds(stores) {
        if store >= stores && acknowledged > ACKNOWLEDGED_MIN {
            break;
        }
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("store");
        let mut put = Vec::new();
        for kill in 0..KILLS_PER_STORE {
            let life = Duration::from_millis(80 + random.below(500));
            let said = run_and_kill(
                &format!("indexes::{test}"),
                &path,
                store * KILLS_PER_STORE + kill,
                life * longer,
            );
            let plates = said
                .iter()
                .filter_map(|line| line.strip_prefix("put ")?.trim().parse::<i64>().ok());
            put.extend(plates.filter(|plate| plate % 3 == 0));
            verify(&path, &put);
        }
        acknowledged += put.len();
    }
    assert!(
        acknowledged > ACKNOWLEDGED_MIN,
        "only {acknowledged} rows were acknowledged: the children hardly ran"
    );
}

#[test]
fn indexes_of_rows_on_the_disk_survive_being_killed() {
    survive("indexes_of_rows_on_the_disk_survive_being_killed", Durability::Fsync, rounds(20));
}

#[test]
fn indexes_of_rows_handed_to_the_system_survive_being_killed() {
    survive(
        "indexes_of_rows_handed_to_the_system_survive_being_killed",
        Durability::Write,
        rounds(20),
    );
}

/// `TONNAGE_CRASH_KILLS` asks for more kills than usual.
fn rounds(usual: i64) -> i64 {
    std::env::var("TONNAGE_CRASH_KILLS").ok().and_then(|kills| kills.parse().ok()).unwrap_or(usual)
}
