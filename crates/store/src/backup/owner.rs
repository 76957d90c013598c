//! Which store a repository belongs to.
//!
//! A store is known by the identity of the database in its first data directory. It is at the head
//! of that database's MANIFEST, which is a file of every backup. So whatever was restored, from an
//! older backup or on another machine, is the same store, and backups of all versions tell whose
//! they are.

use tonnage_engine::{CheckpointFile, Error, ErrorKind, Result};
use tonnage_rocksdb::database_id;

use super::repository::BackupRepository;

/// What the name of the file begins with that tells the identity. A backup has one such file.
const MANIFEST_PREFIX: &str = "shard-0/db/MANIFEST-";

/// Refuses a store when the backups that are there are of another one: a prune would count both
/// alike, and remove all of the other.
///
/// # Errors
/// `Conflict`.
pub(super) fn check_owner(repository: &BackupRepository, files: &[CheckpointFile]) -> Result<()> {
    let Some(manifest) = files.iter().find(|file| file.name.starts_with(MANIFEST_PREFIX)) else {
        return Ok(());
    };
    let Some(store) = database_id(&manifest.path)? else { return Ok(()) };
    match latest_owner(repository)? {
        Some((number, owner)) if owner != store => Err(Error::conflict(format!(
            "{} holds backups of another store (the latest is backup {number}): give this one a \
             repository of its own",
            repository.path().display()
        ))),
        _ => Ok(()),
    }
}

/// The number of the latest backup that tells whose it is, and the identity of that store.
fn latest_owner(repository: &BackupRepository) -> Result<Option<(u64, String)>> {
    for number in repository.numbers()?.into_iter().rev() {
        let backup = match repository.manifest(number) {
            // Damage to one backup must not prevent the next one.
            Err(error) if error.kind() == ErrorKind::Corruption => continue,
            backup => backup?,
        };
        let told = backup.files.iter().find(|file| file.name.starts_with(MANIFEST_PREFIX));
        let Some(file) = told else { continue };
        if let Some(owner) = database_id(&repository.files().join(file.stored_name()))? {
            return Ok(Some((number, owner)));
        }
    }
    Ok(None)
}
