//! Running statements, and statements that must run once.
//!
//! A client of Flight SQL first asks for a statement and then fetches its answer, perhaps twice. So
//! a statement that changes something waits here under a name. It runs at its first fetch. Its
//! outcome is kept for further fetches.
//!
//! What ran lately is kept as well, for those who look.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use serde_json::Value as Json;
use tonnage::internal::sync::lock;
use tonnage::{Cancel, Error, Result};

use crate::budget::bytes_of;
use crate::job_scope::JobScope;
use crate::live_statement::{LiveStatement, StatementOrigin};
use crate::prepared::BoundRows;
use crate::random::random_name;

/// How long a statement waits to be fetched.
const KEPT: Duration = Duration::from_secs(600);
/// Statements that may wait at a time.
const KEPT_MAX: usize = 10_000;
/// Outcomes that are kept for those that fetch again: the latest.
const OUTCOMES_MAX: usize = 10_000;
const OUTCOME_BYTES_MAX: usize = 64 << 20;
/// Statements that have ended and can still be asked for.
const ENDED_MAX: usize = 1_000;

/// All statements.
#[derive(Default)]
pub(crate) struct StatementRegistry {
    /// A statement that is fetched twice runs under its name twice.
    running: Mutex<HashMap<String, Vec<Arc<LiveStatement>>>>,
    one_time: Mutex<OneTimeStatements>,
    next: AtomicU64,
    ended: Mutex<VecDeque<EndedStatement>>,
}

/// A statement of before.
struct EndedStatement {
    user: Option<String>,
    view: Json,
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
    live: Arc<LiveStatement>,
}

impl RunningStatement {
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.live.cancel
    }

    /// Notes why it has failed.
    pub(crate) fn note_failure(&self, error: &Error) {
        self.live.note_failure(error);
    }
}

impl Drop for RunningStatement {
    fn drop(&mut self) {
        self.statements.note_end(&self.live);
        self.live.cancel.cancel();
        let mut running = self.statements.running();
        let Some(others) = running.get_mut(&self.id) else { return };
        others.retain(|other| !Arc::ptr_eq(other, &self.live));
        if others.is_empty() {
            running.remove(&self.id);
        }
    }
}

impl StatementRegistry {
    /// Notes that a statement runs under this name from now on.
    pub(crate) fn start(self: &Arc<Self>, id: String, origin: StatementOrigin) -> RunningStatement {
        let number = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let live = Arc::new(LiveStatement::new(number, origin));
        self.running().entry(id.clone()).or_default().push(live.clone());
        RunningStatement { statements: self.clone(), id, live }
    }

    /// Those of a scope that run, and those that ended lately, the latest first.
    pub(crate) fn list(&self, scope: &JobScope) -> (Vec<Json>, Vec<Json>) {
        let is_seen = |user: &Option<String>| scope.covers(std::slice::from_ref(user));
        let running = self.running();
        let mut now: Vec<&Arc<LiveStatement>> =
            running.values().flatten().filter(|live| is_seen(&live.origin.user)).collect();
        now.sort_by_key(|live| live.number());
        let now = now.into_iter().map(|live| live.view()).collect();
        drop(running);
        let ended = lock(&self.ended);
        let ended = ended.iter().rev().filter(|ended| is_seen(&ended.user));
        (now, ended.map(|ended| ended.view.clone()).collect())
    }

    /// Cancels the statement that the list names so. False when none of the scope runs.
    pub(crate) fn cancel_listed(&self, id: &str, scope: &JobScope) -> bool {
        let running = self.running();
        let found = running
            .values()
            .flatten()
            .find(|live| live.id() == id && scope.covers(std::slice::from_ref(&live.origin.user)));
        found.inspect(|live| live.cancel.cancel()).is_some()
    }

    /// The text of a statement that waits, of this user.
    pub(crate) fn waiting_text(&self, id: &str, user: Option<&str>) -> Option<StatementSource> {
        let once = self.one_time();
        let found = once.by_id.get(id).filter(|once| once.pending.owner.as_deref() == user);
        found.map(|once| once.pending.what.clone())
    }

    fn note_end(&self, live: &LiveStatement) {
        // What has no text is not a statement of a client: metadata, for example.
        if live.origin.text.is_empty() {
            return;
        }
        let mut ended = lock(&self.ended);
        ended.push_back(EndedStatement { user: live.origin.user.clone(), view: live.last_view() });
        if ended.len() > ENDED_MAX {
            ended.pop_front();
        }
    }

    /// Cancels the statement of this name. False when none of it runs.
    pub(crate) fn cancel(&self, id: &str) -> bool {
        let running = self.running();
        let found = running.get(id);
        found.into_iter().flatten().for_each(|live| live.cancel.cancel());
        found.is_some()
    }

    /// Cancels all that run.
    pub(crate) fn cancel_all(&self) {
        self.running().values().flatten().for_each(|live| live.cancel.cancel());
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

    fn running(&self) -> MutexGuard<'_, HashMap<String, Vec<Arc<LiveStatement>>>> {
        lock(&self.running)
    }

    fn one_time(&self) -> MutexGuard<'_, OneTimeStatements> {
        lock(&self.one_time)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
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
        let fetched =
            ["a", "a", "b"].map(|id| statements.start(id.to_owned(), StatementOrigin::default()));
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
        let running = statements.start("a".to_owned(), StatementOrigin::default());
        let cancel = running.cancel().clone();
        assert!(statements.cancel("a") && cancel.is_cancelled());
        drop(running);
        assert!(!statements.cancel("a"));
    }

    #[test]
    fn what_ran_is_listed_to_its_user_and_to_operators() {
        let statements = Arc::new(StatementRegistry::default());
        let start = |user: &str, text: &str| {
            statements.start(text.to_owned(), StatementOrigin::new(Some(user), text))
        };
        let (mine, other) = (start("ann", "SELECT 1"), start("bob", "SELECT 2"));
        let of_ann = JobScope::Of(Some("ann".to_owned()));
        let (running, ended) = statements.list(&of_ann);
        assert_eq!((running.len(), ended.len()), (1, 0));
        assert_eq!((&running[0]["text"], &running[0]["user"]), (&"SELECT 1".into(), &"ann".into()));
        assert!(!statements.cancel_listed("s-2", &of_ann) && !other.cancel().is_cancelled());
        assert!(statements.cancel_listed("s-2", &JobScope::All) && other.cancel().is_cancelled());
        mine.note_failure(&Error::invalid("there is no table t"));
        drop((mine, other));
        let (running, ended) = statements.list(&JobScope::All);
        let states: Vec<_> = ended.iter().map(|ended| &ended["state"]).collect();
        assert_eq!((running.len(), states), (0, vec![&json!("cancelled"), &json!("failed")]));
        assert_eq!(ended[1]["message"], "there is no table t");
        assert_eq!(statements.list(&of_ann).1.len(), 1);
    }

    #[test]
    fn of_those_that_ended_the_latest_are_kept_and_long_texts_are_cut() {
        let statements = Arc::new(StatementRegistry::default());
        let long = "é".repeat(2_000);
        for number in 0..ENDED_MAX + 5 {
            let text = format!("{number} {long}");
            drop(statements.start("a".to_owned(), StatementOrigin::new(None, &text)));
        }
        let (_, ended) = statements.list(&JobScope::All);
        assert_eq!(ended.len(), ENDED_MAX);
        let last = ended[0]["text"].as_str().unwrap();
        assert!(last.starts_with("1004 ") && last.len() < 1_100, "{last}");
    }
}
