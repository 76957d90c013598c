//! Turns errors of DataFusion into errors of Tonnage.

use std::borrow::Cow;
use std::collections::HashSet;

use datafusion::common::utils::datafusion_strsim::normalized_levenshtein;
use datafusion::common::{Column, DataFusionError, SchemaError};
use datafusion::sql::sqlparser::parser::ParserError;
use datafusion::sql::sqlparser::tokenizer::Location;
use tonnage::{Error, ErrorKind};

use crate::access::{EXPIRY, VERSION};
use crate::type_words::in_sql;

/// An error on its way through DataFusion, as it comes out again in [`from_datafusion`].
pub(crate) fn into_datafusion(error: Error) -> DataFusionError {
    DataFusionError::External(Box::new(error))
}

/// The error that tells the caller what to do.
pub(crate) fn from_datafusion(error: DataFusionError) -> Error {
    let place = error
        .diagnostic()
        .and_then(|diagnostic| diagnostic.span)
        .map(|span| (span.start.line, span.start.column));
    let (kind, message) = kind_and_message(error.find_root());
    let translated = Error::new(kind, message);
    let translated = match place {
        Some((line, column)) => translated.at(format_args!("line {line}, column {column}")),
        None => translated,
    };
    // The message says in few words what the error says in many; only who looks for a defect wants
    // both.
    if kind == ErrorKind::Internal { translated.with_source(error) } else { translated }
}

fn kind_and_message(root: &DataFusionError) -> (ErrorKind, String) {
    let plain = |error: &DataFusionError| in_sql(&own_words(&error.message()));
    // Errors of the store go in wrapped, some in an error of Arrow, and come out as they were.
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
            error => (ErrorKind::Invalid, in_sql(&error.to_string())),
        },
        DataFusionError::SchemaError(error, _) => match error.as_ref() {
            SchemaError::FieldNotFound { field, valid_fields } => (ErrorKind::Invalid, no_column(field, valid_fields)),
            _ => (ErrorKind::Invalid, plain(root)),
        },
        DataFusionError::Plan(_) | DataFusionError::Configuration(_) | DataFusionError::Execution(_) => {
            (ErrorKind::Invalid, plain(root))
        }
        DataFusionError::NotImplemented(message) if message.contains("Physical plan does not support logical expression") => (
            ErrorKind::Unsupported,
            "a subquery stands where it cannot be carried out: take it into FROM or WHERE, or write it as a join".to_owned(),
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
        DataFusionError::Shared(shared) => kind_and_message(shared.find_root()),
        DataFusionError::Collection(errors) => match errors.first() {
            Some(first) => kind_and_message(first.find_root()),
            None => (ErrorKind::Internal, plain(root)),
        },
        _ => (ErrorKind::Internal, plain(root)),
    }
}

/// What a message of the planner says in a line, without what stands around it.
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

/// The words that the store has for a table that is not there.
fn no_column(field: &Column, valid: &[Column]) -> String {
    /// A column by another name than this is no slip of the finger.
    const LIKENESS_MIN: f64 = 0.5;
    let mut seen = HashSet::new();
    // The hidden columns are in every table: to list them would help nobody.
    let valid: Vec<&Column> = valid
        .iter()
        .filter(|column| ![VERSION, EXPIRY].contains(&column.name.as_str()))
        .filter(|column| seen.insert(column.flat_name()))
        .collect();
    let likeness = |column: &&&Column| normalized_levenshtein(&column.name, &field.name);
    let nearest = valid
        .iter()
        .max_by(|a, b| likeness(a).total_cmp(&likeness(b)))
        .filter(|column| likeness(column) >= LIKENESS_MIN);
    // Names of tables help where there are several.
    let is_one_table = valid.windows(2).all(|pair| pair[0].relation == pair[1].relation);
    let told =
        |column: &Column| if is_one_table { column.name.clone() } else { column.flat_name() };
    let mut message = format!("there is no column {}", field.flat_name());
    if let Some(nearest) = nearest {
        message.push_str(&format!("; did you mean {}?", told(nearest)));
    }
    if !valid.is_empty() {
        let names: Vec<String> = valid.iter().map(|column| told(column)).collect();
        message.push_str(&format!("; the columns are {}", names.join(", ")));
    }
    message
}

/// The parser names the place behind its message; here it comes first.
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

/// An error at a place of the text; what stands nowhere in it has line 0.
pub(crate) fn invalid_at(location: Location, message: impl std::fmt::Display) -> Error {
    Error::invalid(match location.line {
        0 => message.to_string(),
        line => format!("line {line}, column {}: {message}", location.column),
    })
}
