//! `tonnage backup`: backups of a store, in a directory that holds several.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, RecordBatch, TimestampMillisecondArray, UInt64Array};
use clap::Args;
use tonnage::{BackupInfo, Error};

use crate::args::{Globals, TimeoutArgs};
use crate::backup_location::BackupLocation;
use crate::exit::{CliResult, Exit};
use crate::output::OutputArgs;
use crate::stderr;
use crate::values::{self, counted, grouped};

/// Back up a store, or list, verify and prune its backups
#[derive(Args)]
pub(crate) struct BackupArgs {
    /// The directory that holds the backups of one store, and takes none of another; created if it
    /// does not exist. With a server a directory below that of its --backups, such as nightly
    #[arg(value_name = "BACKUPS")]
    directory: PathBuf,
    /// List the backups
    #[arg(long, conflicts_with_all = ["verify", "prune", "keep", "copy"])]
    list: bool,
    /// Read all files of the backups and compare their checksums (exit code 1 when damage is found)
    #[arg(long, conflicts_with_all = ["prune", "keep", "copy"])]
    verify: bool,
    /// Verify this backup alone
    #[arg(long, value_name = "NUMBER", requires = "verify", value_parser = values::backup_number)]
    backup: Option<u64>,
    /// Remove old backups without making a new one
    #[arg(long, requires = "keep", conflicts_with = "copy")]
    prune: bool,
    /// Keep the latest N backups and remove those before them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    keep: Option<u32>,
    /// Copy data files instead of linking them on the disk of the store
    #[arg(long)]
    copy: bool,
    #[command(flatten)]
    output: OutputArgs,
    #[command(flatten)]
    time: TimeoutArgs,
}

impl BackupArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        let backups = BackupLocation::new(&self.directory, globals)?;
        if self.list {
            return self.list(&backups);
        }
        if self.verify {
            return self.verify(globals, &backups);
        }
        if !self.prune {
            self.make(globals, &backups)?;
        }
        if let Some(keep) = self.keep {
            let report = backups.prune(keep as usize)?;
            globals.info(format_args!(
                "removed {} and {} of {} bytes",
                counted(report.removed.len() as u64, "backup", "backups"),
                counted(report.files, "file", "files"),
                grouped(report.bytes)
            ));
        }
        Ok(Exit::Success)
    }

    fn make(&self, globals: &Globals, backups: &BackupLocation<'_>) -> CliResult<()> {
        let started = Instant::now();
        let made = backups.make(self.copy)?;
        globals.info(format_args!(
            "backup {}: {}, {} bytes in {:.1} s ({} files known, {} linked, {} copied: {} bytes)",
            made.info.number,
            counted(made.info.files, "file", "files"),
            grouped(made.info.bytes),
            started.elapsed().as_secs_f64(),
            grouped(made.files_known),
            grouped(made.files_linked),
            grouped(made.files_copied),
            grouped(made.bytes_copied)
        ));
        Ok(())
    }

    fn list(&self, backups: &BackupLocation<'_>) -> CliResult {
        let backups = backups.list()?;
        let numbers = |of: fn(&BackupInfo) -> u64| -> ArrayRef {
            Arc::new(UInt64Array::from_iter_values(backups.iter().map(of)))
        };
        let made = backups.iter().map(|backup| backup.made_ms as i64);
        let columns: [(&str, ArrayRef); 5] = [
            ("backup", numbers(|backup| backup.number)),
            ("made", Arc::new(TimestampMillisecondArray::from_iter_values(made))),
            ("directories", numbers(|backup| backup.shards as u64)),
            ("files", numbers(|backup| backup.files)),
            ("bytes", numbers(|backup| backup.bytes)),
        ];
        let batch = RecordBatch::try_from_iter(columns).map_err(|error| {
            Error::internal("the list cannot be put together").with_source(error)
        })?;
        let mut output = self.output.open(batch.schema())?;
        output.write(&batch)?;
        output.finish()?;
        Ok(Exit::Success)
    }

    fn verify(&self, globals: &Globals, backups: &BackupLocation<'_>) -> CliResult {
        let started = Instant::now();
        let report = backups.verify(self.backup)?;
        for damage in &report.damages {
            stderr::line(format_args!("tonnage: damaged: {}: {}", damage.location, damage.what));
        }
        globals.info(format_args!(
            "verified {}: {}, {} bytes in {:.1} s: {}",
            counted(report.backups.len() as u64, "backup", "backups"),
            counted(report.files, "file", "files"),
            grouped(report.bytes),
            started.elapsed().as_secs_f64(),
            match report.damages.len() as u64 {
                0 => "sound".to_owned(),
                count => counted(count, "damaged file", "damaged files"),
            }
        ));
        Ok(if report.is_sound() { Exit::Success } else { Exit::Rejected })
    }
}
