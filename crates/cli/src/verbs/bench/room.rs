//! Whether the disks have room for a benchmark, checked before it begins.

use tonnage_bench::measure::{DataDirectory, Disk, Environment};
use tonnage_bench::system::Target;

use super::common::CommonArgs;
use crate::exit::{CliResult, Failure};

/// What a benchmark keeps at a time, at most.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Room {
    /// Bytes of keys and values in one target.
    pub(crate) data_bytes: u64,
    /// Whether the data of all targets is there at once.
    pub(crate) targets_at_once: bool,
}

impl Room {
    /// A log-structured store rewrites data before it deletes the old, and keeps a log and an
    /// index.
    const BYTES_PER_DATA_BYTE: f64 = 2.2;

    /// Refuses what would not fit, unless forced.
    pub(super) fn check(self, common: &CommonArgs) -> CliResult<()> {
        if common.force {
            return Ok(());
        }
        let environment = Environment::read(&common.places);
        self.check_memory(common, environment.memory_bytes)?;
        common
            .places
            .iter()
            .zip(&environment.disks)
            .try_for_each(|(place, disk)| self.check_disk(common, place, disk))
    }

    fn check_disk(self, common: &CommonArgs, place: &DataDirectory, disk: &Disk) -> CliResult<()> {
        let on_disk = common.targets.iter().filter(|target| target.is_on_disk()).count();
        let targets = if self.targets_at_once { on_disk } else { on_disk.min(1) };
        let needed = (self.data_bytes as f64 * Self::BYTES_PER_DATA_BYTE) as u64 * targets as u64;
        if needed <= disk.free_bytes {
            return Ok(());
        }
        let (directory, free) = (place.path.display(), disk.free_bytes);
        Err(Failure::usage(format!(
            "--dir {directory}: this needs about {} on disk and {} are free: measure less, make room, or go on with --force",
            size(needed),
            size(free)
        )))
    }

    fn check_memory(self, common: &CommonArgs, memory_bytes: u64) -> CliResult<()> {
        let needed = (self.data_bytes as f64 * Self::BYTES_PER_DATA_BYTE) as u64;
        if needed <= memory_bytes || !common.targets.iter().any(Target::is_volatile) {
            return Ok(());
        }
        Err(Failure::usage(format!(
            "--target tonnage-memory: this needs about {} of memory and there are {}: measure less, leave it out, or go on with --force",
            size(needed),
            size(memory_bytes)
        )))
    }
}

/// Bytes for people.
fn size(bytes: u64) -> String {
    const UNITS: [(&str, u32); 3] = [("GiB", 30), ("MiB", 20), ("KiB", 10)];
    match UNITS.into_iter().find(|(_, shift)| bytes >> shift > 0) {
        Some((unit, shift)) => format!("{:.1} {unit}", bytes as f64 / (1u64 << shift) as f64),
        None => format!("{bytes} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::size;

    #[test]
    fn sizes_are_told_in_the_largest_unit_that_fits() {
        assert_eq!(
            [0, 1_023, 1_536, 5 << 20, 3 << 30].map(size),
            ["0 bytes", "1023 bytes", "1.5 KiB", "5.0 MiB", "3.0 GiB"]
        );
    }
}
