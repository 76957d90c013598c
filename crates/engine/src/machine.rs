//! How many cores and how much memory this process may use. Defaults follow from them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// How many threads can run side by side. Asked of the system once: on Linux that takes ten
/// microseconds and several system calls, more than reading a row.
pub fn cores() -> usize {
    static CORES: OnceLock<usize> = OnceLock::new();
    *CORES.get_or_init(|| std::thread::available_parallelism().map_or(2, |cores| cores.get()))
}

/// The memory of the machine, or of the control group (a container's, say) where that is less. 2 GiB
/// where the system does not tell.
pub fn memory_bytes() -> usize {
    static MEMORY_BYTES: OnceLock<usize> = OnceLock::new();
    *MEMORY_BYTES.get_or_init(|| {
        let read = |path| fs::read_to_string(path).unwrap_or_default();
        let machine = memory_of(&read("/proc/meminfo"));
        let limits = files_of_limits(&read("/proc/self/cgroup"));
        let limit = limits.iter().filter_map(|file| limit(file)).min();
        machine.into_iter().chain(limit).min().unwrap_or(2 << 30)
    })
}

/// The line looks like `MemTotal:       24576000 kB`.
fn memory_of(meminfo: &str) -> Option<usize> {
    let total = meminfo.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    total.split_whitespace().next()?.parse::<usize>().ok()?.checked_mul(1 << 10)
}

const CGROUPS: &str = "/sys/fs/cgroup";

/// The files that may hold a limit for this process, given what `/proc/self/cgroup` says. In both
/// versions of control groups a group's ancestors bind it, too; and in a container the path that the
/// kernel tells may be that of the outside, while the group itself is mounted at the root. So every
/// directory up to the root is asked. Lines look like `0::/a/b` in version 2 and
/// `4:memory,cpu:/a/b` in version 1.
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
fn limit(file: &Path) -> Option<usize> {
    fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_cores_and_memory() {
        assert!(cores() > 0);
        assert!(memory_bytes() > 1 << 20, "{} bytes", memory_bytes());
    }

    #[test]
    fn the_memory_of_a_machine_is_told_in_kibibytes() {
        assert_eq!(memory_of("MemTotal:       2048 kB\nMemFree: 1 kB\n"), Some(2 << 20));
        assert_eq!(memory_of("MemFree: 1 kB\n"), None);
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
