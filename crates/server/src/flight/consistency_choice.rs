//! The option of commands that says how fresh rows must be.

use std::time::Duration;

use serde::Deserialize;
use tonnage::Consistency;

/// How fresh rows must be.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ConsistencyChoice {
    None,
    TimeMs(u64),
    Version(u64),
    #[default]
    Absolute,
}

impl From<ConsistencyChoice> for Consistency {
    fn from(freshness: ConsistencyChoice) -> Self {
        match freshness {
            ConsistencyChoice::None => Consistency::None,
            ConsistencyChoice::TimeMs(ms) => Consistency::Time(Duration::from_millis(ms)),
            ConsistencyChoice::Version(version) => Consistency::Version(version),
            ConsistencyChoice::Absolute => Consistency::Absolute,
        }
    }
}
