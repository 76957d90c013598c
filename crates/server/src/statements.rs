//! Running statements, and statements that must run once.
//!
//! A client of Flight SQL first asks for a statement and then fetches its answer, perhaps twice. So
//! a statement that changes something waits here under a name. It runs at its first fetch. Its
//! outcome is kept for further fetches.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use tonnage::internal::sync::lock;
use tonnage::{Cancel, Error, Result};

use crate::budget::bytes_of;
use crate::prepared::BoundRows;
use crate::random::random_name;

/// How long a statement waits to be fetched.
const KEPT: Duration = Duration::from_secs(600);
/// Statements that may wait at a time.
const KEPT_MAX: usize = 10_000;
/// Outcomes that are kept for those that fetch again: the latest.
const OUTCOMES_MAX: usize = 10_000;
const OUTCOME_BYTES_MAX: usize = 64 << 20;

/// All statements.
#[derive(Default)]
pub(crate) struct StatementRegistry {
    /// A statement that is fetched twice runs under its name twice.
    running: Mutex<HashMap<String, Vec<Cancel>>>,
    one_time: Mutex<OneTimeStatements>,
}

/// Statements that wait or run, and outcomes.
#[derive(Default)]
struct OneTimeStatements {
    by_id: HashMap<String, OneTimeStatement>,
    /// Those that have an outcome, with its bytes; the oldest first.
    ended: VecDeque<(String, usize)>,
    ended_bytes: usize,
}

impl OneTimeStatements {
    /// How many have no outcome yet.
    fn pending_count(&self) -> usize {
        self.by_id.len() - self.ended.len()
    }

    /// Forgets the statements that were not fetched in time.
    fn remove_expired(&mut self) {
        self.by_id.retain(|_, once| {
            !matches!(once.state, OneTimeState::Waiting) || once.since.elapsed() < KEPT
        });
    }

    /// Notes an outcome, and forgets the oldest ones where there are too many.
    fn end(&mut self, id: &str, bytes: usize) {
        self.ended.push_back((id.to_owned(), bytes));
        self.ended_bytes += bytes;
        while self.ended.len() > OUTCOMES_MAX
            || self.ended.len() > 1 && self.ended_bytes > OUTCOME_BYTES_MAX
        {
            let Some((oldest, bytes)) = self.ended.pop_front() else { break };
            self.ended_bytes -= bytes;
            self.by_id.remove(&oldest);
        }
    }
}

/// A statement that changes something.
#[derive(Clone, Debug)]
pub(crate) struct PendingStatement {
    /// Its text, or the handle of a prepared one.
    pub(crate) what: StatementSource,
    /// What is bound to its parameters.
    pub(crate) bound: BoundRows,
    /// Who asked for it.
    pub(crate) owner: Option<String>,
}

/// What is to be carried out.
#[derive(Clone, Debug)]
pub(crate) enum StatementSource {
    Text(String),
    Prepared(String),
}

struct OneTimeStatement {
    pending: PendingStatement,
    state: OneTimeState,
    since: Instant,
}

enum OneTimeState {
    Waiting,
    Running,
    Done(RecordBatch),
    Failed(Error),
}

/// What a fetch finds.
pub(crate) enum FetchedStatement {
    /// It is the first: carry it out, and tell [`StatementRegistry::finish`].
    First(PendingStatement),
    /// It was carried out before.
    Again(RecordBatch),
}

/// A statement that runs. Dropping it cancels what still runs.
pub(crate) struct RunningStatement {
    statements: Arc<StatementRegistry>,
    id: String,
    cancel: Cancel,
}

impl RunningStatement {
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }
}

impl Drop for RunningStatement {
    fn drop(&mut self) {
        self.cancel.cancel();
        let mut running = self.statements.running();
        let Some(others) = running.get_mut(&self.id) else { return };
        others.retain(|other| !other.is_cancelled());
        if others.is_empty() {
            running.remove(&self.id);
        }
    }
}

impl StatementRegistry {
    /// Notes that a statement runs under this name from now on.
    pub(crate) fn start(self: &Arc<Self>, id: String) -> RunningStatement {
        let cancel = Cancel::new();
        self.running().entry(id.clone()).or_default().push(cancel.clone());
        RunningStatement { statements: self.clone(), id, cancel }
    }

    /// Cancels the statement of this name. False when none of it runs.
    pub(crate) fn cancel(&self, id: &str) -> bool {
        let running = self.running();
        let found = running.get(id);
        found.into_iter().flatten().for_each(Cancel::cancel);
        found.is_some()
    }

    /// Cancels all that run.
    pub(crate) fn cancel_all(&self) {
        self.running().values().flatten().for_each(Cancel::cancel);
    }

    /// How many run.
    pub(crate) fn count(&self) -> usize {
        self.running().values().map(Vec::len).sum()
    }

    /// Keeps a statement until it is fetched, and names it.
    ///
    /// # Errors
    /// `Exhausted` when too many wait.
    pub(crate) fn keep(&self, pending: PendingStatement) -> Result<String> {
        let id = random_name()?;
        let mut once = self.one_time();
        if once.pending_count() >= KEPT_MAX {
            once.remove_expired();
        }
        if once.pending_count() >= KEPT_MAX {
            return Err(Error::exhausted(format!(
                "{KEPT_MAX} statements wait to be fetched: fetch those that were asked for"
            )));
        }
        let state = OneTimeState::Waiting;
        once.by_id.insert(id.clone(), OneTimeStatement { pending, state, since: Instant::now() });
        Ok(id)
    }

    /// Takes a statement to carry it out, or its outcome when it was.
    ///
    /// # Errors
    /// `NotFound` for a name that is not known, or of another's statement; `Conflict` while it
    /// runs; its own error when it failed.
    pub(crate) fn fetch(&self, id: &str, user: Option<&str>) -> Result<FetchedStatement> {
        let mut once = self.one_time();
        let found = once.by_id.get_mut(id).filter(|once| once.pending.owner.as_deref() == user);
        let Some(found) = found else {
            return Err(Error::not_found("no such statement waits: ask for it again"));
        };
        match &found.state {
            OneTimeState::Waiting => {
                found.state = OneTimeState::Running;
                let what = StatementSource::Text(String::new());
                let empty = PendingStatement { what, bound: BoundRows::default(), owner: None };
                let owner = found.pending.owner.clone();
                Ok(FetchedStatement::First(std::mem::replace(
                    &mut found.pending,
                    PendingStatement { owner, ..empty },
                )))
            }
            OneTimeState::Running => {
                Err(Error::conflict("the statement runs: it is carried out once"))
            }
            OneTimeState::Done(batch) => Ok(FetchedStatement::Again(batch.clone())),
            OneTimeState::Failed(error) => Err(Error::new(error.kind(), error.message())),
        }
    }

    /// Keeps the outcome of a statement that was fetched.
    pub(crate) fn finish(&self, id: &str, outcome: &Result<RecordBatch>) {
        let mut kept = self.one_time();
        let Some(once) = kept.by_id.get_mut(id) else { return };
        let (state, bytes) = match outcome {
            Ok(batch) => (OneTimeState::Done(batch.clone()), bytes_of(batch)),
            Err(error) => {
                let error = Error::new(error.kind(), error.message());
                let bytes = error.message().len();
                (OneTimeState::Failed(error), bytes)
            }
        };
        once.state = state;
        kept.end(id, bytes);
    }

    fn running(&self) -> MutexGuard<'_, HashMap<String, Vec<Cancel>>> {
        lock(&self.running)
    }

    fn one_time(&self) -> MutexGuard<'_, OneTimeStatements> {
        lock(&self.one_time)
    }
}

#[cfg(test)]
mod tests {
    use tonnage::ErrorKind;

    use super::*;

    fn insertion(owner: Option<&str>) -> PendingStatement {
        let what = StatementSource::Text("INSERT".to_owned());
        PendingStatement { what, bound: BoundRows::default(), owner: owner.map(str::to_owned) }
    }

    #[test]
    fn a_statement_is_carried_out_at_its_first_fetch_only() {
        let statements = StatementRegistry::default();
        let id = statements.keep(insertion(None)).unwrap();
        assert!(matches!(statements.fetch(&id, None), Ok(FetchedStatement::First(_))));
        let running = statements.fetch(&id, None).map(|_| ()).unwrap_err();
        assert_eq!(running.kind(), ErrorKind::Conflict);
        let outcome = Ok(RecordBatch::new_empty(arrow::datatypes::Schema::empty().into()));
        statements.finish(&id, &outcome);
        assert!(matches!(statements.fetch(&id, None), Ok(FetchedStatement::Again(_))));
    }

    /// Once ten thousand changes within ten minutes were the most that all clients together could
    /// make: outcomes counted as statements that wait.
    #[test]
    fn changes_are_not_limited_by_those_that_were_made_before() {
        let statements = StatementRegistry::default();
        let counts: arrow::array::ArrayRef = Arc::new(arrow::array::Int64Array::from(vec![1]));
        let outcome = Ok(RecordBatch::try_from_iter([("count", counts)]).unwrap());
        let change = || {
            let id = statements.keep(insertion(None)).unwrap();
            assert!(matches!(statements.fetch(&id, None), Ok(FetchedStatement::First(_))));
            statements.finish(&id, &outcome);
            id
        };
        let first = change();
        for _ in 0..3 * KEPT_MAX {
            let id = change();
            assert!(matches!(statements.fetch(&id, None), Ok(FetchedStatement::Again(_))));
        }
        // One that is forgotten is not run again.
        let error = statements.fetch(&first, None).map(|_| ()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::NotFound);
        assert_eq!(statements.one_time().by_id.len(), OUTCOMES_MAX);

        for _ in 0..KEPT_MAX {
            statements.keep(insertion(None)).unwrap();
        }
        let error = statements.keep(insertion(None)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Exhausted, "nobody fetches them");
    }

    #[test]
    fn large_outcomes_are_not_kept_for_long() {
        let statements = StatementRegistry::default();
        let words: arrow::array::ArrayRef =
            Arc::new(arrow::array::StringArray::from(vec!["x".repeat(OUTCOME_BYTES_MAX)]));
        let outcome = Ok(RecordBatch::try_from_iter([("w", words)]).unwrap());
        let [first, second] = [0, 1].map(|_| {
            let id = statements.keep(insertion(None)).unwrap();
            assert!(statements.fetch(&id, None).is_ok());
            statements.finish(&id, &outcome);
            assert!(matches!(statements.fetch(&id, None), Ok(FetchedStatement::Again(_))));
            id
        });
        assert!(statements.fetch(&first, None).is_err());
        assert!(statements.fetch(&second, None).is_ok());
    }

    #[test]
    fn a_statement_that_failed_fails_again() {
        let statements = StatementRegistry::default();
        let id = statements.keep(insertion(None)).unwrap();
        assert!(statements.fetch(&id, None).is_ok());
        statements.finish(&id, &Err(Error::conflict("the key exists")));
        let error = statements.fetch(&id, None).map(|_| ()).unwrap_err();
        assert_eq!(error.message(), "the key exists");
    }

    #[test]
    fn a_statement_is_its_owners() {
        let statements = StatementRegistry::default();
        let id = statements.keep(insertion(Some("ann"))).unwrap();
        assert!(statements.fetch(&id, Some("bob")).is_err());
        assert!(statements.fetch(&id, None).is_err());
        assert!(statements.fetch(&id, Some("ann")).is_ok());
    }

    /// Once the second fetch of a ticket replaced the first, which then could not be
    /// cancelled: neither by its client nor by a server that shuts down.
    #[test]
    fn statements_that_run_under_one_name_are_cancelled_together() {
        let statements = Arc::new(StatementRegistry::default());
        let fetched = ["a", "a", "b"].map(|id| statements.start(id.to_owned()));
        assert_eq!(statements.count(), 3);
        assert!(statements.cancel("a"));
        assert_eq!(fetched.each_ref().map(|one| one.cancel().is_cancelled()), [true, true, false]);
        let [first, second, third] = fetched;
        drop(first);
        statements.cancel_all();
        assert!(third.cancel().is_cancelled());
        drop((second, third));
        assert_eq!(statements.count(), 0);
    }

    #[test]
    fn what_is_dropped_is_cancelled() {
        let statements = Arc::new(StatementRegistry::default());
        let running = statements.start("a".to_owned());
        let cancel = running.cancel().clone();
        assert!(statements.cancel("a") && cancel.is_cancelled());
        drop(running);
        assert!(!statements.cancel("a"));
    }
}
