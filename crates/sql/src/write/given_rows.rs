//! Rows of VALUES, whose literals and parameters are read as their columns read them.
//!
//! The planner brings all values of a column to one type, and would round some of them. So it gets
//! the computed ones alone. Afterwards both are put together.

use std::collections::VecDeque;
use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, RecordBatchOptions};
use arrow::datatypes::{FieldRef, Schema};
use datafusion::sql::sqlparser::ast;
use tonnage::{Error, Result, TableSchema, Value};

use super::given::GivenValue;
use crate::access::array_of;
use crate::session::Parameters;

/// Rows of an INSERT on their way into its table.
pub(super) type RowBatches = Box<dyn Iterator<Item = Result<RecordBatch>> + Send>;

/// The values that rows give, by columns.
pub(super) struct GivenRows {
    columns: Vec<GivenColumn>,
    rows: usize,
}

/// A column of VALUES.
struct GivenColumn {
    field: FieldRef,
    /// The cells that are given; the others are NULL.
    cells: ArrayRef,
    /// Whether each row gives its cell; nothing where all do.
    is_given: Option<Vec<bool>>,
}

impl GivenColumn {
    fn gives(&self, row: usize) -> bool {
        self.is_given.as_ref().is_none_or(|given| given[row])
    }
}

impl GivenRows {
    /// Reads the given values of VALUES. Nothing when the rows have not one length each, or are
    /// longer than the columns: the planner says so.
    ///
    /// # Errors
    /// `Invalid` for a value that its column does not hold exactly, with its row and column.
    pub(super) fn read(
        values: &ast::Values,
        names: &[String],
        schema: &TableSchema,
        parameters: &Parameters,
    ) -> Result<Option<Self>> {
        let rows = values.rows.len();
        let width = values.rows.first().map_or(0, |row| row.content.len());
        let is_even = values.rows.iter().all(|row| row.content.len() == width);
        if width == 0 || width > names.len() || !is_even {
            return Ok(None);
        }
        let mut columns = Vec::with_capacity(width);
        for (place, name) in names.iter().enumerate().take(width) {
            let index = schema.require_column(name)?;
            columns.push(read_column(values, place, index, schema, parameters)?);
        }
        Ok(Some(Self { columns, rows }))
    }

    /// Takes the given values out of VALUES and, where a column has no others, the column.
    pub(super) fn take_from(&self, values: &mut ast::Values, names: &mut Vec<String>) {
        names.truncate(self.columns.len());
        // From the last one on, so that the positions of those before stay as they are.
        for (place, column) in self.columns.iter().enumerate().rev() {
            let cells = values.rows.iter_mut().map(|row| &mut row.content);
            let Some(is_given) = &column.is_given else {
                names.remove(place);
                cells.for_each(|cells| drop(cells.remove(place)));
                continue;
            };
            // The planner sees them no more: they have no say in the type of the others.
            for (cells, _) in cells.zip(is_given).filter(|(_, is_given)| **is_given) {
                cells[place] = ast::Expr::value(ast::Value::Null);
            }
        }
    }

    /// Whether nothing is left to plan.
    pub(super) fn are_all(&self) -> bool {
        self.columns.iter().all(|column| column.is_given.is_none())
    }

    /// All rows, which give all of their cells.
    pub(super) fn into_batches(self) -> RowBatches {
        let rows = self.rows;
        Box::new(std::iter::once_with(move || self.batch(None, 0, 0, rows)))
    }

    /// The rows with the values that were computed, in the order of VALUES.
    pub(super) fn joined(self, computed: RowBatches) -> RowBatches {
        Box::new(JoinedRows { given: self, computed, row: 0, done: VecDeque::new() })
    }

    /// Rows from `row` on that give the same columns, of which `at` is the position among the
    /// computed ones.
    fn batch(
        &self,
        computed: Option<&RecordBatch>,
        at: usize,
        row: usize,
        count: usize,
    ) -> Result<RecordBatch> {
        let (mut fields, mut arrays) = (Vec::new(), Vec::new());
        let mut planned = 0;
        for column in &self.columns {
            let own = planned;
            planned += usize::from(column.is_given.is_some());
            match computed {
                Some(batch) if !column.gives(row) => {
                    fields.push(batch.schema_ref().fields()[own].clone());
                    arrays.push(batch.column(own).slice(at, count));
                }
                _ => {
                    fields.push(column.field.clone());
                    arrays.push(column.cells.slice(row, count));
                }
            }
        }
        let options = RecordBatchOptions::new().with_row_count(Some(count));
        RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
            .map_err(|error| Error::internal(format!("the rows of INSERT: {error}")))
    }

    /// How many rows from this one on give the same columns, at most so many.
    fn run(&self, row: usize, most: usize) -> usize {
        let is_same = |other: &usize| {
            self.columns.iter().all(|column| column.gives(row) == column.gives(*other))
        };
        (row..row + most).take_while(is_same).count()
    }
}

fn read_column(
    values: &ast::Values,
    place: usize,
    index: usize,
    schema: &TableSchema,
    parameters: &Parameters,
) -> Result<GivenColumn> {
    let column = &schema.columns[index];
    // A value that is computed leaves NULL, which is never looked at.
    let (mut cells, mut is_given) = (Vec::new(), Vec::new());
    for (row, cell) in values.rows.iter().map(|row| &row.content[place]).enumerate() {
        let given = GivenValue::of(cell, parameters)?;
        is_given.push(given.is_some());
        let Some(given) = given else {
            cells.push(Value::Null);
            continue;
        };
        // An error names the row, since a long INSERT has many of them.
        let held = given.held_by(column.column_type, schema.is_key(index));
        cells.push(held.map_err(|error| {
            let told = format!("row {}: column '{}': {}", row + 1, column.name, error.message());
            error.with_message(told)
        })?);
    }
    let is_all = is_given.iter().all(|given| *given);
    Ok(GivenColumn {
        field: Arc::new(column.to_arrow().with_nullable(true)),
        cells: array_of(&cells, column.column_type)?,
        is_given: (!is_all).then_some(is_given),
    })
}

/// Computed rows, with the given values added.
struct JoinedRows {
    given: GivenRows,
    computed: RowBatches,
    /// The next row.
    row: usize,
    /// Parts of the batch that was computed last.
    done: VecDeque<RecordBatch>,
}

impl JoinedRows {
    /// Cuts a batch where other columns are given than before: there its types change.
    fn split(&mut self, computed: &RecordBatch) -> Result<()> {
        let (mut at, end) = (0, computed.num_rows());
        if self.row + end > self.given.rows {
            return Err(Error::internal("VALUES gave more rows than there are"));
        }
        while at < end {
            let count = self.given.run(self.row, end - at);
            self.done.push_back(self.given.batch(Some(computed), at, self.row, count)?);
            at += count;
            self.row += count;
        }
        Ok(())
    }
}

impl Iterator for JoinedRows {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = self.done.pop_front() {
                return Some(Ok(batch));
            }
            let split = self.computed.next()?.and_then(|batch| self.split(&batch));
            if let Err(error) = split {
                return Some(Err(error));
            }
        }
    }
}
