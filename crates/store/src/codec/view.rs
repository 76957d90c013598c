//! Encodes and reads single rows without an allocation for each: cells borrow their bytes, and
//! views read stored bytes in place.

use tonnage_engine::{Error, Result};

use super::{TableCodec, value_cell};
use crate::row::Row;
use crate::value::ValueRef;

impl TableCodec {
    /// Encodes one row given as the cells of all columns in the table's order; `key` and `value`
    /// are cleared first. The bytes are those of [`TableCodec::encode_row`].
    ///
    /// # Errors
    /// `Invalid`, naming the column and what is wrong with it.
    pub fn encode_cells(
        &self,
        cells: &[ValueRef<'_>],
        key: &mut Vec<u8>,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        if cells.len() != self.schema.columns.len() {
            return Err(Error::invalid(format!(
                "the row gives {} values, but table {} has {} columns: give every column, in the table's order",
                cells.len(),
                self.schema.path,
                self.schema.columns.len()
            )));
        }
        key.clear();
        for step in &self.key {
            self.push_key_step(step, cells[step.column], key)?;
        }
        self.check_key_len(key)?;
        self.begin_value(value);
        for value_column in &self.value {
            self.push_cell(value_column, Some(cells[value_column.column]), value)?;
        }
        self.check_value_len(value)
    }

    /// Encodes a whole primary key given as cells in key order; `key` is cleared first.
    ///
    /// # Errors
    /// `Invalid`, naming the column and what is wrong with it.
    pub fn encode_key_cells(&self, cells: &[ValueRef<'_>], key: &mut Vec<u8>) -> Result<()> {
        key.clear();
        if let Some(step) = self.key.get(cells.len()) {
            return Err(self.missing_key_column(step));
        }
        self.check_key_count(cells.len())?;
        for (step, cell) in self.key.iter().zip(cells) {
            self.push_key_step(step, *cell, key)?;
        }
        self.check_key_len(key)
    }

    /// The same of a key to be looked up. False when no row can have it: a column cannot hold the
    /// value asked for.
    ///
    /// # Errors
    /// `Invalid`, naming the column and what is wrong with it.
    pub(crate) fn lookup_key_cells(
        &self,
        cells: &[ValueRef<'_>],
        key: &mut Vec<u8>,
    ) -> Result<bool> {
        key.clear();
        if let Some(step) = self.key.get(cells.len()) {
            return Err(self.missing_key_column(step));
        }
        self.check_key_count(cells.len())?;
        let mut is_kept = true;
        for (step, cell) in self.key.iter().zip(cells) {
            is_kept &= self.try_key_step(step, *cell, key)?;
        }
        self.check_key_len(key)?;
        Ok(is_kept)
    }

    /// A view on a stored row.
    ///
    /// # Errors
    /// `Corruption` for a value that is not one of this table.
    pub(crate) fn view<'a>(
        &'a self,
        key: &'a [u8],
        value: &'a [u8],
        version: u64,
    ) -> Result<RowView<'a>> {
        Ok(RowView { codec: self, layout: self.layout_of(key, value)?, key, value, version })
    }
}

/// A stored row, whose columns are read where they lie when they are asked for.
#[derive(Clone, Copy, Debug)]
pub struct RowView<'a> {
    codec: &'a TableCodec,
    layout: usize,
    key: &'a [u8],
    value: &'a [u8],
    version: u64,
}

impl<'a> RowView<'a> {
    /// A column outside the primary key, by its position in the table.
    ///
    /// # Errors
    /// `Invalid` for a place that there is not, or of a key column: the caller has the key, or
    /// takes [`RowView::to_row`]. `Corruption` for a damaged value; `Conflict` for a row that the
    /// table's older schema does not allow: open the table again.
    pub fn get(&self, column: usize) -> Result<ValueRef<'a>> {
        let codec = self.codec;
        let Some(described) =
            codec.schema.columns.get(column).filter(|_| !codec.schema.is_key(column))
        else {
            return Err(self.not_in_value(column));
        };
        let layout = codec.layout_at(self.layout);
        // Nearly all rows are of the layout in force, whose slots are known by the position of the
        // column.
        let slot = if self.layout + 1 == codec.layouts.len() {
            codec.slots[column]
        } else {
            // By number: a column that was dropped may have had the same name.
            layout.slot(described.id)
        };
        let bytes = match slot {
            Some(slot) => {
                layout.cell(self.value, slot).ok_or_else(|| codec.value_error(self.key))?
            }
            None => codec.absent_cell(self.key, column, self.layout)?,
        };
        match bytes {
            Some(bytes) => value_cell::read_value(bytes, described.column_type)
                .ok_or_else(|| codec.value_error(self.key)),
            None if described.nullable => Ok(ValueRef::Null),
            None => Err(codec.null_error(self.key, column, self.layout)),
        }
    }

    /// The row with all its columns, copied out.
    ///
    /// # Errors
    /// `Corruption` for bytes that no row of this table encodes to; `Conflict` as for
    /// [`RowView::get`].
    pub fn to_row(&self) -> Result<Row> {
        self.codec.decode_row(self.key, self.value)
    }

    /// Its version.
    pub fn version(&self) -> u64 {
        self.version
    }

    #[cold]
    fn not_in_value(&self, column: usize) -> Error {
        let schema = &self.codec.schema;
        match schema.columns.get(column) {
            Some(column) => Error::invalid(format!(
                "column {} of {} is in the primary key: a view gives the other columns; the whole row holds it",
                column.name, schema.path
            )),
            None => Error::invalid(format!(
                "table {} has {} columns: there is no number {column}",
                schema.path,
                schema.columns.len()
            )),
        }
    }
}
