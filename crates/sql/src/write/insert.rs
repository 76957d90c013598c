//! INSERT and UPSERT.
//!
//! 1. The source (VALUES or a query) is planned like any query, its columns named as the table's.
//! 2. As long as the rows fit into memory they are gathered and checked: values that do not fit,
//!    keys given twice and keys that exist are told of before anything is written.
//! 3. More rows than that are streamed into the store; then a key that exists stops the statement
//!    midway.
//! 4. Rows that RETURNING tells of, those of DO UPDATE, and those of a transaction, are written one
//!    by one (`row_inserter.rs`).

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions};
use arrow::datatypes::{Field, Schema};
use datafusion::datasource::MemTable;
use datafusion::sql::sqlparser::ast::{self, Spanned};
use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan};
use tonnage::{
    BulkPutOptions, Counts, Error, ErrorKind, OnExisting, Result, Table, TableSchema,
    computed_batch_stream,
};

use super::conflict::ConflictClause;
use super::defaults::settle_defaults;
use super::given_rows::{GivenRows, RowBatches};
use super::key_conflicts::refuse_existing;
use super::literals::settle_doubles;
use super::partial_changes::with_partial_changes;
use super::returning_rows::WrittenRows;
use super::row_inserter::RowInserter;
use super::tokens::word;
use super::untyped::{is_untyped, typed};
use super::values::{one_row, take_queries};
use crate::catalog::{StoreCatalog, WriteTarget};
use crate::planner::Planner;
use crate::session::{Access, Changes, Guard, Parameters, Rows, TableAccesses};
use crate::text::{Piece, StatementKind, mark_values, parse};

/// Rows that are gathered before anything is written.
const GATHERED_ROWS_MAX: usize = 100_000;
/// Their bytes.
const GATHERED_BYTES_MAX: usize = 64 << 20;

/// An INSERT or UPSERT, with its table found and its columns named.
pub(crate) struct InsertStatement {
    pub(crate) table: Table,
    pub(crate) columns: Vec<String>,
    pub(crate) source: Box<ast::Query>,
    /// Another name of the table.
    pub(crate) alias: Option<String>,
    on_existing: OnExisting,
    /// Rows of the statement's own, under a name.
    given: Option<(String, Arc<MemTable>)>,
}

/// Reads an INSERT or UPSERT.
///
/// # Errors
/// `Invalid` for something else, `NotFound` for its table, with their places.
pub(crate) fn insertion(planner: &Planner, piece: &Piece) -> Result<InsertStatement> {
    let insert = insert_of(piece)?;
    let on_existing = on_existing(&insert, piece.kind)?;
    let table = planner.context.store.table(&target_of(&insert)?);
    let table = table.map_err(|error| at_name(error, &insert.table))?;
    let mut columns = columns(&insert, table.schema())?;
    let source = match insert.source {
        Some(mut source) => {
            settle_defaults(&mut source, &mut columns, table.schema())?;
            source
        }
        // DEFAULT VALUES: one row that gives nothing.
        None => {
            columns.clear();
            one_row()?
        }
    };
    let alias = insert.table_alias.map(|alias| alias.alias.value.to_ascii_lowercase());
    Ok(InsertStatement { table, columns, source, alias, on_existing, given: None })
}

/// The INSERT that a statement is, with the tables of a WITH before it in its query.
fn insert_of(piece: &Piece) -> Result<ast::Insert> {
    let other = || Error::invalid("expected INSERT INTO table [(columns)] VALUES (...) or a query");
    match piece.parse()? {
        ast::Statement::Insert(insert) => Ok(insert),
        ast::Statement::Query(query) => {
            let ast::SetExpr::Insert(ast::Statement::Insert(mut insert)) = *query.body else {
                return Err(other());
            };
            if let (Some(mut with), Some(source)) = (query.with, &mut insert.source) {
                if let Some(own) = source.with.take() {
                    with.cte_tables.extend(own.cte_tables);
                    with.recursive |= own.recursive;
                }
                source.with = Some(with);
            }
            Ok(insert)
        }
        _ => Err(other()),
    }
}

/// Notes what an INSERT or UPSERT does to its table, and what it reads.
pub(super) fn note_accesses(
    piece: &Piece,
    returned: Option<&ast::Statement>,
    found: &mut TableAccesses,
) -> Result<()> {
    let insert = insert_of(piece)?;
    let target = target_of(&insert)?;
    found.note(&target, Access::Insert);
    // Rows that exist are changed by DO UPDATE, which may read other tables, and by UPSERT.
    let updates = match &insert.on {
        Some(ast::OnInsert::OnConflict(conflict)) => match &conflict.action {
            ast::OnConflictAction::DoUpdate(update) => {
                found.read(update);
                true
            }
            ast::OnConflictAction::DoNothing => false,
        },
        _ => replaces(&insert, piece.kind),
    };
    if updates {
        found.note(&target, Access::Update);
    }
    // Rows that were there come out: of RETURNING, and of expressions over them.
    if returned.is_some() || updates && insert.on.is_some() {
        found.note(&target, Access::Read);
    }
    if let Some(returned) = returned {
        found.read(returned);
    }
    if let Some(source) = &insert.source {
        found.read(source.as_ref());
    }
    Ok(())
}

/// The path of the table that is filled.
fn target_of(insert: &ast::Insert) -> Result<String> {
    match &insert.table {
        ast::TableObject::TableName(name) => path_of(name),
        _ => Err(Error::unsupported("INSERT INTO takes the name of a table")),
    }
}

pub(super) fn run(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
    guard: &Guard,
    written: &mut WrittenRows,
) -> Result<Changes> {
    let insertion = insertion(planner, piece)?;
    let conflict = ConflictClause::read(piece, insertion.table.schema())?;
    let is_alone = planner.context.transaction.is_none();
    if !written.gathers_rows() && conflict.is_none() && is_alone {
        let (table, on_existing) = (insertion.table.clone(), insertion.on_existing);
        let source = insertion.rows(planner, parameters, guard)?;
        return write(planner, &table, source, on_existing, guard);
    }
    let gathered = GatheredInsert::new(planner, insertion, parameters, guard)?;
    if gathered.on_existing == OnExisting::Fail && is_alone {
        refuse_existing(&gathered.table, &gathered.batches)?;
    }
    gathered.write(planner, conflict.as_ref(), piece.end, parameters, guard, written)
}

impl InsertStatement {
    /// The same with rows of the statement's own, which its query may read.
    pub(super) fn with_rows(self, given: Option<(String, Arc<MemTable>)>) -> Self {
        Self { given, ..self }
    }

    /// The rows of its source under the names of the table's columns.
    fn rows(self, planner: &Planner, parameters: &Parameters, guard: &Guard) -> Result<RowBatches> {
        let InsertStatement { table, mut columns, mut source, given: own_rows, .. } = self;
        let mut state = planner.state(guard);
        let may_move = is_ordered(&source);
        let mut given = None;
        if let ast::SetExpr::Values(values) = source.body.as_mut() {
            // Where rows change their places, or some are left out, nobody knows whose values these
            // were: the planner keeps all of them.
            if !may_move {
                given = GivenRows::take(values, &mut columns, table.schema(), parameters)?;
            }
            settle_doubles(values, &columns, table.schema())?;
            mark_values(values);
        }
        let given = match given {
            Some(given) if given.are_all() => return Ok(given.into_batches()),
            given => given,
        };
        // One row with a query among its values becomes a query.
        take_queries(&mut source)?;
        let target = WriteTarget::Filled { path: table.path().to_owned() };
        let names = StoreCatalog::for_write(planner.context.clone(), target).with_rows(own_rows);
        state.register_catalog_list(Arc::new(names));
        let query = ast::Statement::Query(source);
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
        insertion: InsertStatement,
        parameters: &Parameters,
        guard: &Guard,
    ) -> Result<Self> {
        let (table, alias) = (insertion.table.clone(), insertion.alias.clone());
        let on_existing = insertion.on_existing;
        let source = insertion.rows(planner, parameters, guard)?;
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
        conflict: Option<&ConflictClause>,
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
    planner: &Planner,
    piece: &Piece,
    explain: &[TokenWithSpan],
    parameters: &Parameters,
    guard: &Guard,
) -> Result<(String, Rows)> {
    let InsertStatement { table, mut source, on_existing, .. } = insertion(planner, piece)?;
    take_queries(&mut source)?;
    let conflict = ConflictClause::read(piece, table.schema())?;
    let existing = match on_existing {
        _ if conflict.is_some() => "a row that exists is updated",
        OnExisting::Replace => "a row that exists is replaced",
        OnExisting::Keep => "a row that exists stays",
        _ => "a key that exists is an error",
    };
    let told = format!("INSERT INTO {}: stores each row; {existing}", table.path());
    // Behind EXPLAIN and its options any query stands for the one that is explained.
    let shown = explain.iter().cloned().chain([word("SELECT"), word("NULL")]).collect();
    let mut parsed = parse(shown, piece.end)?;
    if let ast::Statement::Explain { statement, .. } = &mut parsed {
        **statement = ast::Statement::Query(source);
    }
    let rows = planner.rows_of(planner.state(guard), parsed, parameters, guard.clone())?;
    Ok((told, rows))
}

/// Whether rows are stored over those that exist.
fn replaces(insert: &ast::Insert, kind: StatementKind) -> bool {
    kind == StatementKind::Upsert
        || insert.replace_into
        || insert.or == Some(ast::SqliteOnConflict::Replace)
}

fn on_existing(insert: &ast::Insert, kind: StatementKind) -> Result<OnExisting> {
    // Hive and Spark empty the table first: `Replace` would leave rows with other keys.
    if insert.overwrite {
        return Err(Error::unsupported(
            "INSERT OVERWRITE: TRUNCATE the table first, or write UPSERT for rows with the same keys",
        ));
    }
    if replaces(insert, kind) {
        return match &insert.on {
            None => Ok(OnExisting::Replace),
            Some(_) => Err(Error::invalid(
                "UPSERT, REPLACE and OR REPLACE store over a row that exists, and ON CONFLICT says what else becomes of it: write INSERT with ON CONFLICT",
            )),
        };
    }
    if insert.ignore || insert.or == Some(ast::SqliteOnConflict::Ignore) {
        return Ok(OnExisting::Keep);
    }
    match &insert.on {
        None => Ok(OnExisting::Fail),
        Some(ast::OnInsert::OnConflict(conflict))
            if conflict.action == ast::OnConflictAction::DoNothing =>
        {
            Ok(OnExisting::Keep)
        }
        // What exists is changed by whoever reads the clause.
        Some(ast::OnInsert::OnConflict(_)) => Ok(OnExisting::Keep),
        Some(_) => Err(Error::unsupported("write ON CONFLICT DO UPDATE SET, as PostgreSQL has it")),
    }
}

/// The names of the columns that the source gives, in its order.
fn columns(insert: &ast::Insert, schema: &TableSchema) -> Result<Vec<String>> {
    if insert.columns.is_empty() {
        return Ok(schema.columns.iter().map(|column| column.name.clone()).collect());
    }
    let mut columns = Vec::<String>::new();
    for name in &insert.columns {
        let place = schema.require_column(&path_of(name)?).map_err(|error| at_name(error, name))?;
        let column = &schema.columns[place].name;
        if columns.contains(column) {
            return Err(at_name(
                Error::invalid(format!("INSERT names column '{column}' twice")),
                name,
            ));
        }
        columns.push(column.clone());
    }
    Ok(columns)
}

/// The error at the place of a name.
fn at_name(error: Error, name: &impl Spanned) -> Error {
    let place = name.span().start;
    error.at(format_args!("line {}, column {}", place.line, place.column))
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
    // Rows that the store numbers go to it as they are: they have no number yet.
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
        // A row that was overtaken was written just before somebody else's.
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

/// The path that a name in a statement stands for.
fn path_of(name: &ast::ObjectName) -> Result<String> {
    let part = |part: &ast::ObjectNamePart| part.as_ident().map(|ident| ident.value.clone());
    let parts = name.0.iter().map(part).collect::<Option<Vec<_>>>();
    parts
        .map(|parts| parts.join("."))
        .ok_or_else(|| Error::invalid(format!("{name} is not the name of a table")))
}
