//! What names mean while an expression is evaluated.

use std::sync::Arc;

use crate::query::item::{Item, Sequence};

/// The row, and the item that a step of a path looks at.
#[derive(Clone, Copy, Default)]
pub(crate) struct Scope<'r> {
    /// The names of all columns.
    pub(crate) names: &'r [Arc<str>],
    /// The items of those columns that are needed.
    pub(crate) columns: &'r [Item],
    /// The column with the other fields of the row, where the table is a JSON collection.
    pub(crate) document: Option<usize>,
    /// The items that FROM produced from the row.
    pub(crate) unnested: &'r [Item],
    /// The values of GROUP BY, where the row represents a group.
    pub(crate) groups: &'r [Item],
    /// What aggregates say of the group.
    pub(crate) aggregated: &'r [Sequence],
    pub(crate) facts: RowFacts,
    pub(crate) step: StepScope<'r>,
}

/// What is known of a row beside its columns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RowFacts {
    pub(crate) version: u64,
    pub(crate) expires_at_ms: u64,
    pub(crate) modified_ms: u64,
    pub(crate) bytes: usize,
}

/// The item that a step looks at.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct StepScope<'r> {
    /// What the step is applied to.
    pub(crate) context: Option<&'r Item>,
    /// The element or the member.
    pub(crate) element: Option<&'r Item>,
    pub(crate) position: usize,
    pub(crate) key: Option<&'r str>,
}
