//! INSERT and UPSERT.
//!
//! 1. The source (VALUES or a query) is planned like any query, its columns named as the table's.
//! 2. As long as the rows fit into memory they are gathered and checked: values that do not fit,
//!    keys given twice and keys that exist are told of before anything is written.
//! 3. More rows than that are streamed into the store; then a key that exists stops the statement
//!    midway.
//! 4. Rows that RETURNING tells of, and those of DO UPDATE, are written one by one (`rows.rs`).

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{RecordBatch, RecordBatchOptions, new_null_array};
use arrow::compute::{filter_record_batch, is_not_null};
use arrow::datatypes::{DataType, Field, FieldRef, Schema};
use arrow::row::{RowConverter, SortField};
use datafusion::sql::sqlparser::ast::{self, Spanned};
use datafusion::sql::sqlparser::tokenizer::TokenWithSpan;
use tonnage::{
    BulkGetOptions, BulkPutOptions, ColumnType, Counts, Error, ErrorKind, KeySource, OnExisting,
    Result, Row, Table, TableSchema, record_batch_stream,
};

use super::conflict::Conflict;
use super::keys::exists;
use super::returned::Written;
use super::rows::Inserting;
use super::stopped::stopped;
use super::tokens::word;
use crate::answer::{Changes, Rows};
use crate::catalog::{Names, Target};
use crate::guard::Guard;
use crate::planner::Planner;
use crate::request::Parameters;
use crate::text::{Kind, Piece, as_double, double, parse, signed};

/// Rows that are gathered before anything is written.
const GATHERED_ROWS_MAX: usize = 100_000;
/// Their bytes.
const GATHERED_BYTES_MAX: usize = 64 << 20;

/// An INSERT or UPSERT, with its table found and its columns named.
pub(crate) struct Insertion {
    pub(crate) table: Table,
    pub(crate) columns: Vec<String>,
    pub(crate) source: Box<ast::Query>,
    /// Another name of the table.
    pub(crate) alias: Option<String>,
    on_existing: OnExisting,
}

/// Reads an INSERT or UPSERT.
///
/// # Errors
/// `Invalid` for something else, `NotFound` for its table, with their places.
pub(crate) fn insertion(planner: &Planner, piece: &Piece) -> Result<Insertion> {
    let ast::Statement::Insert(insert) = piece.parse()? else {
        return Err(Error::invalid(
            "expected INSERT INTO table [(columns)] VALUES (...) or a query",
        ));
    };
    let on_existing = on_existing(&insert, piece.kind)?;
    let ast::TableObject::TableName(name) = &insert.table else {
        return Err(Error::unsupported("INSERT INTO takes the name of a table"));
    };
    let table =
        planner.context.store.table(&path_of(name)?).map_err(|error| at_name(error, name))?;
    let columns = columns(&insert, table.schema())?;
    let Some(source) = insert.source else {
        return Err(Error::unsupported("INSERT without VALUES or a query"));
    };
    let alias = insert.table_alias.map(|alias| alias.alias.value.to_ascii_lowercase());
    Ok(Insertion { table, columns, source, alias, on_existing })
}

pub(super) fn run(
    planner: &Planner,
    piece: &Piece,
    parameters: &Parameters,
    guard: &Guard,
    written: &mut Written,
) -> Result<Changes> {
    let Insertion { table, columns, mut source, alias, on_existing } = insertion(planner, piece)?;
    let conflict = Conflict::read(piece, table.schema())?;
    let mut state = planner.state(guard);
    if let ast::SetExpr::Values(values) = source.body.as_mut() {
        state.config_mut().options_mut().sql_parser.parse_float_as_decimal =
            settle_doubles(values, &columns, table.schema())?;
    }
    let target = Target::Filled { path: table.path().to_owned() };
    state.register_catalog_list(Arc::new(Names::changing(planner.context.clone(), target)));
    let rows = planner.rows_of(state, ast::Statement::Query(source), parameters, guard.clone())?;
    let source = RowSource { rows, columns, schema: table.schema().clone() };
    if !written.tells_rows() && conflict.is_none() {
        return write(planner, &table, source, on_existing, guard);
    }
    let batches = gathered(planner, &table, source)?;
    if on_existing == OnExisting::Fail {
        refuse_existing(&table, &batches)?;
    }
    let inserting = Inserting {
        planner,
        table: &table,
        alias,
        on_existing,
        conflict: conflict.as_ref(),
        parameters,
        guard,
        piece,
        changes: Changes::default(),
        met: Vec::new(),
        keys_met: HashSet::new(),
    };
    inserting.check()?;
    inserting.run(&batches, written)
}

/// All rows of a statement that writes them one by one, as they came and as they fit.
fn gathered(
    planner: &Planner,
    table: &Table,
    source: RowSource,
) -> Result<Vec<(RecordBatch, RecordBatch)>> {
    let bytes_max = planner.context.options.memory_bytes_max / 4;
    let (mut batches, mut rows, mut bytes) = (Vec::new(), 0, 0);
    for batch in source {
        let batch = batch?;
        let fitting = fitting(table, &batch, rows)?;
        rows += fitting.num_rows();
        bytes += fitting.get_array_memory_size();
        if bytes > bytes_max {
            return Err(Error::exhausted(format!(
                "INSERT with RETURNING or DO UPDATE gathers its rows, and they take more than {bytes_max} bytes: raise memory_bytes_max, or insert fewer at once"
            )));
        }
        batches.push((batch, fitting));
    }
    Ok(batches)
}

/// How an INSERT gets its rows.
pub(super) fn explained(
    planner: &Planner,
    piece: &Piece,
    explain: &[TokenWithSpan],
    parameters: &Parameters,
    guard: &Guard,
) -> Result<(String, Rows)> {
    let Insertion { table, source, on_existing, .. } = insertion(planner, piece)?;
    let conflict = Conflict::read(piece, table.schema())?;
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

fn on_existing(insert: &ast::Insert, kind: Kind) -> Result<OnExisting> {
    if insert.replace_into
        || kind == Kind::Upsert
        || insert.or == Some(ast::SqliteOnConflict::Replace)
    {
        return Ok(OnExisting::Replace);
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

/// Makes doubles of what goes into columns of such: brought to one type with decimals and among
/// each other, values might lose digits. Tells whether what is left may be decimals.
fn settle_doubles(
    values: &mut ast::Values,
    columns: &[String],
    schema: &TableSchema,
) -> Result<bool> {
    let types =
        columns.iter().map(|name| Ok(schema.columns[schema.require_column(name)?].column_type));
    let types = types.collect::<Result<Vec<_>>>()?;
    let cells = || values.rows.iter().flat_map(|row| row.content.iter().zip(&types));
    if !types.iter().any(|column_type| matches!(column_type, ColumnType::Number { .. }))
        && cells().all(|(cell, _)| is_plain(cell))
    {
        return Ok(false);
    }
    for row in &mut values.rows {
        for (cell, column_type) in row.content.iter_mut().zip(&types) {
            if matches!(column_type, ColumnType::Double | ColumnType::Float) {
                settle_double(cell);
            }
        }
    }
    for (place, column_type) in types.iter().enumerate() {
        if matches!(column_type, ColumnType::Number { .. }) {
            settle_decimals(values, place, column_type.is_wide());
        }
    }
    Ok(true)
}

/// Makes text, which the column reads, of the literals that go into a column of decimals, if all in
/// that place are numbers: one with an exponent would make doubles of all of them, and no decimal
/// might hold the longest number of a wide column and the smallest.
fn settle_decimals(values: &mut ast::Values, place: usize, is_wide: bool) {
    let cells = || values.rows.iter().filter_map(|row| row.content.get(place));
    let is_null = |cell: &ast::Expr| {
        matches!(cell, ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Null, .. }))
    };
    let is_approximate = |cell: &ast::Expr| matches!(signed(cell), ast::Expr::Cast { .. });
    if !(is_wide || cells().any(is_approximate))
        || !cells().all(|cell| is_null(cell) || digits_of(cell).is_some())
    {
        return;
    }
    for cell in values.rows.iter_mut().filter_map(|row| row.content.get_mut(place)) {
        if let Some(digits) = digits_of(cell) {
            *cell = ast::Expr::value(ast::Value::SingleQuotedString(digits));
        }
    }
}

/// What is written of a number, also of one that was made a double.
fn digits_of(cell: &ast::Expr) -> Option<String> {
    let literal = |expr: &ast::Expr| match expr {
        ast::Expr::Value(ast::ValueWithSpan { value, .. }) => Some(value.clone()),
        _ => None,
    };
    let digits = match signed(cell) {
        ast::Expr::Cast { expr, data_type: ast::DataType::DoublePrecision, .. } => {
            match literal(expr)? {
                ast::Value::SingleQuotedString(digits) => digits,
                _ => return None,
            }
        }
        number => match literal(number)? {
            ast::Value::Number(digits, _) => digits,
            _ => return None,
        },
    };
    let is_negative = matches!(cell, ast::Expr::UnaryOp { op: ast::UnaryOperator::Minus, .. });
    Some(format!("{}{}", if is_negative { "-" } else { "" }, digits.replace('_', "")))
}

/// Whether a cell is one literal.
fn is_plain(cell: &ast::Expr) -> bool {
    matches!(signed(cell), ast::Expr::Value(_) | ast::Expr::TypedString(_))
}

fn settle_double(cell: &mut ast::Expr) {
    let number = |expr: &ast::Expr| {
        matches!(expr, ast::Expr::Value(ast::ValueWithSpan { value: ast::Value::Number(..), .. }))
    };
    let written = match signed(cell) {
        found if number(found) => double(cell.to_string()),
        ast::Expr::Value(_) | ast::Expr::TypedString(_) | ast::Expr::Cast { .. } => return,
        _ => as_double(std::mem::replace(cell, ast::Expr::value(ast::Value::Null))),
    };
    *cell = written;
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
fn at_name(error: Error, name: &ast::ObjectName) -> Error {
    let place = name.span().start;
    error.at(format_args!("line {}, column {}", place.line, place.column))
}

/// The rows of the source under the names of the table's columns.
struct RowSource {
    rows: Rows,
    columns: Vec<String>,
    schema: Arc<TableSchema>,
}

impl Iterator for RowSource {
    type Item = Result<RecordBatch>;

    fn next(&mut self) -> Option<Self::Item> {
        let batch = match self.rows.next()? {
            Ok(batch) => batch,
            Err(error) => return Some(Err(error)),
        };
        Some(named(&batch, &self.columns, &self.schema))
    }
}

fn named(batch: &RecordBatch, columns: &[String], schema: &TableSchema) -> Result<RecordBatch> {
    // VALUES that are shorter than the table fill its first columns.
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
        if *field.data_type() == DataType::Null {
            let own = schema.columns[schema.require_column(name)?].to_arrow().with_nullable(true);
            arrays.push(new_null_array(own.data_type(), batch.num_rows()));
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

fn write(
    planner: &Planner,
    table: &Table,
    mut source: RowSource,
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
        durability: planner.context.options.durability,
        errors_max: tonnage::bulk::put::ErrorsMax::Count(0),
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
        .bulk_put(vec![record_batch_stream("INSERT", table.path(), batches)], &options);
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
            Err(stopped(error, changes))
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

/// A key that is given twice, or exists, is an error before anything is written. Keys that the store
/// is still to number are not known.
fn refuse_existing(table: &Table, batches: &[(RecordBatch, RecordBatch)]) -> Result<()> {
    let schema = table.schema();
    let broken = |error: arrow::error::ArrowError| Error::internal(error.to_string());
    let numbered = schema.identity_column().filter(|column| schema.is_key(*column));
    let keys = batches.iter().map(|(given, fitting)| {
        let keys = fitting.project(&schema.key).map_err(broken)?;
        let Some(identity) = numbered else { return Ok(keys) };
        let name = &schema.columns[identity].name;
        let is_own = |field: &FieldRef| field.name().eq_ignore_ascii_case(name);
        match given.schema_ref().fields().iter().position(is_own) {
            None => Ok(keys.slice(0, 0)),
            Some(column) => {
                let is_known = is_not_null(given.column(column)).map_err(broken)?;
                filter_record_batch(&keys, &is_known).map_err(broken)
            }
        }
    });
    let keys = keys.collect::<Result<Vec<_>>>()?;
    refuse_duplicates(schema, &keys)?;
    let options = BulkGetOptions { keys_only: true, ..BulkGetOptions::default() };
    let mut existing = table.bulk_get(KeySource::from(keys), &options)?;
    match existing.next().transpose()? {
        Some(found) => Err(exists(
            schema,
            &Row::from_batch(&found.rows, 0)?,
            "exists already: nothing was inserted",
        )),
        None => Ok(()),
    }
}

fn refuse_duplicates(schema: &TableSchema, keys: &[RecordBatch]) -> Result<()> {
    let broken = |error: arrow::error::ArrowError| Error::internal(error.to_string());
    let fields =
        schema.key_columns().map(|column| SortField::new(column.column_type.data_type())).collect();
    let converter = RowConverter::new(fields).map_err(broken)?;
    let mut seen = HashSet::new();
    for batch in keys {
        let rows = converter.convert_columns(batch.columns()).map_err(broken)?;
        if let Some(twice) = (0..rows.num_rows()).find(|row| !seen.insert(rows.row(*row).owned())) {
            return Err(exists(
                schema,
                &Row::from_batch(batch, twice)?,
                "is given twice: nothing was inserted",
            ));
        }
    }
    Ok(())
}

/// The path that a name in a statement stands for.
fn path_of(name: &ast::ObjectName) -> Result<String> {
    let part = |part: &ast::ObjectNamePart| part.as_ident().map(|ident| ident.value.clone());
    let parts = name.0.iter().map(part).collect::<Option<Vec<_>>>();
    parts
        .map(|parts| parts.join("."))
        .ok_or_else(|| Error::invalid(format!("{name} is not the name of a table")))
}
