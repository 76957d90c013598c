//! Parses simple statements from tokens.

use datafusion::sql::sqlparser::tokenizer::Token;

use super::literal::SqlLiteral;
use crate::catalog::read_path;
use crate::text::{Cursor, IsWord, Piece};

/// A simple SELECT, as it is written.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SimpleSelect {
    pub(crate) path: String,
    pub(super) items: SelectedItems,
    pub(super) filters: Vec<ColumnFilter>,
    /// Columns with whether they descend.
    pub(super) order: Vec<(String, bool)>,
    pub(super) limit: Option<SqlLiteral>,
}

/// What is selected.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum SelectedItems {
    All,
    Columns(Vec<SelectedColumn>),
    Aggregates(Vec<AggregateCall>),
}

#[derive(Clone, Debug, PartialEq)]
pub(super) struct SelectedColumn {
    pub(super) column: String,
    pub(super) alias: Option<String>,
}

/// An aggregate of a column, or of rows as such.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AggregateCall {
    pub(super) function: String,
    pub(super) column: Option<String>,
    pub(super) alias: Option<String>,
}

/// A condition on a column.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ColumnFilter {
    pub(super) column: String,
    pub(super) test: FilterTest,
}

#[derive(Clone, Debug, PartialEq)]
pub(super) enum FilterTest {
    In(Vec<SqlLiteral>),
    Low(SqlLiteral, bool),
    High(SqlLiteral, bool),
}

/// The aggregates that are carried out here.
const AGGREGATES: [&str; 12] = [
    "count",
    "sum",
    "min",
    "max",
    "avg",
    "mean",
    "stddev",
    "stddev_samp",
    "stddev_pop",
    "var_samp",
    "var_pop",
    "var",
];

/// Words that cannot be names: where one means a column or an alias the statement is something
/// else.
const RESERVED: [&str; 24] = [
    "SELECT",
    "FROM",
    "WHERE",
    "GROUP",
    "HAVING",
    "ORDER",
    "LIMIT",
    "OFFSET",
    "UNION",
    "EXCEPT",
    "INTERSECT",
    "JOIN",
    "ON",
    "AS",
    "CASE",
    "NOT",
    "NULL",
    "TRUE",
    "FALSE",
    "DISTINCT",
    "INTERVAL",
    "EXISTS",
    "CAST",
    "ALL",
];

impl SimpleSelect {
    /// The statement, when it is a simple one.
    pub(crate) fn parse(piece: &Piece) -> Option<SimpleSelect> {
        let mut cursor = Cursor::new(piece);
        let simple = select(&mut cursor)?;
        cursor.is_at_end().then_some(simple)
    }
}

fn select(cursor: &mut Cursor) -> Option<SimpleSelect> {
    cursor.word("SELECT").then_some(())?;
    let items = items(cursor)?;
    cursor.word("FROM").then_some(())?;
    let path = read_path(cursor)?;
    let filters = if cursor.word("WHERE") { filters(cursor)? } else { Vec::new() };
    let order = if cursor.word("ORDER") { order(cursor)? } else { Vec::new() };
    let limit = if cursor.word("LIMIT") { Some(SqlLiteral::parse(cursor)?) } else { None };
    Some(SimpleSelect { path, items, filters, order, limit })
}

/// The name of a column, folded.
fn column(cursor: &mut Cursor) -> Option<String> {
    match cursor.peek()? {
        token if token.is_one_of(&RESERVED) => None,
        Token::Word(_) => cursor.name().map(str::to_ascii_lowercase),
        _ => None,
    }
}

fn items(cursor: &mut Cursor) -> Option<SelectedItems> {
    if cursor.token(&Token::Mul) {
        return Some(SelectedItems::All);
    }
    let (mut columns, mut calls) = (Vec::new(), Vec::new());
    loop {
        let name = column(cursor)?;
        if cursor.token(&Token::LParen) {
            calls.push(call(cursor, name)?);
        } else {
            columns.push(SelectedColumn { column: name, alias: alias(cursor)? });
        }
        if !cursor.token(&Token::Comma) {
            break;
        }
    }
    match (columns.is_empty(), calls.is_empty()) {
        (false, true) => Some(SelectedItems::Columns(columns)),
        (true, false) => Some(SelectedItems::Aggregates(calls)),
        _ => None,
    }
}

fn call(cursor: &mut Cursor, function: String) -> Option<AggregateCall> {
    AGGREGATES.contains(&function.as_str()).then_some(())?;
    let column = if cursor.token(&Token::Mul) { None } else { Some(column(cursor)?) };
    cursor.token(&Token::RParen).then_some(())?;
    (column.is_some() || function == "count").then_some(())?;
    Some(AggregateCall { function, column, alias: alias(cursor)? })
}

/// `AS name`, or nothing; `None` when what follows is something else.
fn alias(cursor: &mut Cursor) -> Option<Option<String>> {
    if !cursor.word("AS") {
        return Some(None);
    }
    match cursor.next()? {
        Token::Word(word) if word.quote_style.is_some() => Some(Some(word.value.clone())),
        Token::Word(word) => Some(Some(word.value.to_ascii_lowercase())),
        _ => None,
    }
}

fn filters(cursor: &mut Cursor) -> Option<Vec<ColumnFilter>> {
    let mut filters = Vec::new();
    loop {
        filter(cursor, &mut filters)?;
        if !cursor.word("AND") {
            return Some(filters);
        }
    }
}

fn filter(cursor: &mut Cursor, filters: &mut Vec<ColumnFilter>) -> Option<()> {
    let column = column(cursor)?;
    let mut push = |test| filters.push(ColumnFilter { column: column.clone(), test });
    if cursor.word("IN") {
        push(FilterTest::In(list(cursor)?));
    } else if cursor.word("BETWEEN") {
        push(FilterTest::Low(SqlLiteral::parse(cursor)?, true));
        cursor.word("AND").then_some(())?;
        push(FilterTest::High(SqlLiteral::parse(cursor)?, true));
    } else {
        let operator = cursor.next()?;
        let literal = SqlLiteral::parse(cursor)?;
        push(match operator {
            Token::Eq => FilterTest::In(vec![literal]),
            Token::Gt => FilterTest::Low(literal, false),
            Token::GtEq => FilterTest::Low(literal, true),
            Token::Lt => FilterTest::High(literal, false),
            Token::LtEq => FilterTest::High(literal, true),
            _ => return None,
        });
    }
    Some(())
}

fn list(cursor: &mut Cursor) -> Option<Vec<SqlLiteral>> {
    cursor.token(&Token::LParen).then_some(())?;
    let mut literals = vec![SqlLiteral::parse(cursor)?];
    while cursor.token(&Token::Comma) {
        literals.push(SqlLiteral::parse(cursor)?);
    }
    cursor.token(&Token::RParen).then_some(literals)
}

fn order(cursor: &mut Cursor) -> Option<Vec<(String, bool)>> {
    cursor.word("BY").then_some(())?;
    let mut order = Vec::new();
    loop {
        let column = column(cursor)?;
        let descending = cursor.word("DESC");
        if !descending {
            cursor.word("ASC");
        }
        order.push((column, descending));
        if !cursor.token(&Token::Comma) {
            return Some(order);
        }
    }
}
