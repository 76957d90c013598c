//! The entries of an index as bytes.
//!
//! ```text
//! shard (2, big-endian)  cell of each indexed column  primary key of the row
//! ```
//!
//! A cell is `00` for NULL, else `01` and the value as a key holds it. [`super::json`] encodes
//! places in documents and in typed values; a cell of the globe is a LONG ([`super::geo_cells`]).
//! An entry has no value: its key says everything.
//!
//! An index on parts of arrays or maps has a set of entries for each row ([`super::elements`]).
//!
//! A batch is encoded column by column: measure every entry, take one buffer, write column after
//! column, as keys are written.

use arrow::array::{Array, ArrayRef};
use tonnage_engine::{Engine, Error, KeyShape, Result, SHARD_LEN, Slices, append_successor};

use super::cell_marker::{NULL, PRESENT};
use super::definition::{IndexColumn, ResolvedColumn, SourceColumn};
use super::elements::ElementWalk;
use super::geo_cells;
use super::json;
use super::node::Node;
use super::row_entries::RowEntries;
use crate::codec::{
    FieldRange, RangeEnds, TableCodec, add_key_lens, key_part, push_key_value, running_sum,
    write_cells, write_column,
};
use crate::schema::ColumnType;
use crate::value::Value;

/// Makes the entries of one index, and reads them.
#[derive(Debug)]
pub(crate) struct IndexCodec {
    pub(crate) columns: Vec<ResolvedColumn>,
    /// How it walks over the parts of arrays or maps, where it is on some.
    walk: Option<ElementWalk>,
    /// Where the shard key of the table's rows ends.
    shape: KeyShape,
    entry_bytes_max: usize,
    /// The index and its table, for messages.
    place: String,
}

/// The cells of one column on their way into entries.
enum ColumnCells<'a> {
    Array(&'a ArrayRef, ColumnType),
    /// Places in documents or in typed values, as the entries have them.
    Encoded(Slices),
}

/// The entries of one row on their way.
struct EntrySet {
    /// The cell of each column.
    cells: Vec<Vec<u8>>,
    made: Slices,
}

impl EntrySet {
    fn new(columns: usize) -> Self {
        Self { cells: vec![Vec::new(); columns], made: Slices::new() }
    }
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
        let walk = ElementWalk::of(&columns);
        Self { columns, walk, shape, entry_bytes_max, place }
    }

    /// Whether a row may have several entries.
    pub(crate) fn has_parts(&self) -> bool {
        self.walk.is_some()
    }

    /// The entries of rows given by their primary keys and an array for each indexed column.
    ///
    /// # Errors
    /// The rows whose entries would be too long or too many.
    pub(crate) fn encode(
        &self,
        engine: &dyn Engine,
        arrays: &[ArrayRef],
        keys: &Slices,
    ) -> std::result::Result<RowEntries, TooLong> {
        match &self.walk {
            Some(walk) => self.encode_sets(walk, engine, arrays, keys),
            None => self.encode_single(engine, arrays, keys).map(RowEntries::single),
        }
    }

    fn encode_sets(
        &self,
        walk: &ElementWalk,
        engine: &dyn Engine,
        arrays: &[ArrayRef],
        keys: &Slices,
    ) -> std::result::Result<RowEntries, TooLong> {
        let (mut entries, mut ends) = (Slices::new(), Vec::with_capacity(keys.len()));
        let mut refused: Option<TooLong> = None;
        let mut set = EntrySet::new(self.columns.len());
        for (row, key) in keys.iter().enumerate() {
            let value = |place: usize| match arrays[place].is_valid(row) {
                true => Value::of_cell(&arrays[place], self.columns[place].column_type, row),
                false => Value::Null,
            };
            let shard = self.shard_of(engine, key);
            if let Err(error) = self.push_set(walk, shard, key, value, &mut set, &mut entries) {
                let refused = refused.get_or_insert(TooLong { rows: Vec::new(), error });
                refused.rows.push(row as u32);
            }
            ends.push(entries.len());
        }
        refused.map_or(Ok(RowEntries::sets(entries, ends)), Err)
    }

    /// Appends the entries of one row, in order and without doubles. `value` gives the values that
    /// the columns of the index consist of.
    fn push_set(
        &self,
        walk: &ElementWalk,
        shard: [u8; SHARD_LEN],
        key: &[u8],
        value: impl Fn(usize) -> Value,
        set: &mut EntrySet,
        entries: &mut Slices,
    ) -> Result<()> {
        for (place, column) in self.columns.iter().enumerate() {
            set.cells[place].clear();
            if !walk.is_walked(place) {
                push_cell(column, &value(place), &mut set.cells[place]);
            }
        }
        // Cells of the walk are set for each part, the others stay.
        let EntrySet { cells, made } = set;
        made.clear();
        let root = value(walk.root);
        walk.walk(&self.columns, Node::of(&root), cells, &mut |cells| {
            let len = SHARD_LEN + key.len() + cells.iter().map(Vec::len).sum::<usize>();
            if len > self.entry_bytes_max {
                return Err(self.too_long(len));
            }
            made.push_with(|entry| {
                entry.extend_from_slice(&shard);
                cells.iter().for_each(|cell| entry.extend_from_slice(cell));
                entry.extend_from_slice(key);
                Ok(())
            })
        })?;
        // Sorted, as writes compare old and new sets in order.
        let mut order: Vec<&[u8]> = made.iter().collect();
        order.sort_unstable();
        order.dedup();
        order.into_iter().for_each(|entry| entries.push(entry));
        Ok(())
    }

    fn encode_single(
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

    /// Appends the entries of one stored row, which `table` can read: one, or a set in order and
    /// without doubles.
    ///
    /// # Errors
    /// `Invalid` when one would be too long, or they too many; what [`TableCodec::read_cell`] says
    /// of the row.
    pub(crate) fn push_entries(
        &self,
        engine: &dyn Engine,
        table: &TableCodec,
        key: &[u8],
        value: &[u8],
        entries: &mut Slices,
    ) -> Result<()> {
        let shard = self.shard_of(engine, key);
        let Some(walk) = &self.walk else {
            // In the buffer itself: most indexes need no set.
            return entries.push_with(|entry| {
                let start = entry.len();
                entry.extend_from_slice(&shard);
                for column in &self.columns {
                    push_cell(column, &column.value_of(table, key, value)?, entry);
                }
                entry.extend_from_slice(key);
                match entry.len() - start {
                    len if len > self.entry_bytes_max => Err(self.too_long(len)),
                    _ => Ok(()),
                }
            });
        };
        // Read once, as several columns may consist of the same array.
        let values = self.columns.iter().map(|column| column.value_of(table, key, value));
        let values = values.collect::<Result<Vec<_>>>()?;
        let mut set = EntrySet::new(self.columns.len());
        self.push_set(walk, shard, key, |place| values[place].clone(), &mut set, entries)
    }

    /// Where the primary key begins in an entry.
    ///
    /// # Errors
    /// `Corruption` for bytes that are not an entry of this index.
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
            let ends = match column.shown.is_tagged() {
                true => json::range_ends(range),
                false => RangeEnds::new(range, column.column_type),
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
        if column.shown.is_tagged() {
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

impl ResolvedColumn {
    /// What the column consists of in a stored row.
    fn value_of(&self, table: &TableCodec, key: &[u8], value: &[u8]) -> Result<Value> {
        let read = |source: &SourceColumn| -> Result<Value> {
            let read = table.read_cell(key, value, source.id)?;
            Ok(read.unwrap_or_else(|| source.default.clone()))
        };
        let own = read(&self.source)?;
        Ok(match (&self.lon, &self.shown.cells) {
            (Some(lon), Some(cells)) => geo_cells::of_values(&read(lon)?, &own, cells.level),
            _ => own,
        })
    }
}

/// Where the cell that begins at `at` ends; nothing for bytes that are not a cell of the column.
fn cell_end(entry: &[u8], at: usize, column: &ResolvedColumn) -> Option<usize> {
    match *entry.get(at)? {
        NULL => Some(at + 1),
        PRESENT if !column.shown.is_tagged() => key_part(column.column_type).end(entry, at + 1),
        PRESENT => json::cell_end(entry, at + 1),
        _ => None,
    }
}

/// Appends the cell of one value of the column's type; of a document, that of the place in it.
fn push_cell(column: &ResolvedColumn, value: &Value, entry: &mut Vec<u8>) {
    match value {
        Value::Null => entry.push(NULL),
        Value::Json(text) if column.shown.function.is_none() => {
            json::push_path_cell(text, &column.shown.path, entry);
        }
        value if column.shown.is_tagged() => {
            let IndexColumn { path, function, .. } = &column.shown;
            Node::of(value).at(path).push_cell(function.as_ref(), entry);
        }
        value => {
            entry.push(PRESENT);
            let pushed = push_key_value(value.into(), column.column_type, entry);
            debug_assert!(pushed, "a stored value is of its column's type");
        }
    }
}

/// The cells of one place in the typed values of a column.
fn cells_inside(column: &ResolvedColumn, array: &ArrayRef) -> Slices {
    let (mut cells, mut cell) = (Slices::with_capacity(array.len(), array.len() * 16), Vec::new());
    for row in 0..array.len() {
        cell.clear();
        let value = match array.is_valid(row) {
            true => Value::of_cell(array, column.column_type, row),
            false => Value::Null,
        };
        push_cell(column, &value, &mut cell);
        cells.push(&cell);
    }
    cells
}

impl<'a> ColumnCells<'a> {
    fn new(column: &ResolvedColumn, array: &'a ArrayRef) -> Self {
        match column.column_type {
            _ if !column.shown.is_tagged() => ColumnCells::Array(array, column.column_type),
            ColumnType::Json if column.shown.function.is_none() => {
                ColumnCells::Encoded(json::encode(array, &column.shown.path))
            }
            _ => ColumnCells::Encoded(cells_inside(column, array)),
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
