//! What a statement must keep to: a cancel, its time, and when its writes are acknowledged.

use std::time::{Duration, Instant};

use tonnage::{Cancel, Durability, Error, Result};

/// Looked at between batches.
#[derive(Clone, Debug, Default)]
pub(crate) struct Guard {
    cancel: Cancel,
    deadline: Option<(Instant, Duration)>,
    durability: Durability,
}

impl Guard {
    /// The time begins now.
    pub(crate) fn new(cancel: Cancel, timeout: Option<Duration>) -> Self {
        let deadline =
            timeout.and_then(|timeout| Some((Instant::now().checked_add(timeout)?, timeout)));
        Self { cancel, deadline, durability: Durability::default() }
    }

    /// The same for writes that are acknowledged then.
    pub(crate) fn with_durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// When a write is acknowledged.
    pub(crate) fn durability(&self) -> Durability {
        self.durability
    }

    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    /// What is left of the time.
    pub(crate) fn remaining(&self) -> Option<Duration> {
        self.deadline.map(|(deadline, _)| deadline.saturating_duration_since(Instant::now()))
    }

    /// The same for what refuses no time at all as a mistake: a moment at least.
    pub(crate) fn time_left(&self) -> Option<Duration> {
        self.remaining().map(|left| left.max(Duration::from_nanos(1)))
    }

    pub(crate) fn check(&self) -> Result<()> {
        if self.cancel.is_cancelled() {
            return Err(Error::cancelled("the statement was cancelled"));
        }
        match self.deadline {
            Some((deadline, timeout)) if Instant::now() >= deadline => Err(Error::timed_out(
                format!("the statement took longer than its timeout of {timeout:?}"),
            )),
            _ => Ok(()),
        }
    }
}
