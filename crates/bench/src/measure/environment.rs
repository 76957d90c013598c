//! The machine and the program: what stands in every report.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::disk::Disk;
use super::process::read;

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

impl Environment {
    /// Reads it. `directories` are where data will be kept, each with its label. What the system
    /// does not tell is empty or 0.
    pub fn read(directories: &[(String, PathBuf)]) -> Self {
        Environment {
            cpu: value_of(&read("/proc/cpuinfo"), "model name", ':')
                .unwrap_or_else(|| std::env::consts::ARCH.to_owned()),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_bytes: tonnage::memory_bytes() as u64,
            kernel: read("/proc/version").split_whitespace().take(3).collect::<Vec<_>>().join(" "),
            system: value_of(&read("/etc/os-release"), "PRETTY_NAME", '=').map_or_else(
                || std::env::consts::OS.to_owned(),
                |name| name.trim_matches('"').to_owned(),
            ),
            disks: directories
                .iter()
                .map(|(label, directory)| Disk::of(label, directory))
                .collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            load_average: read("/proc/loadavg")
                .split_whitespace()
                .next()
                .and_then(|load| load.parse().ok())
                .unwrap_or(0.0),
        }
    }
}

/// The value of the first line of a name.
fn value_of(text: &str, name: &str, separator: char) -> Option<String> {
    let (_, value) = text
        .lines()
        .filter_map(|line| line.split_once(separator))
        .find(|(key, _)| key.trim() == name)?;
    Some(value.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_whole_name() {
        let text = "model\t\t: 207\nmodel name\t: A fast one: 2.0\n";
        assert_eq!(value_of(text, "model name", ':').as_deref(), Some("A fast one: 2.0"));
        assert_eq!(value_of(text, "name", ':'), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_cores_memory_and_a_disk_with_free_bytes() {
        let here = std::env::temp_dir();
        let environment = Environment::read(&[("here".to_owned(), here)]);
        assert!(environment.cores > 0 && environment.memory_bytes > 1 << 20, "{environment:?}");
        let disk = &environment.disks[0];
        assert!(disk.size_bytes >= disk.free_bytes && disk.size_bytes > 0, "{disk:?}");
        assert!(!disk.file_system.is_empty());
    }
}
