//! How fresh rows must be, as a command says it.

use std::time::Duration;

use serde::Deserialize;
use tonnage::Consistency;

/// How fresh rows must be.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Freshness {
    None,
    TimeMs(u64),
    Version(u64),
    #[default]
    Absolute,
}

impl From<Freshness> for Consistency {
    fn from(freshness: Freshness) -> Self {
        match freshness {
            Freshness::None => Consistency::None,
            Freshness::TimeMs(ms) => Consistency::Time(Duration::from_millis(ms)),
            Freshness::Version(version) => Consistency::Version(version),
            Freshness::Absolute => Consistency::Absolute,
        }
    }
}
