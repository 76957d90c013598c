//! The memory that a control group leaves to this process.

use std::path::{Path, PathBuf};

const ROOT: &str = "/sys/fs/cgroup";

/// The least memory limit of the control groups that this process is in, given what
/// `/proc/self/cgroup` says. In both versions a group's ancestors bind it, too; and in a container
/// the path that the kernel tells may be that of the outside, while the group itself is mounted at
/// the root. So every directory up to the root is asked.
pub(super) fn memory_bytes_max(groups: &str) -> Option<u64> {
    files_of_limits(groups).iter().filter_map(|file| limit(file)).min()
}

/// Lines look like `0::/a/b` in version 2 and `4:memory,cpu:/a/b` in version 1.
fn files_of_limits(groups: &str) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for line in groups.lines() {
        let mut parts = line.splitn(3, ':').skip(1);
        let (Some(controllers), Some(path)) = (parts.next(), parts.next()) else { continue };
        let (root, file) = match controllers {
            "" => (Path::new(ROOT).to_owned(), "memory.max"),
            names if names.split(',').any(|name| name == "memory") => {
                (Path::new(ROOT).join("memory"), "memory.limit_in_bytes")
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
    std::fs::read_to_string(file).ok()?.trim().parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_of_version_2_is_asked_with_its_ancestors() {
        let files = files_of_limits("0::/a/b\n");
        assert_eq!(
            files,
            ["a/b/memory.max", "a/memory.max", "memory.max"].map(|file| Path::new(ROOT).join(file))
        );
    }

    #[test]
    fn in_version_1_the_memory_controller_alone_is_asked() {
        let files = files_of_limits("5:cpu:/a\n4:hugetlb,memory:/b\n");
        let expected = ["memory/b/memory.limit_in_bytes", "memory/memory.limit_in_bytes"];
        assert_eq!(files, expected.map(|file| Path::new(ROOT).join(file)));
    }
}
