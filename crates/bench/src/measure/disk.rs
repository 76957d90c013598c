//! The disk behind a directory.

use std::fs;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

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

impl Disk {
    /// The disk behind a directory, which need not be there yet: its nearest ancestor that is there
    /// counts.
    pub(super) fn of(label: &str, directory: &Path) -> Self {
        let nearest = directory.ancestors().find_map(|path| path.canonicalize().ok());
        let directory = nearest.unwrap_or_else(|| PathBuf::from("."));
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let mount = Mount::of(&directory, &mounts).unwrap_or_default();
        let size = rustix::fs::statvfs(&directory);
        let [size_bytes, free_bytes] =
            size.map_or([0; 2], |size| [size.f_blocks, size.f_bavail].map(|n| n * size.f_frsize));
        Disk {
            label: label.to_owned(),
            kind: kind(&mount).to_owned(),
            device: mount.device,
            file_system: mount.kind,
            size_bytes,
            free_bytes,
        }
    }
}

/// A line of `/proc/self/mountinfo`.
#[derive(Debug, Default, PartialEq)]
struct Mount {
    /// `major:minor`.
    number: String,
    kind: String,
    device: String,
}

impl Mount {
    /// The mount that holds a path: of those with the longest mount point the last, which covers
    /// the others.
    fn of(path: &Path, mounts: &str) -> Option<Mount> {
        let holding =
            mounts.lines().filter_map(Mount::parse).filter(|(point, _)| path.starts_with(point));
        holding.max_by_key(|(point, _)| point.as_os_str().len()).map(|(_, mount)| mount)
    }

    /// `36 35 98:0 /root /mount/point options [tags] - type device options`
    fn parse(line: &str) -> Option<(PathBuf, Mount)> {
        let (left, right) = line.split_once(" - ")?;
        let mut left = left.split(' ').skip(2);
        let number = left.next()?.to_owned();
        let point = left.nth(1)?.replace("\\040", " ");
        let mut right = right.split(' ').map(str::to_owned);
        Some((point.into(), Mount { number, kind: right.next()?, device: right.next()? }))
    }
}

/// A partition has no queue of its own: its disk has, one directory up.
fn kind(mount: &Mount) -> &'static str {
    let by_number = PathBuf::from("/sys/dev/block").join(&mount.number);
    let by_name =
        Path::new("/sys/block").join(Path::new(&mount.device).file_name().unwrap_or_default());
    let places = [by_number.join("queue"), by_number.join("../queue"), by_name.join("queue")];
    let rotational =
        places.iter().find_map(|queue| fs::read_to_string(queue.join("rotational")).ok());
    match rotational.as_deref().map(str::trim) {
        Some("0") => "ssd",
        Some("1") => "hdd",
        _ => "unknown",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOUNTS: &str = "22 1 8:1 / / rw - ext4 /dev/sda1 rw\n\
                          30 22 8:16 / /mnt/big\\040disk rw shared:1 - xfs /dev/sdb rw\n\
                          31 30 0:40 / /mnt/big\\040disk rw - tmpfs tmpfs rw\n";

    #[test]
    fn the_longest_mount_point_wins_and_of_equal_ones_the_last() {
        let mount = Mount::of(Path::new("/mnt/big disk/data"), MOUNTS).unwrap();
        assert_eq!((mount.kind.as_str(), mount.number.as_str()), ("tmpfs", "0:40"));
    }

    #[test]
    fn a_name_that_begins_like_a_mount_point_is_elsewhere() {
        let mount = Mount::of(Path::new("/mnt/big disks"), MOUNTS).unwrap();
        assert_eq!(mount.device, "/dev/sda1");
    }

    #[test]
    fn a_directory_that_is_not_there_is_on_the_disk_of_its_ancestor() {
        let here = std::env::temp_dir();
        let there = Disk::of("x", &here.join("not/there/yet"));
        let here = Disk::of("x", &here);
        assert_eq!((there.device, there.size_bytes), (here.device, here.size_bytes));
    }
}
