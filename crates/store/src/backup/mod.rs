//! Backups of a store that is in use, in a repository that holds several of them.
//!
//! ```text
//! TONNAGE-BACKUPS        what makes the directory a repository, with its format
//! LOCK                   held while a backup or a prune is under way
//! files/                 the files of all backups, each once
//! backups/000007         the manifest of backup 7: names, sizes and checksums of its files
//! ```
//!
//! A backup takes these steps:
//!
//! 1. The engine stages a checkpoint: data files linked, logs copied, on the disks of the store.
//!    Writes continue. A repository that has backups of another store is left alone (`owner`).
//! 2. Each file that `files/` lacks is linked, where the disk is the same, or copied and synced. A
//!    file gets its name only when it is whole. The name holds its origin, size and checksum, so a
//!    file of an earlier backup is not copied again. Neither is one of a backup that was cut short.
//! 3. The directory of the files is synced, then the manifest is written and synced. Before that
//!    there is no backup. Afterwards it is whole.
//!
//! Data files never change. So a file is identified by its name, its size and a checksum of its
//! last 16 KiB, in which RocksDB notes the database and the time of its creation. Other files are
//! small and always read.

mod copy;
mod entry;
mod make;
mod manifest;
mod owner;
mod repository;
mod restore;
mod verify;

pub use make::{BackupOptions, BackupReport};
pub use manifest::BackupInfo;
pub use repository::{BackupRepository, PruneReport};
pub use restore::{RestoreOptions, RestoreReport};
pub use verify::BackupVerifyReport;

pub(crate) use make::make;
