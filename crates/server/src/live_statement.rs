//! A statement that runs, as the list of statements tells it.

use std::sync::OnceLock;
use std::time::Instant;

use serde_json::{Value as Json, json};
use tonnage::{Cancel, Clock, Error, SystemClock};

/// Bytes of a text that are kept.
const TEXT_BYTES_MAX: usize = 1_024;

/// Who runs a statement, and what it says.
#[derive(Clone, Debug, Default)]
pub(crate) struct StatementOrigin {
    pub(crate) user: Option<String>,
    pub(crate) text: String,
}

impl StatementOrigin {
    pub(crate) fn new(user: Option<&str>, text: &str) -> Self {
        let end = text.floor_char_boundary(TEXT_BYTES_MAX);
        let is_cut = end < text.len();
        let mut kept = text[..end].to_owned();
        if is_cut {
            kept.push('…');
        }
        Self { user: user.map(str::to_owned), text: kept }
    }
}

#[derive(Debug)]
pub(crate) struct LiveStatement {
    number: u64,
    pub(crate) origin: StatementOrigin,
    pub(crate) cancel: Cancel,
    started: Instant,
    started_ms: u64,
    failure: OnceLock<String>,
}

impl LiveStatement {
    pub(crate) fn new(number: u64, origin: StatementOrigin) -> Self {
        Self {
            number,
            origin,
            cancel: Cancel::new(),
            started: Instant::now(),
            started_ms: SystemClock.now_ms(),
            failure: OnceLock::new(),
        }
    }

    /// Later ones have greater numbers.
    pub(crate) fn number(&self) -> u64 {
        self.number
    }

    /// How the list names it.
    pub(crate) fn id(&self) -> String {
        format!("s-{}", self.number)
    }

    pub(crate) fn note_failure(&self, error: &Error) {
        // The first one counts.
        let _ = self.failure.set(error.message().to_owned());
    }

    /// What is known of it while it runs.
    pub(crate) fn view(&self) -> Json {
        self.view_in("running")
    }

    /// The same once it has ended.
    pub(crate) fn last_view(&self) -> Json {
        let state = match (self.failure.get(), self.cancel.is_cancelled()) {
            (_, true) => "cancelled",
            (Some(_), false) => "failed",
            (None, false) => "completed",
        };
        self.view_in(state)
    }

    fn view_in(&self, state: &str) -> Json {
        json!({
            "statement": self.id(),
            "state": state,
            "user": self.origin.user,
            "text": self.origin.text,
            "started_ms": self.started_ms,
            "seconds": self.started.elapsed().as_secs_f64(),
            "message": self.failure.get(),
        })
    }
}
