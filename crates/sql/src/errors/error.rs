//! Turns errors of DataFusion into errors of Tonnage.

use std::borrow::Cow;

use datafusion::common::{DataFusionError, SchemaError};
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::Location;
use tonnage::{Error, ErrorKind};

use super::missing_column::{ambiguous, no_column};
use super::rewordings::reworded;
use super::type_words::in_sql;

/// An error on its way through DataFusion, as it comes out again in [`from_datafusion`].
pub(crate) fn into_datafusion(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The error says what the caller can do.
pub(crate) fn from_datafusion(error: DataFusionError) -> Error {
    let place = error
        .diagnostic()
        .and_then(|diagnostic| diagnostic.span)
        .map(|span| (span.start.line, span.start.column));
    let (kind, message) = kind_and_message(error.find_root(), &possible_columns(&error));
    let translated = Error::new(kind, message);
    let translated = match place {
        Some((line, column)) => translated.at(format_args!("line {line}, column {column}")),
        None => translated,
    };
    // The message says in few words what the error says in many; only who looks for a defect wants
    // both.
    if kind == ErrorKind::Internal { translated.with_source(error) } else { translated }
}

/// The columns that the planner notes beside a name that several have.
fn possible_columns(error: &DataFusionError) -> Vec<String> {
    let notes = error.diagnostic().into_iter().flat_map(|diagnostic| &diagnostic.notes);
    let columns = notes.filter_map(|note| note.message.strip_prefix("possible column "));
    // No statement can name the tables that joins by names create: their names begin with blanks.
    columns.filter(|column| !column.starts_with(' ')).map(str::to_owned).collect()
}

/// `possible` are the columns that an ambiguous name may mean.
fn kind_and_message(root: &DataFusionError, possible: &[String]) -> (ErrorKind, String) {
    let plain = |error: &DataFusionError| reworded(in_sql(&own_words(&error.message())));
    // Errors of the store are wrapped, some in an error of Arrow, and come out as they were.
    match root {
        DataFusionError::External(source) => match source.downcast_ref::<Error>() {
            Some(error) => (error.kind(), error.message().to_owned()),
            None => (ErrorKind::Internal, source.to_string()),
        },
        DataFusionError::SQL(error, _) => (ErrorKind::Invalid, parser_message(error)),
        DataFusionError::ArrowError(error, _) => match error.as_ref() {
            arrow::error::ArrowError::ExternalError(source) if source.is::<Error>() => {
                let error = source.downcast_ref::<Error>().expect("just seen");
                (error.kind(), error.message().to_owned())
            }
            arrow::error::ArrowError::IoError(message, _) => of_files(message.clone()),
            error => (ErrorKind::Invalid, reworded(in_sql(&error.to_string()))),
        },
        DataFusionError::SchemaError(error, _) => match error.as_ref() {
            SchemaError::FieldNotFound { field, valid_fields } => (ErrorKind::Invalid, no_column(field, valid_fields)),
            SchemaError::AmbiguousReference { field } if field.relation.is_none() => {
                (ErrorKind::Invalid, ambiguous(&field.name, possible))
            }
            _ => (ErrorKind::Invalid, plain(root)),
        },
        DataFusionError::Plan(_) | DataFusionError::Configuration(_) | DataFusionError::Execution(_) => {
            (ErrorKind::Invalid, plain(root))
        }
        DataFusionError::NotImplemented(message) if message.contains("Physical plan does not support logical expression") => (
            ErrorKind::Unsupported,
            "a subquery is where it cannot be carried out: take it into FROM or WHERE, or write it as a join".to_owned(),
        ),
        DataFusionError::NotImplemented(_) => (ErrorKind::Unsupported, plain(root)),
        DataFusionError::ResourcesExhausted(_) => {
            (ErrorKind::Exhausted, format!("{}: give the session more memory_bytes_max, or ask for less at once", root.message()))
        }
        DataFusionError::IoError(_) => of_files(plain(root)),
        // It is none of ours, nor one of DataFusion.
        DataFusionError::Internal(message) if message.starts_with("Failed to coerce types ") => {
            (ErrorKind::Invalid, plain(root))
        }
        DataFusionError::Shared(shared) => kind_and_message(shared.find_root(), possible),
        DataFusionError::Collection(errors) => match errors.first() {
            Some(first) => kind_and_message(first.find_root(), possible),
            None => (ErrorKind::Internal, plain(root)),
        },
        _ => (ErrorKind::Internal, plain(root)),
    }
}

/// What a message of the planner says in a line, without what is around it.
fn own_words(message: &str) -> Cow<'_, str> {
    /// Before what a function says of its arguments.
    const BEFORE: &str = "user-defined coercion failed with: Error during planning: ";
    const BEHIND: &str = " No function matches the given name";
    /// Before the arguments that a function does not take, with their types.
    const CALL: &str = "No function matches the given name and argument types '";
    let line = message.lines().next().unwrap_or_default();
    if let Some((_, words)) = line.split_once(BEFORE) {
        return words
            .split_once(BEHIND)
            .map_or(words, |(words, _)| words.trim_end_matches('.'))
            .into();
    }
    let call = message.split_once(CALL).and_then(|(_, behind)| behind.split_once("'."));
    match call {
        Some((call, _)) => format!(
            "there is no function {call}: give it arguments of other types, for instance with CAST, or another number of them"
        )
        .into(),
        None => line.into(),
    }
}

/// What is said of files that data is spilled to.
fn of_files(message: String) -> (ErrorKind, String) {
    if message.contains("exceeded the allowable limit") {
        let remedy = "what is spilled to disk takes more than spill_bytes_max: allow more, or ask for less at once";
        return (ErrorKind::Exhausted, remedy.to_owned());
    }
    (ErrorKind::Unavailable, message)
}

/// The parser names the position after its message; here it comes first.
pub(crate) fn from_parser(error: &ParserError) -> Error {
    Error::invalid(parser_message(error))
}

fn parser_message(error: &ParserError) -> String {
    let message = match error {
        ParserError::TokenizerError(message) | ParserError::ParserError(message) => {
            message.as_str()
        }
        ParserError::RecursionLimitExceeded => {
            return "the statement is nested too deeply".to_owned();
        }
    };
    let Some((what, place)) = message.rsplit_once(" at Line: ") else { return message.to_owned() };
    match place.split_once(", Column: ") {
        Some((line, column)) => format!("line {line}, column {}: {what}", column.trim_end()),
        None => message.to_owned(),
    }
}

/// An error at a position of the text.
pub(crate) fn invalid_at(location: Location, message: impl std::fmt::Display) -> Error {
    located(Error::invalid(message.to_string()), location)
}

/// An error with its position in the text; tokens that are not in the text have line 0.
pub(crate) fn located(error: Error, location: Location) -> Error {
    match location.line {
        0 => error,
        line => error.at(format_args!("line {line}, column {}", location.column)),
    }
}
