//! What holds for a whole statement while its expressions are evaluated.

use crate::query::item::{Item, NumberContext};
use crate::query::syntax::Place;
use crate::wire::Failure;

/// Evaluates expressions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Evaluator {
    /// The values of the variables that the client binds.
    pub(crate) bound: Vec<Item>,
    pub(crate) numbers: NumberContext,
    pub(crate) now_ms: u64,
}

/// A mistake at a position of the statement.
#[cold]
pub(super) fn fault(place: Place, message: &str) -> Failure {
    Failure::argument(format!("Error: {place} {message}"))
}
