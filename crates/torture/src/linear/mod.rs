//! Linearizability. Threads write and read few rows, beside bulk puts, DDL and the making of an
//! index. Some order of its operations must explain each object's history.

mod client;
mod drive;
mod history;
mod round;
mod search;

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::sync::atomic::AtomicU64;
use std::time::Duration;

use tonnage::{IndexRange, IndexScanOptions, Row, Store, TableScanOptions};

use crate::child;
use crate::content::{builder, long};
use crate::fallible::Fallible;
use crate::options::TortureOptions;
use crate::random::SeededRandom;
use crate::report::{ReportSubject, TortureReport};
use crate::scratch::{Scratch, progress};
use drive::TABLE;
use round::{ObjectHistory, Round};
use search::{SearchVerdict, search};

/// The default number of stores.
const RUNS: u64 = 8;

/// Rounds on one store.
const ROUNDS: i64 = 6;

const LONGEST: Duration = Duration::from_secs(600);

pub(crate) fn run(options: &TortureOptions, report: &mut TortureReport) -> Fallible<()> {
    let scratch = Scratch::make(&options.directory, "linear")?;
    for unit in options.units(RUNS) {
        let seed = options.seed + unit;
        scratch.clear()?;
        // In a child: a panic or a hang of the store is a complaint, not the end of the test.
        let mut command = child::myself("histories")?;
        command.arg(scratch.store()).arg(scratch.base()).arg(seed.to_string());
        let ended = child::run(&mut command, LONGEST)?;
        ended.counts().for_each(|(name, count)| report.add(name, count));
        progress(format_args!("linear: seed {seed}"));
        let subject = ReportSubject {
            test: "linear",
            variant: "small writes beside loads",
            name: format!("linear-{seed}"),
            command: format!("torture linear --runs 1 --seed {seed}"),
        };
        report.verdict(&subject, &ended.answer(), |directory| {
            // The child left the histories that nothing explains as files beside the store.
            for entry in fs::read_dir(scratch.base())? {
                let entry = entry?;
                if entry.file_type()?.is_file() {
                    fs::copy(entry.path(), directory.join(entry.file_name()))?;
                }
            }
            Ok(())
        })?;
    }
    Ok(())
}

/// The part of the child: plays rounds on a new store, and gives what nothing explains.
pub(crate) fn histories(words: &[String]) -> Fallible<Vec<String>> {
    let [path, directory, seed] = words else {
        return Err("histories STORE DIRECTORY SEED".into());
    };
    let store = builder(path).open()?;
    store.execute(TABLE)?;
    // Shared by all rounds, so that no two writes of the store have one number.
    let (clock, writes) = (AtomicU64::new(1), AtomicU64::new(1));
    let mut random = SeededRandom::new(seed.parse()?);
    let mut complaints = Vec::new();
    let (mut objects_judged, mut operations, mut loads, mut given_up) = (0, 0, 0, 0);
    for number in 1..=ROUNDS {
        // Each round has shard keys of its own: its rows begin as absent, which the search assumes.
        let round = Round::new(&store, number * 10, random.next(), &clock, &writes);
        let (objects, loaded) = round.play()?;
        loads += loaded;
        for (n, object) in objects.iter().enumerate() {
            objects_judged += 1;
            operations += object.events.len();
            let name = Path::new(directory).join(format!("history-{number}-{n}.txt"));
            match judge(object, &name)? {
                Ok(SearchVerdict::GaveUp) => given_up += 1,
                Ok(_) => {}
                Err(complaint) => complaints.push(complaint),
            }
        }
    }
    complaints.extend(judge_store(&store)?);
    println!("COUNT objects of linear histories {objects_judged}");
    println!("COUNT operations in histories {operations}");
    println!("COUNT loads beside histories {loads}");
    println!("COUNT histories given up {given_up}");
    Ok(complaints)
}

/// Writes down a history that no order explains.
fn judge(object: &ObjectHistory, name: &Path) -> Fallible<Result<SearchVerdict, String>> {
    let verdict = search(&object.events, &object.versions, false);
    if verdict != SearchVerdict::Unexplained {
        return Ok(Ok(verdict));
    }
    let mut events: Vec<_> = object.events.iter().collect();
    events.sort_by_key(|event| event.call);
    let text: String = events.iter().map(|event| format!("{event}\n")).collect();
    fs::write(name, format!("{text}{:?}\n", object.versions))?;
    let file = name.file_name().unwrap_or_default().to_string_lossy();
    Ok(Err(match search(&object.events, &object.versions, true) {
        SearchVerdict::Explained => format!("OVERTAKEN {file}: explained if loads lose entries"),
        _ => format!("UNEXPLAINED {file}"),
    }))
}

/// The store is sound, and the index leads to all rows.
fn judge_store(store: &Store) -> Fallible<Vec<String>> {
    let mut complaints = Vec::new();
    if let Some(damage) = store.check()?.damages.first() {
        complaints.push(format!("CHECK {damage:?}"));
    }
    let table = store.table("r")?;
    let key = |row: &Row| (long(row, "s"), long(row, "k"));
    let rows = table.scan(&TableScanOptions::default())?.into_rows();
    let rows: BTreeSet<_> =
        rows.map(|found| found.map(|found| key(&found.row))).collect::<Result<_, _>>()?;
    let mut led = BTreeSet::new();
    for batch in table.index("by_w")?.scan(&IndexRange::default(), &IndexScanOptions::default())? {
        let batch = batch?.rows;
        for at in 0..batch.num_rows() {
            led.insert(key(&Row::from_batch(&batch, at)?));
        }
    }
    if rows != led {
        complaints.push(format!("INDEX by_w leads to {} rows of {}", led.len(), rows.len()));
    }
    Ok(complaints)
}
