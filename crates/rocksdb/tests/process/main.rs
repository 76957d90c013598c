//! What the system denies a process: descriptors, space on its disks, a sync.
//!
//! Limits and libraries of a whole process are those of a child: a test starts this program once
//! more for it.

#[path = "../engine/common.rs"]
mod common;
#[cfg(target_os = "linux")]
mod failed_sync;
#[cfg(unix)]
mod few_descriptors;
mod full_disk;
mod load_full_disk;
#[cfg(target_os = "linux")]
mod shim;
#[cfg(target_os = "linux")]
mod synced_directories;
