//! The house rules, held against every crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::process::Command;

use tonnage_tidy::imports::Modules;
use tonnage_tidy::sources::{crates, root, rust_files};
use tonnage_tidy::types::types_of;

/// How many columns a line has; rustfmt leaves long strings and attributes as they are.
const COLUMNS_MAX: usize = 100;

/// The share of longer lines that is put up with.
const LONG_LINES_MAX: f64 = 0.01;

/// The share of type names that several types bear.
const SHARED_NAMES_MAX: f64 = 0.1;

#[test]
fn no_files_of_a_crate_import_each_other_in_a_circle() -> io::Result<()> {
    for directory in crates()? {
        let modules = Modules::read(&directory)?;
        let circles = modules.circles();
        assert!(circles.is_empty(), "{}:\n{}", directory.display(), modules.explain(&circles));
    }
    Ok(())
}

#[test]
fn fewer_than_one_line_of_a_hundred_is_too_long() -> io::Result<()> {
    let (mut lines, mut long) = (0, Vec::new());
    for file in rust_files(&root().join("crates"))? {
        for (number, line) in fs::read_to_string(&file)?.lines().enumerate() {
            lines += 1;
            if line.chars().count() > COLUMNS_MAX {
                long.push(format!("{}:{}", file.display(), number + 1));
            }
        }
    }
    assert!(
        (long.len() as f64) < LONG_LINES_MAX * lines as f64,
        "{} of {lines} lines have more than {COLUMNS_MAX} columns:\n{}",
        long.len(),
        long.join("\n")
    );
    Ok(())
}

/// `cargo build` after `cargo test` builds nothing anew that tests stand on: each crate has the same
/// features in both. Before, a feature that only tests asked for built all of Tonnage twice.
#[test]
fn tests_ask_for_no_features_that_the_program_is_built_without() {
    let (program, tests) = (features("normal,build"), features("normal,build,dev"));
    assert!(program.len() > 100, "cargo tells of {} crates", program.len());
    let is_built = |(name, with): &(&String, &BTreeSet<String>)| {
        tests.get(*name).is_some_and(|built| built.is_superset(with))
    };
    let differing: Vec<_> = program.iter().filter(|one| !is_built(one)).collect();
    assert!(differing.is_empty(), "pin the features of these as CONTRIBUTING says: {differing:#?}");
}

/// The features of each crate of the workspace and of those below it.
fn features(edges: &str) -> BTreeMap<String, BTreeSet<String>> {
    let told = Command::new(std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned()))
        .args([
            "tree",
            "--workspace",
            "--locked",
            "--prefix",
            "none",
            "-f",
            "{p}\t{f}",
            "-e",
            edges,
        ])
        .current_dir(root())
        .output()
        .unwrap();
    assert!(told.status.success(), "{}", String::from_utf8_lossy(&told.stderr));
    let mut features: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for line in String::from_utf8_lossy(&told.stdout).lines() {
        let (name, with) = line.split_once('\t').unwrap_or((line, ""));
        let with = with.trim_end_matches(" (*)");
        features.entry(name.to_owned()).or_default().insert(with.to_owned());
    }
    features
}

/// Who looks for a type by its name should find one.
#[test]
fn at_most_one_type_name_of_ten_is_borne_by_several_types() -> io::Result<()> {
    let mut bearers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for directory in crates()? {
        for file in rust_files(&directory.join("src"))? {
            for name in types_of(&fs::read_to_string(&file)?) {
                bearers.entry(name).or_default().push(file.display().to_string());
            }
        }
    }
    let shared: Vec<_> = bearers.iter().filter(|(_, files)| files.len() > 1).collect();
    assert!(bearers.len() > 1_000, "types are found");
    assert!(
        shared.len() as f64 <= SHARED_NAMES_MAX * bearers.len() as f64,
        "{} of {} names: give new types two words\n{shared:#?}",
        shared.len(),
        bearers.len()
    );
    Ok(())
}

#[test]
fn every_crate_is_read() -> io::Result<()> {
    let crates = crates()?;
    assert!(crates.iter().any(|directory| directory.ends_with("store")), "{crates:?}");
    let engine = crates.iter().find(|directory| directory.ends_with("engine"));
    let modules = Modules::read(engine.expect("there is an engine"))?;
    assert!(!modules.imports_of("memory/mod.rs").is_empty(), "imports are found");
    Ok(())
}
