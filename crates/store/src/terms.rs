//! Write terms (durability, copies, deadline), and timeouts that callers give.

use std::time::Duration;

use tonnage_engine::{Acks, Deadline, Durability, Error, Result};

/// When a write is acknowledged, how many copies have it then, and by when that must be.
#[derive(Clone, Copy, Debug)]
pub(crate) struct WriteTerms {
    pub(crate) durability: Durability,
    pub(crate) acks: Option<Acks>,
    pub(crate) deadline: Deadline,
}

/// The time at which a period that begins now is over.
pub(crate) fn deadline_after(timeout: Option<Duration>) -> Deadline {
    timeout.map_or(Deadline::NONE, Deadline::after)
}

/// Refuses no time at all.
pub(crate) fn check_timeout(timeout: Option<Duration>) -> Result<()> {
    match timeout {
        Some(Duration::ZERO) => Err(Error::invalid("timeout is 0: give a longer one, or none")),
        _ => Ok(()),
    }
}
