//! Verifies that the files of backups are there and undamaged.

use std::collections::HashSet;

use tonnage_engine::{Damage, ErrorKind, Result};

use super::copy::read_through;
use super::entry::FileEntry;
use super::repository::{BackupRepository, LockMode};
use super::restore::{check_presence, damaged};
use crate::call_limits::CallLimits;
use crate::cancel::Cancel;

/// What a verification read and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct BackupVerifyReport {
    /// The numbers of the backups that were looked at.
    pub backups: Vec<u64>,
    /// How many files were read; one that several backups share is read once.
    pub files: u64,
    /// How many bytes these have.
    pub bytes: u64,
    /// What is damaged: the backup and what of it.
    pub damages: Vec<Damage>,
}

impl BackupVerifyReport {
    /// Whether all is well.
    pub fn is_sound(&self) -> bool {
        self.damages.is_empty()
    }
}

impl BackupRepository {
    /// Reads all files of a backup, or of all of them, and compares their checksums. Damage is in
    /// the report.
    ///
    /// # Errors
    /// `NotFound` when there is no such backup, `Cancelled` when it is called off.
    pub fn verify(&self, number: Option<u64>, cancel: &Cancel) -> Result<BackupVerifyReport> {
        let _lock = self.lock(LockMode::Shared)?;
        let numbers = match number {
            Some(number) => vec![self.find(Some(number))?],
            None => self.numbers()?,
        };
        verify(self, &numbers, cancel)
    }
}

fn verify(
    repository: &BackupRepository,
    numbers: &[u64],
    cancel: &Cancel,
) -> Result<BackupVerifyReport> {
    let limits = CallLimits::new("the verification", "nothing was changed", cancel, None)?;
    let mut report = BackupVerifyReport { backups: numbers.to_vec(), ..Default::default() };
    // Backups share files: a sound one is read once, a damaged one counts for each backup.
    let (mut sound, mut told) = (HashSet::new(), HashSet::new());
    for number in numbers {
        let location = format!("backup {number}");
        let manifest = match repository.manifest(*number) {
            Ok(manifest) => manifest,
            Err(error) => {
                report.damages.push(Damage { location, what: error.message().to_owned() });
                continue;
            }
        };
        for file in manifest.files {
            let stored = file.stored_name();
            if sound.contains(&stored) || told.contains(&(*number, stored.clone())) {
                continue;
            }
            match verify_file(repository, &file, &limits) {
                Ok(()) => {
                    report.files += 1;
                    report.bytes += file.bytes;
                    sound.insert(stored);
                }
                // All else is a finding: damage to one backup must not hide the state of the
                // others.
                Err(error) if error.kind() == ErrorKind::Cancelled => return Err(error),
                Err(error) => {
                    let (location, what) = (location.clone(), error.message().to_owned());
                    report.damages.push(Damage { location, what });
                    told.insert((*number, stored));
                }
            }
        }
    }
    Ok(report)
}

fn verify_file(repository: &BackupRepository, file: &FileEntry, limits: &CallLimits) -> Result<()> {
    check_presence(repository, file)?;
    let path = repository.files().join(file.stored_name());
    let (_, checksum) = read_through(&path, None, limits)?;
    if checksum != file.checksum {
        return Err(damaged(&path, "its checksum differs"));
    }
    Ok(())
}
