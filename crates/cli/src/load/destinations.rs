//! The files that a load writes: rejected records, resume notes and the summary. They are checked
//! for write access before the load begins, and the check leaves nothing.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::path::Path;

use tonnage::Error;

use super::JobArgs;
use crate::exit::{CliResult, Exit, Failure};

impl JobArgs {
    /// # Errors
    /// Names the option whose file or directory cannot be written.
    pub(crate) fn check_destinations(&self) -> CliResult<()> {
        if let Some(path) = &self.summary {
            file_can_be_written(path).map_err(|error| cannot("--summary", path, error))?;
        }
        if let Some(path) = &self.resume {
            // A note takes the place of the one before it under the same name.
            directory_takes_files(directory_of(path))
                .map_err(|error| cannot("--resume", path, error))?;
        }
        if let Some(directory) = &self.rejects {
            if directory.exists() && !directory.is_dir() {
                let shown = directory.display();
                return Err(Failure::usage(format!(
                    "--rejects {shown}: it is a file: name a directory"
                )));
            }
            let is_there = directory.ancestors().map(or_here).find(|ancestor| ancestor.exists());
            directory_takes_files(is_there.unwrap_or(Path::new(".")))
                .map_err(|error| cannot("--rejects", directory, error))?;
        }
        Ok(())
    }
}

fn file_can_be_written(path: &Path) -> io::Result<()> {
    match path.metadata() {
        // To open a pipe and to close it again would end it for who reads it.
        Ok(metadata) if !metadata.is_file() && !metadata.is_dir() => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            directory_takes_files(directory_of(path))
        }
        _ => File::options().append(true).open(path).map(drop),
    }
}

fn directory_takes_files(directory: &Path) -> io::Result<()> {
    tempfile::tempfile_in(directory).map(drop)
}

fn directory_of(path: &Path) -> &Path {
    path.parent().map_or(Path::new("."), or_here)
}

fn or_here(path: &Path) -> &Path {
    if path.as_os_str().is_empty() { Path::new(".") } else { path }
}

fn cannot(option: &str, path: &Path, error: io::Error) -> Failure {
    let message = format!("{option} {}: cannot be written: {error}", path.display());
    Failure::new(Exit::Usage, Error::unavailable(message).with_source(error))
}
