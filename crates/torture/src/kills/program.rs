//! Kills `tonnage load --resume`. After the last resumption the table must have exactly the rows of
//! the files, and no files of earlier attempts may be left.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use tonnage::{Row, TableScanOptions, Value};
use tonnage_testkit::try_copy_tree;

use crate::child;
use crate::content::{builder, long};
use crate::fallible::Fallible;
use crate::options::TortureOptions;
use crate::random::SeededRandom;
use crate::report::{ReportSubject, TortureReport};
use crate::scratch::{Scratch, progress};

/// Data directories of a store that is spread.
const DISKS: usize = 3;
const FILES: i64 = 3;
const ROWS: i64 = 20_000;
const LONGEST: Duration = Duration::from_secs(300);

/// The program asked for, or the one beside this one.
pub(super) fn find(options: &TortureOptions) -> Option<PathBuf> {
    let beside = || Some(std::env::current_exe().ok()?.with_file_name("tonnage"));
    options.program.clone().or_else(beside).filter(|program| program.is_file())
}

fn text(id: i64) -> String {
    format!("{:064x}", (id as u128).wrapping_mul(0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835))
}

fn write_files(scratch: &Scratch) -> Fallible<Vec<PathBuf>> {
    let files: Vec<PathBuf> = (0..FILES).map(|n| scratch.path(&format!("rows{n}.csv"))).collect();
    if files[0].exists() {
        return Ok(files);
    }
    for (n, path) in files.iter().enumerate() {
        let mut file = std::io::BufWriter::new(fs::File::create(path)?);
        writeln!(file, "id,grp,txt")?;
        // Each file has keys from everywhere, so that loads overlap.
        for id in (n as i64..FILES * ROWS).step_by(FILES as usize) {
            writeln!(file, "{id},{},{}", id % 97, text(id))?;
        }
        file.flush()?;
    }
    Ok(files)
}

pub(super) fn one_store(
    program: &Path,
    scratch: &Scratch,
    seed: u64,
    report: &mut TortureReport,
) -> Fallible<()> {
    scratch.clear()?;
    let mut random = SeededRandom::new(seed);
    let files = write_files(scratch)?;
    let mode = *random.choose(&["keep", "replace", "blind"]);
    make_table(scratch, random.chance(40), random.chance(40))?;
    let resume = scratch.base().join("resume");
    let mut load = Command::new(program);
    load.arg("load").arg("--store").arg(scratch.store()).arg("--resume").arg(&resume);
    load.args(["--on-existing", mode, "--durability", *random.choose(&["write", "fsync", "none"])]);
    load.args(["--memory", *random.choose(&["4M", "64M"]), "t"]).args(&files);
    let mut complaints = Vec::new();
    let lives = 1 + random.below(6);
    // The last life has all the time that it needs: only then must the rows be complete.
    for life in 0..=lives {
        let longest = Duration::from_millis(20 + random.below(800));
        let ended = child::run(&mut load, if life < lives { longest } else { LONGEST })?;
        report.add("kills", u64::from(ended.status.is_none()));
        if ended.status.is_some() || life == lives {
            complaints = ended.complaints(&[0]);
            break;
        }
    }
    progress(format_args!("kills: load --resume, {mode}, seed {seed}"));
    // Copied before it is judged: to open a store changes it.
    let after = scratch.path("after");
    try_copy_tree(&scratch.base(), &after)?;
    if complaints.is_empty() {
        complaints = judge(scratch)?;
    }
    let name = format!("kills-load-{mode}-{seed}");
    let command = format!("torture kills --seed {seed} --runs 4");
    let subject = ReportSubject { test: "kills", variant: "load --resume", name, command };
    report.verdict(&subject, &complaints, |to| try_copy_tree(&after, &to.join("state")))?;
    fs::remove_dir_all(&after)?;
    Ok(())
}

/// The data directories of a store that is spread.
fn disks(scratch: &Scratch) -> impl Iterator<Item = PathBuf> {
    let base = scratch.base();
    (0..DISKS).map(move |number| base.join(format!("disk{number}")))
}

fn make_table(scratch: &Scratch, has_index: bool, is_spread: bool) -> Fallible<()> {
    let mut builder = builder(&scratch.store().display().to_string());
    if is_spread {
        builder = builder.data_directories(disks(scratch));
    }
    let store = builder.open()?;
    store.execute("CREATE TABLE t (id LONG, grp INTEGER, txt STRING, PRIMARY KEY (id))")?;
    if has_index {
        store.execute("CREATE INDEX by_grp ON t (grp)")?;
    }
    Ok(())
}

/// The rows of the files and no others, a sound store, and no files of loads.
fn judge(scratch: &Scratch) -> Fallible<Vec<String>> {
    let store = match builder(&scratch.store().display().to_string()).open() {
        Ok(store) => store,
        Err(error) => return Ok(vec![format!("OPEN {error}")]),
    };
    let mut complaints = Vec::new();
    // Damage is reported first: it explains the rows that are missing below.
    let report = store.check()?;
    if let Some(damage) = report.damages.first() {
        complaints.push(format!("CHECK {damage:?}"));
    }
    let mut found = BTreeSet::new();
    for row in store.table("t")?.scan(&TableScanOptions::default())?.into_rows() {
        let row: Row = row?.row;
        let id = long(&row, "id").unwrap_or(-1);
        let is_right = row.get("grp") == Some(&Value::Integer((id % 97) as i32))
            && row.get("txt") == Some(&Value::from(text(id)));
        if !is_right || !(0..FILES * ROWS).contains(&id) || !found.insert(id) {
            complaints.push(format!("PHANTOM row {id}"));
        }
    }
    if found.len() as i64 != FILES * ROWS {
        complaints.push(format!("LOST rows: {} of {} are there", found.len(), FILES * ROWS));
    }
    complaints.extend(left_files(scratch));
    // A broken store may have one for each row: the first ones tell enough.
    complaints.truncate(20);
    Ok(complaints)
}

/// The data directories with files of loads: a finished load leaves none, and opening the store
/// removes those of killed ones.
fn left_files(scratch: &Scratch) -> Vec<String> {
    let directories = std::iter::once(scratch.store()).chain(disks(scratch));
    let left = directories.filter_map(|directory| {
        let left = fs::read_dir(directory.join("load")).map_or(0, Iterator::count);
        (left > 0).then(|| format!("LEFT {left} files of loads in {}", directory.display()))
    });
    left.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The story of a bug: of a store that is spread only the first data directory was looked at.
    #[test]
    fn a_file_of_a_load_is_found_in_whatever_data_directory_it_is() {
        let directory = tempfile::tempdir().unwrap();
        let scratch = Scratch::at(&directory.path().join("scratch")).unwrap();
        for place in [scratch.store()].into_iter().chain(disks(&scratch)) {
            assert!(left_files(&scratch).is_empty());
            let load = place.join("load");
            fs::create_dir_all(&load).unwrap();
            fs::write(load.join("000001.sst"), "rows").unwrap();
            let (found, place) = (left_files(&scratch), place.display().to_string());
            assert!(found.len() == 1 && found[0].contains(&place), "{place}: {found:?}");
            fs::remove_dir_all(&load).unwrap();
        }
    }
}
