//! `tonnage restore`: makes a store from a backup.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use tonnage::{BackupRepository, RestoreOptions};

use crate::args::{Globals, TimeoutArgs};
use crate::exit::{CliResult, Exit};
use crate::interrupt;
use crate::values::{self, counted, grouped};

/// Restore a backup to --store, a directory that is empty or does not exist
#[derive(Args)]
pub(crate) struct RestoreArgs {
    /// The directory that holds the backups
    #[arg(value_name = "BACKUPS")]
    directory: PathBuf,
    /// Restore this backup [default: the latest]
    #[arg(long, value_name = "NUMBER", value_parser = values::backup_number)]
    backup: Option<u64>,
    #[command(flatten)]
    time: TimeoutArgs,
}

impl RestoreArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        let started = Instant::now();
        let target = globals.path()?;
        let options = RestoreOptions {
            data_directories: globals.data_directories.clone(),
            cancel: interrupt::cancel(),
            ..RestoreOptions::default()
        };
        let backups = BackupRepository::open(&self.directory)?;
        let info = backups.restore(self.backup, &target, &options)?.info;
        globals.info(format_args!(
            "restored backup {} to {}: {}, {} bytes in {:.1} s",
            info.number,
            target.display(),
            counted(info.files, "file", "files"),
            grouped(info.bytes),
            started.elapsed().as_secs_f64()
        ));
        Ok(Exit::Success)
    }
}
