//! The house rules, held against every crate.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::PathBuf;
use std::process::Command;

use tonnage_tidy::dependencies::{dependencies_of, documented_dependencies};
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

/// The folders and files of the store, from the ground up; those of a line stand on one floor.
const STORE_FLOORS: [&[&str]; 14] = [
    &["already_exists", "budget", "schema", "cancel", "levels", "terms", "geo", "identity_used_up"],
    &["read", "value", "call_limits", "version_clock"],
    &["row"],
    &["codec"],
    &["inner", "members", "single_calls", "columns", "namespaces"],
    &["bulk", "backup"],
    &["index"],
    &["catalog"],
    &["ddl", "identity", "table"],
    &["kv"],
    &["lob"],
    &["check"],
    &["store"],
    &["lib"],
];

/// The arrows between them that may run back up.
const ARROWS_UP_MAX: usize = 9;

#[test]
fn the_store_is_a_staircase() -> io::Result<()> {
    let source = root().join("crates/store/src");
    let modules = Modules::read(&root().join("crates/store"))?;
    let room = |file: &str| file.split('/').next().unwrap_or(file).replace(".rs", "");
    let floor = |room: &str| STORE_FLOORS.iter().position(|floor| floor.contains(&room));
    let mut up = BTreeSet::new();
    for file in rust_files(&source)? {
        let file = file.strip_prefix(&source).unwrap_or(&file).to_string_lossy().into_owned();
        let from = room(&file);
        let from_floor = floor(&from).unwrap_or_else(|| panic!("{from} stands on no floor"));
        for to in modules.imports_of(&file).into_keys().map(room) {
            if floor(&to) > Some(from_floor) {
                up.insert(format!("{from} -> {to}"));
            }
        }
    }
    assert!(up.len() <= ARROWS_UP_MAX, "{} arrows run back up: {up:?}", up.len());
    Ok(())
}

/// Who reads the table of ARCHITECTURE.md knows which crate may use which.
#[test]
fn crates_use_what_the_architecture_names_and_only_what_stands_below_them() -> io::Result<()> {
    let documented = documented_dependencies(&fs::read_to_string(root().join("ARCHITECTURE.md"))?);
    let order: Vec<&str> = documented.iter().map(|row| row.crate_name.as_str()).collect();
    for row in &documented {
        let manifest = root().join("crates").join(&row.crate_name).join("Cargo.toml");
        let used = dependencies_of(&row.crate_name, &fs::read_to_string(&manifest)?);
        assert_eq!(*row, used, "{}", manifest.display());
        let position = |name: &String| order.iter().position(|one| one == name);
        for below in &used.uses {
            assert!(position(below) > position(&row.crate_name), "{} -> {below}", row.crate_name);
        }
    }
    let is_documented = |directory: &PathBuf| order.iter().any(|name| directory.ends_with(name));
    let missing: Vec<_> = crates()?.into_iter().filter(|one| !is_documented(one)).collect();
    assert!(missing.is_empty(), "the table lacks {missing:?}");
    Ok(())
}

/// A function of more lines has comments that say why.
const LINES_WITHOUT_COMMENT_MAX: usize = 25;

/// At least so many.
const COMMENTS_MIN: usize = 2;

#[test]
fn long_functions_say_why() -> io::Result<()> {
    let mut silent = Vec::new();
    for file in rust_files(&root().join("crates"))? {
        let shown = file.strip_prefix(root()).unwrap_or(&file).display().to_string();
        let is_test = shown.ends_with("tests.rs") || shown.contains("/tests/");
        if !shown.contains("/src/") || is_test {
            continue;
        }
        let text = fs::read_to_string(&file)?;
        let text = text.split("\nmod tests {").next().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        for (number, head) in lines.iter().enumerate().filter(|(_, line)| is_function(line)) {
            // Of a method that a trait only declares.
            if head.ends_with(';') {
                continue;
            }
            let indent = head.len() - head.trim_start().len();
            let is_end = |line: &&str| line.len() == indent + 1 && line.ends_with('}');
            let Some(len) = lines[number..].iter().position(is_end) else { continue };
            let body = &lines[number + 1..number + len];
            // A declaration without a body runs into what follows it, which has a head of its own.
            let has_body = !body.iter().any(|line| is_function(line) && is_as_deep(line, indent));
            let is_silent = comments(body) < COMMENTS_MIN;
            if has_body && body.len() > LINES_WITHOUT_COMMENT_MAX && is_silent {
                silent.push(format!("{shown}:{}", number + 1));
            }
        }
    }
    assert!(silent.is_empty(), "fewer than {COMMENTS_MIN} comments in:\n{}", silent.join("\n"));
    Ok(())
}

/// Lines of comment that follow each other are one.
fn comments(body: &[&str]) -> usize {
    let is_comment = |line: &str| line.trim_start().starts_with("// ");
    let begins = |at: usize| is_comment(body[at]) && (at == 0 || !is_comment(body[at - 1]));
    (0..body.len())
        .filter(|at| begins(*at) || (!is_comment(body[*at]) && body[*at].contains(" // ")))
        .count()
}

fn is_function(line: &str) -> bool {
    let line = line.trim_start();
    let rest = line.strip_prefix("pub").map_or(line, |rest| match rest.strip_prefix('(') {
        Some(scope) => scope.split_once(')').map_or("", |(_, rest)| rest),
        None => rest,
    });
    let mut words = rest.split_whitespace().skip_while(|word| ["const", "async"].contains(word));
    words.next() == Some("fn")
}

fn is_as_deep(line: &str, indent: usize) -> bool {
    line.len() - line.trim_start().len() == indent
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
