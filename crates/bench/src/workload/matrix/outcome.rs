//! The report of a matrix, cell by cell; and what is taken over from an earlier one.

use std::path::Path;

use tonnage::{Error, Result};

use super::cell::MatrixCell;
use super::charts;
use super::options::MatrixOptions;
use crate::report::{self, Report, Run};

pub(super) struct MatrixReport<'a> {
    options: &'a MatrixOptions,
    report: Report,
}

impl<'a> MatrixReport<'a> {
    /// Takes a new report, or the one that is to be taken up again.
    pub(super) fn open(options: &'a MatrixOptions, mut report: Report) -> Result<Self> {
        match &options.report_directory {
            Some(directory) if options.resume && directory.join("report.json").exists() => {
                report = take_up(directory, &report)?;
            }
            _ => add_notes(&mut report, options),
        }
        Ok(MatrixReport { options, report })
    }

    /// Whether a cell was measured on all systems.
    pub(super) fn has(&self, cell: &MatrixCell) -> bool {
        let runs = &self.report.runs;
        let has = |system: &str| runs.iter().any(|run| cell.is_of(run) && run.target == system);
        self.options.run.systems.iter().all(|system| has(system.name()))
    }

    /// Takes in how the data was loaded, instead of how it was when the run was broken off.
    pub(super) fn add_load(&mut self, load: Run) {
        let runs = &mut self.report.runs;
        match runs.iter_mut().find(|run| (&run.name, &run.target) == (&load.name, &load.target)) {
            Some(known) => *known = load,
            None => runs.push(load),
        }
    }

    /// Takes in a cell and writes what there is.
    pub(super) fn add(&mut self, runs: Vec<Run>) -> Result<()> {
        self.report.runs.extend(runs);
        charts::mark_best(&mut self.report.runs);
        self.report.charts = charts::charts(self.options, &self.report.runs);
        match &self.options.report_directory {
            Some(directory) => report::write(&self.report, directory).map(drop),
            None => Ok(()),
        }
    }

    pub(super) fn into_report(mut self, was_cancelled: bool) -> Report {
        self.report.note_if(
            was_cancelled,
            "Interrupted: the cell that was under way and those after it are missing; --resume \
             goes on with them.",
        );
        self.report
    }
}

fn add_notes(report: &mut Report, options: &MatrixOptions) {
    report.note(
        "All targets of a cell are open at the same time, each with the whole memory budget, and \
         are driven in turn.",
    );
    report.note(
        "Data is loaded once for each size and directory; cells that write come last, and targets \
         tidy up after each of them.",
    );
    report.note_if(
        options.threads.len() > 1,
        "Of several counts of threads the charts show the best one for each target; the table \
         has all.",
    );
    report.note_if(
        !options.run.direct_io,
        "Files went through the operating system's cache: data beyond the budget may still have \
         been in memory.",
    );
}

/// Reads the report of the run that was broken off; it must be of the same matrix.
fn take_up(directory: &Path, new: &Report) -> Result<Report> {
    let mut report = report::read(directory)?;
    let refuse = |difference: String| {
        Err(Error::invalid(format!("{}: it cannot be taken up: {difference}", directory.display())))
    };
    if report.workload != "matrix" {
        return refuse(format!("it is the report of a {} benchmark", report.workload));
    }
    for (name, now) in &new.settings {
        let before = report.settings.get(name).map_or("not there", String::as_str);
        if before != now {
            return refuse(format!(
                "{name} was {before}, and is {now} now: give the same options, or another directory"
            ));
        }
    }
    report.notes.retain(|note| !note.starts_with("Interrupted"));
    report.note(format!(
        "Taken up again after {} runs; the cells after them are on data that was made anew.",
        report.runs.len()
    ));
    Ok(report)
}
