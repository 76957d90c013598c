//! How long a call may take.

use std::time::{Duration, Instant};

use crate::{Error, Result};

/// The time by which a call must be answered; without one it waits as long as the engine does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Deadline(Option<Instant>);

impl Deadline {
    /// No deadline: the engine's own limits hold.
    pub const NONE: Deadline = Deadline(None);

    /// So long from now. A time beyond all clocks is none.
    pub fn after(time: Duration) -> Self {
        Self(Instant::now().checked_add(time))
    }

    /// That time.
    pub fn at(moment: Instant) -> Self {
        Self(Some(moment))
    }

    /// The time, if there is one.
    pub fn moment(self) -> Option<Instant> {
        self.0
    }

    /// This time or `limit`, whichever comes first.
    pub fn or_before(self, limit: Instant) -> Instant {
        self.0.map_or(limit, |moment| moment.min(limit))
    }

    /// Whether it is over.
    pub fn is_over(self) -> bool {
        self.0.is_some_and(|moment| Instant::now() >= moment)
    }

    /// Continues while there is time.
    ///
    /// # Errors
    /// `TimedOut`, naming what was waited for.
    #[inline]
    pub fn check(self, what: &str) -> Result<()> {
        if self.is_over() { Err(Self::passed(what)) } else { Ok(()) }
    }

    /// The error of a call whose deadline passed while it waited for something.
    #[cold]
    pub fn passed(what: &str) -> Error {
        Error::timed_out(format!(
            "the deadline passed while the call waited for {what}: give it more time"
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deadline_that_passed_names_what_was_waited_for() {
        assert!(Deadline::NONE.check("nothing").is_ok());
        assert!(Deadline::after(Duration::from_secs(3_600)).check("an hour").is_ok());
        assert!(Deadline::after(Duration::MAX).check("all clocks").is_ok());
        let error = Deadline::after(Duration::ZERO).check("the gate").unwrap_err();
        assert_eq!(error.kind(), crate::ErrorKind::TimedOut);
        assert!(error.message().contains("the gate"), "{error}");
    }
}
