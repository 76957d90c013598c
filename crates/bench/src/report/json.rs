//! The model as JSON.

use std::fs;
use std::path::Path;

use serde::Deserialize;
use tonnage::{Error, Result};

use super::Report;

/// The file's name in a report's directory.
pub(super) const FILE: &str = "report.json";

/// What every format will hold.
#[derive(Deserialize)]
struct FormatHeader {
    format: u32,
}

pub(super) fn text(report: &Report) -> Result<String> {
    serde_json::to_string_pretty(report)
        .map_err(|error| Error::internal(format!("the report cannot be written as JSON: {error}")))
}

/// Reads a report: its JSON file, or a directory that holds a `report.json`.
///
/// # Errors
/// `NotFound` when there is none, `Corruption` when it is something else, `Unsupported` when a
/// newer program wrote it.
pub fn read(path: &Path) -> Result<Report> {
    let file = if path.is_dir() { path.join(FILE) } else { path.to_owned() };
    let text = fs::read_to_string(&file).map_err(|error| {
        let message = format!(
            "{} cannot be read: {error}; give a report.json or a directory that holds one",
            file.display()
        );
        Error::not_found(message).with_source(error)
    })?;
    parse(&text).map_err(|error| error.at(file.display()))
}

fn parse(text: &str) -> Result<Report> {
    let damaged = |error: serde_json::Error| {
        Error::corruption(format!("this is no report of a benchmark: {error}"))
    };
    let header: FormatHeader = serde_json::from_str(text).map_err(damaged)?;
    if header.format > Report::FORMAT {
        let (format, known) = (header.format, Report::FORMAT);
        return Err(Error::unsupported(format!(
            "the report has format {format}, this program reads formats up to {known}: use a newer one"
        )));
    }
    let mut report: Report = serde_json::from_str(text).map_err(damaged)?;
    // What the workload was called before.
    if report.workload == "containers" {
        report.workload = "tables".to_owned();
    }
    Ok(report)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measure::Environment;

    #[test]
    fn a_report_of_containers_can_be_compared_with_one_of_tables() {
        let old = Report::new("containers", "", Default::default(), Environment::default());
        assert_eq!(parse(&text(&old).unwrap()).unwrap().workload, "tables");
    }
}
