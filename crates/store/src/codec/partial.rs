//! Partial keys: the leading columns of a primary key, for all rows that begin with them.
//!
//! A partial key is a run of bytes that all matching keys begin with. If it gives just the columns
//! of the tables above, it includes the number of the table that comes next. So it does not match
//! the rows of the tables above.

use arrow::array::{Array, ArrayRef, RecordBatch};
use tonnage_engine::{Error, Result, Slices, append_successor};

use super::TableCodec;
use super::cast::rounded_cells;
use crate::row::Row;
use crate::value::Value;

/// What [`TableCodec::partial_keys`] notes for a key that no row can have, because a column cannot
/// hold the value asked for.
pub(crate) const NO_SUCH_KEY: u16 = u16::MAX;

impl TableCodec {
    /// Encodes the leading columns of a primary key, given in key order; trailing NULLs mean
    /// columns left open. `key` is cleared first. The answer is how many columns are given.
    ///
    /// The bytes are a prefix of the keys of all matching rows and of the rows of tables below
    /// them.
    ///
    /// # Errors
    /// `Invalid` when the shard key is not whole, naming the missing column, or when a value does
    /// not fit its column.
    pub fn partial_key(&self, values: &[Value], key: &mut Vec<u8>) -> Result<usize> {
        self.lookup_partial(values, key)?.ok_or_else(|| self.no_such_key())
    }

    /// The same; nothing when no row can have such a key, because a column cannot hold the value
    /// asked for.
    pub(crate) fn lookup_partial(
        &self,
        values: &[Value],
        key: &mut Vec<u8>,
    ) -> Result<Option<usize>> {
        self.check_key_count(values.len())?;
        let given = values.iter().take_while(|value| !value.is_null()).count();
        if let Some(late) = values[given..].iter().position(|value| !value.is_null()) {
            return Err(self.gap_error(given, given + late));
        }
        Ok(self.push_partial(values[..given].iter(), key)?.then_some(given))
    }

    #[cold]
    fn no_such_key(&self) -> Error {
        Error::invalid(format!(
            "no row of table {} can have this key: a column would round its value",
            self.schema.path
        ))
    }

    /// The same out of a row that names key columns of this table.
    ///
    /// # Errors
    /// As [`TableCodec::partial_key`]; `Invalid` too for a column that is not in the key, or with a
    /// column missing before it.
    pub fn partial_key_row(&self, row: &Row, key: &mut Vec<u8>) -> Result<usize> {
        self.lookup_partial_row(row, key)?.ok_or_else(|| self.no_such_key())
    }

    /// The same; nothing when no row can have such a key, because a column cannot hold the value
    /// asked for.
    pub(crate) fn lookup_partial_row(&self, row: &Row, key: &mut Vec<u8>) -> Result<Option<usize>> {
        for (name, _) in row.iter() {
            self.key_position(name)?;
        }
        let name = |position: usize| self.schema.columns[self.key[position].column].name.as_str();
        let value = |position: usize| row.get(name(position)).filter(|value| !value.is_null());
        let given = (0..self.key.len()).take_while(|position| value(*position).is_some()).count();
        if let Some(late) = (given..self.key.len()).find(|position| value(*position).is_some()) {
            return Err(self.gap_error(given, late));
        }
        Ok(self.push_partial((0..given).filter_map(value), key)?.then_some(given))
    }

    /// False when a column cannot hold the value asked for.
    fn push_partial<'v>(
        &self,
        values: impl Iterator<Item = &'v Value>,
        key: &mut Vec<u8>,
    ) -> Result<bool> {
        key.clear();
        let (mut given, mut is_kept) = (0, true);
        for (step, value) in self.key.iter().zip(values) {
            is_kept &= self.try_key_step(step, value.into(), key)?;
            given += 1;
        }
        self.check_shard_key(given)?;
        if let Some(marker) = self.key.get(given).and_then(|step| step.marker) {
            key.extend_from_slice(&marker.to_be_bytes());
        }
        Ok(is_kept)
    }

    /// The same for a batch of keys whose columns are leading key columns by name, in any order.
    /// What `keys` and `columns` held is replaced: the bytes of each key, and how many columns it
    /// gives; 65,535 for one that no row can have.
    ///
    /// # Errors
    /// As [`TableCodec::partial_key`], naming the row of the batch.
    pub fn partial_keys(
        &self,
        batch: &RecordBatch,
        keys: &mut Slices,
        columns: &mut Vec<u16>,
    ) -> Result<()> {
        let mut positions = vec![None; self.key.len()];
        for (place, field) in batch.schema_ref().fields().iter().enumerate() {
            let position = self.key_position(field.name())?;
            if positions[position].replace(place).is_some() {
                return Err(Error::invalid(format!(
                    "the keys give column '{}' twice",
                    field.name()
                )));
            }
        }
        let leading = positions.iter().take_while(|place| place.is_some()).count();
        if let Some(late) = positions[leading..].iter().position(Option::is_some) {
            return Err(self.gap_error(leading, leading + late));
        }
        self.check_shard_key(leading)?;
        let (mut arrays, mut rounded) = (Vec::with_capacity(leading), Vec::new());
        for (step, place) in self.key.iter().zip(positions.into_iter().flatten()) {
            let (array, failures) = self.cast_key_column(batch, place, step)?;
            if let Some((row, reason)) = failures.first() {
                return Err(self.key_cell_error(*row, step, reason));
            }
            // A value that the cast rounded is not an error here, unlike one that cannot be cast:
            // it only finds no row.
            rounded.extend(rounded_cells(
                batch.column(place),
                batch.schema_ref().field(place),
                &array,
                step.column_type,
            ));
            arrays.push(array);
        }
        self.count_given(&arrays, batch.num_rows(), columns)?;
        let arrays: Vec<&ArrayRef> = arrays.iter().collect();
        *keys = self.encode_key_columns(&arrays, batch.num_rows(), Some(columns))?;
        // Marked last: until here `columns` must hold how many columns the keys give.
        rounded.into_iter().for_each(|row: usize| columns[row] = NO_SUCH_KEY);
        Ok(())
    }

    /// How many columns each key gives before its first NULL.
    fn count_given(&self, arrays: &[ArrayRef], rows: usize, columns: &mut Vec<u16>) -> Result<()> {
        columns.clear();
        columns.resize(rows, arrays.len() as u16);
        // From the last column back, so that the first NULL of a row has the last word.
        for (position, array) in arrays.iter().enumerate().rev() {
            let Some(nulls) = array.nulls().filter(|nulls| nulls.null_count() > 0) else {
                continue;
            };
            for (row, given) in
                columns.iter_mut().enumerate().filter(|(row, _)| nulls.is_null(*row))
            {
                let late = (position + 1..arrays.len()).find(|later| arrays[*later].is_valid(row));
                if let Some(late) = late {
                    return Err(self
                        .gap_error(position, late)
                        .at(format_args!("key {row}"))
                        .at_position(row as u64));
                }
                *given = position as u16;
            }
        }
        // The columns were checked before. NULLs may still leave a row without its whole shard key.
        match columns.iter().position(|given| usize::from(*given) < self.schema.shard_key_len) {
            Some(row) => self
                .check_shard_key(columns[row].into())
                .map_err(|error| error.at(format_args!("key {row}")).at_position(row as u64)),
            None => Ok(()),
        }
    }

    /// The bounds of the keys that begin with `prefix`. `start` and `end` are cleared first; an
    /// empty end means the end of the space.
    pub fn prefix_bounds(&self, prefix: &[u8], start: &mut Vec<u8>, end: &mut Vec<u8>) {
        start.clear();
        start.extend_from_slice(prefix);
        end.clear();
        append_successor(prefix, end);
    }

    /// The position in the primary key of a column of that name.
    pub(super) fn key_position(&self, name: &str) -> Result<usize> {
        let column = self.find(name);
        let position = column.and_then(|column| self.schema.key_position(column));
        position.ok_or_else(|| self.not_in_key(name, column.is_some()))
    }

    #[cold]
    fn not_in_key(&self, name: &str, exists: bool) -> Error {
        let what = if exists { "is not part of the primary key" } else { "is not a column" };
        Error::invalid(format!(
            "column '{name}' {what} of table {}; its primary key is ({})",
            self.schema.path,
            self.key_names(0)
        ))
    }

    fn check_shard_key(&self, given: usize) -> Result<()> {
        if given >= self.schema.shard_key_len {
            return Ok(());
        }
        let missing = &self.schema.columns[self.key[given].column].name;
        let names: Vec<_> = self
            .schema
            .key_columns()
            .take(self.schema.shard_key_len)
            .map(|column| column.name.as_str())
            .collect();
        Err(Error::invalid(format!(
            "the key lacks column '{missing}': a key of table {} holds at least the whole shard key ({})",
            self.schema.path,
            names.join(", ")
        )))
    }

    #[cold]
    fn gap_error(&self, open: usize, late: usize) -> Error {
        let name = |position: usize| &self.schema.columns[self.key[position].column].name;
        Error::invalid(format!(
            "the key gives column '{}' but not '{}' before it; the primary key of table {} is ({})",
            name(late),
            name(open),
            self.schema.path,
            self.key_names(0)
        ))
    }

    /// The names of the key columns from a place on.
    pub(super) fn key_names(&self, from: usize) -> String {
        let names: Vec<_> =
            self.schema.key_columns().skip(from).map(|column| column.name.as_str()).collect();
        names.join(", ")
    }
}
