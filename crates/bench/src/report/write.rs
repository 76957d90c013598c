//! A report as a directory of files.

use std::fs;
use std::path::{Path, PathBuf};

use tonnage::{Error, Result};

use super::{Report, csv, hdr, html, json, ycsb_text};

/// Writes a report in all formats into a directory, which is made if it is missing; files of the
/// same names are replaced. Gives the files, the JSON first.
///
/// # Errors
/// `Invalid` when the directory cannot be written to.
pub fn write(report: &Report, directory: &Path) -> Result<Vec<PathBuf>> {
    fs::create_dir_all(directory).map_err(|error| unwritable(directory, error))?;
    let mut files: Vec<(String, Vec<u8>)> = vec![
        (json::FILE.to_owned(), json::text(report)?.into_bytes()),
        ("report.html".to_owned(), html::page(report)?.into_bytes()),
        ("report.txt".to_owned(), ycsb_text::text(report).into_bytes()),
        ("runs.csv".to_owned(), csv::runs(report).into_bytes()),
        ("series.csv".to_owned(), csv::series(report).into_bytes()),
    ];
    for (number, run) in report.runs.iter().enumerate() {
        files.extend(hdr::log(run)?.map(|log| (hdr::file_name(number, run), log)));
    }
    files.into_iter().map(|(name, content)| put(directory.join(name), &content)).collect()
}

fn put(path: PathBuf, content: &[u8]) -> Result<PathBuf> {
    fs::write(&path, content).map_err(|error| unwritable(&path, error))?;
    Ok(path)
}

fn unwritable(path: &Path, error: std::io::Error) -> Error {
    Error::invalid(format!(
        "{} cannot be written: {error}; choose another directory for the report",
        path.display()
    ))
    .with_source(error)
}
