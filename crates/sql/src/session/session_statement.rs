//! Statements that change nothing but the session: SET, RESET, USE, PREPARE, DEALLOCATE; EXECUTE;
//! and VACUUM and CHECKPOINT, which other databases need more than this one.

use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Location, Token, TokenWithSpan};
use tonnage::Result;

use super::named_table::NamedTable;
use crate::errors::invalid_at;
use crate::text::{Cursor, IsWord, Piece, StatementKind, parse};
use crate::write::word;

/// A statement that changes the session, parsed.
pub(crate) enum SessionStatement {
    /// The statement is parsed when it is kept.
    Prepare {
        name: String,
        statement: Piece,
    },
    /// Of a name, or all.
    Deallocate(String),
    /// The value and its position; none for DEFAULT.
    Set {
        name: String,
        value: Option<(String, Location)>,
    },
    Reset(String),
    /// There is one store to use, so its names change nothing.
    Use(String),
    Checkpoint,
    /// Nothing to do, if the table exists.
    Vacuum(Option<NamedTable>),
}

impl SessionStatement {
    /// Reads a statement.
    ///
    /// # Errors
    /// `Invalid` for something else, with its position.
    pub(crate) fn read(piece: &Piece) -> Result<Self> {
        let mut cursor = Cursor::new(piece);
        if cursor.word("PREPARE") {
            // The statement takes all tokens that are left.
            return prepare(&mut cursor, piece.end);
        }
        let statement = if cursor.word("DEALLOCATE") {
            // PostgreSQL takes this word here, and ignores it.
            cursor.word("PREPARE");
            Self::Deallocate(name(&mut cursor, "the name of a prepared statement")?)
        } else if cursor.word("SET") {
            set(&mut cursor)?
        } else if cursor.word("RESET") {
            Self::Reset(setting(&mut cursor)?)
        } else if cursor.word("USE") {
            let place = cursor.location();
            let name = name(&mut cursor, "the name of a database")?;
            if !["tonnage", "public"].contains(&name.as_str()) {
                let told = "a session has one store, which is called tonnage";
                return Err(invalid_at(place, told));
            }
            Self::Use(name)
        } else if cursor.word("CHECKPOINT") {
            Self::Checkpoint
        } else {
            cursor.expect_word("VACUUM")?;
            vacuum(&mut cursor)?
        };
        cursor.end().map(|()| statement)
    }
}

/// `PREPARE name [(types)] AS statement`. The types are skipped: the statement determines them.
fn prepare(cursor: &mut Cursor, end: Location) -> Result<SessionStatement> {
    let name = name(cursor, "a name for the statement")?;
    skip_parentheses(cursor);
    cursor.expect_word("AS")?;
    let tokens = cursor.rest().to_vec();
    let kind = StatementKind::of(&tokens);
    // EXECUTE is not among them, so that a prepared statement never runs another.
    if !matches!(
        kind,
        StatementKind::Query
            | StatementKind::Insert
            | StatementKind::Upsert
            | StatementKind::Update
            | StatementKind::Delete
            | StatementKind::Merge
    ) {
        return Err(cursor.expected("SELECT, INSERT, UPSERT, UPDATE, DELETE or MERGE"));
    }
    let statement = Piece { tokens: tokens.into(), kind, end }.with_insert();
    Ok(SessionStatement::Prepare { name, statement })
}

/// `[SESSION] name = value`, `name TO value`, `TIME ZONE value`
fn set(cursor: &mut Cursor) -> Result<SessionStatement> {
    // SET LOCAL ends with the transaction: kept for the session it would outlast that.
    if cursor.peek().is_one_of(&["LOCAL", "TRANSACTION"]) {
        return Err(invalid_at(
            cursor.location(),
            "settings hold for the session: leave LOCAL or TRANSACTION out",
        ));
    }
    cursor.word("SESSION");
    let name = setting(cursor)?;
    if !(cursor.token(&Token::Eq) || cursor.word("TO") || name == "timezone") {
        return Err(cursor.expected("'=' or TO"));
    }
    if cursor.is_at_end() {
        return Err(cursor.expected("a value"));
    }
    let (is_default, place) = (cursor.is_word("DEFAULT"), cursor.location());
    let mut value = String::new();
    while let Some(token) = cursor.next() {
        match token {
            Token::SingleQuotedString(text) => value.push_str(text),
            other => value.push_str(&other.to_string()),
        }
    }
    // Blanks are not tokens: a list gets one back after each comma, as `settings.rs` writes its
    // values.
    let value = (!is_default).then(|| (value.replace(',', ", "), place));
    Ok(SessionStatement::Set { name, value })
}

/// `[words] [table]`
fn vacuum(cursor: &mut Cursor) -> Result<SessionStatement> {
    skip_parentheses(cursor);
    while ["FULL", "FREEZE", "VERBOSE"].iter().any(|word| cursor.word(word)) {}
    let table = if cursor.is_at_end() { None } else { Some(NamedTable::read(cursor)?) };
    Ok(SessionStatement::Vacuum(table))
}

/// The name of a setting, in lower case.
fn setting(cursor: &mut Cursor) -> Result<String> {
    if cursor.word("TIME") {
        return cursor.expect_word("ZONE").map(|()| "timezone".to_owned());
    }
    name(cursor, "the name of a setting")
}

fn name(cursor: &mut Cursor, what: &str) -> Result<String> {
    cursor.expect_name(what).map(str::to_ascii_lowercase)
}

fn skip_parentheses(cursor: &mut Cursor) {
    if cursor.token(&Token::LParen) {
        while !matches!(cursor.next(), Some(Token::RParen) | None) {}
    }
}

/// `EXECUTE name [(value, ...)]`, parsed.
pub(crate) struct ExecuteStatement {
    pub(crate) name: String,
    pub(crate) values: ExecutedValues,
}

/// The values of the parameters of a prepared statement.
pub(crate) enum ExecutedValues {
    /// Those that are bound to the call: a driver writes none.
    Bound,
    None,
    /// Any expressions, as a query of one row.
    Written(Box<ast::Statement>),
}

impl ExecuteStatement {
    /// Reads a statement.
    ///
    /// # Errors
    /// `Invalid` for something else, with its position.
    pub(crate) fn read(piece: &Piece) -> Result<Self> {
        let mut cursor = Cursor::new(piece);
        cursor.next();
        let name = name(&mut cursor, "the name of a prepared statement")?;
        if cursor.is_at_end() {
            return Ok(Self { name, values: ExecutedValues::Bound });
        }
        if !cursor.token(&Token::LParen) {
            return Err(cursor.expected("its values in parentheses"));
        }
        let place = cursor.location();
        let Some((TokenWithSpan { token: Token::RParen, .. }, values)) = cursor.rest().split_last()
        else {
            return Err(cursor.expected("values up to ')'"));
        };
        if values.is_empty() {
            return Ok(Self { name, values: ExecutedValues::None });
        }
        let tokens = std::iter::once(word("SELECT")).chain(values.iter().cloned()).collect();
        let parsed = parse(tokens, piece.end)?;
        if !is_row(&parsed) {
            return Err(invalid_at(place, VALUES_ALONE));
        }
        Ok(Self { name, values: ExecutedValues::Written(Box::new(parsed)) })
    }
}

const VALUES_ALONE: &str = "EXECUTE takes values, one for each parameter";

/// Whether a query computes one row out of nothing: it has no clause after its values.
fn is_row(parsed: &ast::Statement) -> bool {
    let ast::Statement::Query(query) = parsed else { return false };
    let ast::SetExpr::Select(select) = query.body.as_ref() else { return false };
    select.from.is_empty()
        && select.selection.is_none()
        && select.having.is_none()
        && query.limit_clause.is_none()
}
