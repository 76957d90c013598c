//! Marks an identity column whose numbers are all given.

use std::fmt;

use tonnage_engine::Error;

/// What causes the error of a write whose row would need one more number of an identity column than
/// there are. It is the error's source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IdentityUsedUp;

impl IdentityUsedUp {
    /// The error of such a write, of the kind [`Invalid`](tonnage_engine::ErrorKind::Invalid).
    pub(crate) fn error(message: &str) -> Error {
        Error::invalid(message).with_source(Self)
    }

    /// Whether an error has it among its causes.
    pub fn caused(error: &Error) -> bool {
        let first = std::error::Error::source(error);
        std::iter::successors(first, |cause| cause.source()).any(|cause| cause.is::<Self>())
    }
}

impl fmt::Display for IdentityUsedUp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("no number is left")
    }
}

impl std::error::Error for IdentityUsedUp {}
