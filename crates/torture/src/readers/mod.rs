//! Readers of what comes from outside: files, keys, definitions, SQL. Each reads mutations of small
//! samples. It may refuse them, but not panic, hang or contradict itself.
//!
//! 1. A child reads one case after another until the time is up. Case N of a seed is always the
//!    same.
//! 2. The child notes the number of a case before it reads the case, so that a hang or a death has
//!    a culprit.
//! 3. The parent shows the case, and how to read it again.

mod chunk;
mod feed;
mod mutate;
pub(crate) mod sample;

use std::fs;
use std::time::Duration;

use crate::child;
use crate::fallible::Fallible;
use crate::options::TortureOptions;
use crate::report::{ReportSubject, TortureReport};
use crate::scratch::{Scratch, progress};
pub(crate) use feed::feed;
use sample::ReaderKind;

/// The default number of cases of each reader.
const RUNS: u64 = 2_000;
/// How long a child may take beyond its time.
const LONGEST: Duration = Duration::from_secs(120);

pub(crate) fn run(options: &TortureOptions, report: &mut TortureReport) -> Fallible<()> {
    let scratch = Scratch::make(&options.directory, "readers")?;
    let readers = ReaderKind::ALL.iter().filter(|reader| options.reads(**reader));
    let readers: Vec<_> = readers.collect();
    for reader in &readers {
        let (note, seed) = (scratch.path("note"), options.seed);
        let seconds = options.seconds.map(|seconds| seconds / readers.len().max(1) as u64);
        let runs = options.runs.unwrap_or(if seconds.is_some() { u64::MAX } else { RUNS });
        let mut command = child::myself("feed")?;
        let words = [reader.name().to_owned(), seed.to_string(), "0".to_owned(), runs.to_string()];
        command.args(words).arg(seconds.unwrap_or(u64::MAX).to_string()).arg(&note);
        // The child ends by itself in time. The rest is for its start and its last case.
        let longest = Duration::from_secs(seconds.unwrap_or(3_600)) + LONGEST;
        let ended = child::run(&mut command, longest)?;
        let cases: u64 = ended.counts().map(|(_, count)| count).sum();
        progress(format_args!("readers: {}: {cases} cases", reader.name()));
        report.add(&format!("cases of {}", reader.name()), cases);
        let mut complaints = ended.answer();
        // A child that hung or died could not name its case: the note does.
        if !ended.complaints(&[0, child::FOUND_EXIT_CODE]).is_empty() {
            let case = fs::read_to_string(&note).unwrap_or_default();
            complaints.push(format!("it was at case {}", case.trim()));
        }
        let subject = ReportSubject {
            test: "readers",
            variant: reader.name(),
            name: format!("readers-{}-{seed}", reader.name()),
            command: format!("torture feed {} {seed} CASE 1 60 note", reader.name()),
        };
        report.verdict(&subject, &complaints, |directory| {
            fs::write(directory.join("all.txt"), complaints.join("\n"))
        })?;
    }
    Ok(())
}
