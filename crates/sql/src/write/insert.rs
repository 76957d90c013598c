//! INSERT and UPSERT.
//!
//! 1. The source (VALUES or a query) is planned like any query, its columns named as the table's.
//! 2. As long as the rows fit into memory they are gathered and checked: values that do not fit,
//!    keys given twice and keys that exist are reported before anything is written.
//! 3. More rows than that are streamed into the store; then a key that exists stops the statement
//!    midway.
//! 4. Rows that RETURNING reports, those of DO UPDATE, and those of a transaction, are written one
//!    by one (`row_inserter.rs`).

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};
use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan};
use tonnage::{
    BulkPutOptions, Counts, Error, ErrorKind, OnExisting, Result, Table, TableSchema,
    computed_batch_stream,
};

use super::conflict::{ConflictClause, ConflictUpdate};
use super::given_rows::{GivenRows, RowBatches};
use super::insert_statement::{BoundInsert, InsertStatement};
use super::key_conflicts::refuse_existing;
use super::literals::settle_doubles;
use super::partial_changes::with_partial_changes;
use super::returning_rows::WrittenRows;
use super::row_inserter::RowInserter;
use super::tokens::word;
use super::untyped::{is_untyped, typed};
use super::values::take_queries;
use crate::catalog::{StoreCatalog, WriteTarget};
use crate::planner::Planner;
use crate::session::{Changes, Guard, Parameters, Rows};
use crate::text::{mark_values, parse};

/// Rows that are gathered before anything is written.
const GATHERED_ROWS_MAX: usize = 100_000;
/// Their bytes.
const GATHERED_BYTES_MAX: usize = 64 << 20;

pub(super) fn run(
    statement: &InsertStatement,
    planner: &Planner,
    parameters: &Parameters,
    guard: &Guard,
    written: &mut WrittenRows,
) -> Result<Changes> {
    let insert = statement.bind(&planner.context.store)?;
    let schema = insert.table.schema();
    let conflict = match &statement.conflict {
        Some(clause) => clause.bind(schema)?,
        None => None,
    };
    let is_alone = planner.context.transaction.is_none();
    if !written.gathers_rows() && conflict.is_none() && is_alone {
        let (table, on_existing) = (insert.table.clone(), insert.on_existing);
        let source = insert.rows(planner, parameters, guard)?;
        return write(planner, &table, source, on_existing, guard);
    }
    let gathered = GatheredInsert::new(planner, insert, parameters, guard)?;
    if gathered.on_existing == OnExisting::Fail && is_alone {
        refuse_existing(&gathered.table, &gathered.batches)?;
    }
    gathered.write(planner, conflict.as_ref(), statement.end, parameters, guard, written)
}

impl BoundInsert<'_> {
    /// The rows of its source under the names of the table's columns.
    fn rows(self, planner: &Planner, parameters: &Parameters, guard: &Guard) -> Result<RowBatches> {
        let Self { table, mut columns, source, given: own_rows, .. } = self;
        let mut given = None;
        if let ast::SetExpr::Values(values) = source.body.as_ref()
            // Where rows change their order, or some are left out, it is unknown whose values these
            // were: the planner keeps all of them.
            && !is_ordered(&source)
        {
            given = GivenRows::read(values, &columns, table.schema(), parameters)?;
        }
        let given = match given {
            Some(given) if given.are_all() => return Ok(given.into_batches()),
            given => given,
        };
        let mut source = source.into_owned();
        if let ast::SetExpr::Values(values) = source.body.as_mut() {
            if let Some(given) = &given {
                given.take_from(values, &mut columns);
            }
            settle_doubles(values, &columns, table.schema())?;
            mark_values(values);
        }
        // One row with a query among its values becomes a query.
        take_queries(&mut source)?;
        let target = WriteTarget::Filled { path: table.path().to_owned() };
        let names = StoreCatalog::for_write(planner.context.clone(), target).with_rows(own_rows);
        let mut state = planner.state(guard);
        state.register_catalog_list(Arc::new(names));
        let query = ast::Statement::Query(Box::new(source));
        let rows = planner.rows_of(state, query, parameters, guard.clone())?;
        let rows = Box::new(RowSource { rows, columns, schema: table.schema().clone() });
        Ok(match given {
            Some(given) => given.joined(rows),
            None => rows,
        })
    }
}

/// Whether the rows of a query may come in another order than they are written, or fewer of them.
fn is_ordered(query: &ast::Query) -> bool {
    query.order_by.is_some() || query.limit_clause.is_some() || query.fetch.is_some()
}

/// All rows of an INSERT that writes them one by one, as they came and as they fit.
pub(super) struct GatheredInsert {
    pub(super) table: Table,
    pub(super) batches: Vec<(RecordBatch, RecordBatch)>,
    alias: Option<String>,
    on_existing: OnExisting,
}

impl GatheredInsert {
    /// Reads the rows.
    ///
    /// # Errors
    /// `Exhausted` when they take more than a quarter of the memory of statements.
    pub(super) fn new(
        planner: &Planner,
        insert: BoundInsert<'_>,
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<Self> {
        let (table, alias) = (insert.table.clone(), insert.alias.clone());
        let on_existing = insert.on_existing;
        let source = insert.rows(planner, parameters, guard)?;
        let bytes_max = planner.context.options.memory_bytes_max / 4;
        let (mut batches, mut rows, mut bytes) = (Vec::new(), 0, 0);
        for batch in source {
            let batch = batch?;
            let fitting = fitting(&table, &batch, rows)?;
            rows += fitting.num_rows();
            bytes += fitting.get_array_memory_size();
            if bytes > bytes_max {
                return Err(Error::exhausted(format!(
                    "INSERT with RETURNING or DO UPDATE, INSERT in a transaction, and MERGE gather their rows, and they take more than {bytes_max} bytes: raise memory_bytes_max, or insert fewer at once"
                )));
            }
            batches.push((batch, fitting));
        }
        Ok(Self { table, batches, alias, on_existing })
    }

    /// Writes the rows.
    pub(super) fn write(
        &self,
        planner: &Planner,
        conflict: Option<&ConflictUpdate>,
        end: Location,
        parameters: &Parameters,
        guard: &Guard,
        written: &mut WrittenRows,
    ) -> Result<Changes> {
        let inserting = RowInserter {
            planner,
            table: &self.table,
            alias: self.alias.clone(),
            on_existing: self.on_existing,
            conflict,
            parameters,
            guard,
            end,
            changes: Changes::default(),
            met: Vec::new(),
            keys_met: HashSet::new(),
        };
        inserting.check()?;
        inserting.run(&self.batches, written)
    }
}

/// How an INSERT gets its rows.
pub(super) fn explain(
    statement: &InsertStatement,
    planner: &Planner,
    explain: &[TokenWithSpan],
    parameters: &Parameters,
    guard: &Guard,
) -> Result<(String, Rows)> {
    let BoundInsert { table, source, on_existing, .. } = statement.bind(&planner.context.store)?;
    let mut source = source.into_owned();
    take_queries(&mut source)?;
    // DO UPDATE keeps the row for the clause to change, so it is looked at first.
    let existing = match on_existing {
        _ if statement.conflict.as_ref().is_some_and(ConflictClause::updates) => {
            "a row that exists is updated"
        }
        OnExisting::Replace => "a row that exists is replaced",
        OnExisting::Keep => "a row that exists stays",
        _ => "a key that exists is an error",
    };
    let told = format!("INSERT INTO {}: stores each row; {existing}", table.path());
    // After EXPLAIN and its options any query is a placeholder for the one that is explained.
    let shown = explain.iter().cloned().chain([word("SELECT"), word("NULL")]).collect();
    let mut parsed = parse(shown, statement.end)?;
    if let ast::Statement::Explain { statement: explained, .. } = &mut parsed {
        **explained = ast::Statement::Query(Box::new(source));
    }
    let rows = planner.rows_of(planner.state(guard), parsed, parameters, guard.clone())?;
    Ok((told, rows))
}

/// The rows of the source under the names of the table's columns.
pub(super) struct RowSource {
    pub(super) rows: Rows,
    pub(super) columns: Vec<String>,
    pub(super) schema: Arc<TableSchema>,
}

impl Iterator for RowSource {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.rows.next()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
        };
        Some(rename_columns(&batch, &self.columns, &self.schema))
    }
}

fn rename_columns(
    batch: &RecordBatch,
    columns: &[String],
    schema: &TableSchema,
) -> Result<RecordBatch> {
    // VALUES that are shorter than the table fill its first columns; DEFAULT VALUES fill none.
    let batch = &match columns.is_empty() {
        true => batch.project(&[]).map_err(|error| Error::internal(error.to_string()))?,
        false => batch.clone(),
    };
    if batch.num_columns() > columns.len() {
        return Err(Error::invalid(format!(
            "the rows have {} values, but {} columns of table {} are to be filled",
            batch.num_columns(),
            columns.len(),
            schema.path
        )));
    }
    let given = batch.columns().iter().zip(batch.schema_ref().fields()).zip(columns);
    let (mut arrays, mut fields) =
        (Vec::with_capacity(columns.len()), Vec::with_capacity(columns.len()));
    for ((array, field), name) in given {
        // A column of nothing but NULL has no type of its own. It is given all the same: its
        // default does not hold.
        let own = match is_untyped(field.data_type()) {
            true => {
                Some(schema.columns[schema.require_column(name)?].to_arrow().with_nullable(true))
            }
            false => None,
        };
        let made = own.and_then(|own| Some((typed(array, &own)?, own)));
        if let Some((array, own)) = made {
            arrays.push(array);
            fields.push(own);
        } else {
            arrays.push(array.clone());
            fields.push(
                Field::new(name, field.data_type().clone(), true)
                    .with_metadata(field.metadata().clone()),
            );
        }
    }
    let options = RecordBatchOptions::new().with_row_count(Some(batch.num_rows()));
    RecordBatch::try_new_with_options(Arc::new(Schema::new(fields)), arrays, &options)
        .map_err(|error| Error::internal(format!("the rows of INSERT: {error}")))
}

pub(super) fn write(
    planner: &Planner,
    table: &Table,
    mut source: RowBatches,
    on_existing: OnExisting,
    guard: &Guard,
) -> Result<Changes> {
    let (mut gathered, mut rows, mut bytes) = (Vec::new(), 0, 0);
    let mut is_all = true;
    for batch in source.by_ref() {
        let batch = batch?;
        let fitting = fitting(table, &batch, rows)?;
        rows += fitting.num_rows();
        bytes += fitting.get_array_memory_size();
        gathered.push((batch, fitting));
        if rows >= GATHERED_ROWS_MAX || bytes >= GATHERED_BYTES_MAX {
            is_all = false;
            break;
        }
    }
    if rows == 0 {
        return Ok(Changes::default());
    }
    if is_all && on_existing == OnExisting::Fail {
        refuse_existing(table, &gathered)?;
    }
    // Rows that the store numbers are passed on unchanged: they have no number yet.
    let is_numbered = table.schema().identity_column().is_some();
    let own = move |(given, fitting)| if is_numbered { given } else { fitting };
    let batches = gathered.into_iter().map(own).map(Ok).chain(source);
    let options = BulkPutOptions {
        on_existing,
        durability: guard.terms().durability,
        acks: guard.terms().acks,
        errors_max: tonnage::ErrorsMax::Count(0),
        timeout: guard.remaining(),
        cancel: guard.cancel().clone(),
        // A statement that reads the table that it writes must not meet its own rows, however long
        // it takes.
        flush_interval: None,
        ..BulkPutOptions::default()
    };
    let report = planner
        .context
        .store
        .bulk_put(vec![computed_batch_stream("INSERT", table.path(), batches)], &options);
    let told = |counts: Counts| match on_existing {
        // A row that was overtaken was written just before that of another writer.
        OnExisting::Replace => Changes {
            inserted: counts.inserted,
            updated: counts.existed + counts.overtaken,
            ..Changes::default()
        },
        _ => Changes { inserted: counts.inserted, skipped: counts.existed, ..Changes::default() },
    };
    match report {
        Ok(report) => Ok(told(report.total)),
        Err(failed) => {
            let changes = told(failed.report.total);
            // What the statement was stopped by is said in the words of statements.
            let is_stopped =
                matches!(failed.error.kind(), ErrorKind::TimedOut | ErrorKind::Cancelled);
            let stopped_by = guard.check().err().filter(|_| is_stopped);
            let error = stopped_by.unwrap_or_else(|| Error::from(failed));
            Err(with_partial_changes(planner, error, changes))
        }
    }
}

/// The batch in the table's own columns and types; the first row that does not fit is an error.
fn fitting(table: &Table, batch: &RecordBatch, rows_before: usize) -> Result<RecordBatch> {
    let aligned = table.entry().codec.align_unnumbered(batch)?;
    match aligned.rejected.first() {
        None => Ok(aligned.batch),
        Some(rejected) => Err(Error::invalid(format!(
            "row {}: column '{}': {}",
            rows_before + rejected.row + 1,
            rejected.column,
            rejected.reason
        ))),
    }
}
