//! `tonnage bench compare`: two reports side by side.

use std::path::PathBuf;

use clap::Args;
use tonnage_bench::report::{self, Report};

use super::session::make_writable;
use crate::args::Globals;
use crate::exit::{Exit, Failure, Outcome};
use crate::output::OutputArgs;

const EXAMPLES: &str = "\
A line for each run that both reports have, by name, target and threads: throughput and latency, the ratio of B to A, and whether the \
difference is beyond the noise, which is the spread between the repeats of each. One repeat tells nothing of the noise: measure with --repeats 3 or more.

Examples:
  tonnage bench compare tonnage-bench-reports/before tonnage-bench-reports/after
  tonnage bench compare before/report.json after/report.json --report comparison --format csv";

/// Shows two reports side by side: ratios, and whether the difference is beyond the noise
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct CompareArgs {
    /// The report to compare with: its directory, or its report.json
    before: PathBuf,
    /// The report to be judged
    after: PathBuf,
    /// Writes the comparison as a page to read, compare.html, into this directory too
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    #[command(flatten)]
    output: OutputArgs,
}

impl CompareArgs {
    pub(crate) fn run(&self, globals: &Globals) -> Outcome {
        let (before, after) = (report::read(&self.before)?, report::read(&self.after)?);
        check_workloads(&before, &after)?;
        let comparison = report::compare(&before, &after);
        let table = comparison.table();
        let mut output = self.output.open(table.schema())?;
        output.write(&table)?;
        output.finish()?;
        if let Some(directory) = &self.report {
            make_writable(directory)?;
            let page = directory.join("compare.html");
            std::fs::write(&page, comparison.html())?;
            globals.tell(format_args!("comparison: {}", page.display()));
        }
        Ok(Exit::Well)
    }
}

fn check_workloads(before: &Report, after: &Report) -> Outcome<()> {
    if before.workload == after.workload {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "one report is of {}, the other of {}: only reports of one workload can be compared",
        before.workload, after.workload
    )))
}
