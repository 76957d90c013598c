//! One system under test, with what all phases need.

use std::sync::Arc;
use std::time::Duration;

use tonnage::Result;

use super::options::{Api, BillionOptions, Phase};
use crate::generate::{Permutation, ValueGenerator};
use crate::measure::{MeasurePlan, Measured, Meter, Watcher, measure};
use crate::system::System;

/// One system under test.
pub(super) struct BillionJob<'a> {
    pub(super) system: &'a dyn System,
    pub(super) options: &'a BillionOptions,
    pub(super) values: Arc<ValueGenerator>,
    /// What progress lines call it.
    pub(super) name: String,
}

impl BillionJob<'_> {
    /// The order in which records are got.
    pub(super) fn shuffled(&self) -> Permutation {
        Permutation::new(self.options.records, 1)
    }

    /// Measures a phase. All records are put, whatever the time: without them there is nothing to
    /// get.
    pub(super) fn measure(
        &self,
        phase: Phase,
        watcher: &dyn Watcher,
        work: impl FnOnce(&Meter<'_>) -> Result<()>,
    ) -> Result<Measured> {
        let whole = phase == Phase::Put;
        let plan = MeasurePlan {
            phase: format!("{} {}", self.name, phase.name()),
            operations: match self.options.api {
                Api::Bulk => Vec::new(),
                Api::Single => vec!["PUT", "GET"],
            },
            warm_up: if whole { Duration::ZERO } else { self.options.run.warm_up },
            seconds_max: self.options.run.seconds_max.filter(|_| !whole),
            total: Some(self.options.records),
        };
        measure(&plan, self.system, watcher, work)
    }
}
