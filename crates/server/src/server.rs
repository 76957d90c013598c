//! The server: its listeners over one store.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tonnage::{Error, Result, Store};

use crate::address::Address;
use crate::config::Config;
use crate::context::{ServerContext, ServerFiles};
use crate::drain::{DrainPhase, PhaseSetter, phases};
use crate::listen::{Acceptor, ListenerSocket};
use crate::metrics::ListenerKind;
use crate::redis::RedisLoops;
use crate::reload::{self, WatchedFiles};
use crate::{flight, http, nosql, redis, service_manager};

/// How long loads may take to store what they have, once they are stopped.
const STOPPING_MAX: Duration = Duration::from_secs(10);

/// The stack of each thread: statements are planned on it, level by level. Only what is used takes
/// memory.
const STACK_BYTES: usize = 8 << 20;

/// Where a server listens.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// HTTP.
    pub http: Option<Address>,
    /// Arrow Flight.
    pub flight: Option<Address>,
    /// The protocol of Redis.
    pub redis: Option<Address>,
    /// The protocol of the Oracle NoSQL Database SDKs.
    pub nosql: Option<Address>,
}

/// Ends a server from outside.
#[derive(Clone, Debug, Default)]
pub struct ShutdownHandle(Arc<Notify>);

impl ShutdownHandle {
    /// Asks the server to drain and end.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

/// Listeners that are bound, without the store that they are to serve.
pub struct BoundListeners {
    runtime: Runtime,
    config: Config,
    listeners: Vec<(ListenerKind, ListenerSocket)>,
    addresses: Addresses,
    watched: WatchedFiles,
    files: ServerFiles,
}

/// A server: its listeners are bound, and [`Server::run`] serves them.
pub struct Server {
    runtime: Runtime,
    context: Arc<ServerContext>,
    phase: PhaseSetter,
    acceptor: Acceptor,
    listeners: Vec<(ListenerKind, ListenerSocket)>,
    addresses: Addresses,
    watched: WatchedFiles,
}

impl BoundListeners {
    /// Binds the listeners, and reads the files of users and certificates. What is wrong with a
    /// configuration shows here, before a store is opened or made.
    ///
    /// # Errors
    /// `Invalid` for what is wrong with the configuration, `Unavailable` for an address that cannot
    /// be listened on.
    pub fn bind(config: Config) -> Result<BoundListeners> {
        config.check()?;
        // Looked at before they are read: a change in between would never be noticed otherwise.
        let watched = WatchedFiles::of(&config);
        let files = ServerFiles::read(&config)?;
        // Each place of a stream or a call may hold a thread. The rest is for work without a place:
        // passwords, reports on the disk, changed files.
        let threads = config.streams_max + config.calls_max + 16;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_name("net")
            .max_blocking_threads(threads)
            .thread_stack_size(STACK_BYTES)
            .enable_all()
            .build()
            .map_err(|error| Error::unavailable(format!("no threads can be had: {error}")))?;
        let wanted = [
            (ListenerKind::http, &config.http),
            (ListenerKind::flight, &config.flight),
            (ListenerKind::redis, &config.redis),
            (ListenerKind::nosql, &config.nosql),
        ];
        let (mut listeners, mut addresses) = (Vec::new(), Addresses::default());
        for (listener, address) in wanted {
            let Some(address) = address else { continue };
            let socket = runtime.block_on(ListenerSocket::bind(listener, address))?;
            let bound = socket.address();
            match listener {
                ListenerKind::http => addresses.http = bound,
                ListenerKind::flight => addresses.flight = bound,
                ListenerKind::redis => addresses.redis = bound,
                ListenerKind::nosql => addresses.nosql = bound,
            }
            listeners.push((listener, socket));
        }
        Ok(BoundListeners { runtime, config, listeners, addresses, watched, files })
    }

    /// The server of a store.
    ///
    /// # Errors
    /// `Unavailable` for threads that cannot be had.
    pub fn over(self, store: Store) -> Result<Server> {
        let BoundListeners { runtime, config, listeners, addresses, watched, files } = self;
        // By default an error names tables with a name like it, which users may not see.
        if config.users.is_some() {
            store.hide_table_names();
        }
        let (phase, phases) = phases();
        let context = ServerContext::new(store, config, phases, files)?;
        let acceptor = Acceptor::new(context.clone());
        Ok(Server { runtime, context, phase, acceptor, listeners, addresses, watched })
    }
}

impl Server {
    /// Binds the listeners of a store that is open.
    ///
    /// # Errors
    /// As [`BoundListeners::bind`] and [`BoundListeners::over`].
    pub fn open(store: Store, config: Config) -> Result<Server> {
        BoundListeners::bind(config)?.over(store)
    }

    /// Where the listeners are; a port of 0 in the configuration is the one that was free.
    pub fn addresses(&self) -> Addresses {
        self.addresses.clone()
    }

    /// Serves until it is stopped, then drains: running calls may end, loads that do not end in
    /// time store what they have, and the store is synced.
    ///
    /// # Errors
    /// What the store says when it is synced at the end.
    pub fn run(self, stop: &ShutdownHandle) -> Result<()> {
        let Server { runtime, context, phase, acceptor, listeners, watched, .. } = self;
        let config = context.config.clone();
        let loops = runtime.block_on(async {
            let mut loops = None;
            for (listener, socket) in listeners {
                let router = match (listener, &context.redis) {
                    (ListenerKind::redis, Some(keyspace)) => {
                        let acceptor = acceptor.clone();
                        loops = Some(redis::start(&context, keyspace, acceptor, socket)?);
                        continue;
                    }
                    (ListenerKind::flight, _) => flight::router(&context),
                    (ListenerKind::nosql, _) => nosql::router(&context),
                    (ListenerKind::http | ListenerKind::redis, _) => http::router(&context),
                };
                tokio::spawn(acceptor.clone().accept(listener, socket, router));
            }
            tokio::spawn(reload::watch(context.clone(), watched));
            service_manager::ready();
            stop.0.notified().await;
            service_manager::stopping();
            // Calls are still taken for `drain_wait`, while load balancers see that it is not ready
            // any more.
            phase.set(DrainPhase::Closing);
            tokio::time::sleep(config.drain_wait).await;
            phase.set(DrainPhase::Draining);
            if tokio::time::timeout(config.drain_timeout, acceptor.wait_drained()).await.is_err() {
                phase.set(DrainPhase::Stopping);
                context.statements.cancel_all();
                let _ = tokio::time::timeout(STOPPING_MAX, acceptor.wait_drained()).await;
            }
            Ok::<_, Error>(loops)
        })?;
        loops.into_iter().for_each(RedisLoops::stop);
        // Only after the drain: it covers what the last calls have stored.
        let synced = context.store.sync();
        // A call that blocks for ever does not keep the process.
        runtime.shutdown_timeout(Duration::from_secs(1));
        synced
    }
}

impl std::fmt::Debug for BoundListeners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BoundListeners").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}
