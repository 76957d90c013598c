//! Backups in a directory of this machine, or in one of a server.

use std::path::Path;

use tonnage::{
    BackupInfo, BackupOptions, BackupReport, BackupRepository, BackupVerifyReport, PruneReport,
};
use tonnage_client::RemoteStore;

use crate::args::Globals;
use crate::exit::{CliResult, Failure};
use crate::interrupt;

/// Where backups are.
pub(crate) enum BackupLocation<'a> {
    /// In a directory of this machine; of the store that these options name.
    Here(&'a Path, &'a Globals),
    /// In a directory below that of a server's backups.
    Server(&'a str, RemoteStore),
}

impl<'a> BackupLocation<'a> {
    /// Backups in this directory, of the store that is named.
    pub(crate) fn new(directory: &'a Path, globals: &'a Globals) -> CliResult<Self> {
        if !globals.is_server() {
            return Ok(Self::Here(directory, globals));
        }
        let name = directory.to_str().ok_or_else(|| {
            Failure::usage(format!("{}: a server takes names in UTF-8", directory.display()))
        })?;
        Ok(Self::Server(name, globals.client()?))
    }

    pub(crate) fn make(&self, copy_always: bool) -> CliResult<BackupReport> {
        match self {
            Self::Here(directory, globals) => {
                let options = BackupOptions {
                    copy_always,
                    cancel: interrupt::cancel(),
                    ..BackupOptions::default()
                };
                let store = globals.open()?;
                let backups = BackupRepository::open_or_create(directory)?;
                Ok(store.backup(&backups, &options)?)
            }
            Self::Server(directory, client) => Ok(client.backup(directory, copy_always)?),
        }
    }

    pub(crate) fn list(&self) -> CliResult<Vec<BackupInfo>> {
        Ok(match self {
            Self::Here(directory, _) => BackupRepository::open(directory)?.list()?,
            Self::Server(directory, client) => client.list_backups(directory)?,
        })
    }

    pub(crate) fn verify(&self, backup: Option<u64>) -> CliResult<BackupVerifyReport> {
        Ok(match self {
            Self::Here(directory, _) => {
                BackupRepository::open(directory)?.verify(backup, &interrupt::cancel())?
            }
            Self::Server(directory, client) => client.verify_backups(directory, backup)?,
        })
    }

    pub(crate) fn prune(&self, keep: usize) -> CliResult<PruneReport> {
        Ok(match self {
            Self::Here(directory, _) => BackupRepository::open(directory)?.prune(keep)?,
            Self::Server(directory, client) => client.prune_backups(directory, keep)?,
        })
    }
}
