//! A little of every torture, with fixed seeds: the long run is `make torture`.

use std::collections::HashSet;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

/// Runs the program in a directory of its own; nothing may be unexplained.
fn torture(words: &str) {
    let directory = tempfile::tempdir().unwrap();
    let bad = directory.path().join("bad");
    let output = Command::new(env!("CARGO_BIN_EXE_torture"))
        .args(words.split(' '))
        .arg("--dir")
        .arg(directory.path())
        .arg("--bad")
        .arg(&bad)
        .output()
        .unwrap();
    let (table, story) = (
        String::from_utf8_lossy(&output.stdout).into_owned(),
        String::from_utf8_lossy(&output.stderr).into_owned(),
    );
    println!("{table}");
    if !output.status.success() {
        // What a failed run leaves can be looked at.
        let kept = directory.keep();
        panic!("torture {words}: {}\n{story}\n{table}\nin {}", output.status, kept.display());
    }
}

#[test]
fn stores_survive_power_loss_in_every_model_of_a_file_system() {
    torture("power --runs 4 --cuts 3 --millis 500 --ledger 20000");
}

#[test]
fn stores_survive_failing_calls() {
    torture("faults --runs 10 --seed 3 --millis 500 --ledger 20000");
}

/// The story of a bug: a flush failed at its note in the MANIFEST, and RocksDB kept the file. A
/// load then changed options, which RocksDB took for a MANIFEST that was written: it deleted the
/// file, and the store never opened again.
#[test]
fn a_load_after_a_failed_flush_costs_no_file() {
    let fault = "--runs 1 --seed 4 --kind bulk+single --fault fsync:4:EIO:1:MANIFEST";
    torture(&format!("faults {fault} --millis 1200"));
}

#[test]
fn damaged_files_never_give_a_wrong_answer() {
    torture("flips --runs 16");
}

#[test]
fn stores_survive_kills() {
    torture("kills --runs 2 --millis 400 --ledger 20000");
}

#[test]
fn small_writes_beside_loads_have_an_order() {
    torture("linear --runs 1");
}

#[test]
fn readers_refuse_what_they_cannot_read() {
    torture("readers --runs 300");
}

/// The story of a bug: with `--reader cvs` nothing was read, and all was well.
#[test]
fn a_name_that_there_is_not_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    for (option, name) in [("--reader", "csv,cvs"), ("--kind", "single+bluk"), ("--model", "kil")] {
        let output = run(&["readers", option, name, "--runs", "1"], directory.path());
        let told = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(3), "{option} {name}: {told}");
        assert!(told.contains(&format!("{option} {name}: ")), "{told}");
    }
}

fn run(words: &[&str], directory: &Path) -> Output {
    Command::new(env!("CARGO_BIN_EXE_torture")).args(words).current_dir(directory).output().unwrap()
}

fn judgement(directory: &Path, ledger: &str) -> String {
    fs::write(directory.join("told"), ledger).unwrap();
    let output = run(&["judge", "store", "told", "process"], directory);
    String::from_utf8(output.stdout).unwrap()
}

/// Works in rounds until each part of the workload has left something that is still stored. A round
/// ends when the ledger has its bytes: one part may fill it alone, and another may have undone all.
fn work_until_each_part_left_something(directory: &Path) -> String {
    for round in 0..20 {
        let kind = "single+bulk+pairs+ddl+purge+push";
        let round = round.to_string();
        let work = ["work", "store", "ledger", kind, "1", "5000", &round, "9000"];
        let worked = run(&work, directory);
        assert!(worked.status.success(), "{}", String::from_utf8_lossy(&worked.stderr));
        let ledger = fs::read_to_string(directory.join("ledger")).unwrap();
        let parts = ["row", "load", "push"].map(|part| ledger.contains(&format!("ok {part} ")));
        if parts.iter().all(|did| *did)
            && is_left(&ledger, "fill", "purge")
            && is_left(&ledger, "table create", "table drop")
        {
            return ledger;
        }
    }
    panic!("a part of the workload left nothing in 20 rounds");
}

/// Whether there is something that one step created and the other was not tried on.
fn is_left(ledger: &str, makes: &str, undoes: &str) -> bool {
    let numbers = |step: String| {
        let lines = ledger.lines().filter_map(move |line| line.strip_prefix(&step));
        lines.filter_map(|rest| rest.split(' ').next()).collect::<HashSet<_>>()
    };
    let (made, undone) = (numbers(format!("ok {makes} ")), numbers(format!("try {undoes} ")));
    made.difference(&undone).next().is_some()
}

/// A judge that finds nothing wrong may be one that does not look.
#[test]
fn a_judge_sees_what_is_lost_and_what_was_never_tried() {
    let directory = tempfile::tempdir().unwrap();
    let ledger = work_until_each_part_left_something(directory.path());
    assert_eq!(judgement(directory.path(), &ledger), "");
    for (line, complaint) in [
        ("try row 77 1\nok row 77 1 fsync\n", "BAD LOST row 77"),
        ("try load 9990 5 1 replace\nok load 9990 fsync\n", "BAD LOST loaded row 5"),
        ("try pair 77 1\nok pair 77 1 write\n", "BAD LOST pair 77"),
        ("try push 7000000 1\nok push 7000000 fsync\n", "BAD LOST rows pushed from 7000000"),
        ("try fill 77 3\nok fill 77 fsync\n", "BAD LOST group 77"),
        ("try table create 77\nok table create 77\n", "BAD LOST table made77"),
    ] {
        let told = judgement(directory.path(), &format!("{ledger}{line}"));
        assert!(told.contains(complaint), "{line}: {told}");
    }
    let told = judgement(directory.path(), "ok tables\n");
    for complaint in [
        "PHANTOM row",
        "PHANTOM loaded row",
        "PHANTOM table",
        "PHANTOM row 0 of group",
        "PHANTOM pushed",
    ] {
        assert!(told.contains(complaint), "{complaint}: {told}");
    }
}
