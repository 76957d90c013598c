//! The way in must not matter.
//!
//! 1. `values.tsv` says what each type of a column stores of each value, or that it rejects it.
//! 2. Each value is written in each way that can express it (`ways`), into a row of its own.
//! 3. What is stored is compared. `known_differences.tsv` lists the ways that differ still; the list
//!    may only shrink.
//!
//! The same table is held against the ways of Python (`crates/python/tests/test_values.py`), and
//! docs/loading.md shows it.

mod cell;
mod column;
mod ways;

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs;

use cell::{Cell, cells};
use column::{Served, TestColumn};
use ways::WAYS;

const DIFFERENCES: &str = "tests/known_differences.tsv";
const DOCS: &str = "../../docs/loading.md";

/// The ways that Python's tests look after.
const PYTHON: &str = "python";

#[test]
fn the_way_in_does_not_matter() {
    let (served, cells) = (Served::new(), cells());
    let (mut found, mut tried) = (BTreeSet::new(), BTreeMap::<&str, (usize, usize)>::new());
    for (number, cell) in cells.iter().enumerate() {
        let column = TestColumn::new(&served, number, cell);
        for (key, (way, give)) in WAYS.iter().enumerate() {
            // Each way has a row of its own: what one stores is never taken for another's.
            let Some(told) = give(&column, key as i64) else { continue };
            let outcome = column.outcome(key as i64);
            let counts = tried.entry(*way).or_default();
            counts.0 += 1;
            // A value that is lost without a word is worse than one that differs.
            assert!(outcome != "rejected" || told.is_err(), "{way}: {cell} was lost in silence");
            if outcome != cell.outcome {
                counts.1 += 1;
                found.insert(format!("{way}\t{cell}\t{outcome}"));
            }
        }
    }
    for (way, (cells, differ)) in &tried {
        println!("{way}: {cells} values, {differ} differ");
    }
    let known = known_differences();
    let new: Vec<_> = found.difference(&known).cloned().collect();
    let gone: Vec<_> = known.difference(&found).cloned().collect();
    let (new, gone) = (new.join("\n"), gone.join("\n"));
    assert!(new.is_empty(), "these differ from values.tsv:\n{new}");
    assert!(gone.is_empty(), "these agree now; take them out of {DIFFERENCES}:\n{gone}");
}

#[test]
fn the_docs_show_the_values() {
    let docs = fs::read_to_string(DOCS).unwrap();
    let table = table_of_docs(&cells());
    assert!(docs.contains(&table), "docs/loading.md must have this table:\n{table}");
}

fn known_differences() -> BTreeSet<String> {
    let text = fs::read_to_string(DIFFERENCES).unwrap();
    let is_own = |line: &&str| !line.starts_with('#') && !line.starts_with(PYTHON);
    text.lines().filter(is_own).map(str::to_owned).collect()
}

/// A line for each type: what it stores, and what it rejects.
fn table_of_docs(cells: &[Cell]) -> String {
    let mut types: Vec<(&str, Vec<String>, Vec<String>)> = Vec::new();
    for cell in cells.iter().filter(|cell| cell.kind != "null") {
        if types.last().is_none_or(|(column_type, ..)| *column_type != cell.column_type) {
            types.push((cell.column_type.as_str(), Vec::new(), Vec::new()));
        }
        let Some((_, stored, rejected)) = types.last_mut() else { continue };
        match cell.outcome == "rejected" {
            true => rejected.push(cell.shown()),
            false => stored.push(cell.shown()),
        }
    }
    let mut table = "| column | stores | rejects |\n|---|---|---|\n".to_owned();
    for (column_type, stored, rejected) in types {
        let (stored, rejected) = (stored.join(", "), rejected.join(", "));
        let _ = writeln!(table, "| {column_type} | {stored} | {rejected} |");
    }
    table
}
