//! Rows to bytes and back, column by column over Arrow arrays.
//!
//! A batch passes three steps:
//!
//! 1. [`TableCodec::align`] brings the columns into the table's order and types, and sorts out the
//!    rows that do not fit.
//! 2. [`TableCodec::encode`] makes a key and a value of every row. It measures all rows first, then
//!    takes two buffers of exactly that size and writes one column after another into them: nothing
//!    is allocated per row.
//! 3. [`TableCodec::decode`] makes arrays of keys and values, again one column after another, and
//!    only those asked for.
//!
//! Single rows ([`TableCodec::encode_row`], [`TableCodec::decode_row`]; without copies
//! [`TableCodec::encode_cells`], [`RowView`]) take a way of their own to the same bytes.
//! `docs/format.md` describes them byte by byte.

mod align;
mod cast;
mod cell;
mod cell_array;
mod classifier;
mod decode;
mod decode_keys;
mod encode;
mod encode_keys;
mod layout;
mod nested_array;
mod partial;
mod range;
mod single;
mod size;
mod value_cell;
mod view;

use std::collections::HashMap;
use std::sync::Arc;

use arrow::datatypes::SchemaRef;
use tonnage_engine::{Capability, Error, Result};

pub(crate) use align::Rounding;
pub use align::{Aligned, Rejected};
pub use classifier::{KeyClassifier, KeyOwner};
pub(crate) use partial::NO_SUCH_KEY;
pub use range::FieldRange;
pub use view::RowView;

pub(crate) use cell::{key_f64, key_part, push_escaped, push_key_value};
pub(crate) use cell_array::{CellSource, DamagedCell, key_array};
pub(crate) use encode::running_sum;
pub(crate) use encode_keys::{add_key_lens, write_cells, write_column};
pub(crate) use range::RangeEnds;

use crate::schema::TableSchema;
use layout::{ColumnSlot, KeyStep, LaterLayouts, ValueLayout, key_steps};

/// What a codec lets through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The longest key, in bytes.
    pub key_bytes_max: usize,
    /// The longest value, in bytes.
    pub value_bytes_max: usize,
    /// The most that one column of a batch may take: an array of text holds 2 GiB.
    pub column_bytes_max: usize,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            key_bytes_max: 64 << 10,
            value_bytes_max: 1 << 30,
            column_bytes_max: i32::MAX as usize,
        }
    }
}

impl From<&Capability> for Limits {
    fn from(capability: &Capability) -> Self {
        Self {
            key_bytes_max: capability.key_bytes_max,
            value_bytes_max: capability.value_bytes_max,
            ..Self::default()
        }
    }
}

/// Turns the rows of one table into keys and values and back. Immutable; share it by `Arc`.
#[derive(Debug)]
pub struct TableCodec {
    schema: Arc<TableSchema>,
    arrow: SchemaRef,
    limits: Limits,
    /// The column that the store numbers rows in.
    identity: Option<usize>,
    /// The columns whose default is computed for each row.
    generated: Vec<usize>,
    /// Places of columns by their name in lower case.
    by_name: HashMap<String, usize>,
    /// The key columns in key order.
    key: Vec<KeyStep>,
    /// The layouts of all schema numbers; the one in force is the last.
    layouts: Vec<ValueLayout>,
    /// Those that came since.
    later: Arc<LaterLayouts>,
    /// The columns outside the key in the order of the layout in force.
    value: Vec<ValueColumn>,
    /// The position of each column in a value of the layout in force; nothing for key columns.
    slots: Vec<Option<ColumnSlot>>,
    /// For each column what a row holds that was written before the column was added, as bytes of a
    /// value.
    default_bytes: Vec<Option<Vec<u8>>>,
}

/// A column outside the key, as it is written now.
#[derive(Clone, Copy, Debug)]
struct ValueColumn {
    column: usize,
    slot: ColumnSlot,
}

impl TableCodec {
    /// The codec of a table.
    pub fn new(schema: Arc<TableSchema>, limits: Limits) -> Self {
        Self::after(None, schema, limits)
    }

    /// The codec of a table that had another one before, which can read what this one writes from
    /// now on.
    pub(crate) fn after(
        before: Option<&TableCodec>,
        schema: Arc<TableSchema>,
        limits: Limits,
    ) -> Self {
        let codec = Self::standalone(schema, limits);
        let later = before.map(|before| before.later.clone()).unwrap_or_default();
        later.push(codec.layout());
        Self { later, ..codec }
    }

    fn standalone(schema: Arc<TableSchema>, limits: Limits) -> Self {
        // `layout` relies on the layout in force being the last of `layouts`, after the history.
        let current = ValueLayout::new(&schema.layout());
        let value_column = |column: usize| {
            current.slot(schema.columns[column].id).map(|slot| ValueColumn { column, slot })
        };
        Self {
            arrow: schema.arrow_schema(),
            limits,
            identity: schema.identity_column(),
            generated: (0..schema.columns.len())
                .filter(|column| schema.columns[*column].default_function.is_some())
                .collect(),
            by_name: schema
                .columns
                .iter()
                .enumerate()
                .map(|(index, column)| (column.name.to_ascii_lowercase(), index))
                .collect(),
            key: key_steps(&schema),
            slots: schema.columns.iter().map(|column| current.slot(column.id)).collect(),
            value: schema.value_columns().filter_map(value_column).collect(),
            layouts: schema.history.iter().map(ValueLayout::new).chain([current.clone()]).collect(),
            // Temporary: `after` puts the list in that all codecs of the table share.
            later: Arc::default(),
            default_bytes: schema.columns.iter().map(default_bytes).collect(),
            schema,
        }
    }

    /// The table.
    pub fn schema(&self) -> &Arc<TableSchema> {
        &self.schema
    }

    /// The position of the column that the store numbers rows in, if there is one.
    #[inline]
    pub(crate) fn identity(&self) -> Option<usize> {
        self.identity
    }

    /// The positions of the columns whose default is computed for each row.
    #[inline]
    pub(crate) fn generated(&self) -> &[usize] {
        &self.generated
    }

    /// Whether the default of a column is computed for each row.
    #[inline]
    fn is_generated(&self, column: usize) -> bool {
        self.schema.columns[column].default_function.is_some()
    }

    /// The Arrow schema of aligned batches.
    pub fn arrow_schema(&self) -> &SchemaRef {
        &self.arrow
    }

    /// The Arrow schema of decoded batches: of all columns, or of those at these positions in this
    /// order.
    ///
    /// # Errors
    /// `Invalid` for a place that there is not.
    pub fn projected_schema(&self, projection: Option<&[usize]>) -> Result<SchemaRef> {
        match projection {
            None => Ok(self.arrow.clone()),
            Some(columns) => self.arrow.project(columns).map(Arc::new).map_err(|error| {
                Error::invalid(format!(
                    "table {} has {} columns: {error}",
                    self.schema.path,
                    self.schema.columns.len()
                ))
                .with_source(error)
            }),
        }
    }

    /// A layout by its index: those of this codec's own schema numbers come first, then those that
    /// came later.
    fn layout_at(&self, index: usize) -> &ValueLayout {
        match self.layouts.get(index) {
            Some(layout) => layout,
            None => self
                .later
                .iter()
                .nth(index - self.layouts.len())
                .expect("layouts are never taken away"),
        }
    }

    /// What a row holds in a column that its layout lacks: written before the column was added, or
    /// after it was dropped.
    fn absent_cell(&self, key: &[u8], column: usize, layout: usize) -> Result<Option<&[u8]>> {
        let default = self.default_bytes[column].as_deref();
        if default.is_none()
            && layout >= self.layouts.len()
            && !self.schema.columns[column].nullable
        {
            let name = &self.schema.columns[column].name;
            let what = format!(
                "the row was written after column '{name}' was dropped, which cannot be NULL"
            );
            return Err(self.newer_row_error(key, column, &what));
        }
        Ok(default)
    }

    /// Why a column that is NOT NULL has no value in a row.
    #[cold]
    fn null_error(&self, key: &[u8], column: usize, layout: usize) -> Error {
        // Of the codec's own time: a writer refuses such a row.
        if layout < self.layouts.len() {
            return self.value_error(key);
        }
        let name = &self.schema.columns[column].name;
        let what = format!("column '{name}' is NULL, which it could not be before it was altered");
        self.newer_row_error(key, column, &what)
    }

    #[cold]
    fn newer_row_error(&self, key: &[u8], column: usize, what: &str) -> Error {
        Error::conflict(format!(
            "table {}, key {}: {what}: open the table again",
            self.schema.path,
            hex(key)
        ))
        .in_table(&self.schema.path)
        .in_column(&self.schema.columns[column].name)
        .of_key(&hex(key))
    }

    fn layout(&self) -> &ValueLayout {
        self.layouts.last().expect("a codec always has the layout in force")
    }

    /// The position of a column of that name.
    fn find(&self, name: &str) -> Option<usize> {
        match self.by_name.get(name) {
            Some(index) => Some(*index),
            None => self.by_name.get(name.to_ascii_lowercase().as_str()).copied(),
        }
    }

    /// The table's name and the key's bytes, for a message about a damaged row.
    #[cold]
    fn corruption(&self, key: &[u8], what: &str) -> Error {
        Error::corruption(format!(
            "table {}, key {}: {what}: run `check`, then restore from a copy",
            self.schema.path,
            hex(key)
        ))
        .in_table(&self.schema.path)
        .of_key(&hex(key))
    }
}

fn default_bytes(column: &crate::schema::Column) -> Option<Vec<u8>> {
    let mut bytes = None;
    if let Some(default) = &column.default {
        value_cell::with_value_bytes(default.into(), column.column_type, |written| {
            bytes = Some(written.to_vec())
        });
    }
    bytes
}

/// The bytes of a key for a message; long keys are cut.
fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write;
    let mut text = String::from("0x");
    for byte in bytes.iter().take(64) {
        let _ = write!(text, "{byte:02x}");
    }
    if bytes.len() > 64 {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests;
