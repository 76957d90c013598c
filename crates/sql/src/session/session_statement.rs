//! Statements that change nothing but the session: SET, RESET, USE, PREPARE, DEALLOCATE; and VACUUM
//! and CHECKPOINT, which other databases need more than this one.

use arrow::array::RecordBatch;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tonnage::{Error, Result, Store};

use super::guard::Guard;
use super::options::SqlOptions;
use super::request::Parameters;
use super::settings::Settings;
use super::show::texts;
use super::statement_cache::CachedStatement;
use crate::errors::invalid_at;
use crate::planner::Planner;
use crate::text::{Cursor, Piece, StatementKind, parse};
use crate::write::word;

/// Carries one out. Tells what it did.
pub(crate) fn run(settings: &Settings, store: &Store, piece: &Piece) -> Result<String> {
    let mut cursor = Cursor::new(piece);
    if cursor.word("PREPARE") {
        return prepare(settings, &mut cursor, piece);
    }
    if cursor.word("DEALLOCATE") {
        cursor.word("PREPARE");
        let name = name(&mut cursor, "the name of a prepared statement")?;
        cursor.end()?;
        settings.deallocate(&name)?;
        return Ok(format!("forgot {name}"));
    }
    if cursor.word("SET") {
        return set(settings, store, &mut cursor);
    }
    if cursor.word("RESET") {
        let name = setting(&mut cursor)?;
        cursor.end()?;
        return settings.reset(&name);
    }
    if cursor.word("USE") {
        let place = cursor.location();
        let name = name(&mut cursor, "the name of a database")?;
        cursor.end()?;
        // There is one store to use: its names change nothing, and others are refused.
        return match name.as_str() {
            "tonnage" | "public" => Ok(format!("{name} is in use")),
            _ => Err(invalid_at(place, "a session has one store, which is called tonnage")),
        };
    }
    if cursor.word("CHECKPOINT") {
        cursor.end()?;
        store.sync()?;
        return Ok("everything is on disk".to_owned());
    }
    // VACUUM is the last word that `StatementKind::of` sends here.
    vacuum(store, &mut cursor)
}

/// `SET [SESSION] name = value`, `SET name TO value`, `SET TIME ZONE value`.
fn set(settings: &Settings, store: &Store, cursor: &mut Cursor) -> Result<String> {
    // SET LOCAL ends with the transaction: kept for the session it would outlast that.
    if cursor.is_word("LOCAL") || cursor.is_word("TRANSACTION") {
        return Err(invalid_at(
            cursor.location(),
            "settings hold for the session: leave LOCAL or TRANSACTION out",
        ));
    }
    cursor.word("SESSION");
    let name = setting(cursor)?;
    let is_zone = name == "timezone";
    if !(cursor.token(&Token::Eq) || cursor.word("TO") || is_zone) {
        return Err(cursor.expected("'=' or TO"));
    }
    let (place, mut value) = (cursor.location(), Vec::new());
    while let Some(token) = cursor.next() {
        value.push(match token {
            Token::SingleQuotedString(text) => text.clone(),
            other => other.to_string(),
        });
    }
    // Blanks are no tokens: a list gets one back behind each comma, as `settings.rs` writes its
    // values.
    match value.is_empty() {
        true => Err(cursor.expected("a value")),
        false if value[0].eq_ignore_ascii_case("DEFAULT") => settings.reset(&name),
        false => settings.set(&name, &value.concat().replace(',', ", "), store).map_err(|error| {
            error.at(format_args!("line {}, column {}", place.line, place.column))
        }),
    }
}

/// The name of a setting, in lower case.
fn setting(cursor: &mut Cursor) -> Result<String> {
    if cursor.word("TIME") {
        return match cursor.word("ZONE") {
            true => Ok("timezone".to_owned()),
            false => Err(cursor.expected("ZONE")),
        };
    }
    name(cursor, "the name of a setting")
}

fn name(cursor: &mut Cursor, what: &str) -> Result<String> {
    match cursor.name() {
        Some(name) => Ok(name.to_ascii_lowercase()),
        None => Err(cursor.expected(what)),
    }
}

/// `PREPARE name [(types)] AS statement`. Types are read and left: the statement tells them.
fn prepare(settings: &Settings, cursor: &mut Cursor, piece: &Piece) -> Result<String> {
    let name = name(cursor, "a name for the statement")?;
    if cursor.token(&Token::LParen) {
        while !matches!(cursor.next(), Some(Token::RParen) | None) {}
    }
    if !cursor.word("AS") {
        return Err(cursor.expected("AS"));
    }
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
    let prepared = Piece { tokens: tokens.into(), kind, end: piece.end };
    let prepared = CachedStatement::new(prepared.with_insert());
    // What is wrong with the text is told here, and not by the first EXECUTE, far from it.
    prepared.check()?;
    settings.prepare(&name, prepared)?;
    Ok(format!("prepared {name}"))
}

/// The name and the values of `EXECUTE name [(value, ...)]`.
pub(crate) fn read_execute(
    planner: &Planner,
    piece: &Piece,
    given: &Parameters,
    guard: &Guard,
) -> Result<(String, Parameters)> {
    let mut cursor = Cursor::new(piece);
    cursor.next();
    let name = name(&mut cursor, "the name of a prepared statement")?;
    // A driver binds its values to the call, and writes none.
    if cursor.is_at_end() {
        return Ok((name, given.clone()));
    }
    if !cursor.token(&Token::LParen) {
        return Err(cursor.expected("its values in parentheses"));
    }
    let rest = cursor.rest();
    let Some((TokenWithSpan { token: Token::RParen, .. }, values)) = rest.split_last() else {
        return Err(cursor.expected("values up to ')'"));
    };
    if values.is_empty() {
        return Ok((name, Parameters::default()));
    }
    // Values may be any expressions: a query of one row computes them, with the call's parameters.
    let tokens = std::iter::once(word("SELECT")).chain(values.iter().cloned()).collect();
    let parsed = parse(tokens, piece.end)?;
    let rows = planner.rows_of(planner.state(guard), parsed, given, guard.clone())?;
    let row = rows.into_batch()?;
    match row.num_rows() {
        1 => Ok((name, Parameters::of_row(&row, 0)?)),
        _ => Err(Error::invalid("EXECUTE takes values, one for each parameter")),
    }
}

/// `VACUUM [words] [table]`: there is nothing to do, if the table is there.
fn vacuum(store: &Store, cursor: &mut Cursor) -> Result<String> {
    cursor.next();
    if cursor.token(&Token::LParen) {
        while !matches!(cursor.next(), Some(Token::RParen) | None) {}
    }
    while ["FULL", "FREEZE", "VERBOSE"].iter().any(|word| cursor.word(word)) {}
    if !cursor.is_at_end() {
        let place = cursor.location();
        let Some(path) = cursor.path() else { return Err(cursor.expected("the name of a table")) };
        cursor.end()?;
        store.table(&path).map_err(|error| {
            error.at(format_args!("line {}, column {}", place.line, place.column))
        })?;
    }
    Ok("nothing to do: the store cleans up by itself".to_owned())
}

/// `SHOW name` and `SHOW ALL`.
pub(crate) fn show_settings(
    settings: &Settings,
    options: &SqlOptions,
    store: &Store,
    name: &str,
) -> Result<RecordBatch> {
    if name != "all" {
        return texts([(name, vec![settings.show(name, options, store)?])]);
    }
    let names: Vec<String> = Settings::names().map(str::to_owned).collect();
    let values =
        names.iter().map(|name| settings.show(name, options, store)).collect::<Result<_>>()?;
    texts([("name", names), ("setting", values)])
}
