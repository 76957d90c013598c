//! Conditions of writes, as a command says them.

use serde::Deserialize;
use tonnage::Condition;

/// What a write is to find.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Expected {
    Absent,
    Present,
    Version(u64),
}

impl Expected {
    /// The condition; none where nothing is said.
    pub(crate) fn condition(expected: Option<Expected>) -> Condition {
        match expected {
            None => Condition::Always,
            Some(Expected::Absent) => Condition::IfAbsent,
            Some(Expected::Present) => Condition::IfPresent,
            Some(Expected::Version(version)) => Condition::IfVersion(version),
        }
    }
}
