//! Statements.

use sqlparser::tokenizer::{Location, Token};
use tonnage_engine::{Error, Result};

use super::column::column;
use super::cursor::Cursor;
use crate::TableDefinition;
use crate::index::{IndexColumn, IndexDefinition};
use crate::schema::Change;

const UNIQUE: &str =
    "UNIQUE indexes are not offered: only the primary key is unique; make it an INDEX";

const QUERIES: [&str; 13] = [
    "SELECT", "INSERT", "UPDATE", "DELETE", "UPSERT", "MERGE", "WITH", "VALUES", "EXPLAIN",
    "BEGIN", "COMMIT", "ROLLBACK", "TRUNCATE",
];

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Statement {
    /// `CREATE TABLE [IF NOT EXISTS] path (column TYPE [NOT NULL] [DEFAULT literal], ..., PRIMARY KEY (SHARD(a, b), c)) [USING TTL n DAYS]`
    CreateTable {
        /// What to make.
        definition: TableDefinition,
        /// Whether a table of that name is no error.
        if_not_exists: bool,
    },
    /// `DROP TABLE [IF EXISTS] path`
    DropTable {
        /// Which.
        path: String,
        /// Whether a missing table is no error.
        if_exists: bool,
    },
    /// `ALTER TABLE path ADD [COLUMN] column TYPE ... | DROP [COLUMN] column | USING TTL n DAYS`,
    /// or several in parentheses.
    AlterTable {
        /// Which.
        path: String,
        /// What to change, carried out together.
        changes: Vec<Change>,
    },
    /// `CREATE INDEX [IF NOT EXISTS] name ON path (column, document.place, ...)`
    CreateIndex {
        /// What to make.
        definition: IndexDefinition,
        /// Whether an index of that name on the table is no error.
        if_not_exists: bool,
    },
    /// `DROP INDEX [IF EXISTS] name ON path`
    DropIndex {
        /// Which.
        name: String,
        /// Of which table.
        table: String,
        /// Whether a missing index is no error.
        if_exists: bool,
    },
    /// `SHOW TABLES`
    ShowTables,
    /// `DESCRIBE [TABLE] path`
    DescribeTable {
        /// Which.
        path: String,
    },
}

pub(super) fn statement(cursor: &mut Cursor) -> Result<Statement> {
    let location = cursor.location();
    if cursor.word("CREATE") {
        if cursor.is_word("UNIQUE") {
            return Err(cursor.error_at(cursor.location(), UNIQUE));
        }
        if cursor.word("INDEX") { create_index(cursor) } else { create_table(cursor) }
    } else if cursor.word("DROP") {
        if cursor.word("INDEX") {
            return drop_index(cursor);
        }
        cursor.expect_word("TABLE")?;
        let if_exists = if_exists(cursor)?;
        Ok(Statement::DropTable { path: cursor.path()?, if_exists })
    } else if cursor.word("ALTER") {
        cursor.expect_word("TABLE")?;
        Ok(Statement::AlterTable { path: cursor.path()?, changes: changes(cursor)? })
    } else if cursor.word("SHOW") {
        cursor.expect_word("TABLES")?;
        Ok(Statement::ShowTables)
    } else if cursor.word("DESCRIBE") || cursor.word("DESC") {
        cursor.word("TABLE");
        Ok(Statement::DescribeTable { path: cursor.path()? })
    } else if let Some(word) = QUERIES.iter().find(|word| cursor.is_word(word)) {
        let place = format!("line {}, column {}", location.line, location.column);
        Err(Error::unsupported(format!(
            "{place}: {word}: only definitions are carried out here: queries and changes go through tonnage-sql, or 'tonnage sql'"
        )))
    } else {
        Err(cursor.expected("CREATE TABLE, DROP TABLE, ALTER TABLE, CREATE INDEX, DROP INDEX, SHOW TABLES or DESCRIBE"))
    }
}

fn if_exists(cursor: &mut Cursor) -> Result<bool> {
    let found = cursor.word("IF");
    if found {
        cursor.expect_word("EXISTS")?;
    }
    Ok(found)
}

fn if_not_exists(cursor: &mut Cursor) -> Result<bool> {
    let found = cursor.word("IF");
    if found {
        cursor.expect_word("NOT")?;
        cursor.expect_word("EXISTS")?;
    }
    Ok(found)
}

fn create_index(cursor: &mut Cursor) -> Result<Statement> {
    let if_not_exists = if_not_exists(cursor)?;
    let name = cursor.name("the name of an index")?;
    cursor.expect_word("ON")?;
    let table = cursor.path()?;
    let columns = cursor.list(index_column)?;
    Ok(Statement::CreateIndex {
        definition: IndexDefinition { name, table, columns },
        if_not_exists,
    })
}

/// A column, or a place in a JSON column: names with points between them.
fn index_column(cursor: &mut Cursor) -> Result<IndexColumn> {
    let mut column = IndexColumn::new(cursor.name("a column")?);
    while cursor.token(&Token::Period) {
        column.path.push(cursor.quotable("a name in a JSON document")?);
    }
    Ok(column)
}

fn drop_index(cursor: &mut Cursor) -> Result<Statement> {
    let if_exists = if_exists(cursor)?;
    let name = cursor.name("the name of an index")?;
    cursor.expect_word("ON")?;
    Ok(Statement::DropIndex { name, table: cursor.path()?, if_exists })
}

fn create_table(cursor: &mut Cursor) -> Result<Statement> {
    cursor.expect_word("TABLE")?;
    let if_not_exists = if_not_exists(cursor)?;
    let path = cursor.path()?;
    let mut definition = TableDefinition {
        path,
        columns: Vec::new(),
        key: Vec::new(),
        shard_key_len: None,
        ttl_ms: None,
    };
    cursor.list(|cursor| table_item(cursor, &mut definition))?;
    if cursor.is_word("USING") {
        definition.ttl_ms = Some(ttl(cursor)?);
    }
    Ok(Statement::CreateTable { definition, if_not_exists })
}

/// A column or the primary key.
fn table_item(cursor: &mut Cursor, definition: &mut TableDefinition) -> Result<()> {
    let location = cursor.location();
    if !cursor.is_word("PRIMARY") {
        let (column, is_key) = column(cursor)?;
        if is_key {
            check_no_key(cursor, location, definition)?;
            definition.key.push(column.name.clone());
        }
        definition.columns.push(column);
        return Ok(());
    }
    check_no_key(cursor, location, definition)?;
    cursor.word("PRIMARY");
    cursor.expect_word("KEY")?;
    let mut is_first = true;
    cursor.list(|cursor| {
        if std::mem::take(&mut is_first) && cursor.is_call("SHARD") {
            cursor.word("SHARD");
            definition.key = cursor.list(|cursor| cursor.name("a key column"))?;
            definition.shard_key_len = Some(definition.key.len());
        } else {
            definition.key.push(cursor.name("a key column")?);
        }
        Ok(())
    })?;
    Ok(())
}

fn check_no_key(cursor: &Cursor, location: Location, definition: &TableDefinition) -> Result<()> {
    if definition.key.is_empty() {
        return Ok(());
    }
    Err(cursor
        .error_at(location, "the table has more than one PRIMARY KEY; name all its columns in one"))
}

/// `USING TTL n HOURS | DAYS`, in milliseconds.
fn ttl(cursor: &mut Cursor) -> Result<u64> {
    cursor.expect_word("USING")?;
    cursor.expect_word("TTL")?;
    let location = cursor.location();
    let count: u64 = cursor.whole("a number of hours or days")?;
    let hours = match () {
        () if cursor.word("HOURS") || cursor.word("HOUR") => Some(count),
        () if cursor.word("DAYS") || cursor.word("DAY") => count.checked_mul(24),
        () => return Err(cursor.expected("HOURS or DAYS")),
    };
    hours
        .and_then(|hours| hours.checked_mul(3_600_000))
        .ok_or_else(|| cursor.error_at(location, "the time to live is too long"))
}

fn changes(cursor: &mut Cursor) -> Result<Vec<Change>> {
    if cursor.is_word("USING") {
        return Ok(vec![Change::SetTtl(Some(ttl(cursor)?).filter(|ttl_ms| *ttl_ms > 0))]);
    }
    let in_parentheses = cursor.token(&Token::LParen);
    let mut changes = vec![change(cursor)?];
    while cursor.token(&Token::Comma) {
        changes.push(change(cursor)?);
    }
    if in_parentheses {
        cursor.expect(&Token::RParen)?;
    }
    Ok(changes)
}

fn change(cursor: &mut Cursor) -> Result<Change> {
    if cursor.word("ADD") {
        cursor.word("COLUMN");
        let location = cursor.location();
        let (column, is_key) = column(cursor)?;
        if is_key {
            return Err(cursor.error_at(location, "the primary key of a table cannot change"));
        }
        Ok(Change::AddColumn(column))
    } else if cursor.word("DROP") {
        cursor.word("COLUMN");
        Ok(Change::DropColumn(cursor.name("the name of a column")?))
    } else {
        Err(cursor.expected("ADD, DROP or USING TTL"))
    }
}
