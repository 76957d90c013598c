//! `CREATE TABLE [IF NOT EXISTS] t (PRIMARY KEY (...)) [USING TTL ...] AS query`
//!
//! The table gets the columns of the query, and its rows. When these cannot all be stored the table
//! is dropped again.

use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tonnage::{AlreadyExists, ColumnType, DdlOutcome, Error, Result};

use super::insert;
use super::insert_statement::InsertStatement;
use super::returning_rows::WrittenRows;
use crate::errors::invalid_at;
use crate::planner::Planner;
use crate::session::{Access, Answer, Changes, Guard, Parameters, TableAccesses};
use crate::text::{Cursor, IsWord, Piece, StatementKind, parse, single, with_distinct_names};
use crate::views;

/// A table that is created from a query.
pub(crate) struct CreateTableAs {
    path: String,
    if_not_exists: bool,
    /// What is between the columns and the query.
    key: Vec<TokenWithSpan>,
    terms: Vec<TokenWithSpan>,
    query: Box<ast::Query>,
    end: Location,
}

impl CreateTableAs {
    /// Reads a definition, if it is one of this kind.
    pub(crate) fn read(piece: &Piece) -> Result<Option<Self>> {
        let mut cursor = Cursor::new(piece);
        if !(cursor.word("CREATE") && cursor.word("TABLE")) {
            return Ok(None);
        }
        let if_not_exists = cursor.word("IF");
        if if_not_exists && !(cursor.word("NOT") && cursor.word("EXISTS")) {
            return Ok(None);
        }
        // What has no AS is `None`: the store parses other definitions, and reports their errors.
        let Some(path) = cursor.path() else { return Ok(None) };
        let place = cursor.location();
        let key = parenthesized(&mut cursor);
        let mut terms = Vec::new();
        while let Some(token) = cursor.rest().first().filter(|_| !cursor.is_word("AS")) {
            terms.push(token.clone());
            cursor.next();
        }
        if !cursor.word("AS") {
            return Ok(None);
        }
        // Checked only now: a definition without AS has columns in its parentheses.
        if !key.first().is_word("PRIMARY") {
            return Err(invalid_at(
                place,
                "every table has a primary key: write CREATE TABLE name (PRIMARY KEY (column)) AS SELECT ...; columns get their types from the query",
            ));
        }
        let tokens = cursor.rest().to_vec();
        let kind = StatementKind::of(&tokens);
        if kind != StatementKind::Query {
            return Err(cursor.expected("a query"));
        }
        match parse(tokens, piece.end)? {
            ast::Statement::Query(query) => {
                Ok(Some(Self { path, if_not_exists, key, terms, query, end: piece.end }))
            }
            _ => Err(cursor.expected("a query")),
        }
    }

    /// The tables that it touches.
    pub(crate) fn accesses(&self) -> TableAccesses {
        let mut found = TableAccesses::default();
        found.note(&self.path, Access::Define);
        found.note(&self.path, Access::Insert);
        found.read(self.query.as_ref());
        found
    }

    /// The definition of the table, with columns as the query has them, and their names. Those of
    /// the key of the table above it has from there.
    fn table_definition(
        &self,
        planner: &Planner,
        parameters: &Parameters,
    ) -> Result<(String, Vec<String>)> {
        let query = ast::Statement::Query(self.query.clone());
        let (schema, _) = planner.describe_statement(query, parameters)?;
        let above = self.path.rsplit_once('.');
        let above = above.and_then(|(above, _)| planner.context.store.table(above).ok());
        // A child table inherits these columns, and may not declare them again.
        let is_above = |name: &str| {
            let mut keys = above.iter().flat_map(|above| above.schema().key_columns());
            keys.any(|column| column.name.eq_ignore_ascii_case(name))
        };
        let (mut parts, mut names) = (Vec::new(), Vec::new());
        // A query may give two columns of one name, a table may not. `names` lists inherited
        // columns too, for the INSERT that fills the table.
        for field in with_distinct_names(&schema).fields() {
            names.push(name(field.name()));
            if is_above(field.name()) {
                continue;
            }
            let Some(column_type) = ColumnType::of_arrow(field) else {
                return Err(Error::invalid(format!(
                    "column '{}' of the query has no type that a table can hold: cast it, for instance CAST({} AS STRING)",
                    field.name(),
                    field.name()
                )));
            };
            parts.push(format!("{} {column_type}", name(field.name())));
        }
        let text = |tokens: &[TokenWithSpan]| {
            tokens.iter().map(|token| token.token.to_string()).collect::<Vec<_>>().join(" ")
        };
        parts.push(text(&self.key));
        let exists = if self.if_not_exists { "IF NOT EXISTS " } else { "" };
        let path: Vec<String> = self.path.split('.').map(name).collect();
        let definition = format!(
            "CREATE TABLE {exists}{} ({}) {}",
            path.join("."),
            parts.join(", "),
            text(&self.terms)
        );
        Ok((definition, names))
    }
}

fn name(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// The tokens between parentheses, if they are here.
fn parenthesized(cursor: &mut Cursor) -> Vec<TokenWithSpan> {
    let (mut tokens, mut depth) = (Vec::new(), 0_i32);
    while let Some(token) = cursor.rest().first() {
        match token.token {
            Token::LParen => depth += 1,
            Token::RParen => depth -= 1,
            _ if depth == 0 => break,
            _ => {}
        }
        tokens.push(token.clone());
        cursor.next();
        if depth == 0 {
            break;
        }
    }
    if tokens.len() < 2 {
        return Vec::new();
    }
    tokens[1..tokens.len() - 1].to_vec()
}

/// Makes the table and fills it.
pub(crate) fn create_as(
    planner: &Planner,
    create: &CreateTableAs,
    parameters: &Parameters,
    guard: &Guard,
) -> Result<Answer> {
    let store = &planner.context.store;
    if create.if_not_exists && store.table(&create.path).is_ok() {
        return Ok(Answer::Changed(Changes::default()));
    }
    // The table would hide the view from the query, too, which is read once the table is there.
    if views::query_of(store, &create.path.to_ascii_lowercase())?.is_some() {
        return Err(AlreadyExists::error(format!(
            "there is a view {} already, which the table would hide: DROP VIEW first, or take another name",
            create.path
        )));
    }
    let (definition, names) = create.table_definition(planner, parameters)?;
    let made_now = match store.execute(&definition)?.pop() {
        Some(DdlOutcome::Created { new, .. }) => new,
        _ => return Err(Error::internal("a definition had no outcome")),
    };
    if !made_now {
        return Ok(Answer::Changed(Changes::default()));
    }
    let path: Vec<String> = create.path.split('.').map(name).collect();
    let path = path.join(".");
    // Each value by its name: a child table has the key of the table above first.
    let filling = format!("INSERT INTO {} ({}) SELECT NULL", name(&create.path), names.join(", "));
    let filled = single(&filling).and_then(|filling| {
        let filling = Piece { end: create.end, ..filling };
        let filling = InsertStatement::read(&filling)?.with_source(create.query.clone());
        insert::run(&filling, planner, parameters, guard, &mut WrittenRows::discarding())
    });
    match filled {
        Ok(changes) => Ok(Answer::Changed(changes)),
        Err(error) => {
            store.execute(&format!("DROP TABLE IF EXISTS {path}"))?;
            let message = format!("{}; the table was dropped again", error.message());
            Err(error.restated().with_message(message).with_source(error))
        }
    }
}
