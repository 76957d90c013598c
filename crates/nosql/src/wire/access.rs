//! What a caller may do. Who it is, others decide: this crate only asks.

use tonnage::{Condition, Error};

/// A right on the rows of a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableRight {
    /// Rows are read.
    Read,
    /// New rows are put in.
    Insert,
    /// Rows are changed.
    Update,
    /// Rows are deleted.
    Delete,
}

impl TableRight {
    /// What a put under a condition does.
    pub(super) fn of_put(condition: Condition) -> &'static [TableRight] {
        match condition {
            Condition::Always => &[TableRight::Insert, TableRight::Update],
            Condition::IfAbsent => &[TableRight::Insert],
            Condition::IfPresent | Condition::IfVersion(_) => &[TableRight::Update],
        }
    }
}

/// Why something is refused.
#[derive(Debug)]
pub enum AccessRefusal {
    /// The caller may not do it.
    Denied(Error),
    /// It could not be decided, or not be noted.
    Failed(Error),
}

/// What the answer to a question about rights is.
pub type AccessDecision = Result<(), AccessRefusal>;

/// The rights of a caller.
pub trait NosqlAccess {
    /// Refuses what the caller may not do with the rows of a table.
    ///
    /// # Errors
    /// Why it is refused.
    fn check_table(&self, right: TableRight, table: &str) -> AccessDecision;

    /// Refuses to tell a caller of a table that it may not know of.
    ///
    /// # Errors
    /// Why it is refused.
    fn check_description(&self, table: &str) -> AccessDecision;

    /// Refuses a definition that the caller may not carry out. It is in the words of Tonnage.
    ///
    /// # Errors
    /// Why it is refused.
    fn check_definition(&self, statement: &str) -> AccessDecision;

    /// Whether the caller may know of a table.
    fn may_see(&self, table: &str) -> bool;

    /// The name of the user that calls; none where there are no users.
    fn user_name(&self) -> Option<&str> {
        None
    }
}

/// Everybody may do everything: there are no users.
#[derive(Clone, Copy, Debug, Default)]
pub struct EverythingAllowed;

impl NosqlAccess for EverythingAllowed {
    fn check_table(&self, _: TableRight, _: &str) -> AccessDecision {
        Ok(())
    }

    fn check_description(&self, _: &str) -> AccessDecision {
        Ok(())
    }

    fn check_definition(&self, _: &str) -> AccessDecision {
        Ok(())
    }

    fn may_see(&self, _: &str) -> bool {
        true
    }
}
