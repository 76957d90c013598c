//! What a request fails with: a code that the SDKs make an exception of, and a text.

use std::fmt;

use tonnage::{AlreadyExists, Error, ErrorKind, IdentityUsedUp};

use super::access::AccessRefusal;

/// The codes of failures that are used here. The SDKs have an exception for each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(i32)]
pub enum FailureCode {
    /// The request names no operation.
    UnknownOperation = 1,
    /// There is no such table.
    TableNotFound = 2,
    /// There is no such index.
    IndexNotFound = 3,
    /// Something in the request is wrong.
    IllegalArgument = 4,
    /// The request has too many bytes.
    RequestTooLarge = 8,
    /// There is such a table already.
    TableExists = 9,
    /// There is such an index already.
    IndexExists = 10,
    /// It is not clear who asks.
    InvalidAuthorization = 11,
    /// The caller may not do that.
    InsufficientPermission = 12,
    /// There is something of that name already.
    ResourceExists = 13,
    /// Something that is neither a table nor an index is not there.
    ResourceNotFound = 14,
    /// The bytes are no request.
    BadProtocolMessage = 17,
    /// This is not offered.
    OperationNotSupported = 21,
    /// The request is of a version that is not spoken.
    UnsupportedProtocol = 24,
    /// The query is of a version that is not known.
    UnsupportedQueryVersion = 27,
    /// It took too long. The SDKs try again.
    RequestTimeout = 100,
    /// The store cannot answer now. The SDKs try again.
    ServiceUnavailable = 102,
    /// The login has ended. The SDKs log in again.
    RetryAuthentication = 105,
    /// Anything else.
    UnknownError = 125,
    /// What is stored contradicts the request.
    IllegalState = 126,
}

impl FailureCode {
    /// The number on the wire.
    pub fn number(self) -> i32 {
        self as i32
    }

    /// Whether the request itself is what is wrong.
    pub fn is_refusal(self) -> bool {
        self.number() < FailureCode::RequestTimeout.number()
    }
}

/// Why a request failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The code.
    pub code: FailureCode,
    /// The text for people.
    pub message: String,
    /// Whether the text is led by the name of the operation.
    pub(super) names_operation: bool,
}

/// The outcome of a request, or of a part of it.
pub(crate) type Outcome<T> = Result<T, Failure>;

impl Failure {
    /// A failure of that code.
    pub fn new(code: FailureCode, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), names_operation: false }
    }

    /// A wrong argument of an operation, with its name.
    pub(crate) fn argument(message: impl Into<String>) -> Self {
        let code = FailureCode::IllegalArgument;
        Self { code, message: message.into(), names_operation: true }
    }

    /// A request that lacks something, or has it in a wrong form.
    pub(super) fn protocol(message: impl Into<String>) -> Self {
        Self::new(FailureCode::BadProtocolMessage, message)
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self::new(FailureCode::OperationNotSupported, message)
    }

    pub(super) fn no_table(name: &str) -> Self {
        Self::new(FailureCode::TableNotFound, format!("Table not found: {name}"))
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for Failure {}

/// What the store says. Callers that know better what was not found say so themselves.
impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let code = match error.kind() {
            ErrorKind::Invalid if IdentityUsedUp::caused(&error) => {
                return Failure::argument(
                    "Current value cannot exceed max value or no more available values in the \
                     sequence.",
                );
            }
            ErrorKind::Invalid => return Failure::argument(error.message()),
            ErrorKind::NotFound => FailureCode::ResourceNotFound,
            ErrorKind::Conflict if AlreadyExists::caused(&error) => FailureCode::ResourceExists,
            ErrorKind::Conflict => FailureCode::IllegalState,
            ErrorKind::TimedOut => FailureCode::RequestTimeout,
            ErrorKind::Unavailable | ErrorKind::Exhausted => FailureCode::ServiceUnavailable,
            ErrorKind::Unsupported => FailureCode::OperationNotSupported,
            _ => FailureCode::UnknownError,
        };
        Failure::new(code, error.message())
    }
}

impl From<AccessRefusal> for Failure {
    fn from(refusal: AccessRefusal) -> Self {
        match refusal {
            AccessRefusal::Denied(error) => {
                Failure::new(FailureCode::InsufficientPermission, error.message())
            }
            AccessRefusal::Failed(error) => error.into(),
        }
    }
}
