//! The time limit and the cancellation of a call.

use std::time::{Duration, Instant};

use tonnage::{Cancel, Error, Result};

/// How long a call may continue: until it is called off, or its time is over.
#[derive(Clone, Debug)]
pub(crate) struct CallLimits {
    cancel: Cancel,
    /// That of the call itself, beside that of its connection.
    own_cancel: Option<Cancel>,
    end: Option<(Instant, Duration)>,
}

impl CallLimits {
    /// The time of the call begins now.
    pub(crate) fn begin(cancel: &Cancel, timeout: Option<Duration>) -> Self {
        let end = timeout.and_then(|timeout| Some((Instant::now().checked_add(timeout)?, timeout)));
        Self { cancel: cancel.clone(), own_cancel: None, end }
    }

    /// The same for a call with a cancel and a time of its own: whichever ends first counts.
    pub(crate) fn and(self, cancel: &Cancel, timeout: Option<Duration>) -> Self {
        let own = Self::begin(cancel, timeout);
        let ends = [self.end, own.end].into_iter().flatten();
        Self { end: ends.min(), own_cancel: Some(own.cancel), ..self }
    }

    /// How long one may wait before looking again.
    pub(crate) fn pause(&self, longest: Duration) -> Duration {
        self.end
            .map_or(longest, |(end, _)| end.saturating_duration_since(Instant::now()).min(longest))
    }

    /// # Errors
    /// `Cancelled` or `TimedOut`.
    pub(crate) fn check(&self) -> Result<()> {
        let own = self.own_cancel.as_ref();
        if self.cancel.is_cancelled() || own.is_some_and(Cancel::is_cancelled) {
            return Err(Error::cancelled("the call was cancelled"));
        }
        match self.end {
            Some((end, timeout)) if Instant::now() >= end => Err(Error::timed_out(format!(
                "the call took longer than its timeout of {timeout:?}: give it more time, or ask for less"
            ))),
            _ => Ok(()),
        }
    }
}
