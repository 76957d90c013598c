//! The state that all calls share.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::oneshot;
use tonnage::{Cancel, Error, Result, Store, WriteOptions};
use tonnage_resp::Keyspace;
use tonnage_sql::{Sql, SqlOptions};
use tracing::Span;

use crate::address::Address;
use crate::admission::ConcurrencyLimit;
use crate::auth::{Audit, Logins, Users};
use crate::browser_guard::BrowserGuard;
use crate::budget::MemoryBudget;
use crate::config::Config;
use crate::drain::{DrainPhase, Phases};
use crate::jobs::Jobs;
use crate::metrics::{ListenerKind, Metrics};
use crate::prepared::PreparedStatements;
use crate::request_id::RequestIds;
use crate::sessions::Sessions;
use crate::spool::Spool;
use crate::statements::StatementRegistry;
use crate::table_cuts::TableCuts;
use crate::tls::Tls;

/// Cancels what its owner has begun.
struct CancelOnDrop(Cancel);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.cancel();
    }
}

/// What all calls share.
pub(crate) struct ServerContext {
    pub(crate) store: Store,
    pub(crate) sql: Sql,
    pub(crate) config: Config,
    pub(crate) phases: Phases,
    pub(crate) logins: Logins,
    pub(crate) tls: Option<Tls>,
    pub(crate) metrics: Metrics,
    pub(crate) jobs: Jobs,
    pub(crate) statements: Arc<StatementRegistry>,
    pub(crate) prepared: PreparedStatements,
    pub(crate) sessions: Sessions,
    pub(crate) table_cuts: TableCuts,
    pub(crate) request_ids: Arc<RequestIds>,
    /// The pairs as clients of Redis see them, where there is such a listener.
    pub(crate) redis: Option<Arc<Keyspace>>,
    /// What waits on the disk.
    pub(crate) spool: Arc<Spool>,
    /// For bodies over HTTP in memory.
    pub(crate) bodies: Arc<MemoryBudget>,
    /// For messages over Flight whose calls have not begun.
    pub(crate) messages: Arc<MemoryBudget>,
    /// For streams of loads.
    pub(crate) streams: ConcurrencyLimit,
    /// For streams of events.
    pub(crate) event_streams: ConcurrencyLimit,
    /// For everything else that holds a thread.
    pub(crate) calls: ConcurrencyLimit,
}

/// The files that a server reads as it starts.
pub(crate) struct ServerFiles {
    users: Option<Users>,
    tls: Option<Tls>,
    audit: Option<Audit>,
}

impl ServerFiles {
    /// Reads them. This needs no store, so a wrong file costs nothing but its error.
    pub(crate) fn read(config: &Config) -> Result<ServerFiles> {
        Ok(ServerFiles {
            users: config.users.as_deref().map(Users::read).transpose()?,
            tls: Tls::read(config)?,
            audit: config.audit.as_deref().map(Audit::open).transpose()?,
        })
    }
}

impl ServerContext {
    pub(crate) fn new(
        store: Store,
        config: Config,
        phases: Phases,
        files: ServerFiles,
    ) -> Result<Arc<ServerContext>> {
        let wait = config.admission_wait;
        let options = SqlOptions {
            memory_bytes_max: config.sql_memory_bytes,
            column_cache_bytes_max: Some(config.column_cache_bytes),
            timeout: config.statement_timeout,
            // Users share the session: SET would hold for others, and files are the server's.
            is_local: false,
            ..SqlOptions::default()
        };
        // They were read before there was a store: a wrong one costs nothing but its error.
        let ServerFiles { users, tls, audit } = files;
        let keyspace = || Keyspace::new(store.clone(), config.redis_durability, users.is_some());
        let redis = config.redis.is_some().then(keyspace);
        Ok(Arc::new(ServerContext {
            redis,
            logins: Logins::new(users, audit)?,
            tls,
            sql: Sql::new(store.clone(), options)?,
            store,
            statements: Arc::default(),
            prepared: PreparedStatements::default(),
            sessions: Sessions::default(),
            table_cuts: TableCuts::default(),
            request_ids: Arc::new(RequestIds::new()?),
            spool: Arc::new(Spool::new(config.spool_bytes_max)),
            bodies: MemoryBudget::new(config.bodies_bytes_max(), "bodies of requests"),
            messages: MemoryBudget::new(config.messages_bytes_max(), "messages of calls"),
            phases,
            metrics: Metrics::new(),
            jobs: Jobs::new(&config),
            streams: ConcurrencyLimit::new(config.streams_max, "streams", "streams_max", wait),
            event_streams: ConcurrencyLimit::new(
                config.event_streams_max,
                "streams of events",
                "event_streams_max",
                wait,
            ),
            calls: ConcurrencyLimit::new(config.calls_max, "calls", "calls_max", wait),
            config,
        }))
    }

    /// What a listener takes from browsers.
    pub(crate) fn browser_guard(&self, listener: ListenerKind) -> Arc<BrowserGuard> {
        let address = match listener {
            ListenerKind::http => &self.config.http,
            ListenerKind::flight => &self.config.flight,
            ListenerKind::redis => &self.config.redis,
            ListenerKind::nosql => &self.config.nosql,
        };
        Arc::new(BrowserGuard {
            hosts: self.config.http_hosts.clone(),
            has_users: self.config.users.is_some(),
            has_tls: self.config.tls.is_some(),
            is_unix: matches!(address, Some(Address::Unix(_))),
        })
    }

    /// What holds for writes of single rows and pairs that say nothing else: like statements they
    /// wait for `statement_timeout` at most.
    pub(crate) fn write_options(&self) -> WriteOptions {
        // The store takes no time at all for a mistake.
        let timeout = self.config.statement_timeout.map(|time| time.max(Duration::from_nanos(1)));
        WriteOptions { timeout, ..WriteOptions::default() }
    }

    /// Refuses new work once the server drains.
    pub(crate) fn check_open(&self) -> Result<()> {
        if self.phases.current() >= DrainPhase::Draining {
            return Err(Error::unavailable("the server shuts down: ask another one, or later"));
        }
        Ok(())
    }

    /// Runs a call that takes long as [`ServerContext::blocking`] does. It is cancelled with its
    /// client, and when the server stops.
    pub(crate) async fn cancellable<T, F>(self: &Arc<Self>, call: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&ServerContext, &Cancel) -> Result<T> + Send + 'static,
    {
        let cancel = Cancel::new();
        // Dropped with the call where the client disconnects.
        let _called = CancelOnDrop(cancel.clone());
        let shared = cancel.clone();
        let mut work = std::pin::pin!(self.blocking(move |context| call(context, &shared)));
        tokio::select! {
            done = &mut work => return done,
            () = self.phases.wait_for(DrainPhase::Stopping) => cancel.cancel(),
        }
        work.await
    }

    /// Runs a call of the store on a thread that may block, once there is a place for it.
    pub(crate) async fn blocking<T, F>(self: &Arc<Self>, call: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&ServerContext) -> Result<T> + Send + 'static,
    {
        self.check_open()?;
        let place = self.calls.acquire().await?;
        let (context, span) = (self.clone(), Span::current());
        let call = tokio::task::spawn_blocking(move || {
            let _place = place;
            span.in_scope(|| call(&context))
        });
        call.await.unwrap_or_else(|_| Err(Error::internal("the call panicked: see the log")))
    }
    /// The same for a call that continues after its answer, such as one that writes a body. An
    /// error is the answer if none was sent before.
    pub(crate) async fn blocking_with_answer<T, F>(self: &Arc<Self>, call: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&Arc<ServerContext>, &mut AnswerSender<T>) -> Result<()> + Send + 'static,
    {
        self.check_open()?;
        let place = self.calls.acquire().await?;
        let (context, span) = (self.clone(), Span::current());
        let (told, answer) = oneshot::channel();
        tokio::task::spawn_blocking(move || {
            let _place = place;
            let mut sender = AnswerSender(Some(told));
            if let Err(error) = span.in_scope(|| call(&context, &mut sender)) {
                sender.send_result(Err(error));
            }
        });
        answer.await.unwrap_or_else(|_| Err(Error::internal("the call panicked: see the log")))
    }
}

/// Where a call tells its answer, once.
pub(crate) struct AnswerSender<T>(Option<oneshot::Sender<Result<T>>>);

impl<T> AnswerSender<T> {
    /// Tells the answer. Returns whether anybody waits for it and for what follows.
    pub(crate) fn send(&mut self, answer: T) -> bool {
        self.send_result(Ok(answer))
    }

    fn send_result(&mut self, answer: Result<T>) -> bool {
        self.0.take().is_some_and(|told| told.send(answer).is_ok())
    }
}
