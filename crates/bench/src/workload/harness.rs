//! A benchmark under way: systems that are opened and go away again, and the report that begins.

use std::collections::BTreeMap;
use std::time::Instant;

use tempfile::TempDir;
use tonnage::{Error, Result};

use super::RunOptions;
use crate::measure::{DataDirectory, Environment, Measured, Watcher};
use crate::report::Report;
use crate::system::{System, SystemSpec, Target};

#[derive(Clone, Copy)]
pub(super) struct BenchRun<'a> {
    pub(super) workload: &'static str,
    pub(super) options: &'a RunOptions,
    pub(super) watcher: &'a dyn Watcher,
}

/// A system with its data, which is removed with it.
pub(super) struct OpenedSystem {
    // Dropped first: a system is closed before its directory is removed.
    pub(super) system: Box<dyn System>,
    _scratch: TempDir,
}

impl BenchRun<'_> {
    /// A report on this machine that begins now. `settings` are those of the workload alone.
    pub(super) fn report(&self, mut settings: BTreeMap<String, String>) -> Report {
        settings.extend(self.options.settings());
        let environment = Environment::read(&self.options.directories);
        Report::new(self.workload, &self.options.command, settings, environment)
    }

    /// Measures each repeat, until it is stopped.
    pub(super) fn repeats(
        &self,
        measure: impl FnMut(usize) -> Result<Measured>,
    ) -> Result<Vec<Measured>> {
        (0..self.options.repeats).take_while(|_| !self.is_over()).map(measure).collect()
    }

    /// ` (2 of 3)` after the name of a repeat, where there are several.
    pub(super) fn repeat_name(&self, repeat: usize) -> String {
        match self.options.repeats {
            1 => String::new(),
            repeats => format!(" ({} of {repeats})", repeat + 1),
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.watcher.is_cancelled()
    }

    /// Opens an empty system in the first directory.
    pub(super) fn open(&self, target: impl Into<Target>) -> Result<OpenedSystem> {
        self.open_in(target, &self.options.directories[0])
    }

    /// Opens an empty system in a directory of its own, which is deleted with it.
    pub(super) fn open_in(
        &self,
        target: impl Into<Target>,
        place: &DataDirectory,
    ) -> Result<OpenedSystem> {
        let target = target.into();
        // An address has characters that a file name must not have.
        let shown = target.name().replace(|char: char| !char.is_ascii_alphanumeric(), "-");
        let name = format!("tonnage-bench-{}-{shown}-", self.workload);
        let scratch = tempfile::Builder::new().prefix(&name).tempdir_in(&place.path);
        let scratch = scratch.map_err(|error| {
            let message = format!("{}: no directory can be made: {error}", place.path.display());
            Error::invalid(message).with_source(error)
        })?;
        let spec = SystemSpec {
            memory_bytes: self.options.memory_bytes,
            direct_io: self.options.direct_io,
            durability: self.options.durability,
            connections: self.options.connections,
            client: self.options.client.clone(),
            ..SystemSpec::new(target, scratch.path().join("data"))
        };
        Ok(OpenedSystem { system: spec.open()?, _scratch: scratch })
    }

    /// Waits until a system has nothing left to tidy up, so that one phase does not pay for
    /// another. Returns how many seconds it took.
    pub(super) fn settle(&self, system: &dyn System, name: &str) -> Result<f64> {
        if self.is_over() {
            return Ok(0.0);
        }
        self.watcher.begin(&format!("settle {name}"), None);
        let started = Instant::now();
        system.sync()?;
        system.settle()?;
        let seconds = started.elapsed().as_secs_f64();
        self.watcher.end(&format!("{seconds:.1} s"));
        Ok(seconds)
    }
}
