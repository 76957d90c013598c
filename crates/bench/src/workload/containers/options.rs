//! What `bench containers` is asked to do.

use tonnage::{Durability, Error, Result};

use crate::target::TargetKind;
use crate::workload::Place;

/// What `bench containers` is asked to do.
#[derive(Clone, Debug)]
pub struct ContainersOptions {
    /// Which systems.
    pub targets: Vec<TargetKind>,
    /// Where their data goes.
    pub place: Place,
    /// Containers of the larger case; the smaller one has one.
    pub containers: usize,
    /// Rows of each container.
    pub rows: u64,
    /// What a row is known by.
    pub key: ContainerKey,
    /// What an acknowledged put survives.
    pub durability: Durability,
    /// Memory for a target's cache and memtables, enforced; the target's own default when none.
    pub memory_bytes: Option<usize>,
    /// Whether data files are read and written past the operating system's cache.
    pub direct_io: bool,
    /// How often each thing is measured, each time with new containers.
    pub repeats: usize,
    /// The command line, for the report.
    pub command: String,
}

/// What a row of a container is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKey {
    /// A number.
    Id,
    /// A name.
    Name,
}

impl Default for ContainersOptions {
    fn default() -> Self {
        ContainersOptions {
            targets: vec![TargetKind::TonnageRocksDb],
            place: Place { label: "data".to_owned(), directory: ".".into() },
            containers: 10,
            rows: 10_000,
            key: ContainerKey::Id,
            durability: Durability::Write,
            memory_bytes: None,
            direct_io: false,
            repeats: 5,
            command: String::new(),
        }
    }
}

impl ContainersOptions {
    /// About how many bytes a target holds in the end.
    pub fn data_bytes(&self) -> u64 {
        // Two methods of two phases, each repeat with containers of its own.
        let rows = self.rows.saturating_mul(self.counts().map(|count| count as u64).sum());
        rows.saturating_mul(4 * self.repeats as u64).saturating_mul(60)
    }

    /// The numbers of containers that are measured.
    pub(super) fn counts(&self) -> impl Iterator<Item = usize> + use<> {
        let larger = (self.containers > 1).then_some(self.containers);
        std::iter::once(1).chain(larger)
    }

    /// Says what does not fit together.
    ///
    /// # Errors
    /// `Invalid`, with the remedy.
    pub fn check(&self) -> Result<()> {
        let counts = [("containers", self.containers as u64), ("rows", self.rows), ("repeats", self.repeats as u64)];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(Error::invalid(format!("0 {name}: there must be one at least")));
        }
        if self.targets.is_empty() {
            return Err(Error::invalid("there is nothing to measure: name a target"));
        }
        Ok(())
    }
}
