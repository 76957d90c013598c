//! Statements that run, and statements that must run once.
//!
//! A client of Flight SQL asks for a statement first and fetches its answer then; it may fetch
//! twice. So a statement that changes something waits here under a name until it is fetched, runs
//! at the first fetch, and its outcome is kept for those that come again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use tonnage::{Cancel, Error, Result};

use crate::random::random_name;

/// How long a statement waits to be fetched, and its outcome is kept.
const KEPT: Duration = Duration::from_secs(600);
/// Statements that may wait at a time.
const KEPT_MAX: usize = 10_000;

/// All statements.
#[derive(Default)]
pub(crate) struct Statements {
    running: Mutex<HashMap<String, Cancel>>,
    once: Mutex<HashMap<String, Once>>,
}

/// A statement that changes something.
#[derive(Clone, Debug)]
pub(crate) struct Pending {
    /// Its text, or the handle of a prepared one.
    pub(crate) what: What,
    /// What is bound to its parameters.
    pub(crate) bound: Vec<RecordBatch>,
    /// Who asked for it.
    pub(crate) owner: Option<String>,
}

/// What is to be carried out.
#[derive(Clone, Debug)]
pub(crate) enum What {
    Text(String),
    Prepared(String),
}

struct Once {
    pending: Pending,
    state: OnceState,
    since: Instant,
}

enum OnceState {
    Waiting,
    Running,
    Done(RecordBatch),
    Failed(Error),
}

/// What a fetch finds.
pub(crate) enum Fetched {
    /// It is the first: carry it out, and tell [`Statements::finish`].
    First(Pending),
    /// It was carried out before.
    Again(RecordBatch),
}

/// A statement that runs. Dropping it cancels what still runs.
pub(crate) struct Running {
    statements: Arc<Statements>,
    id: String,
    cancel: Cancel,
}

impl Running {
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.cancel.cancel();
        let mut running = self.statements.running();
        // A statement that was fetched twice runs under its name twice.
        if running.get(&self.id).is_some_and(|other| other.is_cancelled()) {
            running.remove(&self.id);
        }
    }
}

impl Statements {
    /// Notes that a statement runs under this name from now on.
    pub(crate) fn start(self: &Arc<Self>, id: String) -> Running {
        let cancel = Cancel::new();
        self.running().insert(id.clone(), cancel.clone());
        Running { statements: self.clone(), id, cancel }
    }

    /// Cancels the statement of this name. False when none of it runs.
    pub(crate) fn cancel(&self, id: &str) -> bool {
        let found = self.running().get(id).cloned();
        found.inspect(Cancel::cancel).is_some()
    }

    /// Cancels all that run.
    pub(crate) fn cancel_all(&self) {
        self.running().values().for_each(Cancel::cancel);
    }

    /// How many run.
    pub(crate) fn count(&self) -> usize {
        self.running().len()
    }

    /// Keeps a statement until it is fetched, and names it.
    ///
    /// # Errors
    /// `Exhausted` when too many wait.
    pub(crate) fn keep(&self, pending: Pending) -> Result<String> {
        let id = random_name()?;
        let mut once = self.once();
        if once.len() >= KEPT_MAX {
            once.retain(|_, once| once.since.elapsed() < KEPT);
        }
        if once.len() >= KEPT_MAX {
            return Err(Error::exhausted(format!(
                "{KEPT_MAX} statements wait to be fetched: fetch those that were asked for"
            )));
        }
        let state = OnceState::Waiting;
        once.insert(id.clone(), Once { pending, state, since: Instant::now() });
        Ok(id)
    }

    /// Takes a statement to carry it out, or its outcome when it was.
    ///
    /// # Errors
    /// `NotFound` for a name that is not known, or of another's statement; `Conflict` while it
    /// runs; its own error when it failed.
    pub(crate) fn fetch(&self, id: &str, user: Option<&str>) -> Result<Fetched> {
        let mut once = self.once();
        let found = once.get_mut(id).filter(|once| once.pending.owner.as_deref() == user);
        let Some(found) = found else {
            return Err(Error::not_found("no such statement waits: ask for it again"));
        };
        match &found.state {
            OnceState::Waiting => {
                found.state = OnceState::Running;
                found.since = Instant::now();
                let empty =
                    Pending { what: What::Text(String::new()), bound: Vec::new(), owner: None };
                let owner = found.pending.owner.clone();
                Ok(Fetched::First(std::mem::replace(
                    &mut found.pending,
                    Pending { owner, ..empty },
                )))
            }
            OnceState::Running => {
                Err(Error::conflict("the statement runs: it is carried out once"))
            }
            OnceState::Done(batch) => Ok(Fetched::Again(batch.clone())),
            OnceState::Failed(error) => Err(Error::new(error.kind(), error.message())),
        }
    }

    /// Keeps the outcome of a statement that was fetched.
    pub(crate) fn finish(&self, id: &str, outcome: &Result<RecordBatch>) {
        if let Some(once) = self.once().get_mut(id) {
            once.since = Instant::now();
            once.state = match outcome {
                Ok(batch) => OnceState::Done(batch.clone()),
                Err(error) => OnceState::Failed(Error::new(error.kind(), error.message())),
            };
        }
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Cancel>> {
        self.running.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn once(&self) -> MutexGuard<'_, HashMap<String, Once>> {
        self.once.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use tonnage::ErrorKind;

    use super::*;

    fn insertion(owner: Option<&str>) -> Pending {
        let what = What::Text("INSERT".to_owned());
        Pending { what, bound: Vec::new(), owner: owner.map(str::to_owned) }
    }

    #[test]
    fn a_statement_is_carried_out_at_its_first_fetch_only() {
        let statements = Statements::default();
        let id = statements.keep(insertion(None)).unwrap();
        assert!(matches!(statements.fetch(&id, None), Ok(Fetched::First(_))));
        let running = statements.fetch(&id, None).map(|_| ()).unwrap_err();
        assert_eq!(running.kind(), ErrorKind::Conflict);
        let outcome = Ok(RecordBatch::new_empty(arrow::datatypes::Schema::empty().into()));
        statements.finish(&id, &outcome);
        assert!(matches!(statements.fetch(&id, None), Ok(Fetched::Again(_))));
    }

    #[test]
    fn a_statement_that_failed_fails_again() {
        let statements = Statements::default();
        let id = statements.keep(insertion(None)).unwrap();
        assert!(statements.fetch(&id, None).is_ok());
        statements.finish(&id, &Err(Error::conflict("the key exists")));
        let error = statements.fetch(&id, None).map(|_| ()).unwrap_err();
        assert_eq!(error.message(), "the key exists");
    }

    #[test]
    fn a_statement_is_its_owners() {
        let statements = Statements::default();
        let id = statements.keep(insertion(Some("ann"))).unwrap();
        assert!(statements.fetch(&id, Some("bob")).is_err());
        assert!(statements.fetch(&id, None).is_err());
        assert!(statements.fetch(&id, Some("ann")).is_ok());
    }

    #[test]
    fn what_is_dropped_is_cancelled() {
        let statements = Arc::new(Statements::default());
        let running = statements.start("a".to_owned());
        let cancel = running.cancel().clone();
        assert!(statements.cancel("a") && cancel.is_cancelled());
        drop(running);
        assert!(!statements.cancel("a"));
    }
}
