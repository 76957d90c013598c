//! The entries of an index as bytes.
//!
//! ```text
//! shard (2, big-endian)  cell of each indexed column  primary key of the row
//! ```
//!
//! A cell is `00` for NULL, else `01` and the value as a key holds it. [`super::json`] encodes JSON
//! paths; a cell of the globe is a LONG ([`super::geo_cells`]). An entry has no value: its key says everything.
//!
//! A batch is encoded column by column: measure every entry, take one buffer, write column after
//! column, as keys are written.

use arrow::array::{Array, ArrayRef};
use tonnage_engine::{Engine, Error, KeyShape, Result, SHARD_LEN, Slices, append_successor};

use super::cell_marker::{NULL, PRESENT};
use super::definition::{ResolvedColumn, SourceColumn};
use super::geo_cells;
use super::json;
use crate::codec::{
    FieldRange, RangeEnds, TableCodec, add_key_lens, key_part, push_key_value, running_sum,
    write_cells, write_column,
};
use crate::value::Value;

/// Makes the entries of one index, and reads them.
#[derive(Debug)]
pub(crate) struct IndexCodec {
    pub(crate) columns: Vec<ResolvedColumn>,
    /// Where the shard key of the table's rows ends.
    shape: KeyShape,
    entry_bytes_max: usize,
    /// The index and its table, for messages.
    place: String,
}

/// The cells of one column on their way into entries.
enum ColumnCells<'a> {
    Array(&'a ArrayRef, crate::schema::ColumnType),
    /// Places in JSON documents, as the entries have them.
    Encoded(Slices),
}

/// Rows whose entries would be longer than a key can be.
#[derive(Debug)]
pub(crate) struct TooLong {
    pub(crate) rows: Vec<u32>,
    pub(crate) error: Error,
}

impl From<TooLong> for Error {
    fn from(too_long: TooLong) -> Self {
        too_long.error
    }
}

impl IndexCodec {
    pub(crate) fn new(
        place: String,
        columns: Vec<ResolvedColumn>,
        shape: KeyShape,
        entry_bytes_max: usize,
    ) -> Self {
        Self { columns, shape, entry_bytes_max, place }
    }

    /// The entries of rows given by their primary keys and an array for each indexed column.
    ///
    /// # Errors
    /// The rows whose entries would be too long.
    pub(crate) fn encode(
        &self,
        engine: &dyn Engine,
        arrays: &[ArrayRef],
        keys: &Slices,
    ) -> std::result::Result<Slices, TooLong> {
        let cells: Vec<ColumnCells<'_>> = self
            .columns
            .iter()
            .zip(arrays)
            .map(|(column, array)| ColumnCells::new(column, array))
            .collect();
        let mut ends: Vec<usize> = keys.iter().map(|key| SHARD_LEN + key.len()).collect();
        cells.iter().for_each(|cells| cells.add_lens(&mut ends));
        // Before anything is written: a load rejects the rows named here and encodes the others
        // anew.
        self.check_lens(&ends)?;
        running_sum(&mut ends);

        // One buffer for all entries: nothing is allocated for a single one.
        let mut data = vec![0; ends.last().copied().unwrap_or(0)];
        let mut cursors: Vec<usize> =
            [0].into_iter().chain(ends.iter().copied()).take(ends.len()).collect();
        self.write_shards(engine, keys, &mut data, &mut cursors);
        cells.iter().for_each(|cells| cells.write(&mut data, &mut cursors));
        for (key, cursor) in keys.iter().zip(cursors) {
            data[cursor..cursor + key.len()].copy_from_slice(key);
        }
        Ok(Slices::from_parts(data, ends))
    }

    fn check_lens(&self, lens: &[usize]) -> std::result::Result<(), TooLong> {
        let Some(longest) = lens.iter().max().filter(|longest| **longest > self.entry_bytes_max)
        else {
            return Ok(());
        };
        let rows = (0..)
            .zip(lens)
            .filter(|(_, len)| **len > self.entry_bytes_max)
            .map(|(row, _)| row)
            .collect();
        Err(TooLong { rows, error: self.too_long(*longest) })
    }

    #[cold]
    fn too_long(&self, bytes: usize) -> Error {
        Error::invalid(format!(
            "{}: the entry of a row would take {bytes} bytes, {} is the most: index a shorter column, or drop the index",
            self.place, self.entry_bytes_max
        ))
    }

    fn write_shards(
        &self,
        engine: &dyn Engine,
        keys: &Slices,
        data: &mut [u8],
        cursors: &mut [usize],
    ) {
        if engine.capability().shards == 1 {
            cursors.iter_mut().for_each(|cursor| *cursor += SHARD_LEN);
            return;
        }
        write_cells(data, cursors, |_| true, |row| self.shard_of(engine, keys.get(row)));
    }

    /// The number of the shard of a row. A key too short to have one is read as damaged elsewhere;
    /// here it is assigned to the first.
    fn shard_of(&self, engine: &dyn Engine, key: &[u8]) -> [u8; SHARD_LEN] {
        let len = self.shape.shard_key_len(key).unwrap_or(0);
        (engine.shard_of(&key[..len]).0 as u16).to_be_bytes()
    }

    /// Appends the entry of one stored row, which `table` can read.
    ///
    /// # Errors
    /// `Invalid` when it would be too long; what [`TableCodec::read_cell`] says of the row.
    pub(crate) fn push_entry(
        &self,
        engine: &dyn Engine,
        table: &TableCodec,
        key: &[u8],
        value: &[u8],
        entry: &mut Vec<u8>,
    ) -> Result<()> {
        let start = entry.len();
        entry.extend_from_slice(&self.shard_of(engine, key));
        for column in &self.columns {
            let read = |source: &SourceColumn| -> Result<Value> {
                let read = table.read_cell(key, value, source.id)?;
                Ok(read.unwrap_or_else(|| source.default.clone()))
            };
            let mut cell = read(&column.source)?;
            if let (Some(lon), Some(cells)) = (&column.lon, &column.shown.cells) {
                cell = geo_cells::of_values(&read(lon)?, &cell, cells.level);
            }
            push_cell(column, &cell, entry);
        }
        entry.extend_from_slice(key);
        match entry.len() - start {
            len if len > self.entry_bytes_max => Err(self.too_long(len)),
            _ => Ok(()),
        }
    }

    /// Where the primary key begins in an entry.
    ///
    /// # Errors
    /// `Corruption` for bytes that are no entry of this index.
    pub(crate) fn key_start(&self, entry: &[u8]) -> Result<usize> {
        let end = |at: usize, column: &ResolvedColumn| cell_end(entry, at, column);
        self.columns.iter().try_fold(SHARD_LEN, end).ok_or_else(|| self.unreadable())
    }

    /// Where the cell of each column begins, entry by entry.
    ///
    /// # Errors
    /// As [`IndexCodec::key_start`].
    pub(super) fn cell_offsets(&self, entries: &Slices) -> Result<Vec<u32>> {
        let mut places = Vec::with_capacity(entries.len() * self.columns.len());
        for entry in entries.iter() {
            let mut at = SHARD_LEN;
            for column in &self.columns {
                places.push(at as u32);
                at = cell_end(entry, at, column).ok_or_else(|| self.unreadable())?;
            }
        }
        Ok(places)
    }

    #[cold]
    pub(super) fn unreadable(&self) -> Error {
        Error::corruption(format!(
            "{}: an entry cannot be read: drop the index and make it again",
            self.place
        ))
    }

    /// The bounds of the entries that begin with these values and continue with a value in the
    /// range, after the number of the shard. NULL means NULL; a range includes none. An empty end
    /// means the end of the shard.
    ///
    /// # Errors
    /// `Invalid` for values that do not fit, or a range on another than the next column.
    pub(crate) fn bounds(
        &self,
        prefix: &[Value],
        range: Option<&FieldRange>,
    ) -> Result<(Vec<u8>, Vec<u8>)> {
        if prefix.len() > self.columns.len() {
            return Err(Error::invalid(format!(
                "{}: {} values are given, but it is on ({})",
                self.place,
                prefix.len(),
                self.names()
            )));
        }
        let (mut start, mut is_kept) = (Vec::new(), true);
        for (column, value) in self.columns.iter().zip(prefix) {
            is_kept &= self.push_bound(column, value, &mut start)?;
        }
        let mut end = Vec::new();
        if let Some(range) = range {
            let column = self.range_column(prefix.len(), range)?;
            // After the marker of a value, so that a range with an open end leaves NULLs out.
            start.push(PRESENT);
            let present = start.clone();
            append_successor(&present, &mut end);
            let ends = match column.shown.path.is_empty() {
                true => RangeEnds::new(range, column.column_type),
                false => json::range_ends(range),
            };
            ends.map_err(|error| error.at(self.column_place(column)))?
                .narrow(&present, &mut start, &mut end);
        } else {
            append_successor(&start, &mut end);
        }
        // No row holds a value that its column cannot.
        Ok(if is_kept { (start, end) } else { (start.clone(), start) })
    }

    /// False when the column cannot hold the value.
    fn push_bound(
        &self,
        column: &ResolvedColumn,
        value: &Value,
        start: &mut Vec<u8>,
    ) -> Result<bool> {
        if !column.shown.path.is_empty() {
            return json::push_value(value, start)
                .map(|()| true)
                .map_err(|error| error.at(self.column_place(column)));
        }
        let held = value
            .convert_to(column.column_type)
            .map_err(|error| error.at(self.column_place(column)))?;
        push_cell(column, &held, start);
        Ok(value.is_kept_as(&held))
    }

    fn range_column(&self, position: usize, range: &FieldRange) -> Result<&ResolvedColumn> {
        let column =
            self.columns.get(position).filter(|column| column.shown.is_named(&range.column));
        column.ok_or_else(|| {
            Error::invalid(format!(
                "{}: the range is on '{}', but must be on the column after the {position} values given; it is on ({})",
                self.place,
                range.column,
                self.names()
            ))
        })
    }

    fn column_place(&self, column: &ResolvedColumn) -> String {
        format!("{}, column '{}'", self.place, column.shown)
    }

    fn names(&self) -> String {
        self.columns.iter().map(|column| column.shown.to_string()).collect::<Vec<_>>().join(", ")
    }
}

/// Where the cell that begins at `at` ends; nothing for bytes that are no cell of the column.
fn cell_end(entry: &[u8], at: usize, column: &ResolvedColumn) -> Option<usize> {
    match *entry.get(at)? {
        NULL => Some(at + 1),
        PRESENT if column.shown.path.is_empty() => key_part(column.column_type).end(entry, at + 1),
        PRESENT => json::cell_end(entry, at + 1),
        _ => None,
    }
}

/// Appends the cell of one value of the column's type; of a document, that of the place in it.
fn push_cell(column: &ResolvedColumn, value: &Value, entry: &mut Vec<u8>) {
    match value {
        Value::Null => entry.push(NULL),
        Value::Json(text) => json::push_path_cell(text, &column.shown.path, entry),
        value => {
            entry.push(PRESENT);
            let pushed = push_key_value(value.into(), column.column_type, entry);
            debug_assert!(pushed, "a stored value is of its column's type");
        }
    }
}

impl<'a> ColumnCells<'a> {
    fn new(column: &ResolvedColumn, array: &'a ArrayRef) -> Self {
        match column.shown.path.is_empty() {
            true => ColumnCells::Array(array, column.column_type),
            false => ColumnCells::Encoded(json::encode(array, &column.shown.path)),
        }
    }

    fn add_lens(&self, lens: &mut [usize]) {
        match self {
            ColumnCells::Array(array, column_type) => {
                lens.iter_mut().for_each(|len| *len += 1);
                match array.nulls().filter(|nulls| nulls.null_count() > 0) {
                    None => add_key_lens(array, *column_type, lens, |_| true),
                    Some(nulls) => {
                        add_key_lens(array, *column_type, lens, |row| nulls.is_valid(row))
                    }
                }
            }
            ColumnCells::Encoded(cells) => {
                lens.iter_mut().zip(cells.iter()).for_each(|(len, cell)| *len += cell.len())
            }
        }
    }

    fn write(&self, data: &mut [u8], cursors: &mut [usize]) {
        match self {
            ColumnCells::Array(array, column_type) => {
                match array.nulls().filter(|nulls| nulls.null_count() > 0) {
                    None => {
                        write_cells(data, cursors, |_| true, |_| [PRESENT]);
                        write_column(array, *column_type, data, cursors, |_| true);
                    }
                    // A NULL is its mark alone, so the second pass leaves it out.
                    Some(nulls) => {
                        write_cells(
                            data,
                            cursors,
                            |_| true,
                            |row| if nulls.is_valid(row) { [PRESENT] } else { [NULL] },
                        );
                        write_column(array, *column_type, data, cursors, |row| nulls.is_valid(row));
                    }
                }
            }
            ColumnCells::Encoded(cells) => {
                // Their markers are in them already: `json::encode` wrote them with the values.
                for (cell, cursor) in cells.iter().zip(cursors) {
                    data[*cursor..*cursor + cell.len()].copy_from_slice(cell);
                    *cursor += cell.len();
                }
            }
        }
    }
}
