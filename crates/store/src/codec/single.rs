//! Encodes and decodes single rows: the same bytes as for batches, without arrays in between.

use tonnage_engine::{Error, Result};

use super::decode_keys::key_error;
use super::layout::{CellLocation, END_LEN, KeyStep, NUMBER_LEN};
use super::{TableCodec, ValueColumn, cell, value_cell};
use crate::row::Row;
use crate::schema::ColumnType;
use crate::value::{Value, ValueRef};

/// Why a value is refused for a key column that would round it.
pub(super) fn rounded_in_key(value: &Value, column_type: ColumnType) -> String {
    format!(
        "{value} would be rounded to fit {column_type}: a key column takes values as it can hold them"
    )
}

impl TableCodec {
    /// Encodes one row; `key` and `value` are cleared first. The bytes are those of
    /// [`TableCodec::encode`].
    ///
    /// # Errors
    /// `Invalid`, naming the column and what is wrong with it.
    pub fn encode_row(&self, row: &Row, key: &mut Vec<u8>, value: &mut Vec<u8>) -> Result<()> {
        self.encode_key(row, key)?;
        let used = self.push_value(row, value)?;
        if used + self.key.len() != row.len() {
            self.check_names(row)?;
        }
        self.check_value_len(value)
    }

    pub(super) fn check_value_len(&self, value: &[u8]) -> Result<()> {
        if value.len() <= self.limits.value_bytes_max {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "table {}: the row takes {} bytes; the limit is {}",
            self.schema.path,
            value.len(),
            self.limits.value_bytes_max
        )))
    }

    /// Encodes the whole primary key out of a row; `key` is cleared first. Other columns of the row
    /// are not looked at.
    ///
    /// # Errors
    /// `Invalid`, naming the column and what is wrong with it.
    pub fn encode_key(&self, row: &Row, key: &mut Vec<u8>) -> Result<()> {
        key.clear();
        let mut hint = 0;
        for step in &self.key {
            let value = self
                .lookup(row, step.column, &mut hint)
                .ok_or_else(|| self.missing_key_column(step))?;
            self.push_key_step(step, value.into(), key)?;
        }
        self.check_key_len(key)
    }

    /// Encodes a whole primary key given as values in key order; `key` is cleared first.
    ///
    /// # Errors
    /// `Invalid`, naming the column and what is wrong with it.
    pub fn encode_key_values(&self, values: &[Value], key: &mut Vec<u8>) -> Result<()> {
        key.clear();
        if let Some(step) = self.key.get(values.len()) {
            return Err(self.missing_key_column(step));
        }
        self.check_key_count(values.len())?;
        for (step, value) in self.key.iter().zip(values) {
            self.push_key_step(step, value.into(), key)?;
        }
        self.check_key_len(key)
    }

    pub(super) fn check_key_count(&self, count: usize) -> Result<()> {
        if count <= self.key.len() {
            return Ok(());
        }
        let names: Vec<_> = self.schema.key_columns().map(|column| column.name.as_str()).collect();
        Err(Error::invalid(format!(
            "the key gives {count} values, but the primary key of table {} is ({})",
            self.schema.path,
            names.join(", ")
        )))
    }

    pub(super) fn check_key_len(&self, key: &[u8]) -> Result<()> {
        if key.len() <= self.limits.key_bytes_max {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "table {}: the key takes {} bytes; the limit is {}",
            self.schema.path,
            key.len(),
            self.limits.key_bytes_max
        )))
    }

    /// Appends one column of a key, led by the number of the table that begins with it.
    ///
    /// # Errors
    /// `Invalid` too for a value that the column would round: two keys given would be one row.
    pub(super) fn push_key_step(
        &self,
        step: &KeyStep,
        value: ValueRef<'_>,
        key: &mut Vec<u8>,
    ) -> Result<()> {
        if self.try_key_step(step, value, key)? {
            Ok(())
        } else {
            Err(self.rounded_error(step, value))
        }
    }

    /// The same; false when what was appended is not quite what was given.
    pub(super) fn try_key_step(
        &self,
        step: &KeyStep,
        value: ValueRef<'_>,
        key: &mut Vec<u8>,
    ) -> Result<bool> {
        if let Some(marker) = step.marker {
            key.extend_from_slice(&marker.to_be_bytes());
        }
        if cell::push_key_value(value, step.column_type, key) {
            return Ok(true);
        }
        let name = || &self.schema.columns[step.column].name;
        let given = value.to_value();
        let converted =
            given.convert(step.column_type).map_err(|reason| self.cell_error(name(), &reason))?;
        if converted.is_null() {
            return Err(self.cell_error(name(), "is NULL, and a key column cannot be"));
        }
        let pushed = cell::push_key_value((&converted).into(), step.column_type, key);
        debug_assert!(pushed, "a converted value is of the column's type");
        Ok(given.is_kept_as(&converted))
    }

    #[cold]
    fn rounded_error(&self, step: &KeyStep, value: ValueRef<'_>) -> Error {
        let reason = rounded_in_key(&value.to_value(), step.column_type);
        self.cell_error(&self.schema.columns[step.column].name, &reason)
    }

    /// Encodes a whole primary key to be looked up; `key` is cleared first. False when no row can
    /// have it: a column cannot hold the value asked for. Columns outside the key are not looked
    /// at.
    ///
    /// # Errors
    /// `Invalid`, naming the column and what is wrong with it.
    pub(crate) fn lookup_key(&self, row: &Row, key: &mut Vec<u8>) -> Result<bool> {
        let names_key_alone = row.len() == self.key.len();
        key.clear();
        let (mut hint, mut is_kept) = (0, true);
        for step in &self.key {
            let value = self
                .lookup(row, step.column, &mut hint)
                .ok_or_else(|| self.missing_key_column(step))?;
            is_kept &= self.try_key_step(step, value.into(), key)?;
        }
        if !names_key_alone {
            self.check_names(row)?;
        }
        self.check_key_len(key)?;
        Ok(is_kept)
    }

    #[cold]
    fn cell_error(&self, column: &str, reason: &str) -> Error {
        Error::invalid(format!("table {}: column '{column}': {reason}", self.schema.path))
            .in_table(&self.schema.path)
            .in_column(column)
    }

    /// The value of a column in a row. `hint` is where it should be when the row is in the table's
    /// order.
    #[inline]
    fn lookup<'r>(&self, row: &'r Row, column: usize, hint: &mut usize) -> Option<&'r Value> {
        let name = &self.schema.columns[column].name;
        if let Some((found, value)) = row.at(*hint)
            && found == name
        {
            *hint += 1;
            return Some(value);
        }
        let (place, value) = row.find(name)?;
        *hint = place + 1;
        Some(value)
    }

    /// Lays out `value` without any column.
    pub(super) fn begin_value(&self, value: &mut Vec<u8>) {
        let layout = self.layout();
        value.clear();
        value.resize(layout.head_len, 0);
        value[..NUMBER_LEN].copy_from_slice(&layout.number.to_le_bytes());
    }

    /// Fills `value` with the columns outside the key. The answer is how many of them the row
    /// names.
    fn push_value(&self, row: &Row, value: &mut Vec<u8>) -> Result<usize> {
        self.begin_value(value);
        let (mut hint, mut used) = (0, 0);
        for value_column in &self.value {
            let given = self.lookup(row, value_column.column, &mut hint);
            used += usize::from(given.is_some());
            self.push_cell(value_column, given.map(ValueRef::from), value)?;
        }
        Ok(used)
    }

    pub(super) fn push_cell(
        &self,
        value_column: &ValueColumn,
        given: Option<ValueRef<'_>>,
        value: &mut Vec<u8>,
    ) -> Result<()> {
        let column = &self.schema.columns[value_column.column];
        let written = match (given, &self.default_bytes[value_column.column]) {
            (Some(given), _) => {
                // A JSON value may hold any text until someone has looked.
                let checked = !matches!(given, ValueRef::Json(_))
                    && value_cell::with_value_bytes(given, column.column_type, |bytes| {
                        self.write_bytes(value_column, bytes, value)
                    });
                checked || {
                    let given = given.to_value();
                    let converted = given
                        .convert(column.column_type)
                        .map_err(|reason| self.cell_error(&column.name, &reason))?;
                    // What is given is stored as it is or not at all.
                    if let Some(reason) = given.rounding_fault(&converted, column.column_type) {
                        return Err(self.cell_error(&column.name, &reason));
                    }
                    value_cell::with_value_bytes((&converted).into(), column.column_type, |bytes| {
                        self.write_bytes(value_column, bytes, value)
                    })
                }
            }
            (None, Some(default)) => {
                self.write_bytes(value_column, default, value);
                true
            }
            (None, None) => false,
        };
        if !written {
            if !column.nullable {
                return Err(self.cell_error(
                    &column.name,
                    if given.is_some() {
                        "is NULL, but declared NOT NULL"
                    } else {
                        "is missing, and declared NOT NULL without DEFAULT"
                    },
                ));
            }
            value[NUMBER_LEN + value_column.slot.bit / 8] |= 1 << (value_column.slot.bit % 8);
            // Also for NULL: where a column of variable width ends, the next one begins.
            self.write_bytes(value_column, &[], value);
        }
        Ok(())
    }

    /// Puts the bytes of a column where they belong; none for NULL.
    #[inline]
    fn write_bytes(&self, value_column: &ValueColumn, bytes: &[u8], value: &mut Vec<u8>) {
        match value_column.slot.location {
            CellLocation::Fixed(at, _) => value[at..at + bytes.len()].copy_from_slice(bytes),
            CellLocation::Variable(variable) => {
                let layout = self.layout();
                value.extend_from_slice(bytes);
                let end = (value.len() - layout.head_len) as u32;
                let at = layout.ends_at + variable * END_LEN;
                value[at..at + END_LEN].copy_from_slice(&end.to_le_bytes());
            }
        }
    }

    #[cold]
    fn check_names(&self, row: &Row) -> Result<()> {
        for (name, _) in row.iter() {
            self.schema.require_column(name)?;
        }
        Ok(())
    }

    /// The column because of which a row cannot be encoded, where it is one.
    #[cold]
    pub(crate) fn column_at_fault(&self, row: &Row) -> Option<String> {
        // The order of `encode_row`: the first column that fails is the one its error is about.
        let (mut hint, mut bytes) = (0, Vec::new());
        for step in &self.key {
            let given = self.lookup(row, step.column, &mut hint);
            // The store makes these values when it completes the row; the row here is as it was
            // given.
            if given.is_none()
                && (self.identity == Some(step.column) || self.is_generated(step.column))
            {
                continue;
            }
            if given.is_none_or(|value| self.push_key_step(step, value.into(), &mut bytes).is_err())
            {
                return Some(self.schema.columns[step.column].name.clone());
            }
        }
        self.begin_value(&mut bytes);
        for value_column in &self.value {
            let given = self.lookup(row, value_column.column, &mut hint);
            if given.is_none()
                && (self.identity == Some(value_column.column)
                    || self.is_generated(value_column.column))
            {
                continue;
            }
            if self.push_cell(value_column, given.map(ValueRef::from), &mut bytes).is_err() {
                return Some(self.schema.columns[value_column.column].name.clone());
            }
        }
        let mut names = row.iter().map(|(name, _)| name);
        names.find(|name| self.schema.require_column(name).is_err()).map(str::to_owned)
    }

    /// Reads one column of a row, by its number; nothing when the table has no such column.
    ///
    /// # Errors
    /// As [`TableCodec::decode_row`].
    pub(crate) fn read_cell(&self, key: &[u8], value: &[u8], id: u16) -> Result<Option<Value>> {
        // Indexes know a column by its number: names and places change with ALTER TABLE.
        let Some(index) = self.schema.columns.iter().position(|column| column.id == id) else {
            return Ok(None);
        };
        let column = &self.schema.columns[index];
        if let Some(position) = self.schema.key_position(index) {
            let mut at = 0;
            // Key columns delimit themselves: those before it must be passed to find it.
            for step in &self.key[..position] {
                self.key_part_at(key, &mut at, step).ok_or_else(|| key_error(self, key))?;
            }
            let part = self
                .key_part_at(key, &mut at, &self.key[position])
                .ok_or_else(|| key_error(self, key))?;
            return cell::read_key_value(part, column.column_type)
                .map(Some)
                .ok_or_else(|| key_error(self, key));
        }
        let place = self.layout_of(key, value)?;
        let layout = self.layout_at(place);
        let bytes = match layout.slot(id) {
            Some(slot) => layout.cell(value, slot).ok_or_else(|| self.value_error(key))?,
            None => self.absent_cell(key, index, place)?,
        };
        match bytes {
            Some(bytes) => {
                let cell = value_cell::read_value(bytes, column.column_type)
                    .ok_or_else(|| self.value_error(key))?;
                Ok(Some(cell.to_value()))
            }
            None => Ok(Some(Value::Null)),
        }
    }

    /// Decodes one row with all its columns.
    ///
    /// # Errors
    /// `Corruption` for bytes that no row of this table encodes to, naming the table and the key;
    /// `Conflict` for a row that was written after an alteration which this codec does not know:
    /// take the table's codec anew.
    pub fn decode_row(&self, key: &[u8], value: &[u8]) -> Result<Row> {
        let mut row = Row::with_capacity(self.schema.columns.len());
        // All columns first, as NULL: values come in key order and layout order, not in the
        // table's.
        for column in &self.schema.columns {
            row.push(column.name.clone(), Value::Null);
        }
        let mut at = 0;
        for step in &self.key {
            let part = self.key_part_at(key, &mut at, step).ok_or_else(|| key_error(self, key))?;
            *row.value_mut(step.column) =
                cell::read_key_value(part, step.column_type).ok_or_else(|| key_error(self, key))?;
        }
        // Bytes after the last column are of a child table's key, which has a codec of its own.
        if at != key.len() {
            return Err(key_error(self, key));
        }
        let place = self.layout_of(key, value)?;
        let layout = self.layout_at(place);
        for value_column in &self.value {
            let column = &self.schema.columns[value_column.column];
            let bytes = match layout.slot(column.id) {
                Some(slot) => layout.cell(value, slot).ok_or_else(|| self.value_error(key))?,
                None => self.absent_cell(key, value_column.column, place)?,
            };
            match bytes {
                Some(bytes) => {
                    let value = value_cell::read_value(bytes, column.column_type);
                    *row.value_mut(value_column.column) =
                        value.ok_or_else(|| self.value_error(key))?.to_value();
                }
                None if column.nullable => {}
                None => return Err(self.null_error(key, value_column.column, place)),
            }
        }
        Ok(row)
    }
}
