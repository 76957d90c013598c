//! A benchmark under way: checked before it begins, watched, and reported at its end.
//!
//! What could fail at the end of a long run is tried before it: the directories of the data and of
//! the report, and the room.

use std::path::{Path, PathBuf};

use tonnage::{Clock, SystemClock, Value};
use tonnage_bench::measure::Watcher;
use tonnage_bench::report::{self, Report};

use super::common::CommonArgs;
use super::room::Room;
use super::terminal::TerminalWatcher;
use crate::args::Globals;
use crate::exit::{CliResult, Exit, Failure};
use crate::interrupt;

/// A benchmark that may begin.
pub(crate) struct BenchSession<'a> {
    common: &'a CommonArgs,
    globals: &'a Globals,
    report_directory: PathBuf,
    watcher: TerminalWatcher,
}

impl<'a> BenchSession<'a> {
    /// Checks what can be checked, and makes the directory of the report, in which there must be no
    /// report yet.
    pub(crate) fn start(
        workload: &str,
        common: &'a CommonArgs,
        globals: &'a Globals,
        room: Room,
    ) -> CliResult<Self> {
        let session = Self::resume(workload, common, globals, room)?;
        if session.report_directory.join("report.json").exists() && !common.force {
            let directory = session.report_directory.display();
            let message = format!(
                "--report {directory}: it holds a report: name another directory, or replace it with --force"
            );
            return Err(Failure::usage(message));
        }
        Ok(session)
    }

    /// Likewise; the report of the run that is taken up again may be there.
    pub(crate) fn resume(
        workload: &str,
        common: &'a CommonArgs,
        globals: &'a Globals,
        room: Room,
    ) -> CliResult<Self> {
        common.check()?;
        room.check(common)?;
        let report_directory = common.report.clone().unwrap_or_else(|| report_directory(workload));
        make_writable(&report_directory)?;
        Ok(BenchSession {
            common,
            globals,
            report_directory,
            watcher: TerminalWatcher::new(globals),
        })
    }

    /// The receiver of the progress.
    pub(crate) fn watcher(&self) -> &dyn Watcher {
        &self.watcher
    }

    /// The directory of the report.
    pub(crate) fn report_directory(&self) -> &Path {
        &self.report_directory
    }

    /// Writes the report, shows its summary, and says how the run ended.
    pub(crate) fn finish(self, report: &Report) -> CliResult {
        report::write(report, &self.report_directory)?;
        let summary = report::summary(report);
        let mut output = self.common.output.open(summary.schema())?;
        output.write(&summary)?;
        output.finish()?;
        for note in &report.notes {
            self.globals.info(format_args!("note: {note}"));
        }
        self.globals
            .info(format_args!("report: {}", self.report_directory.join("report.html").display()));
        Ok(self.exit(report))
    }

    fn exit(&self, report: &Report) -> Exit {
        match report.runs.iter().map(|run| run.failures).sum() {
            _ if interrupt::is_interrupted() => Exit::Interrupted,
            0u64 => Exit::Success,
            _ => Exit::Rejected,
        }
    }
}

/// A directory of its own, named by the time (UTC):
/// `./tonnage-bench-reports/billion-20220103-142530`.
fn report_directory(workload: &str) -> PathBuf {
    let now =
        Value::Timestamp { value: (SystemClock.now_ms() / 1_000) as i64, precision: 0 }.to_string();
    let time: String = now
        .replace('T', "-")
        .chars()
        .filter(|character| character.is_ascii_digit() || *character == '-')
        .collect();
    let (year, rest) = time.split_at(4);
    let stamp = format!("{year}{}", rest.replacen('-', "", 2));
    Path::new("./tonnage-bench-reports").join(format!("{workload}-{stamp}"))
}

/// Makes the directory and tries whether a file can be written there.
pub(super) fn make_writable(directory: &Path) -> CliResult<()> {
    let made = std::fs::create_dir_all(directory)
        .and_then(|()| tempfile::NamedTempFile::new_in(directory).map(drop));
    made.map_err(|error| {
        Failure::usage(format!(
            "--report {}: no report can be written there: {error}",
            directory.display()
        ))
    })
}
