//! The relation of a tree that each column belongs to.

use std::collections::HashMap;

use arrow::datatypes::DataType;
use datafusion::common::Column;

/// The relation that each column belongs to.
pub(super) type ColumnRelations = HashMap<Column, ColumnRelation>;

/// A relation, and the type of a column of it.
#[derive(Clone)]
pub(super) struct ColumnRelation {
    pub(super) relation: usize,
    pub(super) data_type: DataType,
}
