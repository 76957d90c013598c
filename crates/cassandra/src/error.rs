//! What the driver's errors mean to a caller.

use scylla::errors::{DbError, ExecutionError, PrepareError, RequestAttemptError};
use tonnage_engine::{Error, ErrorKind};

/// How a request failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The cluster refused it and did nothing.
    Refused(Error),
    /// Nobody knows whether it was carried out.
    InDoubt(Error),
}

impl Failure {
    pub(crate) fn into_error(self) -> Error {
        match self {
            Failure::Refused(error) | Failure::InDoubt(error) => error,
        }
    }

    /// Whether asking again gives the same answer.
    pub(crate) fn is_permanent(&self) -> bool {
        matches!(self, Failure::Refused(error) if error.kind() != ErrorKind::Unavailable)
    }
}

/// Reads the error of a request. An overloaded node may answer a request with the error of another
/// one, so only what names the request itself proves that nothing was done.
pub(crate) fn failure(what: &str, error: ExecutionError) -> Failure {
    let message = format!("Cassandra: {what}: {error}");
    let with = |kind| Error::new(kind, message.clone()).with_source(error.clone());
    match db_error(&error) {
        Some((_, text)) if is_missing_table(text) => Failure::Refused(with(ErrorKind::NotFound)),
        Some((DbError::Unauthorized | DbError::AuthenticationError, _)) => {
            Failure::Refused(with(ErrorKind::Invalid))
        }
        Some((DbError::SyntaxError | DbError::Invalid | DbError::ConfigError, _)) => {
            Failure::Refused(with(ErrorKind::Internal))
        }
        Some((DbError::Unavailable { .. }, _)) => Failure::Refused(with(ErrorKind::Unavailable)),
        _ => Failure::InDoubt(with(ErrorKind::Unavailable)),
    }
}

/// The error of a statement that could not be prepared.
pub(crate) fn not_prepared(what: &str, error: PrepareError) -> Failure {
    failure(what, ExecutionError::PrepareError(error))
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
