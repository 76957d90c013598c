//! The machine and the program: what stands in every report.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The machine and the program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Environment {
    /// The processor's model.
    pub cpu: String,
    /// Cores that this process may use.
    pub cores: usize,
    /// Memory of the machine, or of the control group where that is less.
    pub memory_bytes: u64,
    /// The operating system's kernel.
    pub kernel: String,
    /// The operating system.
    pub system: String,
    /// Disks behind the data directories.
    pub disks: Vec<Disk>,
    /// The version of this program.
    pub version: String,
    /// The load average (1 minute) when the benchmark began: a busy machine measures badly.
    pub load_average: f64,
}

/// A disk behind a data directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Disk {
    /// The label the user gave to the directory, or its number.
    pub label: String,
    /// The device.
    pub device: String,
    /// The file system.
    pub file_system: String,
    /// `ssd`, `hdd` or `unknown`, as the kernel says (a virtual disk may be called either).
    pub kind: String,
    /// Bytes of the file system.
    pub size_bytes: u64,
    /// Bytes that were free when the benchmark began.
    pub free_bytes: u64,
}

impl Environment {
    /// Reads it. `directories` are where data will be kept, each with its label.
    pub fn read(directories: &[(String, PathBuf)]) -> Self {
        let _ = directories;
        unimplemented!("the measuring part")
    }
}
