//! What a search for an index knows of the rows.

use super::condition::ColumnCondition;
use super::geo_condition::GeoCondition;
use super::json_path::JsonPathCondition;

/// What is known of the rows that are wanted.
#[derive(Clone, Copy, Debug)]
pub(crate) struct IndexConditions<'a> {
    pub(crate) columns: &'a [ColumnCondition],
    pub(crate) places: &'a [JsonPathCondition],
    pub(crate) regions: &'a [GeoCondition],
}

impl<'a> IndexConditions<'a> {
    /// Conditions on columns alone.
    pub(crate) fn of_columns(columns: &'a [ColumnCondition]) -> Self {
        Self { columns, places: &[], regions: &[] }
    }
}
