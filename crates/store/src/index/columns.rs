//! Reads columns out of index entries, without the rows.

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use tonnage_engine::{Error, Result, Rows, Slices};

use super::cell_marker::NULL;
use super::list::OpenIndex;
use crate::codec::TableCodec;
use crate::codec::{CellSource, DamagedCell, key_array};

/// Where the columns that a reader wants stand in an entry.
pub(super) struct EntryColumns {
    /// The columns, as positions in the table's schema.
    wanted: Vec<usize>,
    sources: Vec<EntryColumnSource>,
    /// Those that the primary key has, as positions in the table's schema.
    of_key: Vec<usize>,
}

/// Where a column comes from.
#[derive(Clone, Copy)]
enum EntryColumnSource {
    /// The primary key: this one of those that are read from it.
    Key(usize),
    /// The column of the index at this place.
    Cell(usize),
}

/// The cells of one column in entries.
struct EntryCells<'a> {
    entries: &'a Slices,
    /// For each entry where the cell of each column begins.
    places: &'a [u32],
    columns: usize,
    column: usize,
}

impl<'a> CellSource<'a> for EntryCells<'a> {
    #[inline]
    fn get(&self, row: usize) -> std::result::Result<Option<&'a [u8]>, DamagedCell> {
        let place = self.places[row * self.columns + self.column] as usize;
        match self.entries.get(row).get(place..).and_then(<[u8]>::split_first) {
            Some((&NULL, _)) => Ok(None),
            Some((_, cell)) => Ok(Some(cell)),
            None => Err(DamagedCell),
        }
    }
}

impl EntryColumns {
    /// None where entries lack one of the columns.
    pub(super) fn find(
        table: &TableCodec,
        index: &OpenIndex,
        wanted: Option<&[usize]>,
    ) -> Option<Self> {
        // A row comes once, but has several entries there.
        if index.codec.has_parts() {
            return None;
        }
        let columns = &table.schema().columns;
        let wanted = wanted.map_or_else(|| (0..columns.len()).collect(), <[usize]>::to_vec);
        let (mut sources, mut of_key) = (Vec::with_capacity(wanted.len()), Vec::new());
        for &column in &wanted {
            sources.push(match table.schema().is_key(column) {
                true => {
                    of_key.push(column);
                    EntryColumnSource::Key(of_key.len() - 1)
                }
                false => EntryColumnSource::Cell(index.codec.columns.iter().position(|own| {
                    own.source.id == columns[column].id
                        && own.shown.is_plain()
                        && own.column_type == columns[column].column_type
                })?),
            });
        }
        Some(Self { wanted, sources, of_key })
    }

    /// The columns of rows given by their primary keys and the entry of each.
    ///
    /// # Errors
    /// `Corruption` for bytes that are not an entry of this index.
    pub(super) fn decode(
        &self,
        table: &TableCodec,
        index: &OpenIndex,
        rows: &Rows,
        entries: &Slices,
    ) -> Result<RecordBatch> {
        // Key columns come out of the key that ends each entry, so the index need not have cells of
        // them.
        let keys = match self.of_key.is_empty() {
            true => None,
            false => Some(table.decode(rows, None, Some(&self.of_key))?),
        };
        let places = index.codec.cell_offsets(entries)?;
        let columns = index.codec.columns.len();
        let array = |source: &EntryColumnSource| -> Result<ArrayRef> {
            match (source, &keys) {
                (EntryColumnSource::Key(place), Some(keys)) => Ok(keys.column(*place).clone()),
                (EntryColumnSource::Key(_), None) => Err(Error::internal("no key was decoded")),
                (EntryColumnSource::Cell(column), _) => {
                    let cells = EntryCells { entries, places: &places, columns, column: *column };
                    let column_type = index.codec.columns[*column].column_type;
                    key_array(entries.len(), column_type, &cells)
                        .map_err(|_| index.codec.unreadable())
                }
            }
        };
        let arrays = self.sources.iter().map(array).collect::<Result<Vec<_>>>()?;
        // A batch without columns cannot tell its rows by their lengths.
        let options = RecordBatchOptions::new().with_row_count(Some(entries.len()));
        let schema = table.projected_schema(Some(&self.wanted))?;
        RecordBatch::try_new_with_options(schema, arrays, &options)
            .map_err(|error| index.codec.unreadable().with_source(error))
    }
}
