//! The report of a run: one table at the end. Bad states are kept.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::known_exceptions::find_exception;
use crate::scratch::progress;

/// Bad states that one run keeps; further ones are only counted.
const KEPT_MAX: usize = 20;

#[derive(Default)]
struct VerdictCounts {
    well: u64,
    known: u64,
    bad: u64,
}

pub(crate) struct TortureReport {
    tallies: BTreeMap<(String, String), VerdictCounts>,
    totals: BTreeMap<String, u64>,
    /// How often each known exception was met, by its reason.
    met: BTreeMap<&'static str, u64>,
    bad_directory: PathBuf,
    kept: usize,
}

/// What was judged.
pub(crate) struct ReportSubject<'a> {
    pub(crate) test: &'a str,
    pub(crate) variant: &'a str,
    /// Names a bad state; unique within a run.
    pub(crate) name: String,
    /// The command that reproduces it, where `STATE` means the directory it is kept in.
    pub(crate) command: String,
}

impl TortureReport {
    pub(crate) fn new(bad_directory: PathBuf) -> Self {
        let (tallies, totals, met) = Default::default();
        Self { tallies, totals, met, bad_directory, kept: 0 }
    }

    /// Adds to a total that is shown under the table.
    pub(crate) fn add(&mut self, total: &str, count: u64) {
        *self.totals.entry(total.to_owned()).or_default() += count;
    }

    /// Counts one verdict. A bad state is kept: `keep` copies it to a new directory.
    pub(crate) fn verdict(
        &mut self,
        subject: &ReportSubject<'_>,
        complaints: &[String],
        keep: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut unknown = Vec::new();
        for complaint in complaints {
            match find_exception(subject.test, subject.variant, complaint) {
                Some(known) => *self.met.entry(known.reason).or_default() += 1,
                None => unknown.push(complaint.as_str()),
            }
        }
        let key = (subject.test.to_owned(), subject.variant.to_owned());
        let tally = self.tallies.entry(key).or_default();
        match (complaints.is_empty(), unknown.is_empty()) {
            (true, _) => tally.well += 1,
            (false, true) => tally.known += 1,
            (false, false) => {
                tally.bad += 1;
                self.keep(subject, &unknown, keep)?;
            }
        }
        Ok(())
    }

    fn keep(
        &mut self,
        subject: &ReportSubject<'_>,
        complaints: &[&str],
        keep: impl FnOnce(&Path) -> io::Result<()>,
    ) -> io::Result<()> {
        progress(format_args!("BAD {} {} {}", subject.test, subject.variant, subject.name));
        complaints.iter().take(6).for_each(|text| progress(format_args!("  {text}")));
        if self.kept >= KEPT_MAX {
            return Ok(());
        }
        self.kept += 1;
        let directory = self.bad_directory.join(&subject.name);
        if directory.exists() {
            fs::remove_dir_all(&directory)?;
        }
        fs::create_dir_all(&directory)?;
        let command = subject.command.replace("STATE", &directory.display().to_string());
        fs::write(directory.join("complaints.txt"), complaints.join("\n") + "\n")?;
        fs::write(directory.join("command.txt"), format!("{command}\n"))?;
        progress(format_args!("  kept in {}", directory.display()));
        progress(format_args!("  again: {command}"));
        keep(&directory)
    }

    pub(crate) fn has_bad(&self) -> bool {
        self.tallies.values().any(|tally| tally.bad > 0)
    }

    /// The table, as text.
    pub(crate) fn table(&self) -> String {
        let mut text = line("test", "variant", ["done", "ok", "known", "bad"].map(str::to_owned));
        let mut sum = VerdictCounts::default();
        for ((test, variant), tally) in &self.tallies {
            text += &tally_line(test, variant, tally);
            sum.well += tally.well;
            sum.known += tally.known;
            sum.bad += tally.bad;
        }
        text += &tally_line("all", "", &sum);
        let totals = self.totals.iter().map(|(name, count)| format!("{count} {name}"));
        text += &totals.collect::<Vec<_>>().join(", ");
        text += "\n";
        for (reason, count) in &self.met {
            text += &format!("known, {count} times: {reason}\n");
        }
        if self.has_bad() {
            text += &format!("bad states are kept in {}\n", self.bad_directory.display());
        }
        text
    }
}

fn tally_line(test: &str, variant: &str, tally: &VerdictCounts) -> String {
    let done = tally.well + tally.known + tally.bad;
    line(test, variant, [done, tally.well, tally.known, tally.bad].map(|count| count.to_string()))
}

fn line(test: &str, variant: &str, [done, well, known, bad]: [String; 4]) -> String {
    format!("{test:<8} {variant:<28} {done:>7} {well:>7} {known:>7} {bad:>7}\n")
}
