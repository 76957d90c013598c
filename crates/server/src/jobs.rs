//! Running loads, and those that ended lately.
//!
//! A job is one load with one stream or more. Streams that name the same job share its load, even
//! over different connections. The job ends with its last stream.
//!
//! Streams without a name also share a load once all permits for loads are taken. So many small
//! writers neither wait for each other nor are refused. Such a load accepts streams for
//! [`SHARED_MAX`], so that it ends. Each stream gets the report of itself alone.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio::runtime::Handle;
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tonnage::internal::sync::lock;
use tonnage::{
    BulkPutCallbacks, BulkPutError, BulkPutOptions, BulkPutReport, Cancel, Clock, Counts, Error,
    Load, Progress, Result, Store, StreamReport, SystemClock,
};

use crate::admission::{ConcurrencyLimit, Permit};
use crate::config::Config;
use crate::job_rejects::{NotingCallbacks, Reject, RejectList};
use crate::job_scope::JobScope;

/// Ended jobs that can still be asked for.
const ENDED_MAX: usize = 1_000;
/// Those of them whose rejects are kept: the latest that have any.
const REJECTS_KEPT_MAX: usize = 64;
/// How long a load takes in streams without a name. Small writes cost more while a load is open.
const SHARED_MAX: Duration = Duration::from_secs(5);

/// How a stream leaves its job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StreamOutcome {
    /// Its client said that it sent everything, and all of it is stored.
    Completed,
    /// Its client ended it without saying so.
    Unmarked,
    /// Its client went away.
    Abandoned,
    /// It was stopped.
    Stopped,
}

impl StreamOutcome {
    pub(crate) fn label(self) -> &'static str {
        match self {
            StreamOutcome::Completed => "completed",
            StreamOutcome::Unmarked => "ended_without_marker",
            StreamOutcome::Abandoned => "abandoned",
            StreamOutcome::Stopped => "stopped",
        }
    }
}

/// How a job is asked for. Streams of one job ask alike.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct JobRequest {
    /// Streams of one user that give the same name share a load.
    pub(crate) name: Option<String>,
    /// Whose name it is. A load tells its last stream of all of them, and what stops one stops all.
    pub(crate) user: Option<String>,
    /// What all of them must agree on, as text.
    pub(crate) terms: String,
    /// Whether a stream without a name may share a load with others on the same terms.
    pub(crate) shares: bool,
}

/// Where a stream comes from.
#[derive(Clone, Debug, Default)]
pub(crate) struct StreamOrigin {
    /// Who sends it.
    pub(crate) user: Option<String>,
    /// The table that it is for; nothing for pairs.
    pub(crate) table: Option<String>,
    /// How many records it will bring, if its client has announced that.
    pub(crate) expected_rows: Option<u64>,
}

/// All jobs.
pub(crate) struct Jobs {
    loads: ConcurrencyLimit,
    memory_bytes: usize,
    next: AtomicU64,
    /// Held by name while a load of that name is opened, so that two streams do not open it twice.
    opening: Mutex<HashMap<String, Weak<Mutex<()>>>>,
    registry: Mutex<JobRegistry>,
}

#[derive(Default)]
struct JobRegistry {
    /// Those whose streams have all left are among them until their loads have ended.
    running: Vec<Arc<LoadJob>>,
    ended: VecDeque<EndedJob>,
}

struct EndedJob {
    view: serde_json::Value,
    users: Vec<Option<String>>,
    /// Nothing once too many others have ended since.
    rejects: Option<Arc<RejectList>>,
}

impl EndedJob {
    fn is_named(&self, id: &str) -> bool {
        self.view["job"] == id || self.view["name"] == id
    }
}

/// A load with the streams that share it.
pub(crate) struct LoadJob {
    pub(crate) id: String,
    request: JobRequest,
    cancel: Cancel,
    /// Wakes streams that wait for their clients when the job is cancelled.
    pub(crate) cancelled: CancellationToken,
    pub(crate) callbacks: Arc<dyn std::any::Any + Send + Sync>,
    started: Instant,
    /// The same in milliseconds since 1970.
    started_ms: u64,
    progress: Progress,
    rejects: Arc<RejectList>,
    state: Mutex<JobState>,
    /// What became of it, once it has ended.
    outcome: watch::Sender<Option<Arc<serde_json::Value>>>,
    _place: Permit,
}

/// A watched job. It holds no place among the loads.
pub(crate) struct JobSubscription {
    job: Weak<LoadJob>,
    outcome: watch::Receiver<Option<Arc<serde_json::Value>>>,
}

impl JobSubscription {
    /// The state of the job; nothing once it has ended.
    pub(crate) fn view(&self) -> Option<serde_json::Value> {
        let is_over = self.outcome.borrow().is_some();
        self.job.upgrade().filter(|_| !is_over).map(|job| job.view())
    }

    /// Waits for the end of the job, and says what became of it.
    pub(crate) async fn wait_for_end(&mut self) -> Option<Arc<serde_json::Value>> {
        // An error says that the job is gone without a word.
        self.outcome.wait_for(Option::is_some).await.ok().and_then(|outcome| outcome.clone())
    }
}

struct JobState {
    load: Option<Arc<Load>>,
    streams: usize,
    incomplete: HashSet<usize>,
    worst: StreamOutcome,
    /// Who sends streams, each once.
    users: Vec<Option<String>>,
    /// The tables that they are for, each once.
    tables: Vec<String>,
    /// What each stream will bring.
    expected_rows: Vec<Option<u64>>,
}

/// A stream's part in a job.
pub(crate) struct JobMembership {
    pub(crate) job: Arc<LoadJob>,
    pub(crate) load: Arc<Load>,
}

impl JobMembership {
    /// Begins a stream of the load, and notes where it comes from. Returns its number.
    pub(crate) fn begin_stream(&self, name: &str, origin: StreamOrigin) -> usize {
        let StreamOrigin { user, table, expected_rows } = origin;
        let mut state = self.job.state();
        if !state.users.contains(&user) {
            state.users.push(user);
        }
        if let Some(table) = table.filter(|table| !state.tables.contains(table)) {
            state.tables.push(table);
        }
        state.expected_rows.push(expected_rows);
        drop(state);
        self.load.stream(name)
    }
}

/// What the last stream that leaves a job hears.
pub(crate) struct JobResult {
    pub(crate) result: std::result::Result<BulkPutReport, BulkPutError>,
    pub(crate) job: Arc<LoadJob>,
}

impl Jobs {
    pub(crate) fn new(config: &Config) -> Self {
        Self {
            loads: ConcurrencyLimit::new(
                config.loads_max,
                "loads",
                "loads_max",
                config.admission_wait,
            ),
            memory_bytes: config.memory_bytes_per_load(),
            next: AtomicU64::new(1),
            opening: Mutex::default(),
            registry: Mutex::default(),
        }
    }

    /// How many loads run.
    pub(crate) fn running_loads(&self) -> usize {
        self.loads.in_use()
    }

    /// Joins the job of this name, or opens one. Blocks.
    ///
    /// # Errors
    /// `Exhausted` when no place for a load is free in time; `Conflict` when the job runs on other
    /// terms; what the store says to the options.
    pub(crate) fn join<C>(
        &self,
        store: &Store,
        request: JobRequest,
        mut options: BulkPutOptions,
        callbacks: Arc<C>,
    ) -> Result<JobMembership>
    where
        C: BulkPutCallbacks + Send + Sync + 'static,
    {
        let opening = request.name.as_deref().map(|name| self.opening_lock(name));
        let _opening = opening.as_ref().map(|opening| lock(opening));
        if let Some(running) = self.join_running(&request)? {
            return Ok(running);
        }
        // Sharing is the last resort: an error of the store stops all streams of a load.
        let place = match self.loads.try_acquire() {
            Some(place) => place,
            None => match self.join_shared(&request) {
                Some(shared) => return Ok(shared),
                None => Handle::current().block_on(self.loads.acquire())?,
            },
        };
        // A client may ask for less memory than the share of a load, and never for more.
        let asked = options.memory_bytes_max.unwrap_or(usize::MAX);
        options.memory_bytes_max = Some(self.memory_bytes.min(asked));
        let rejects = Arc::new(RejectList::default());
        options.callbacks =
            Arc::new(NotingCallbacks { inner: callbacks.clone(), rejects: rejects.clone() });
        let cancel = options.cancel.clone();
        let load = Arc::new(store.load(&options)?);
        let job = Arc::new(LoadJob {
            id: format!("b-{}", self.next.fetch_add(1, Ordering::Relaxed)),
            request,
            cancel,
            cancelled: CancellationToken::new(),
            callbacks,
            started: Instant::now(),
            started_ms: SystemClock.now_ms(),
            progress: load.progress(),
            rejects,
            state: Mutex::new(JobState {
                load: Some(load.clone()),
                streams: 1,
                incomplete: HashSet::new(),
                worst: StreamOutcome::Completed,
                users: Vec::new(),
                tables: Vec::new(),
                expected_rows: Vec::new(),
            }),
            outcome: watch::Sender::new(None),
            _place: place,
        });
        // Listed only now: opening a load may take long, and must not lock the registry.
        self.registry().running.push(job.clone());
        Ok(JobMembership { job, load })
    }

    /// The lock of a call that is opening a load of this name.
    fn opening_lock(&self, name: &str) -> Arc<Mutex<()>> {
        let mut opening = lock(&self.opening);
        opening.retain(|_, lock| lock.strong_count() > 0);
        if let Some(lock) = opening.get(name).and_then(Weak::upgrade) {
            return lock;
        }
        let lock: Arc<Mutex<()>> = Arc::default();
        opening.insert(name.to_owned(), Arc::downgrade(&lock));
        lock
    }

    fn join_running(&self, request: &JobRequest) -> Result<Option<JobMembership>> {
        let Some(name) = &request.name else { return Ok(None) };
        let known = self.registry();
        let is_meant = |job: &&Arc<LoadJob>| {
            let of = (&job.request.name, &job.request.user);
            of == (&request.name, &request.user) && job.is_open()
        };
        let Some(job) = known.running.iter().find(is_meant) else { return Ok(None) };
        if job.request.terms != request.terms {
            return Err(Error::conflict(format!(
                "job `{name}` runs with {}, but this stream asks for {}: use the same options, or \
                 another name",
                job.request.terms, request.terms
            )));
        }
        Ok(job.join())
    }

    /// Joins a load of streams without a name.
    fn join_shared(&self, request: &JobRequest) -> Option<JobMembership> {
        let is_meant = |job: &&Arc<LoadJob>| {
            request.shares && job.request == *request && job.started.elapsed() < SHARED_MAX
        };
        self.registry().running.iter().filter(is_meant).find_map(LoadJob::join)
    }

    /// Leaves a job. The last stream ends the load, and hears what came of it. Blocks.
    pub(crate) fn leave(
        &self,
        membership: JobMembership,
        stream: usize,
        leaving: StreamOutcome,
    ) -> Option<JobResult> {
        let JobMembership { job, load } = membership;
        let load = {
            // Held, so that no stream joins meanwhile.
            let _known = self.registry();
            let mut shared = job.state();
            drop(load);
            shared.streams -= 1;
            if leaving != StreamOutcome::Completed {
                shared.incomplete.insert(stream);
                shared.worst = leaving;
            }
            if shared.streams > 0 {
                return None;
            }
            shared.load.take()
        }?;
        // Every other stream dropped its handle before it was counted out.
        let result = match Arc::try_unwrap(load) {
            Ok(load) => load.finish(),
            Err(_) => Err(Error::internal("a load is used after its last stream").into()),
        };
        let ended = JobResult { result, job };
        let view = ended.view();
        self.registry().end(&ended.job, view.clone());
        // Who hears of the end finds the job among those that have ended.
        ended.job.outcome.send_replace(Some(Arc::new(view)));
        Some(ended)
    }

    /// All jobs of a scope, those that ended first.
    pub(crate) fn list(&self, scope: &JobScope) -> Vec<serde_json::Value> {
        let known = self.registry();
        let ended = known.ended.iter().filter(|job| scope.covers(&job.users));
        let running = known.running.iter().filter(|job| job.is_in(scope));
        ended.map(|job| job.view.clone()).chain(running.map(|job| job.view())).collect()
    }

    /// The jobs that run.
    pub(crate) fn running(&self) -> Vec<serde_json::Value> {
        self.registry().running.iter().map(|job| job.view()).collect()
    }

    /// A job by its number or name; of those that have ended the last of that name.
    ///
    /// # Errors
    /// `NotFound` when none of the scope is known.
    pub(crate) fn of_id(&self, id: &str, scope: &JobScope) -> Result<serde_json::Value> {
        let known = self.registry();
        let running = known.running(id, scope).map(|job| job.view());
        let found = running.or_else(|| known.ended(id, scope).map(|job| job.view.clone()));
        found.ok_or_else(|| unknown_job(id))
    }

    /// The first records that a job could not store, by its number or name.
    ///
    /// # Errors
    /// `NotFound` when none of the scope is known, and once its rejects are kept no more.
    pub(crate) fn rejects(&self, id: &str, scope: &JobScope) -> Result<Vec<Reject>> {
        let known = self.registry();
        if let Some(job) = known.running(id, scope) {
            return Ok(job.rejects.all());
        }
        let ended = known.ended(id, scope).ok_or_else(|| unknown_job(id))?;
        let rejects = ended.rejects.as_ref().ok_or_else(|| {
            Error::not_found(format!(
                "the rejects of job `{id}` are kept no more: those of the last {REJECTS_KEPT_MAX} loads are"
            ))
        })?;
        Ok(rejects.all())
    }

    /// Watches a job, named likewise.
    ///
    /// # Errors
    /// As [`Jobs::of_id`].
    pub(crate) fn subscribe(&self, id: &str, scope: &JobScope) -> Result<JobSubscription> {
        if let Some(job) = self.registry().running(id, scope) {
            let outcome = job.outcome.subscribe();
            return Ok(JobSubscription { job: Arc::downgrade(job), outcome });
        }
        let ended = self.of_id(id, scope)?;
        Ok(JobSubscription { job: Weak::new(), outcome: watch::channel(Some(Arc::new(ended))).1 })
    }

    /// Cancels a job by its number or name.
    ///
    /// # Errors
    /// `NotFound` when none of that name and of the scope runs.
    pub(crate) fn cancel(&self, id: &str, scope: &JobScope) -> Result<()> {
        let known = self.registry();
        let job = known
            .running(id, scope)
            .ok_or_else(|| Error::not_found(format!("no job `{id}` runs")))?;
        job.cancel.cancel();
        job.cancelled.cancel();
        Ok(())
    }

    fn registry(&self) -> MutexGuard<'_, JobRegistry> {
        lock(&self.registry)
    }
}

impl JobRegistry {
    /// The job of a number or name, if it runs.
    fn running(&self, id: &str, scope: &JobScope) -> Option<&Arc<LoadJob>> {
        let is_meant = |job: &&Arc<LoadJob>| {
            (job.id == id || job.request.name.as_deref() == Some(id)) && job.is_in(scope)
        };
        let mut meant = self.running.iter().filter(is_meant);
        // A job may be open again while the load of the one before it ends.
        meant.clone().find(|job| job.is_open()).or_else(|| meant.next())
    }

    /// The job of a number or name, the last of those that have ended.
    fn ended(&self, id: &str, scope: &JobScope) -> Option<&EndedJob> {
        let is_meant = |job: &&EndedJob| job.is_named(id) && scope.covers(&job.users);
        self.ended.iter().rev().find(is_meant)
    }

    fn end(&mut self, job: &Arc<LoadJob>, view: serde_json::Value) {
        self.running.retain(|running| !Arc::ptr_eq(running, job));
        let users = job.state().users.clone();
        self.ended.push_back(EndedJob { view, users, rejects: Some(job.rejects.clone()) });
        if self.ended.len() > ENDED_MAX {
            self.ended.pop_front();
        }
        let has_some = |ended: &&mut EndedJob| {
            ended.rejects.as_ref().is_some_and(|rejects| rejects.count() > 0)
        };
        for ended in self.ended.iter_mut().rev().filter(has_some).skip(REJECTS_KEPT_MAX) {
            ended.rejects = None;
        }
    }
}

impl LoadJob {
    fn state(&self) -> MutexGuard<'_, JobState> {
        lock(&self.state)
    }

    /// Takes a further stream in, unless the load has ended.
    fn join(self: &Arc<Self>) -> Option<JobMembership> {
        let mut shared = self.state();
        let load = shared.load.clone()?;
        shared.streams += 1;
        Some(JobMembership { job: self.clone(), load })
    }

    /// Whether streams of different clients may share it, which need not know of each other.
    pub(crate) fn is_shared(&self) -> bool {
        self.request.shares
    }

    /// Whether further streams may join.
    fn is_open(&self) -> bool {
        self.state().load.is_some()
    }

    fn is_in(&self, scope: &JobScope) -> bool {
        matches!(scope, JobScope::All) || scope.covers(&self.state().users)
    }

    fn view(&self) -> serde_json::Value {
        let (total, seconds) = (self.progress.total(), self.started.elapsed().as_secs_f64());
        // A load that has just begun has read nothing in no time.
        let rate = total.read as f64 / seconds.max(0.001);
        let mut report = BulkPutReport::default();
        (report.total, report.seconds, report.streams) = (total, seconds, self.progress.report());
        let report = self.report_json(&report);
        let state = self.state();
        // One stream that does not say how many rows it has leaves the end of all unknown.
        let expected = state.expected_rows.iter().copied().sum::<Option<u64>>();
        let expected = expected.filter(|expected| *expected > 0);
        let left = expected.map(|expected| expected.saturating_sub(total.read) as f64 / rate);
        json!({
            "job": self.id,
            "name": self.request.name,
            "kind": "load",
            "state": "running",
            "users": state.users,
            "tables": state.tables,
            "started_ms": self.started_ms,
            "streams": state.streams,
            "seconds": seconds,
            "counts": counts_json(&total),
            "report": report,
            "rejects": self.rejects.count(),
            "expected_rows": expected,
            "rows_a_second": rate,
            "eta_seconds": left.filter(|left| left.is_finite()),
        })
    }

    /// What a stream that shares its load hears: it need not know of others.
    pub(crate) fn report_of_stream(
        &self,
        stream: usize,
        name: String,
        counts: Counts,
        leaving: StreamOutcome,
    ) -> BulkPutReport {
        let completed = leaving == StreamOutcome::Completed;
        let mut report = BulkPutReport::default();
        report.total = counts;
        report.seconds = self.started.elapsed().as_secs_f64();
        report.streams = vec![StreamReport { stream, name, counts, completed }];
        report
    }

    /// The report of a load, with the streams left out of the completed ones that were not said to
    /// be complete.
    pub(crate) fn report_json(&self, report: &BulkPutReport) -> serde_json::Value {
        let shared = self.state();
        let streams = report.streams.iter().map(|stream| {
            let completed = stream.completed && !shared.incomplete.contains(&stream.stream);
            json!({
                "stream": stream.stream,
                "name": stream.name,
                "completed": completed,
                "counts": counts_json(&stream.counts),
            })
        });
        json!({
            "total": counts_json(&report.total),
            "streams": streams.collect::<Vec<_>>(),
            "seconds": report.seconds,
        })
    }
}

impl JobResult {
    fn view(&self) -> serde_json::Value {
        let (state, report, message) = match &self.result {
            Ok(report) => (self.job.state().worst.label(), report, None),
            Err(stopped) => ("stopped", &*stopped.report, Some(stopped.error.message())),
        };
        let report = self.job.report_json(report);
        let noted = self.job.state();
        json!({
            "job": self.job.id,
            "name": self.job.request.name,
            "kind": "load",
            "state": state,
            "users": noted.users,
            "tables": noted.tables,
            "started_ms": self.job.started_ms,
            "message": message,
            "report": report,
            "rejects": self.job.rejects.count(),
        })
    }
}

fn unknown_job(id: &str) -> Error {
    Error::not_found(format!("there is no job `{id}`"))
}

/// Counts as all messages tell them.
pub(crate) fn counts_json(counts: &Counts) -> serde_json::Value {
    json!({
        "read": counts.read,
        "inserted": counts.inserted,
        "existed": counts.existed,
        "overtaken": counts.overtaken,
        "failed": counts.failed,
        "bytes": counts.bytes,
    })
}

/// The rows of one request of a multi-put that were not stored.
pub(crate) fn failures_json(put: &tonnage::MultiPutReport, request: usize) -> serde_json::Value {
    let failures = put.failures.iter().filter(|failure| failure.request == request);
    let failures = failures.map(
        |failure| json!({"row": failure.row, "column": failure.column, "reason": failure.reason}),
    );
    failures.collect()
}
