//! The machine and the program: part of every report.

use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use tonnage::{Error, Result};

use super::process::{first, read, value_of};

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
    /// Disks of the data directories.
    pub disks: Vec<Disk>,
    /// The version of this program.
    pub version: String,
    /// The load average (1 minute) when the benchmark began: a busy machine measures badly.
    pub load_average: f64,
}

impl Environment {
    /// Reads it. `directories` are where data will be kept. What the system does not tell is empty
    /// or 0.
    pub fn read(directories: &[DataDirectory]) -> Self {
        let [cpus, release] = ["/proc/cpuinfo", "/etc/os-release"].map(read);
        let system = value_of(&release, "PRETTY_NAME", '=').map(|name| name.trim_matches('"'));
        Environment {
            cpu: value_of(&cpus, "model name", ':').unwrap_or(std::env::consts::ARCH).to_owned(),
            cores: std::thread::available_parallelism().map_or(0, usize::from),
            memory_bytes: tonnage::memory_bytes() as u64,
            kernel: read("/proc/version").split_whitespace().take(3).collect::<Vec<_>>().join(" "),
            system: system.unwrap_or(std::env::consts::OS).to_owned(),
            disks: directories.iter().map(Disk::of).collect(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            load_average: first(&read("/proc/loadavg")).unwrap_or(0.0),
        }
    }
}

/// A directory with a label: `ssd=/mnt/fast`, or a bare path, which is labelled by its last part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDirectory {
    /// What reports call it.
    pub label: String,
    /// The directory.
    pub path: PathBuf,
}

impl DataDirectory {
    /// A directory by its label and its path.
    pub fn new(label: &str, path: impl Into<PathBuf>) -> Self {
        DataDirectory { label: label.to_owned(), path: path.into() }
    }
}

impl FromStr for DataDirectory {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let last = Path::new(text).file_name().unwrap_or("data".as_ref()).to_string_lossy();
        let (label, directory) = text.split_once('=').unwrap_or((&last, text));
        if label.is_empty() || directory.is_empty() {
            return Err(Error::invalid(format!(
                "{text:?} is not a directory: give LABEL=DIRECTORY, as in ssd=/mnt/fast, or a \
                 directory"
            )));
        }
        Ok(DataDirectory::new(label, directory))
    }
}

/// The disk of a data directory.
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
    /// The disk of a directory, which need not exist yet: its nearest ancestor that is there
    /// counts.
    fn of(DataDirectory { label, path }: &DataDirectory) -> Self {
        let nearest = path.ancestors().find_map(|path| path.canonicalize().ok());
        let directory = nearest.unwrap_or_else(|| PathBuf::from("."));
        let mounts = read("/proc/self/mountinfo");
        let [number, file_system, device] = mount_of(&directory, &mounts).unwrap_or_default();
        let size = rustix::fs::statvfs(&directory);
        let [size_bytes, free_bytes] =
            size.map_or([0; 2], |size| [size.f_blocks, size.f_bavail].map(|n| n * size.f_frsize));
        let kind = kind(number, device);
        let [device, file_system, kind] = [device, file_system, kind].map(str::to_owned);
        Disk { label: label.clone(), device, file_system, kind, size_bytes, free_bytes }
    }
}

/// The number (`major:minor`), the file system and the device of the mount that holds a path: of
/// those with the longest mount point the last, which covers the others.
fn mount_of<'m>(path: &Path, mounts: &'m str) -> Option<[&'m str; 3]> {
    // `36 35 98:0 /root /mount/point options [tags] - type device options`
    let parse = |line: &'m str| {
        let (left, right) = line.split_once(" - ")?;
        let (mut left, mut right) = (left.split(' ').skip(2), right.split(' '));
        let number = left.next()?;
        let point = left.nth(1)?.replace("\\040", " ");
        Some((point, [number, right.next()?, right.next()?]))
    };
    let holding = mounts.lines().filter_map(parse).filter(|(point, _)| path.starts_with(point));
    holding.max_by_key(|(point, _)| point.len()).map(|(_, mount)| mount)
}

/// A partition has no queue of its own: its disk has, one directory up.
fn kind(number: &str, device: &str) -> &'static str {
    let by_number = PathBuf::from("/sys/dev/block").join(number);
    let by_name = Path::new("/sys/block").join(Path::new(device).file_name().unwrap_or_default());
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
        let mount = mount_of(Path::new("/mnt/big disk/data"), MOUNTS);
        assert_eq!(mount, Some(["0:40", "tmpfs", "tmpfs"]));
    }

    #[test]
    fn a_name_that_begins_like_a_mount_point_is_elsewhere() {
        let mount = mount_of(Path::new("/mnt/big disks"), MOUNTS);
        assert_eq!(mount, Some(["8:1", "ext4", "/dev/sda1"]));
    }

    #[test]
    fn a_directory_that_is_not_there_is_on_the_disk_of_its_ancestor() {
        let here = std::env::temp_dir();
        let there = Disk::of(&DataDirectory::new("x", here.join("not/there/yet")));
        let here = Disk::of(&DataDirectory::new("x", here));
        assert_eq!((there.device, there.size_bytes), (here.device, here.size_bytes));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_machine_has_cores_memory_and_a_disk_with_free_bytes() {
        let here = DataDirectory::new("here", std::env::temp_dir());
        let environment = Environment::read(&[here]);
        assert!(environment.cores > 0 && environment.memory_bytes > 1 << 20, "{environment:?}");
        let disk = &environment.disks[0];
        assert!(disk.size_bytes >= disk.free_bytes && disk.size_bytes > 0, "{disk:?}");
        assert!(!disk.file_system.is_empty());
    }
}
