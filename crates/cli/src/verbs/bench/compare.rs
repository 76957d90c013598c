//! `tonnage bench compare`: two reports side by side.

use std::path::PathBuf;

use clap::Args;
use tonnage_bench::report::{self, Report};

use super::session::make_writable;
use crate::args::Globals;
use crate::exit::{CliResult, Exit, Failure};
use crate::output::OutputArgs;

const EXAMPLES: &str = "\
The comparison has a line for each run that both reports have, by name, target and threads (or \
by name, where each has one target). A line has throughput and latency of a (BEFORE) and b \
(AFTER), their ratios, and whether the difference is beyond the noise. The noise is the spread \
between repeats: measure with --repeats 3 or more. With fewer repeats it comes from the \
readings by second.

Examples:
  tonnage bench compare tonnage-bench-reports/before tonnage-bench-reports/after
  tonnage bench compare before/report.json after/report.json --report comparison --format csv";

/// Show two reports side by side: ratios, and whether the difference is beyond the noise
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// The report to compare with: its directory, or its report.json
    before: PathBuf,
    /// The report to judge
    after: PathBuf,
    /// Write the comparison as a page to read, compare.html, into this directory too
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

impl CompareArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let (before, after) = (report::read(&self.before)?, report::read(&self.after)?);
        check_workloads(&before, &after)?;
        let comparison = report::compare(&before, &after);
        if comparison.matches.is_empty() {
            let (before, after) = (self.before.display(), self.after.display());
            return Err(Failure::usage(format!(
                "{before} and {after} have no run in common: there is nothing to compare"
            )));
        }
        let table = comparison.table();
        let mut output = self.output.open(table.schema())?;
        output.write(&table)?;
        output.finish()?;
        for note in comparison.notes() {
            globals.info(format_args!("note: {note}"));
        }
        if let Some(directory) = &self.report {
            make_writable(directory)?;
            let page = directory.join("compare.html");
            std::fs::write(&page, comparison.html())?;
            globals.info(format_args!("comparison: {}", page.display()));
        }
        Ok(Exit::Success)
    }
}

fn check_workloads(before: &Report, after: &Report) -> CliResult<()> {
    if before.workload == after.workload {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "one report is of {}, the other of {}: only reports of one workload can be compared",
        before.workload, after.workload
    )))
}
