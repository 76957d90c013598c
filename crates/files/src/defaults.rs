//! The values for members that a JSON object lacks.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use arrow::array::ArrayRef;
use tonnage_engine::Result;

/// Makes the values of so many rows that do not name a column.
pub type MakeDefaults = Arc<dyn Fn(usize) -> Result<ArrayRef> + Send + Sync>;

/// Makers of the values that JSON objects take for members which they lack, by column. Of other
/// columns such a value is NULL, as is a member that is null.
#[derive(Clone, Default)]
pub struct ColumnDefaults {
    /// By the name in small letters.
    makers: HashMap<String, MakeDefaults>,
}

impl ColumnDefaults {
    /// The makers of these columns.
    pub fn new(columns: impl IntoIterator<Item = (String, MakeDefaults)>) -> Self {
        let columns = columns.into_iter().map(|(name, make)| (name.to_lowercase(), make));
        Self { makers: columns.collect() }
    }

    pub(crate) fn of(&self, column: &str) -> Option<&MakeDefaults> {
        // Most tables have none, and names are looked up once a block.
        if self.makers.is_empty() {
            return None;
        }
        self.makers.get(&column.to_lowercase())
    }
}

impl fmt::Debug for ColumnDefaults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.makers.keys()).finish()
    }
}
