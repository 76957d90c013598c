//! Damaged files: single bits, pages and cuts in every file of a closed store.
//!
//! A damaged copy is opened, checked and read twice. Whatever it answers must be right, or an
//! error: no wrong answer, no panic, no hang.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use tonnage_testkit::try_copy_tree;

use crate::child::{self, ProcessResult};
use crate::fallible::Fallible;
use crate::options::TortureOptions;
use crate::random::SeededRandom;
use crate::report::{ReportSubject, TortureReport};
use crate::scratch::{Scratch, progress};

/// The default number of damaged copies.
const RUNS: u64 = 200;
const PAGE: u64 = 4096;
const LONGEST: Duration = Duration::from_secs(120);

pub(crate) fn run(options: &TortureOptions, report: &mut TortureReport) -> Fallible<()> {
    let scratch = Scratch::make(&options.directory, "flips")?;
    let shelf = scratch.path("shelf");
    let made = child::run(child::myself("shelf")?.arg(&shelf), LONGEST)?.answer();
    if !made.is_empty() {
        return Err(made.join(" ").into());
    }
    try_copy_tree(&shelf, &scratch.store())?;
    let right = read(&scratch)?;
    if !right.answer().is_empty() || !right.output.lines().all(|line| line.contains(" ok ")) {
        return Err(format!("the undamaged store: {} {}", right.output, right.errors).into());
    }
    let files = files_in(&shelf, Path::new(""))?;
    for unit in options.units(RUNS) {
        one_copy(&scratch, &shelf, &files, options.seed + unit, &right.output, report)?;
    }
    Ok(())
}

fn one_copy(
    scratch: &Scratch,
    shelf: &Path,
    files: &[(PathBuf, u64)],
    seed: u64,
    right: &str,
    report: &mut TortureReport,
) -> Fallible<()> {
    let mut random = SeededRandom::new(seed);
    let (name, len) = choose(files, &mut random);
    let damage = FileDamage::choose(*len, &mut random);
    fs::remove_dir_all(scratch.store())?;
    try_copy_tree(shelf, &scratch.store())?;
    if !damage.inflict(&scratch.store().join(name))? {
        return Ok(());
    }
    // Copied before it is read: to open a store changes it.
    let before = scratch.path("damaged");
    try_copy_tree(&scratch.store(), &before)?;
    // The second reading sees what the first opening did about the damage.
    let answers = [read(scratch)?, read(scratch)?];
    let complaints: Vec<String> =
        answers.iter().flat_map(|answer| complaints(answer, right)).collect();
    let is_seen = answers[0].output.lines().any(|line| !line.contains(" ok "));
    report.add(if is_seen { "damages detected" } else { "damages without effect" }, 1);
    progress(format_args!("flips: seed {seed}: {} {damage:?}", name.display()));
    let subject = ReportSubject {
        test: "flips",
        variant: &format!("{} {}", file_kind(name), damage.name()),
        name: format!("flips-{seed}"),
        command: "torture read STATE/state".to_owned(),
    };
    report.verdict(&subject, &complaints, |directory| {
        fs::write(directory.join("damage.txt"), format!("{} {damage:?}\n", name.display()))?;
        fs::write(directory.join("right.txt"), right)?;
        try_copy_tree(&before, &directory.join("state"))
    })?;
    fs::remove_dir_all(&before)?;
    Ok(())
}

/// Any file; the text log, which is not read, seldom.
fn choose<'f>(files: &'f [(PathBuf, u64)], random: &mut SeededRandom) -> &'f (PathBuf, u64) {
    loop {
        let chosen = random.choose(files);
        if file_kind(&chosen.0) != "LOG" || random.chance(5) {
            return chosen;
        }
    }
}

#[derive(Debug)]
enum FileDamage {
    Bit { at: u64, bit: u64 },
    Zeros { at: u64 },
    Inverted { at: u64 },
    Cut { len: u64 },
}

impl FileDamage {
    fn choose(len: u64, random: &mut SeededRandom) -> Self {
        let page = random.below(len.div_ceil(PAGE)) * PAGE;
        match random.below(6) {
            0..3 => FileDamage::Bit { at: random.below(len), bit: random.below(8) },
            3 => FileDamage::Zeros { at: page },
            4 => FileDamage::Inverted { at: page },
            _ => FileDamage::Cut { len: random.below(len) },
        }
    }

    fn name(&self) -> &'static str {
        match self {
            FileDamage::Bit { .. } => "bit",
            FileDamage::Zeros { .. } => "zeros",
            FileDamage::Inverted { .. } => "inverted",
            FileDamage::Cut { .. } => "cut",
        }
    }

    /// Returns whether the file is another one now.
    fn inflict(&self, path: &Path) -> io::Result<bool> {
        let file = File::options().read(true).write(true).open(path)?;
        let (at, len) = match self {
            FileDamage::Cut { len } => return file.set_len(*len).map(|()| true),
            FileDamage::Bit { at, .. } => (*at, 1),
            FileDamage::Zeros { at } | FileDamage::Inverted { at } => (*at, PAGE as usize),
        };
        let mut bytes = vec![0; len];
        let read = file.read_at(&mut bytes, at)?;
        let damaged: Vec<u8> = bytes[..read].iter().map(|byte| self.damaged(*byte)).collect();
        file.write_all_at(&damaged, at)?;
        Ok(damaged != bytes[..read])
    }

    fn damaged(&self, byte: u8) -> u8 {
        match self {
            FileDamage::Bit { bit, .. } => byte ^ 1 << bit,
            FileDamage::Inverted { .. } => !byte,
            FileDamage::Zeros { .. } | FileDamage::Cut { .. } => 0,
        }
    }
}

fn read(scratch: &Scratch) -> Fallible<ProcessResult> {
    child::run(scratch.shimmed("read")?.arg(scratch.store()), LONGEST)
}

/// A line says right what the right one says, or that there was an error.
fn complaints(answer: &ProcessResult, right: &str) -> Vec<String> {
    let mut complaints = answer.answer();
    let rights: Vec<&str> = right.lines().collect();
    let wrong = |line: &&str| line.contains(" ok ") && !rights.contains(line);
    complaints
        .extend(answer.output.lines().filter(wrong).map(|line| format!("WRONG ANSWER {line}")));
    let is_sound = answer.output.lines().any(|line| line.starts_with("check ok "));
    let failed = answer.output.lines().find(|line| line.contains(" error "));
    if let Some(failed) = failed.filter(|_| is_sound) {
        complaints.push(format!("UNSEEN by check: {failed}"));
    }
    complaints
}

/// All files with content below a directory, by their relative paths.
fn files_in(root: &Path, below: &Path) -> io::Result<Vec<(PathBuf, u64)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(root.join(below))? {
        let entry = entry?;
        let (name, metadata) = (below.join(entry.file_name()), entry.metadata()?);
        if metadata.is_dir() {
            files.extend(files_in(root, &name)?);
        } else if metadata.len() > 0 {
            files.push((name, metadata.len()));
        }
    }
    files.sort();
    Ok(files)
}

/// `SST`, `WAL`, or the name without its number.
fn file_kind(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    match path.extension().and_then(|extension| extension.to_str()) {
        Some("sst") => "SST".to_owned(),
        Some("log") => "WAL".to_owned(),
        _ => name.split(['-', '.']).next().unwrap_or_default().to_owned(),
    }
}
