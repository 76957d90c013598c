//! A report as a directory of files, and back.

use std::fs;
use std::path::{Path, PathBuf};

use tonnage::{Error, Result};

use super::{Report, csv, hdr, html, ycsb_text};

/// The model's file in a report's directory.
const MODEL: &str = "report.json";

/// Writes a report in all formats into a directory, which is created if it is missing; files of the
/// same names are replaced. Gives the files, the JSON first.
///
/// # Errors
/// `Invalid` when the directory cannot be written to.
pub fn write(report: &Report, directory: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(directory).map_err(|error| unwritable(directory, error))?;
    let model = serde_json::to_string_pretty(report).map_err(|error| {
        Error::internal(format!("the report cannot be written as JSON: {error}"))
    })?;
    let mut files: Vec<(String, Vec<u8>)> = [
        (MODEL, model),
        ("report.html", html::page(report)),
        ("report.txt", ycsb_text::text(report)),
        ("runs.csv", csv::runs(report)),
        ("series.csv", csv::series(report)),
    ]
    .map(|(name, text)| (name.to_owned(), text.into_bytes()))
    .into();
    for (number, run) in report.runs.iter().enumerate() {
        files.extend(hdr::log(run)?.map(|log| (hdr::file_name(number, run), log)));
    }
    let put = |(name, content): (String, Vec<u8>)| {
        let path = directory.join(name);
        fs::write(&path, content).map_err(|error| unwritable(&path, error))?;
        Ok(path)
    };
    files.into_iter().map(put).collect()
}

fn unwritable(path: &Path, error: std::io::Error) -> Error {
    Error::invalid(format!(
        "{} cannot be written: {error}; choose another directory for the report",
        path.display()
    ))
    .with_source(error)
}

/// Reads a report: its JSON file, or a directory that holds a `report.json`.
///
/// # Errors
/// `NotFound` when there is none, `Corruption` when it is something else, `Unsupported` when a
/// newer program wrote it.
pub fn read(path: &Path) -> Result<Report> {
    let file = if path.is_dir() { path.join(MODEL) } else { path.to_owned() };
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
        Error::corruption(format!("this is not a report of a benchmark: {error}"))
    };
    let model: serde_json::Value = serde_json::from_str(text).map_err(damaged)?;
    let format = model["format"].as_u64().unwrap_or(0);
    if format > u64::from(Report::FORMAT) {
        let known = Report::FORMAT;
        return Err(Error::unsupported(format!(
            "the report has format {format}, this program reads formats up to {known}: use a \
             newer one"
        )));
    }
    let mut report: Report = serde_json::from_value(model).map_err(damaged)?;
    // What the workload was called before.
    if report.workload == "containers" {
        report.workload = "tables".to_owned();
    }
    Ok(report)
}
