//! Decodes values and keys into record batches.
//!
//! 1. Note for every row the layout that its schema number names, and check that its length agrees
//!    with it.
//! 2. For each column asked for, find its bytes row by row (in the value, in the key, or the
//!    default of a column that was added later) and gather them into an array.
//!
//! Nothing that is read from a store is trusted: every offset is checked, and impossible bytes are
//! `Corruption`.

use arrow::array::{Array, ArrayRef, RecordBatch, RecordBatchOptions};
use tonnage_engine::{Error, Result, Rows};

use super::TableCodec;
use super::cell_array::{CellSource, DamagedCell, key_array};
use super::decode_keys::{KeyOffsets, key_error};
use super::layout::{ColumnSlot, NUMBER_LEN, ValueLayout};
use super::nested_array::value_array;
use crate::schema::ColumnType;

/// The rows to decode.
#[derive(Clone, Copy)]
struct RowSelection<'a> {
    rows: &'a Rows,
    which: Option<&'a [u32]>,
}

impl<'a> RowSelection<'a> {
    fn len(&self) -> usize {
        self.which.map_or(self.rows.len(), <[u32]>::len)
    }

    #[inline]
    fn index(&self, row: usize) -> usize {
        self.which.map_or(row, |which| which[row] as usize)
    }

    #[inline]
    fn key(&self, row: usize) -> &'a [u8] {
        self.rows.keys.get(self.index(row))
    }

    #[inline]
    fn value(&self, row: usize) -> &'a [u8] {
        self.rows.values.get(self.index(row))
    }
}

struct ValueCells<'a> {
    picked: RowSelection<'a>,
    /// The layout of each row, by its position among those known.
    layouts: &'a [u16],
    known: &'a [&'a ValueLayout],
    /// The position of the column in each of the known layouts.
    slots: Vec<Option<ColumnSlot>>,
    default: Option<&'a [u8]>,
}

impl<'a> CellSource<'a> for ValueCells<'a> {
    #[inline]
    fn get(&self, row: usize) -> std::result::Result<Option<&'a [u8]>, DamagedCell> {
        let layout = usize::from(self.layouts[row]);
        match self.slots[layout] {
            Some(slot) => self.known[layout].cell(self.picked.value(row), slot).ok_or(DamagedCell),
            None => Ok(self.default),
        }
    }
}

/// Cells of rows that all have one layout, as nearly all batches do.
struct SameLayoutCells<'a> {
    picked: RowSelection<'a>,
    layout: &'a ValueLayout,
    slot: ColumnSlot,
}

impl<'a> CellSource<'a> for SameLayoutCells<'a> {
    #[inline]
    fn get(&self, row: usize) -> std::result::Result<Option<&'a [u8]>, DamagedCell> {
        self.layout.cell(self.picked.value(row), self.slot).ok_or(DamagedCell)
    }
}

struct KeyCells<'a> {
    picked: RowSelection<'a>,
    offsets: &'a KeyOffsets,
    wanted: usize,
}

impl<'a> CellSource<'a> for KeyCells<'a> {
    #[inline]
    fn get(&self, row: usize) -> std::result::Result<Option<&'a [u8]>, DamagedCell> {
        self.picked.key(row).get(self.offsets.get(row, self.wanted)..).map(Some).ok_or(DamagedCell)
    }
}

impl TableCodec {
    /// Decodes rows of this table: all, or those at the given positions; all columns, or those at
    /// the given positions in the schema. Values are not looked at when only key columns are asked
    /// for.
    ///
    /// # Errors
    /// `Invalid` for more than 2 GiB of rows, which Arrow's arrays cannot take: decode fewer
    /// together. `Corruption` for bytes that no row of this table encodes to, naming the table and
    /// the key; `Conflict` for a row without a value in a column that this codec, which is older,
    /// has as NOT NULL: take the table's codec anew.
    ///
    /// # Panics
    /// If `which` names a row that there is not.
    pub fn decode(
        &self,
        rows: &Rows,
        which: Option<&[u32]>,
        projection: Option<&[usize]>,
    ) -> Result<RecordBatch> {
        let schema = self.projected_schema(projection)?;
        let picked = RowSelection { rows, which };
        self.check_bytes(picked, projection)?;
        let all: Vec<usize>;
        let columns = match projection {
            Some(columns) => columns,
            None => {
                all = (0..self.schema.columns.len()).collect();
                &all
            }
        };
        let wanted: Vec<usize> =
            (0..self.key.len()).filter(|step| columns.contains(&self.key[*step].column)).collect();
        // Key columns delimit themselves, so each key is walked once for all that are wanted.
        let offsets = if wanted.is_empty() {
            None
        } else {
            Some(self.key_offsets((0..picked.len()).map(|row| picked.key(row)), wanted)?)
        };
        let layouts = if columns.iter().all(|column| self.schema.is_key(*column)) {
            Vec::new()
        } else {
            self.layouts_of(picked)?
        };

        let known: Vec<&ValueLayout> = self.layouts.iter().chain(self.later.iter()).collect();
        let shared = layouts.first().filter(|first| layouts.iter().all(|layout| layout == *first));
        let mut arrays = Vec::with_capacity(columns.len());
        for &column in columns {
            let column_type = self.schema.columns[column].column_type;
            arrays.push(match (self.schema.key_position(column), &offsets) {
                (Some(step), Some(offsets)) => {
                    let cells = KeyCells {
                        picked,
                        offsets,
                        wanted: offsets.position(step).expect("the step was asked for"),
                    };
                    key_array(picked.len(), column_type, &cells)
                        .map_err(|row| key_error(self, picked.key(row)))?
                }
                _ => {
                    let id = self.schema.columns[column].id;
                    let slots: Vec<_> = known.iter().map(|layout| layout.slot(id)).collect();
                    if let Some(row) =
                        layouts.iter().position(|layout| slots[usize::from(*layout)].is_none())
                    {
                        // Of rows that lack the column those of the latest layout have the least to
                        // say.
                        let latest = (row..picked.len())
                            .filter(|row| slots[usize::from(layouts[*row])].is_none());
                        let row = latest.max_by_key(|row| layouts[*row]).unwrap_or(row);
                        self.absent_cell(picked.key(row), column, layouts[row].into())?;
                    }
                    let shared = shared.map(|layout| usize::from(*layout));
                    let array = match shared.and_then(|layout| Some((layout, slots[layout]?))) {
                        Some((layout, slot)) => {
                            let cells = SameLayoutCells { picked, layout: known[layout], slot };
                            value_array(picked.len(), column_type, &cells)
                        }
                        None => {
                            let default = self.default_bytes[column].as_deref();
                            let cells = ValueCells {
                                picked,
                                layouts: &layouts,
                                known: &known,
                                slots,
                                default,
                            };
                            value_array(picked.len(), column_type, &cells)
                        }
                    };
                    let array = array.map_err(|row| self.value_error(picked.key(row)))?;
                    self.check_nulls(picked, &layouts, column, &array)?;
                    array
                }
            });
        }
        let options = RecordBatchOptions::new().with_row_count(Some(picked.len()));
        RecordBatch::try_new_with_options(schema, arrays, &options).map_err(|error| {
            Error::corruption(format!(
                "table {}: {error}: run `check`, then restore from a copy",
                self.schema.path
            ))
        })
    }

    /// Refuses a NULL in a column that is NOT NULL.
    fn check_nulls(
        &self,
        picked: RowSelection<'_>,
        layouts: &[u16],
        column: usize,
        array: &ArrayRef,
    ) -> Result<()> {
        if self.schema.columns[column].nullable || array.null_count() == 0 {
            return Ok(());
        }
        match (0..array.len()).find(|row| array.is_null(*row)) {
            Some(row) => Err(self.null_error(picked.key(row), column, layouts[row].into())),
            None => Ok(()),
        }
    }

    /// Refuses rows that arrays with offsets of 32 bits might not take.
    fn check_bytes(&self, picked: RowSelection<'_>, projection: Option<&[usize]>) -> Result<()> {
        let of_defaults = self.default_bytes_of(projection).saturating_mul(picked.len());
        let of_rows = || {
            (0..picked.len())
                .map(|row| picked.key(row).len() + picked.value(row).len())
                .sum::<usize>()
        };
        let fits = |bytes: usize| bytes.saturating_add(of_defaults) <= i32::MAX as usize;
        if fits(picked.rows.bytes()) || fits(of_rows()) {
            return Ok(());
        }
        Err(Error::invalid(format!(
            "table {}: {} rows take more than 2 GiB together, the most that one batch can hold: ask for smaller batches",
            self.schema.path,
            picked.len()
        )))
    }

    /// The bytes of the defaults that a row from before their columns takes when these columns, or
    /// all, are decoded, and those of symbols.
    pub(crate) fn default_bytes_of(&self, projection: Option<&[usize]>) -> usize {
        let bytes = |column: usize| match self.schema.columns[column].column_type {
            // A symbol is longer in an array than in a row.
            ColumnType::Enum(symbols) => symbols.longest(),
            fixed if fixed.fixed_width().is_some() => 0,
            _ => self.default_bytes[column].as_ref().map_or(0, Vec::len),
        };
        match projection {
            Some(columns) => columns.iter().copied().map(bytes).sum(),
            None => (0..self.schema.columns.len()).map(bytes).sum(),
        }
    }

    fn layouts_of(&self, picked: RowSelection<'_>) -> Result<Vec<u16>> {
        (0..picked.len())
            .map(|row| {
                self.layout_of(picked.key(row), picked.value(row)).map(|layout| layout as u16)
            })
            .collect()
    }

    /// Which of the codec's layouts a value has.
    #[inline]
    pub(super) fn layout_of(&self, key: &[u8], value: &[u8]) -> Result<usize> {
        let number = value
            .first_chunk::<NUMBER_LEN>()
            .map(|bytes| u16::from_le_bytes(*bytes))
            .ok_or_else(|| self.value_error(key))?;
        let newest = self.layouts.len() - 1;
        let layout = if self.layouts[newest].number == number {
            newest
        } else {
            let known = self.layouts.iter().chain(self.later.iter());
            known
                .map(|layout| layout.number)
                .position(|own| own == number)
                .ok_or_else(|| self.unknown_layout(key, number))?
        };
        if self.layout_at(layout).fits(value) { Ok(layout) } else { Err(self.value_error(key)) }
    }

    #[cold]
    fn unknown_layout(&self, key: &[u8], number: u16) -> Error {
        if number > self.schema.number {
            let what = "the row was written after the table was altered";
            Error::conflict(format!(
                "table {}, key {}: {what}: open the table again (if that does not help, run `check`)",
                self.schema.path,
                super::hex(key)
            ))
        } else {
            self.corruption(key, &format!("the row has the unknown schema number {number}"))
        }
    }

    #[cold]
    pub(super) fn value_error(&self, key: &[u8]) -> Error {
        self.corruption(key, "the value is damaged")
    }
}
