//! An INSERT, UPSERT or REPLACE as it is written.

use std::borrow::Cow;
use std::sync::Arc;

use datafusion::datasource::MemTable;
use datafusion::sql::sqlparser::ast::{self, Spanned};
use datafusion::sql::sqlparser::tokenizer::{Location, TokenWithSpan};
use tonnage::{Error, OnExisting, Result, Store, Table, TableSchema};

use super::conflict::ConflictClause;
use super::defaults::with_defaults;
use super::target::ChangeTarget;
use super::tokens::quoted;
use super::values::one_row;
use crate::errors::located;
use crate::session::{Access, TableAccesses};
use crate::text::{Cursor, Piece, StatementKind, parse};

/// An INSERT, UPSERT or REPLACE, parsed.
pub(super) struct InsertStatement {
    /// With the tables of a WITH before it in its query.
    parsed: Box<ast::Insert>,
    target: ChangeTarget,
    on_existing: OnExisting,
    pub(super) conflict: Option<ConflictClause>,
    pub(super) end: Location,
}

/// The same over its table as it is now, its columns named.
pub(crate) struct BoundInsert<'a> {
    pub(crate) table: Table,
    pub(crate) columns: Vec<String>,
    pub(crate) source: Cow<'a, ast::Query>,
    /// Another name of the table.
    pub(crate) alias: Option<String>,
    pub(crate) on_existing: OnExisting,
    /// Rows of the statement's own, under a name.
    pub(crate) given: Option<(String, Arc<MemTable>)>,
}

impl InsertStatement {
    /// Reads a statement.
    ///
    /// # Errors
    /// `Invalid` for something else, with its position.
    pub(super) fn read(piece: &Piece) -> Result<Self> {
        let (with, statement) = piece.without_with();
        let mut cursor = Cursor::new(&statement);
        cursor.next();
        if cursor.word("OR") {
            cursor.next();
        }
        for word in ["OVERWRITE", "INTO", "TABLE"] {
            cursor.word(word);
        }
        let (before, span) = (statement.tokens.len() - cursor.rest().len(), cursor.span());
        let target = ChangeTarget::read(&mut cursor)?;
        // One name in quotes: the parser need not know catalogs and deep paths.
        let name = TokenWithSpan { span, ..quoted(&target.path) };
        let tokens = [&with[..], &statement.tokens[..before], &[name][..], cursor.rest()].concat();
        let parsed = Box::new(insert_of(parse(tokens, piece.end)?)?);
        let on_existing = on_existing(&parsed, piece.kind)?;
        let conflict = match &parsed.on {
            Some(_) => Some(ConflictClause::read(piece)?),
            None => None,
        };
        Ok(Self { parsed, target, on_existing, conflict, end: piece.end })
    }

    /// What it does to its table, and what it reads.
    pub(super) fn accesses(&self, returned: Option<&ast::Statement>) -> TableAccesses {
        let mut found = TableAccesses::default();
        found.note(&self.target.path, Access::Insert);
        let update = do_update(&self.parsed);
        if update.is_some() || self.on_existing == OnExisting::Replace {
            found.note(&self.target.path, Access::Update);
        }
        // Rows that were there come out: of RETURNING, and of expressions over them.
        if update.is_some() || returned.is_some() {
            found.note(&self.target.path, Access::Read);
        }
        update.into_iter().for_each(|update| found.read(update));
        returned.into_iter().for_each(|returned| found.read(returned));
        self.parsed.source.iter().for_each(|source| found.read(source.as_ref()));
        found
    }

    /// The statement over its table.
    ///
    /// # Errors
    /// `NotFound` for the table, `Invalid` for a column, with their positions.
    pub(super) fn bind(&self, store: &Store) -> Result<BoundInsert<'_>> {
        let table = self.target.table(store)?;
        let mut columns = columns(&self.parsed, table.schema())?;
        let source = match &self.parsed.source {
            Some(source) => with_defaults(source, &mut columns, table.schema())?,
            // DEFAULT VALUES: one row that gives nothing.
            None => {
                columns.clear();
                Cow::Owned(*one_row()?)
            }
        };
        let alias = self.parsed.table_alias.as_ref();
        let alias = alias.map(|alias| alias.alias.value.to_ascii_lowercase());
        let on_existing = self.on_existing;
        Ok(BoundInsert { table, columns, source, alias, on_existing, given: None })
    }

    /// The same with another source.
    pub(super) fn with_source(mut self, source: Box<ast::Query>) -> Self {
        self.parsed.source = Some(source);
        self
    }
}

/// The INSERT that a statement is.
fn insert_of(parsed: ast::Statement) -> Result<ast::Insert> {
    let other = || Error::invalid("expected INSERT INTO table [(columns)] VALUES (...) or a query");
    match parsed {
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

/// What becomes of rows that exist, where some columns of them are set.
fn do_update(insert: &ast::Insert) -> Option<&ast::DoUpdate> {
    match &insert.on {
        Some(ast::OnInsert::OnConflict(ast::OnConflict {
            action: ast::OnConflictAction::DoUpdate(update),
            ..
        })) => Some(update),
        _ => None,
    }
}

fn on_existing(insert: &ast::Insert, kind: StatementKind) -> Result<OnExisting> {
    // Hive and Spark empty the table first: `Replace` would leave rows with other keys.
    if insert.overwrite {
        return Err(Error::unsupported(
            "INSERT OVERWRITE: TRUNCATE the table first, or write UPSERT for rows with the same keys",
        ));
    }
    if insert.partitioned.is_some() {
        return Err(Error::unsupported("PARTITION in INSERT: name the columns, and give values"));
    }
    if insert.output.is_some() {
        return Err(Error::unsupported("OUTPUT in INSERT: write RETURNING after the rows"));
    }
    let replaces = kind == StatementKind::Upsert
        || insert.replace_into
        || insert.or == Some(ast::SqliteOnConflict::Replace);
    match &insert.on {
        None if replaces => Ok(OnExisting::Replace),
        Some(_) if replaces => {
            Err(Error::invalid("ON CONFLICT cannot be combined with UPSERT or REPLACE"))
        }
        _ if insert.ignore || insert.or == Some(ast::SqliteOnConflict::Ignore) => {
            Ok(OnExisting::Keep)
        }
        None => Ok(OnExisting::Fail),
        // DO UPDATE reads the rows that are kept.
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

/// The error at the position of a name.
fn at_name(error: Error, name: &impl Spanned) -> Error {
    located(error, name.span().start)
}

/// The path of a name in a statement.
fn path_of(name: &ast::ObjectName) -> Result<String> {
    let part = |part: &ast::ObjectNamePart| part.as_ident().map(|ident| ident.value.clone());
    let parts = name.0.iter().map(part).collect::<Option<Vec<_>>>();
    parts
        .map(|parts| parts.join("."))
        .ok_or_else(|| Error::invalid(format!("{name} is not the name of a table")))
}
