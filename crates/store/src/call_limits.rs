//! The limits of a long call: a cancel and a timeout, and the errors that they end it with.

use std::time::Duration;

use tonnage_engine::{Deadline, Error, ErrorKind, Result};

use crate::cancel::Cancel;
use crate::terms::{check_timeout, deadline_after};

/// A cancel, and the time of a call.
#[derive(Clone, Debug)]
pub(crate) struct CallLimits {
    /// What ends, such as "the backup".
    what: &'static str,
    /// What is left of it then.
    left: &'static str,
    cancel: Cancel,
    timeout: Option<Duration>,
    deadline: Deadline,
}

impl CallLimits {
    /// The time begins now.
    ///
    /// # Errors
    /// `Invalid` for no time at all.
    pub(crate) fn new(
        what: &'static str,
        left: &'static str,
        cancel: &Cancel,
        timeout: Option<Duration>,
    ) -> Result<Self> {
        check_timeout(timeout)?;
        let deadline = deadline_after(timeout);
        Ok(Self { what, left, cancel: cancel.clone(), timeout, deadline })
    }

    /// By when the engine must have answered.
    pub(crate) fn deadline(&self) -> Deadline {
        self.deadline
    }

    /// Whether the call may continue.
    ///
    /// # Errors
    /// `Cancelled`, `TimedOut`.
    pub(crate) fn check(&self) -> Result<()> {
        let Self { what, left, timeout, .. } = self;
        if self.cancel.is_cancelled() {
            return Err(Error::cancelled(format!("{what} was stopped by the caller: {left}")));
        }
        if self.deadline.is_over() {
            return Err(Error::timed_out(format!(
                "{what} took longer than its timeout of {:?}: {left}",
                timeout.unwrap_or_default()
            )));
        }
        Ok(())
    }

    /// Passes on an error that ends the call; one that is a finding is given back.
    ///
    /// # Errors
    /// Those of [`CallLimits::check`].
    pub(crate) fn finding(&self, error: Error) -> Result<Error> {
        self.check()?;
        match error.kind() {
            ErrorKind::TimedOut | ErrorKind::Cancelled => Err(error),
            _ => Ok(error),
        }
    }
}
