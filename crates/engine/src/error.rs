//! The one public error of Tonnage. Its kind tells the caller what to do. It also has a message for
//! people, and a source.

use std::fmt;

/// The result of every fallible call in Tonnage.
pub type Result<T> = std::result::Result<T, Error>;

/// What the caller can do about an error.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The request is invalid. Fix it before retrying.
    Invalid,
    /// What was asked for does not exist.
    NotFound,
    /// The request is valid, but what is stored contradicts it.
    Conflict,
    /// The store cannot answer now (locked, out of space, stalled). Retry later.
    Unavailable,
    /// The caller cancelled the call. What was done before stays.
    Cancelled,
    /// The call took longer than its timeout. Raise the timeout, or ask for less at once.
    TimedOut,
    /// A limit of memory, of space for intermediate results or of numbers was reached. Raise it, or
    /// ask for less at once.
    Exhausted,
    /// Stored data is damaged. Restore it from a copy.
    Corruption,
    /// This engine does not offer it, see [`crate::Capability`].
    Unsupported,
    /// A defect in Tonnage itself. Report it.
    Internal,
}

impl ErrorKind {
    /// The kind in one or two words, as the program prints it before the message.
    pub fn label(self) -> &'static str {
        match self {
            ErrorKind::Invalid => "invalid request",
            ErrorKind::NotFound => "not found",
            ErrorKind::Conflict => "conflict",
            ErrorKind::Unavailable => "unavailable",
            ErrorKind::Cancelled => "cancelled",
            ErrorKind::TimedOut => "timed out",
            ErrorKind::Exhausted => "exhausted",
            ErrorKind::Corruption => "corruption",
            ErrorKind::Unsupported => "unsupported",
            ErrorKind::Internal => "internal error",
        }
    }

    /// The kind as a code for programs in any language. It never changes.
    pub fn code(self) -> &'static str {
        match self {
            ErrorKind::Invalid => "INVALID",
            ErrorKind::NotFound => "NOT_FOUND",
            ErrorKind::Conflict => "CONFLICT",
            ErrorKind::Unavailable => "UNAVAILABLE",
            ErrorKind::Cancelled => "CANCELLED",
            ErrorKind::TimedOut => "TIMED_OUT",
            ErrorKind::Exhausted => "EXHAUSTED",
            ErrorKind::Corruption => "CORRUPTION",
            ErrorKind::Unsupported => "UNSUPPORTED",
            ErrorKind::Internal => "INTERNAL",
        }
    }
}

/// Where an error happened, as far as that is known: for programs, which then need not read the
/// message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct ErrorLocation {
    /// The full name of the table.
    pub table: Option<String>,
    /// The name of the column.
    pub column: Option<String>,
    /// The key, as the message shows it.
    pub key: Option<String>,
    /// The number of the stream of a bulk put, from 0.
    pub stream: Option<u64>,
    /// The place among the entries of a stream, the operations of a group or the keys of a read,
    /// from 0.
    pub position: Option<u64>,
}

static UNKNOWN_LOCATION: ErrorLocation =
    ErrorLocation { table: None, column: None, key: None, stream: None, position: None };

/// An error with its kind, a message that names the position and the remedy, and what caused it.
pub struct Error {
    kind: ErrorKind,
    message: String,
    location: Option<Box<ErrorLocation>>,
    source: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of the given kind.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), location: None, source: None }
    }

    /// Shorthand for [`ErrorKind::Invalid`].
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// Shorthand for [`ErrorKind::NotFound`].
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// Shorthand for [`ErrorKind::Conflict`].
    pub fn conflict(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Conflict, message)
    }

    /// Shorthand for [`ErrorKind::Unavailable`].
    pub fn unavailable(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unavailable, message)
    }

    /// Shorthand for [`ErrorKind::Cancelled`].
    pub fn cancelled(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Cancelled, message)
    }

    /// Shorthand for [`ErrorKind::TimedOut`].
    pub fn timed_out(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::TimedOut, message)
    }

    /// Shorthand for [`ErrorKind::Exhausted`].
    pub fn exhausted(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Exhausted, message)
    }

    /// Shorthand for [`ErrorKind::Corruption`].
    pub fn corruption(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Corruption, message)
    }

    /// Shorthand for [`ErrorKind::Unsupported`].
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// Shorthand for [`ErrorKind::Internal`].
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// The same error with what caused it.
    pub fn with_source(
        mut self,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The same error, its message led by where it happened: `place: message`.
    pub fn at(mut self, place: impl fmt::Display) -> Self {
        self.message = format!("{place}: {}", self.message);
        self
    }

    /// Notes the table. Of what is noted twice the first counts, which was noted closer by.
    pub fn in_table(self, table: &str) -> Self {
        self.noted(|location| &mut location.table, || table.to_owned())
    }

    /// Notes the column, likewise.
    pub fn in_column(self, column: &str) -> Self {
        self.noted(|location| &mut location.column, || column.to_owned())
    }

    /// Notes the key as the message shows it, likewise.
    pub fn of_key(self, key: &str) -> Self {
        self.noted(|location| &mut location.key, || key.to_owned())
    }

    /// Notes the stream, likewise.
    pub fn of_stream(self, stream: u64) -> Self {
        self.noted(|location| &mut location.stream, || stream)
    }

    /// Notes the place among entries, operations or keys, likewise.
    pub fn at_position(self, position: u64) -> Self {
        self.noted(|location| &mut location.position, || position)
    }

    fn noted<T>(
        mut self,
        field: impl FnOnce(&mut ErrorLocation) -> &mut Option<T>,
        value: impl FnOnce() -> T,
    ) -> Self {
        field(self.location.get_or_insert_default()).get_or_insert_with(value);
        self
    }

    /// A copy of the error for another caller, without its source.
    pub fn restated(&self) -> Self {
        Self {
            kind: self.kind,
            message: self.message.clone(),
            location: self.location.clone(),
            source: None,
        }
    }

    /// The same error with another message.
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// Where it happened, as far as that is known.
    pub fn location(&self) -> &ErrorLocation {
        self.location.as_deref().unwrap_or(&UNKNOWN_LOCATION)
    }

    /// What the caller can do.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// What happened, where, and the remedy.
    pub fn message(&self) -> &str {
        &self.message
    }

    /// Whether the same call may succeed later without any change. What the caller called off, and
    /// what met a limit of the caller's, is not asked for again by itself.
    pub fn is_retryable(&self) -> bool {
        self.kind == ErrorKind::Unavailable
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {}", self.kind, self.message)?;
        match &self.source {
            Some(source) => write!(f, " (caused by: {source})"),
            None => Ok(()),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|source| source as &(dyn std::error::Error + 'static))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_location_is_what_was_noted_first() {
        let error = Error::invalid("no").in_column("a").at_position(3).in_column("b").at("there");
        let location = error.restated().location().clone();
        let expected =
            ErrorLocation { column: Some("a".into()), position: Some(3), ..Default::default() };
        assert_eq!((error.message(), location), ("there: no", expected));
        assert_eq!(*Error::invalid("no").location(), ErrorLocation::default());
    }

    /// They were all `Unavailable`: who tries again what can be tried again started a cancelled
    /// load anew.
    #[test]
    fn only_what_is_unavailable_may_be_tried_again() {
        assert!(Error::unavailable("the disk is full").is_retryable());
        for ended in [
            Error::cancelled("by the caller"),
            Error::timed_out("after 3 s"),
            Error::exhausted("no memory"),
        ] {
            assert!(!ended.is_retryable(), "{ended:?}");
        }
    }
}
