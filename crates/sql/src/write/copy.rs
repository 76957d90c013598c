//! `COPY table [(columns)] FROM 'file'` and `COPY table | (query) TO 'file'`.
//!
//! Columns of a file fill the columns of the same name. A file is written beside its path first
//! and takes it when it is whole.

use std::collections::HashSet;
use std::fs::{File, Metadata};
use std::io::{self, BufWriter};
use std::path::Path;

use datafusion::sql::sqlparser::ast;
use datafusion::sql::sqlparser::tokenizer::{Token, TokenWithSpan};
use tempfile::NamedTempFile;
use tonnage::{Error, OnExisting, Result, Table};
use tonnage_files::{Compression, Format, RecordWriter, StopToken};

use super::insert::{RowSource, write};
use super::target::ChangeTarget;
use super::tokens::{made, quoted, separated, word};
use crate::catalog::FileTable;
use crate::errors::invalid_at;
use crate::planner::Planner;
use crate::session::{Access, Changes, Guard, Parameters, Rows, TableAccesses};
use crate::text::{Cursor, FileName, Piece, StatementKind, parse};

/// A COPY, parsed.
pub(crate) struct CopyStatement {
    direction: CopyDirection,
    path: String,
    format: Option<Format>,
}

/// What is copied, and where.
enum CopyDirection {
    /// From the file into a table, and which of its columns; all without names.
    From { target: ChangeTarget, columns: Vec<String> },
    /// Into the file. A table is copied as a query over it, so that it may be a view.
    To(Box<ast::Statement>),
}

/// What a COPY did.
pub(crate) enum CopyResult {
    From(Changes),
    /// In words.
    To(String),
}

impl CopyStatement {
    /// Reads a statement.
    ///
    /// # Errors
    /// `Invalid` for something else, with the position.
    pub(crate) fn read(piece: &Piece) -> Result<Self> {
        let mut cursor = Cursor::new(piece);
        cursor.next();
        let query = match cursor.peek() {
            Some(Token::LParen) => Some(query(&mut cursor)?),
            _ => None,
        };
        let mut table = cursor.clone();
        let columns = match query {
            Some(_) => Vec::new(),
            None => table_and_columns(&mut cursor)?,
        };
        let place = cursor.location();
        // `place` was noted before, so that an error points at the word and not after it.
        let is_from = cursor.word("FROM");
        if !is_from && !cursor.word("TO") {
            return Err(cursor.expected("FROM or TO"));
        }
        let direction = match query {
            Some(_) if is_from => {
                return Err(invalid_at(place, "COPY FROM fills a table, not a query"));
            }
            Some(query) => CopyDirection::To(Box::new(parse(query, piece.end)?)),
            None if is_from => {
                CopyDirection::From { target: ChangeTarget::read(&mut table)?, columns }
            }
            None => {
                let query = query_of_table(&mut table, &columns);
                CopyDirection::To(Box::new(parse(query, piece.end)?))
            }
        };
        let place = cursor.location();
        let path = match cursor.next() {
            Some(Token::SingleQuotedString(path)) => path.clone(),
            Some(Token::Word(name))
                if ["STDIN", "STDOUT"].contains(&name.value.to_ascii_uppercase().as_str()) =>
            {
                // A statement has no streams of its own.
                let told = "name a file: 'tonnage load TABLE -' reads standard input, and SELECT writes standard output";
                return Err(invalid_at(place, told));
            }
            _ => return Err(invalid_at(place, "expected the name of a file in single quotes")),
        };
        let format = options(&mut cursor)?;
        cursor.end()?;
        Ok(Self { direction, path, format })
    }

    /// The tables that it touches.
    pub(crate) fn accesses(&self) -> TableAccesses {
        match &self.direction {
            CopyDirection::From { target, .. } => {
                let mut found = TableAccesses::default();
                found.note(&target.path, Access::Insert);
                found
            }
            CopyDirection::To(query) => TableAccesses::of_query(query.as_ref()),
        }
    }
}

/// Carries a COPY out.
pub(crate) fn copy(
    planner: &Planner,
    copy: &CopyStatement,
    parameters: &Parameters,
    guard: &Guard,
) -> Result<CopyResult> {
    // Checked before any file is opened: callers of a server must not reach files of its machine.
    if !planner.context.options.is_local {
        return Err(Error::unsupported(
            "COPY: a server reads and writes no files of its machine: use 'tonnage load' and 'tonnage unload' with --store grpc://...",
        ));
    }
    match &copy.direction {
        CopyDirection::From { target, columns } => {
            let table = target.table(&planner.context.store)?;
            fill(planner, &table, columns, copy, guard).map(CopyResult::From)
        }
        CopyDirection::To(query) => {
            store(planner, query.as_ref().clone(), copy, parameters, guard).map(CopyResult::To)
        }
    }
}

/// Puts the rows of files into a table.
fn fill(
    planner: &Planner,
    table: &Table,
    columns: &[String],
    copy: &CopyStatement,
    guard: &Guard,
) -> Result<Changes> {
    let format = copy.format.map(Format::label);
    let name = FileName { format, path: &copy.path };
    let file = FileTable::open_for(&name, table.schema(), &planner.context.options)?;
    let there = file.columns_present()?;
    // Without a list all columns of the file are meant: one that the table lacks must not be
    // dropped silently.
    for name in there.iter().filter(|_| columns.is_empty()) {
        table.schema().require_column(name).map_err(|error| {
            error.at(format_args!("{}: name the columns to take, or load the file", copy.path))
        })?;
    }
    let wanted: Vec<String> = match columns.is_empty() {
        true => there,
        false => columns.to_vec(),
    };
    let known: HashSet<String> = wanted.iter().map(|name| name.to_ascii_lowercase()).collect();
    let fields = file.schema().fields().iter().enumerate();
    let places: Vec<usize> =
        fields.filter(|(_, field)| known.contains(field.name())).map(|(at, _)| at).collect();
    for name in &wanted {
        table.schema().require_column(name)?;
    }
    let file = file.projected(&places).map_err(crate::errors::from_datafusion)?;
    let names = file.schema().fields().iter().map(|field| field.name().clone()).collect();
    let (cancel, deadline) = (guard.cancel().clone(), guard.clone());
    let stop = StopToken::when(move || cancel.is_cancelled() || deadline.check().is_err());
    let mut batches = file.batches(stop).peekable();
    // Nested values come as text, so only a batch has the types that were read.
    let schema = match batches.peek() {
        Some(Ok(first)) => first.schema(),
        _ => file.schema().clone(),
    };
    let rows = Rows::new(&schema, batches, guard.clone());
    let source = RowSource { rows, columns: names, schema: table.schema().clone() };
    write(planner, table, Box::new(source), OnExisting::Fail, guard)
}

/// Writes the rows of a query into a file.
fn store(
    planner: &Planner,
    query: ast::Statement,
    copy: &CopyStatement,
    parameters: &Parameters,
    guard: &Guard,
) -> Result<String> {
    let format = copy.format.or_else(|| Format::of_name(&copy.path)).unwrap_or(Format::Csv);
    let rows = planner.rows_of(planner.state(guard), query, parameters, guard.clone())?;
    let rows = rows.with_distinct_names();
    let failed = |error: io::Error| {
        Error::unavailable(format!("{} cannot be written: {error}", copy.path)).with_source(error)
    };
    let named = Path::new(&copy.path);
    // A link stays, and leads to the file.
    let path = named.canonicalize().unwrap_or_else(|_| named.to_owned());
    let partial = match named.metadata() {
        // A pipe or a device is written directly.
        Ok(there) if !there.is_file() => None,
        there => Some(partial(&path, there.ok().as_ref()).map_err(failed)?),
    };
    let file = match &partial {
        Some(partial) => partial.reopen(),
        None => File::options().write(true).open(named),
    };
    let compression = Compression::of_name(&copy.path);
    let file = BufWriter::new(file.map_err(failed)?);
    let mut writer = RecordWriter::new(format, file, rows.schema().clone(), compression)?;
    let mut count = 0;
    for batch in rows {
        let batch = batch?;
        count += batch.num_rows();
        writer.write(&batch)?;
    }
    let file = writer.finish()?.into_inner().map_err(|error| failed(error.into_error()))?;
    if let Some(partial) = partial {
        file.sync_all().map_err(failed)?;
        partial.persist(path).map_err(|error| failed(error.error))?;
    }
    Ok(format!("wrote {count} rows to {}", copy.path))
}

/// A temporary file beside the path that it takes once it is complete, with the rights of the file
/// there.
fn partial(path: &Path, there: Option<&Metadata>) -> io::Result<NamedTempFile> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let mut builder = tempfile::Builder::new();
    // A file of one's own that others may read, as if it had been created there.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    let partial = builder.tempfile_in(folder.unwrap_or(Path::new(".")))?;
    if let Some(there) = there {
        partial.as_file().set_permissions(there.permissions())?;
    }
    Ok(partial)
}

/// Passes `table [(columns)]`, and gives the columns.
fn table_and_columns(cursor: &mut Cursor) -> Result<Vec<String>> {
    match cursor.path() {
        Some(_) => cursor.column_names(),
        None => Err(cursor.expected("a table, or a query in parentheses")),
    }
}

/// `SELECT columns FROM` the table that is here; all columns without names.
fn query_of_table(cursor: &mut Cursor, columns: &[String]) -> Vec<TokenWithSpan> {
    let before = cursor.rest();
    cursor.path();
    let table = &before[..before.len() - cursor.rest().len()];
    let mut query = vec![word("SELECT")];
    if columns.is_empty() {
        query.push(made(Token::Mul));
    } else {
        query
            .extend(separated(columns.iter().map(|name| vec![quoted(&name.to_ascii_lowercase())])));
        query.pop();
    }
    query.push(word("FROM"));
    query.extend_from_slice(table);
    query
}

/// The tokens of a query in parentheses.
fn query(cursor: &mut Cursor) -> Result<Vec<TokenWithSpan>> {
    cursor.next();
    let (before, mut depth) = (cursor.rest(), 1_usize);
    while let Some(token) = cursor.peek() {
        match token {
            Token::LParen => depth += 1,
            Token::RParen if depth == 1 => break,
            Token::RParen => depth -= 1,
            _ => {}
        }
        cursor.next();
    }
    let tokens = before[..before.len() - cursor.rest().len()].to_vec();
    cursor.expect_token(&Token::RParen)?;
    match StatementKind::of(&tokens) {
        StatementKind::Query => Ok(tokens),
        _ => Err(cursor.expected("a query in parentheses")),
    }
}

/// `[WITH] (FORMAT csv, HEADER [true])`, `[WITH] CSV [HEADER]`: the format, if it is said.
fn options(cursor: &mut Cursor) -> Result<Option<Format>> {
    cursor.word("WITH");
    let in_parentheses = cursor.token(&Token::LParen);
    let mut format = None;
    while in_parentheses || !cursor.is_at_end() {
        let place = cursor.location();
        let at = |told: &str| invalid_at(place, told);
        match cursor.expect_name("an option")?.to_ascii_uppercase().as_str() {
            "FORMAT" => {
                format =
                    Some(value(cursor)?.parse::<Format>().map_err(|error| at(error.message()))?)
            }
            "CSV" if !in_parentheses => format = Some(Format::Csv),
            "HEADER" => {
                // Without parentheses HEADER takes no value: the next word is the next option.
                let is_plain =
                    !in_parentheses || matches!(cursor.peek(), Some(Token::Comma | Token::RParen));
                let value = if is_plain { "true".to_owned() } else { value(cursor)? };
                if !["true", "on", "1"].contains(&value.to_ascii_lowercase().as_str()) {
                    return Err(at(
                        "COPY takes and writes a header: 'tonnage load --no-header' reads files without one",
                    ));
                }
            }
            // An option of another database is refused, not skipped: the file would be read
            // otherwise than meant.
            _ => {
                return Err(at(
                    "COPY takes the options FORMAT and HEADER: 'tonnage load' and 'tonnage unload' take others",
                ));
            }
        }
        if in_parentheses && cursor.token(&Token::RParen) {
            break;
        }
        if in_parentheses && !cursor.token(&Token::Comma) {
            return Err(cursor.expected("',' or ')'"));
        }
    }
    Ok(format)
}

fn value(cursor: &mut Cursor) -> Result<String> {
    match cursor.next() {
        Some(Token::SingleQuotedString(text)) => Ok(text.clone()),
        Some(Token::Word(word)) => Ok(word.value.clone()),
        Some(Token::Number(number, _)) => Ok(number.clone()),
        _ => Err(cursor.expected("the value of the option")),
    }
}
