//! The machine and the program: what stands in every report.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::disk::Disk;
use super::process::{number_after, read};

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
            memory_bytes: memory_bytes(),
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

fn memory_bytes() -> u64 {
    let machine = number_after(&read("/proc/meminfo"), "MemTotal:").map(|kib| kib * 1024);
    let limit = memory_bytes_max(&read("/proc/self/cgroup"));
    machine.into_iter().chain(limit).min().unwrap_or(0)
}

const CGROUPS: &str = "/sys/fs/cgroup";

/// The least memory limit of the control groups that this process is in, given what
/// `/proc/self/cgroup` says. In both versions a group's ancestors bind it, too; and in a container
/// the path that the kernel tells may be that of the outside, while the group itself is mounted at
/// the root. So every directory up to the root is asked.
fn memory_bytes_max(groups: &str) -> Option<u64> {
    files_of_limits(groups).iter().filter_map(|file| limit(file)).min()
}

/// Lines look like `0::/a/b` in version 2 and `4:memory,cpu:/a/b` in version 1.
fn files_of_limits(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => (Path::new(CGROUPS).to_owned(), "memory.max"),
            names if names.split(',').any(|name| name == "memory") => {
                (Path::new(CGROUPS).join("memory"), "memory.limit_in_bytes")
            }
            _ => continue,
        };
        let ancestors = Path::new(path.trim_start_matches('/')).ancestors();
        files.extend(ancestors.map(|group| root.join(group).join(file)));
    }
    files
}

/// `max`, and in version 1 a number near 2^63, mean no limit: the machine's memory is less.
fn limit(file: &Path) -> Option<u64> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
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

    #[test]
    fn a_group_of_version_2_is_asked_with_its_ancestors() {
        let files = files_of_limits("0::/a/b\n");
        assert_eq!(
            files,
            ["a/b/memory.max", "a/memory.max", "memory.max"]
                .map(|file| Path::new(CGROUPS).join(file))
        );
    }

    #[test]
    fn in_version_1_the_memory_controller_alone_is_asked() {
        let files = files_of_limits("5:cpu:/a\n4:hugetlb,memory:/b\n");
        let expected = ["memory/b/memory.limit_in_bytes", "memory/memory.limit_in_bytes"];
        assert_eq!(files, expected.map(|file| Path::new(CGROUPS).join(file)));
    }
}
