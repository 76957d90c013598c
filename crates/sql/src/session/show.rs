//! SHOW, DESCRIBE and EXPLAIN, as far as the store answers them.

use std::sync::Arc;

use arrow::array::{ArrayRef, RecordBatch, StringArray};
use datafusion::sql::sqlparser::tokenizer::Token;
use tonnage::{Error, Index, Result, Store, TableSchema};

use super::named_table::NamedTable;
use super::table_access::{Access, Accesses, TableAccesses};
use crate::catalog::indexes;
use crate::statistics::{self, list_statistics};
use crate::text::{Cursor, Piece};
use crate::views;

/// A SHOW, or the DESCRIBE of a table, parsed.
pub(crate) enum ShowStatement {
    /// The setting of a name, or all.
    Setting(String),
    /// SHOW FUNCTIONS, of a pattern.
    Functions(Option<String>),
    Catalog(CatalogList),
}

/// Lists of the catalog.
pub(crate) enum CatalogList {
    Tables,
    Views,
    /// SHOW COLUMNS
    Columns(NamedTable),
    /// DESCRIBE
    Description(NamedTable),
    /// SHOW CREATE TABLE
    Definition(NamedTable),
    /// Indexes of a table, or of all.
    Indexes(Option<NamedTable>),
    /// What ANALYZE found of a table, or of all.
    Statistics(Option<NamedTable>),
}

impl ShowStatement {
    /// Reads `SHOW TABLES`, `SHOW VIEWS`, `SHOW COLUMNS FROM t`, `SHOW INDEXES [FROM t]`,
    /// `SHOW STATISTICS [FROM t]`, `SHOW CREATE TABLE t`, `SHOW FUNCTIONS [LIKE pattern]`,
    /// `SHOW setting` and `DESCRIBE [TABLE] t`.
    ///
    /// # Errors
    /// `Invalid` for something else, with the position.
    pub(crate) fn read(piece: &Piece) -> Result<Self> {
        let mut cursor = Cursor::new(piece);
        if !cursor.word("SHOW") {
            cursor.next();
            cursor.word("TABLE");
            return table(&mut cursor).map(CatalogList::Description).map(Self::Catalog);
        }
        if cursor.word("FUNCTIONS") {
            return pattern(&mut cursor).map(Self::Functions);
        }
        if let Some(list) = CatalogList::read(&mut cursor)? {
            return Ok(Self::Catalog(list));
        }
        let mut name = cursor.clone();
        match setting(&mut name) {
            Some(name) => Ok(Self::Setting(name)),
            None => Err(cursor.expected(
                "TABLES, VIEWS, COLUMNS FROM, INDEXES, STATISTICS, FUNCTIONS, CREATE TABLE or the name of a \
                 setting",
            )),
        }
    }

    /// The tables that it touches.
    pub(crate) fn accesses(&self) -> Accesses {
        match self {
            Self::Setting(_) | Self::Functions(_) => Accesses::Public,
            Self::Catalog(list) => Accesses::Tables(list.accesses()),
        }
    }
}

impl CatalogList {
    /// Reads what follows SHOW, if it is a list of the catalog.
    fn read(cursor: &mut Cursor) -> Result<Option<Self>> {
        Ok(Some(if cursor.word("TABLES") {
            cursor.end()?;
            Self::Tables
        } else if cursor.word("VIEWS") {
            cursor.end()?;
            Self::Views
        } else if cursor.word("COLUMNS") {
            if !cursor.word("FROM") && !cursor.word("IN") {
                return Err(cursor.expected("FROM"));
            }
            Self::Columns(table(cursor)?)
        } else if cursor.word("INDEXES") || cursor.word("INDEX") {
            Self::Indexes(table_behind_from(cursor)?)
        } else if cursor.word("STATISTICS") {
            Self::Statistics(table_behind_from(cursor)?)
        } else if cursor.word("CREATE") {
            cursor.expect_word("TABLE")?;
            Self::Definition(table(cursor)?)
        } else {
            return Ok(None);
        }))
    }

    fn accesses(&self) -> TableAccesses {
        let mut found = TableAccesses::default();
        match self {
            Self::Tables | Self::Views => found.note_information("tables"),
            Self::Columns(table)
            | Self::Definition(table)
            | Self::Indexes(Some(table))
            | Self::Statistics(Some(table)) => found.note(&table.path, Access::Read),
            Self::Description(table) => found.note(&table.path, Access::Describe),
            Self::Indexes(None) => found.note_information("statistics"),
            // The ends of columns are values of their tables.
            Self::Statistics(None) => found.note(statistics::TABLE, Access::Read),
        }
        found
    }

    /// The rows that it gives.
    pub(crate) fn rows(&self, store: &Store) -> Result<RecordBatch> {
        match self {
            Self::Tables => {
                let tables = store.tables();
                let paths = tables.iter().map(|table| table.path().to_owned());
                texts([("table", paths.collect())])
            }
            Self::Views => {
                let (names, queries) = views::all_views(store)?.into_iter().unzip();
                texts([("view", names), ("query", queries)])
            }
            Self::Columns(table) | Self::Description(table) => {
                describe_table(table.table(store)?.schema())
            }
            Self::Definition(table) => {
                let table = table.table(store)?;
                let schema = table.schema();
                let (path, statement) = (schema.path.clone(), schema.to_ddl());
                texts([("table", vec![path]), ("statement", vec![statement])])
            }
            Self::Indexes(table) => list_indexes(store, path_of(table.as_ref(), store)?.as_deref()),
            Self::Statistics(table) => {
                list_statistics(store, path_of(table.as_ref(), store)?.as_deref())
            }
        }
    }
}

/// Reads a table, which ends the statement.
fn table(cursor: &mut Cursor) -> Result<NamedTable> {
    let table = NamedTable::read(cursor)?;
    cursor.end().map(|()| table)
}

/// Reads the table after FROM, if one is named.
fn table_behind_from(cursor: &mut Cursor) -> Result<Option<NamedTable>> {
    match cursor.word("FROM") || cursor.word("IN") || cursor.word("ON") {
        true => table(cursor).map(Some),
        false => cursor.end().map(|()| None),
    }
}

/// The path of a table that is named, as the store has it.
fn path_of(table: Option<&NamedTable>, store: &Store) -> Result<Option<String>> {
    table.map(|table| table.table(store).map(|table| table.path().to_owned())).transpose()
}

/// The name of a setting, which ends the statement.
fn setting(cursor: &mut Cursor) -> Option<String> {
    if cursor.word("TIME") && cursor.word("ZONE") {
        return Some("timezone".to_owned());
    }
    let name = cursor.name()?.to_ascii_lowercase();
    cursor.is_at_end().then_some(name)
}

/// `[LIKE 'json%']`
fn pattern(cursor: &mut Cursor) -> Result<Option<String>> {
    if !cursor.word("LIKE") {
        return cursor.end().map(|()| None);
    }
    let Some(Token::SingleQuotedString(pattern)) = cursor.peek() else {
        return Err(cursor.expected("a pattern such as 'json%'"));
    };
    cursor.next();
    cursor.end().map(|()| Some(pattern.to_ascii_lowercase()))
}

/// A table, column by column.
fn describe_table(schema: &TableSchema) -> Result<RecordBatch> {
    let of_each =
        |tell: &dyn Fn(usize) -> String| (0..schema.columns.len()).map(tell).collect::<Vec<_>>();
    texts([
        ("column", of_each(&|index| schema.columns[index].name.clone())),
        ("type", of_each(&|index| schema.columns[index].column_type.to_string())),
        (
            "nullable",
            of_each(&|index| if schema.columns[index].nullable { "yes" } else { "no" }.to_owned()),
        ),
        ("key", of_each(&|index| key_part(schema, index).to_owned())),
        ("default", of_each(&|index| schema.columns[index].default_text().unwrap_or_default())),
    ])
}

/// The indexes of a table, or of all, one by one.
fn list_indexes(store: &Store, of_table: Option<&str>) -> Result<RecordBatch> {
    let mut indexes = indexes(store);
    indexes.retain(|index| of_table.is_none_or(|path| path == index.table_path()));
    let of_each = |tell: &dyn Fn(&Index) -> String| indexes.iter().map(tell).collect::<Vec<_>>();
    let columns = |index: &Index| {
        let columns = index.columns().iter().map(ToString::to_string);
        columns.collect::<Vec<_>>().join(", ")
    };
    texts([
        ("table", of_each(&|index| index.table_path().to_owned())),
        ("index", of_each(&|index| index.name().to_owned())),
        ("columns", of_each(&columns)),
        ("ready", of_each(&|index| if index.is_ready() { "yes" } else { "no" }.to_owned())),
    ])
}

fn key_part(schema: &TableSchema, column: usize) -> &'static str {
    match schema.key_position(column) {
        Some(position) if position < schema.shard_key_len => "shard",
        Some(_) => "minor",
        None => "",
    }
}

/// A plan as EXPLAIN gives it.
pub(crate) fn plan(text: &str) -> Result<RecordBatch> {
    row("direct", text)
}

/// A row of EXPLAIN.
pub(crate) fn row(plan_type: &str, text: &str) -> Result<RecordBatch> {
    texts([("plan_type", vec![plan_type.to_owned()]), ("plan", vec![text.to_owned()])])
}

pub(crate) fn texts<const N: usize>(columns: [(&str, Vec<String>); N]) -> Result<RecordBatch> {
    let columns =
        columns.map(|(name, texts)| (name, Arc::new(StringArray::from(texts)) as ArrayRef));
    RecordBatch::try_from_iter(columns).map_err(|error| Error::internal(error.to_string()))
}
