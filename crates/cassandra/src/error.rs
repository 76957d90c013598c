//! What the driver's errors mean to a caller.

use scylla::errors::{DbError, ExecutionError, PrepareError, RequestAttemptError};
use tonnage_engine::{Error, ErrorKind};

/// How a request failed.
#[derive(Debug)]
pub(crate) enum RequestFailure {
    /// The cluster refused it and did nothing.
    Refused(Error),
    /// It is unknown whether it was executed.
    InDoubt(Error),
}

impl RequestFailure {
    pub(crate) fn into_error(self) -> Error {
        match self {
            RequestFailure::Refused(error) | RequestFailure::InDoubt(error) => error,
        }
    }

    /// Whether asking again gives the same answer.
    pub(crate) fn is_permanent(&self) -> bool {
        matches!(self, RequestFailure::Refused(error) if error.kind() != ErrorKind::Unavailable)
    }
}

/// Where and how a request was sent: what its error tells.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RequestInfo<'a> {
    /// What it was for.
    pub(crate) what: &'a str,
    /// Its level, as CQL names it.
    pub(crate) level: &'a str,
    /// The nodes that there is no connection to, each with a comma before it.
    pub(crate) silent: &'a str,
}

/// Reads the error of a request. An overloaded node may answer a request with the error of another
/// one, so only what names the request itself proves that nothing was done.
pub(crate) fn failure(sent: RequestInfo<'_>, error: ExecutionError) -> RequestFailure {
    let RequestInfo { what, level, silent } = sent;
    let message = match silent.is_empty() {
        true => format!("Cassandra: {what} (level {level}): {error}"),
        false => format!("Cassandra: {what} (level {level}): {error}; not reached: {silent}"),
    };
    let with = |kind| Error::new(kind, message.clone()).with_source(error.clone());
    match db_error(&error) {
        Some((_, text)) if is_missing_table(text) => {
            RequestFailure::Refused(with(ErrorKind::NotFound))
        }
        Some((DbError::Unauthorized | DbError::AuthenticationError, _)) => {
            RequestFailure::Refused(with(ErrorKind::Invalid))
        }
        Some((DbError::SyntaxError | DbError::Invalid | DbError::ConfigError, _)) => {
            RequestFailure::Refused(with(ErrorKind::Internal))
        }
        Some((DbError::Unavailable { .. }, _)) => {
            RequestFailure::Refused(with(ErrorKind::Unavailable))
        }
        _ => RequestFailure::InDoubt(with(ErrorKind::Unavailable)),
    }
}

/// The error of a statement that could not be prepared.
pub(crate) fn not_prepared(error: PrepareError) -> RequestFailure {
    let sent = RequestInfo { what: "preparing a statement", level: "ONE", silent: "" };
    failure(sent, ExecutionError::PrepareError(error))
}

/// Whether nodes gave a read up themselves: most of all, one that met too many deleted rows.
pub(crate) fn is_too_much(error: &Error) -> bool {
    let source = std::error::Error::source(error);
    let error = source.and_then(|source| source.downcast_ref::<ExecutionError>());
    matches!(error.and_then(db_error), Some((DbError::ReadFailure { .. }, _)))
}

/// What a node answered, and its own words.
fn db_error(error: &ExecutionError) -> Option<(&DbError, &str)> {
    let attempt = match error {
        ExecutionError::LastAttemptError(attempt) => attempt,
        ExecutionError::PrepareError(PrepareError::AllAttemptsFailed { first_attempt }) => {
            first_attempt
        }
        _ => return None,
    };
    match attempt {
        RequestAttemptError::DbError(error, text) => Some((error, text)),
        _ => None,
    }
}

/// Whether a table that a request names is not there (any more): in the words of either system.
fn is_missing_table(text: &str) -> bool {
    text.starts_with("table ") && text.ends_with("does not exist")
        || text.starts_with("unconfigured table")
        || text.contains("Unknown keyspace/cf pair")
        || text.contains("Couldn't find table")
}

/// The error of an answer that is not of the shape that was asked for.
#[cold]
pub(crate) fn not_understood(what: &str, error: impl std::fmt::Display) -> Error {
    Error::internal(format!("Cassandra: {what}: the answer cannot be read: {error}"))
}
