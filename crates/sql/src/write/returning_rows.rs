//! RETURNING: the rows that a statement wrote, as they were written.
//!
//! They are gathered while they are written, and what is wanted of them is selected at the end. The
//! list is planned before anything is written, so that a name that there is not changes nothing. An
//! error in it after that says what was written, or in a transaction takes it back.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::RecordBatch;
use arrow::compute::concat_batches;
use arrow::datatypes::SchemaRef;
use datafusion::datasource::MemTable;
use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan};
use tonnage::{Error, Result, Row, Table, TableSchema};

use super::keys::key_text;
use super::tokens::{quoted, word};
use crate::access::{SqlTable, rows_to_batch};
use crate::catalog::StoreCatalog;
use crate::errors::from_datafusion;
use crate::planner::Planner;
use crate::session::{Guard, Parameters, Rows};
use crate::text::parse;

/// The name under which rows written are selected. No table can have it.
const WRITTEN: &str = "rows written";
/// Rows that are brought into columns at once.
const ROWS_PER_BATCH: usize = 1_024;

/// Rows written, gathered only for RETURNING.
pub(super) struct WrittenRows {
    gathers: bool,
    bytes_max: usize,
    bytes: usize,
    rows: Vec<Row>,
    batches: Vec<RecordBatch>,
    schema: Option<Arc<SqlTable>>,
    /// The keys of rows that are noted, where they are needed.
    keys: Option<(Arc<TableSchema>, HashSet<String>)>,
}

impl WrittenRows {
    /// For a statement without RETURNING.
    pub(super) fn discarding() -> Self {
        Self {
            gathers: false,
            bytes_max: 0,
            bytes: 0,
            rows: Vec::new(),
            batches: Vec::new(),
            schema: None,
            keys: None,
        }
    }

    pub(super) fn for_returning(planner: &Planner, table: &Table) -> Self {
        let context = &planner.context;
        Self {
            gathers: true,
            bytes_max: context.options.memory_bytes_max / 4,
            schema: Some(Arc::new(SqlTable::new(&context.store, table.clone()))),
            ..Self::discarding()
        }
    }

    /// For rows as they are given to a table: a number that the store gives may be missing.
    pub(super) fn with_gaps(planner: &Planner, table: &Table) -> Self {
        let table = SqlTable::new(&planner.context.store, table.clone());
        Self {
            gathers: true,
            bytes_max: planner.context.options.memory_bytes_max / 4,
            schema: Some(Arc::new(table.with_nullable_columns())),
            ..Self::discarding()
        }
    }

    pub(super) fn gathers_rows(&self) -> bool {
        self.gathers
    }

    /// Takes in a row that was written.
    pub(super) fn note(&mut self, row: Row) -> Result<()> {
        if let Some((schema, keys)) = &mut self.keys {
            keys.insert(key_text(&row, schema));
        }
        if !self.gathers {
            return Ok(());
        }
        self.rows.push(row);
        if self.rows.len() == ROWS_PER_BATCH { self.pack() } else { Ok(()) }
    }

    /// Begins to note the keys of rows.
    pub(super) fn note_keys(&mut self, schema: &Arc<TableSchema>) {
        self.keys = Some((schema.clone(), HashSet::new()));
    }

    /// The keys noted since.
    pub(super) fn take_keys(&mut self) -> HashSet<String> {
        self.keys.take().map(|(_, keys)| keys).unwrap_or_default()
    }

    /// All rows as one batch.
    pub(super) fn into_batch(mut self) -> Result<RecordBatch> {
        if !self.rows.is_empty() {
            self.pack()?;
        }
        let Some(table) = &self.schema else {
            return Err(Error::internal("no rows were gathered"));
        };
        concat_batches(&table.arrow, &self.batches)
            .map_err(|error| Error::internal(error.to_string()))
    }

    /// Brings the rows gathered last into columns.
    fn pack(&mut self) -> Result<()> {
        let Some(table) = &self.schema else { return Ok(()) };
        let batch = rows_to_batch(table, &self.rows.iter().collect::<Vec<_>>())?;
        self.bytes += batch.get_array_memory_size();
        self.rows.clear();
        self.batches.push(batch);
        if self.bytes > self.bytes_max {
            return Err(Error::exhausted(format!(
                "RETURNING has gathered more than {} bytes: raise memory_bytes_max, change fewer rows at once, or leave it out",
                self.bytes_max
            )));
        }
        Ok(())
    }

    fn into_table(mut self) -> Result<MemTable> {
        if !self.rows.is_empty() {
            self.pack()?;
        }
        let schema = self.schema.map_or_else(
            || Err(Error::internal("no rows were gathered")),
            |table| Ok(table.arrow.clone()),
        )?;
        MemTable::try_new(schema, vec![self.batches]).map_err(from_datafusion)
    }
}

/// The list after RETURNING, over the rows of a table.
pub(super) struct ReturningQuery<'a> {
    pub(super) items: &'a [TokenWithSpan],
    pub(super) table: Table,
    pub(super) alias: Option<String>,
    pub(super) end: Location,
}

impl ReturningQuery<'_> {
    /// The columns that it gives. Nothing is written yet.
    pub(super) fn schema(&self, planner: &Planner, parameters: &Parameters) -> Result<SchemaRef> {
        let written = WrittenRows::for_returning(planner, &self.table).into_table()?;
        let parsed = parse(self.selection(), self.end)?;
        let names = self.names(planner, written);
        planner.describe_with(names, parsed, parameters).map(|(schema, _)| schema)
    }

    /// What it gives of the rows written: all of it, since the statement fails with an error among
    /// them.
    ///
    /// # Errors
    /// `Exhausted` when they take more than half of the memory of statements.
    pub(super) fn rows(
        &self,
        planner: &Planner,
        written: WrittenRows,
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<Rows> {
        let written = written.into_table()?;
        let mut state = planner.state(guard);
        state.register_catalog_list(Arc::new(self.names(planner, written)));
        let parsed = parse(self.selection(), self.end)?;
        let rows = planner.rows_of(state, parsed, parameters, guard.clone())?;
        // Half of the memory, since the rows written may hold a quarter until this is read.
        let bytes_max = planner.context.options.memory_bytes_max / 2;
        let (schema, mut batches, mut bytes) = (rows.schema().clone(), Vec::new(), 0);
        for batch in rows {
            let batch = batch?;
            bytes += batch.get_array_memory_size();
            if bytes > bytes_max {
                return Err(Error::exhausted(format!(
                    "RETURNING gives more than {bytes_max} bytes: raise memory_bytes_max, change fewer rows at once, or ask for less"
                )));
            }
            batches.push(Ok(batch));
        }
        Ok(Rows::new(&schema, batches.into_iter(), Guard::default()))
    }

    fn names(&self, planner: &Planner, written: MemTable) -> StoreCatalog {
        let given = Some((WRITTEN.to_owned(), Arc::new(written)));
        StoreCatalog::new(planner.context.clone()).with_rows(given)
    }

    /// `SELECT items FROM "rows written" AS table`
    fn selection(&self) -> Vec<TokenWithSpan> {
        let path = self.table.path().to_ascii_lowercase();
        let own = path.rsplit('.').next().unwrap_or(&path);
        let name = self.alias.as_deref().unwrap_or(own);
        let mut tokens = vec![word("SELECT")];
        tokens.extend(self.items.iter().cloned());
        tokens.extend([word("FROM"), quoted(WRITTEN), word("AS"), quoted(name)]);
        tokens
    }
}
