//! The command of a read of many regions.

use std::time::Duration;

use serde::Deserialize;
use serde_json::Value as Json;
use tonnage::geo::Region;
use tonnage::{Error, Result};

use super::consistency_choice::ConsistencyChoice;
use crate::auth::{Caller, Right};

/// Regions that one call has.
const REGIONS_MAX: usize = 100_000;

/// Gets rows by their places.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct WithinCommand {
    pub(crate) table: String,
    /// Boxes, circles and polygons.
    within: Vec<Json>,
    /// The index on places; the one of the finest cells without it.
    pub(super) index: Option<String>,
    pub(super) columns: Option<Vec<String>>,
    /// Rows in all, at most.
    pub(super) limit: Option<u64>,
    pub(super) versions: bool,
    /// Whether each row tells the number of the region that holds it.
    pub(super) origins: bool,
    pub(super) consistency: ConsistencyChoice,
    timeout_ms: Option<u64>,
}

impl WithinCommand {
    /// Refuses what the caller may not read.
    pub(crate) fn check(&self, caller: &Caller) -> Result<()> {
        caller.check_table(Right::Read, &self.table)
    }

    /// The regions, of which there are not too many.
    ///
    /// # Errors
    /// `Invalid`, with the number of the region.
    pub(super) fn regions(&self) -> Result<Vec<Region>> {
        if self.within.len() > REGIONS_MAX {
            return Err(Error::invalid(format!(
                "`within` has {} regions, {REGIONS_MAX} are the most: ask in several calls",
                self.within.len()
            )));
        }
        let regions = self.within.iter().enumerate().map(|(number, region)| {
            Region::from_json(region).map_err(|error| error.at(format!("region {number}")))
        });
        regions.collect()
    }

    pub(super) fn timeout(&self) -> Option<Duration> {
        self.timeout_ms.map(Duration::from_millis)
    }
}
