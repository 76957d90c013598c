//! The error of a bulk put, with the report of what was done before it.

use tonnage_engine::Error;

use super::BulkPutReport;

/// Why a bulk put stopped, and what it had done by then.
#[derive(Debug)]
#[non_exhaustive]
pub struct BulkPutError {
    /// Why it stopped.
    pub error: Error,
    /// What it had done. Everything counted as inserted or existing is durable.
    pub report: Box<BulkPutReport>,
    /// Whether it stopped because more entries failed than allowed.
    pub too_many_errors: bool,
    /// Whether everything that was handed to the engine is stored, as durable as was asked for.
    pub flushed: bool,
}

impl std::fmt::Display for BulkPutError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.error.fmt(f)
    }
}

impl std::error::Error for BulkPutError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        Some(&self.error)
    }
}

/// What causes the error of a load in which more entries failed than
/// [`BulkPutOptions::errors_max`](crate::BulkPutOptions::errors_max) allows: its source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooManyErrors;

impl TooManyErrors {
    /// Whether an error has it among its causes.
    pub fn caused(error: &Error) -> bool {
        let first = std::error::Error::source(error);
        std::iter::successors(first, |cause| cause.source()).any(|cause| cause.is::<Self>())
    }
}

impl std::fmt::Display for TooManyErrors {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("more entries failed than errors_max allows")
    }
}

impl std::error::Error for TooManyErrors {}

/// A bulk put that could not begin.
impl From<Error> for BulkPutError {
    fn from(error: Error) -> Self {
        Self { error, report: Box::default(), too_many_errors: false, flushed: true }
    }
}

/// The report is lost on the way, but for its totals, which the message tells.
impl From<BulkPutError> for Error {
    fn from(stopped: BulkPutError) -> Self {
        let BulkPutError { error, report, .. } = stopped;
        let total = report.total;
        if total.read == 0 {
            return error;
        }
        let message = format!(
            "{} (of {} entries read, {} were stored, {} existed, {} failed)",
            error.message(),
            total.read,
            total.inserted,
            total.existed,
            total.failed
        );
        error.restated().with_message(message).with_source(error)
    }
}
