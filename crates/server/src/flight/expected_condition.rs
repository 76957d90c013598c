//! Conditions of writes in a command.

use serde::Deserialize;
use tonnage::Condition;

/// What a write is to find.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExpectedCondition {
    Absent,
    Present,
    Version(u64),
}

impl ExpectedCondition {
    /// The condition; none where nothing is said.
    pub(crate) fn condition(expected: Option<ExpectedCondition>) -> Condition {
        match expected {
            None => Condition::Always,
            Some(ExpectedCondition::Absent) => Condition::IfAbsent,
            Some(ExpectedCondition::Present) => Condition::IfPresent,
            Some(ExpectedCondition::Version(version)) => Condition::IfVersion(version),
        }
    }
}
