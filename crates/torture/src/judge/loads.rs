//! Judges bulk puts. Each row must be of a load that covers its key:
//!
//! - no older than a load that replaces rows and was acknowledged,
//! - not of a load that keeps existing rows, if a row was known to exist.

use std::collections::BTreeMap;

use super::JudgedStore;
use super::read::{RowsByKey, by_key, rows_of};
use crate::content::{long, row};

/// Loads that were acknowledged, for one key.
#[derive(Clone, Copy, Default)]
struct AcknowledgedLoads {
    /// The first of all.
    first: i64,
    /// The last one that takes the place of what is there.
    replaced: Option<i64>,
}

impl JudgedStore {
    /// Gives the rows of `loaded`.
    pub(super) fn judge_loads(&mut self) -> tonnage::Result<RowsByKey> {
        let rows = by_key(rows_of(&self.store, "loaded")?);
        let acknowledged = self.acknowledged_by_key();
        for (key, found) in &rows {
            let number = long(found, "g").unwrap_or(-1);
            if *found != row(*key, number) {
                self.complain(format_args!("TORN loaded row {key}"));
            }
            self.judge_loaded(*key, number, acknowledged.get(key));
        }
        for (key, acknowledged) in acknowledged.iter().filter(|(key, _)| !rows.contains_key(key)) {
            let load = acknowledged.replaced.unwrap_or(acknowledged.first);
            self.complain(format_args!("LOST loaded row {key}: absent, load {load} was complete"));
        }
        Ok(rows)
    }

    fn acknowledged_by_key(&self) -> BTreeMap<i64, AcknowledgedLoads> {
        let mut by_key = BTreeMap::<i64, AcknowledgedLoads>::new();
        for (number, load) in self.expected.loads.iter().filter(|(_, load)| load.is_kept) {
            for key in load.first..load.first + load.count {
                let first = AcknowledgedLoads { first: *number, replaced: None };
                let acknowledged = by_key.entry(key).or_insert(first);
                if !load.keeps_existing {
                    acknowledged.replaced = Some(*number);
                }
            }
        }
        by_key
    }

    fn judge_loaded(&mut self, key: i64, number: i64, acknowledged: Option<&AcknowledgedLoads>) {
        let covers = |load: &&super::expect::ExpectedLoad| {
            (load.first..load.first + load.count).contains(&key)
        };
        let Some(load) = self.expected.loads.get(&number).filter(covers).copied() else {
            return self.complain(format_args!("PHANTOM loaded row {key} of load {number}"));
        };
        let Some(acknowledged) = acknowledged else { return };
        if let Some(newest) = acknowledged.replaced.filter(|newest| number < *newest) {
            self.complain(format_args!(
                "LOST loaded row {key}: it is of load {number}, {newest} was complete"
            ));
        }
        if load.keeps_existing && acknowledged.first < number {
            let first = acknowledged.first;
            self.complain(format_args!(
                "PHANTOM loaded row {key}: load {number} keeps what is there, {first} was complete"
            ));
        }
    }
}
