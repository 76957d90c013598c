//! How SQL reads the rows of a table.
//!
//! 1. Conditions on single columns become [`ColumnCondition`]s. They come from the parser of simple
//!    statements, from a plan of DataFusion, or from a join that knows its keys by now.
//! 2. [`choose_access_path`] finds the [`AccessPath`] through the primary key that answers as many
//!    of them as possible: whole keys, partial keys with a range on the next column, or a full
//!    scan. It says which conditions the path answers by itself.
//! 3. [`choose_index`] finds a secondary index that leads to fewer rows. The plan tests its rows
//!    against the conditions that it does not answer.
//! 4. [`index_in_order`] finds an index that gives rows in the order of a column, for a plan that
//!    wants few of them.
//! 5. A [`NearestRead`] finds rows around a place through an index on places.
//! 6. A [`ReadSpec`] adds columns, order and limits, and opens the read.

mod access_path;
mod column_order;
mod condition;
mod domains;
mod first_rows;
mod geo_condition;
mod index_choice;
mod index_conditions;
mod index_order;
mod index_path;
mod index_ranges;
mod json_path;
mod literal;
mod live_batches;
mod nearest_read;
mod nearest_rows;
mod ordering;
mod rows;
mod source_counts;
mod spec;
mod table;
mod table_reader;

pub(crate) use access_path::{AccessPath, choose_access_path};
pub(crate) use column_order::ColumnOrder;
pub(crate) use condition::{
    ColumnBound, ColumnCondition, ColumnTest, column_ranges, non_null_values,
};
pub(crate) use geo_condition::GeoCondition;
pub(crate) use index_choice::{IndexChoice, choose_index};
pub(crate) use index_conditions::IndexConditions;
pub(crate) use index_order::index_in_order;
pub(crate) use index_path::{ENTRIES_FEW, IndexPath, ROWS_PER_ENTRY};
pub(crate) use json_path::{JsonPathCondition, JsonPathTest, JsonType};
pub(crate) use literal::{array_of, scalar_of, value_of};
use live_batches::LiveBatches;
pub(crate) use nearest_read::NearestRead;
pub(crate) use ordering::{direction_for, free_columns, is_constant, is_ordered_as_sql};
pub(crate) use rows::{rows_to_batch, rows_to_keys};
pub(crate) use source_counts::SourceCounts;
pub(crate) use spec::{LatestRows, ReadSpec};
pub(crate) use table::{EXPIRY, SqlTable, VERSION, declared_schema, folded_field, note_names};
pub(crate) use table_reader::TableReader;
