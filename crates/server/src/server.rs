//! A server: doors that are open on a store.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::runtime::Runtime;
use tokio::sync::Notify;
use tonnage::{Error, Result, Store};

use crate::config::Config;
use crate::context::Context;
use crate::drain::{Phase, PhaseSetter, phases};
use crate::listen::{Listener, acceptor};
use crate::metrics::Door;
use crate::{flight, http};

/// How long loads may take to store what they have, once they are stopped.
const STOPPING_MAX: Duration = Duration::from_secs(10);

/// Where a server listens.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Addresses {
    /// HTTP.
    pub http: Option<SocketAddr>,
    /// Arrow Flight.
    pub flight: Option<SocketAddr>,
}

/// Ends a server from outside.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<Notify>);

impl Stop {
    /// Asks the server to drain and end.
    pub fn stop(&self) {
        self.0.notify_one();
    }
}

/// A server: its doors are bound, and [`Server::run`] serves them.
pub struct Server {
    runtime: Runtime,
    context: Arc<Context>,
    phase: PhaseSetter,
    listener: Listener,
    doors: Vec<(Door, TcpListener)>,
    addresses: Addresses,
}

impl Server {
    /// Binds the doors.
    ///
    /// # Errors
    /// `Invalid` for what is wrong with the configuration, `Unavailable` for an address that cannot
    /// be listened on.
    pub fn open(store: Store, config: Config) -> Result<Server> {
        config.check()?;
        let clients = config.client_certificates.as_ref();
        let clients = clients.map(|(file, is_required)| (file.as_path(), *is_required));
        let tls =
            config.tls.as_ref().map(|(cert, key)| acceptor(cert, key, clients)).transpose()?;
        let threads = config.streams_max + config.calls_max + 16;
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .thread_name("net")
            .max_blocking_threads(threads)
            .enable_all()
            .build()
            .map_err(|error| Error::unavailable(format!("no threads can be had: {error}")))?;
        let (phase, phases) = phases();
        let wanted = [(Door::http, config.http), (Door::flight, config.flight)];
        let (mut doors, mut addresses) = (Vec::new(), Addresses::default());
        for (door, address) in wanted {
            let Some(address) = address else { continue };
            let listener = runtime.block_on(Listener::bind(door, address))?;
            let bound = listener.local_addr().ok();
            match door {
                Door::http => addresses.http = bound,
                Door::flight => addresses.flight = bound,
            }
            doors.push((door, listener));
        }
        let context = Context::new(store, config, phases)?;
        let listener = Listener::new(context.clone(), tls);
        Ok(Server { runtime, context, phase, listener, doors, addresses })
    }

    /// Where the doors are; a port of 0 in the configuration is the one that was free.
    pub fn addresses(&self) -> Addresses {
        self.addresses
    }

    /// Serves until it is stopped, then drains: running calls may end, loads that do not end in
    /// time store what they have, and the store is synced.
    ///
    /// # Errors
    /// What the store says when it is synced at the end.
    pub fn run(self, stop: &Stop) -> Result<()> {
        let Server { runtime, context, phase, listener, doors, .. } = self;
        let config = context.config.clone();
        runtime.block_on(async {
            for (door, socket) in doors {
                let router = match door {
                    Door::http => http::router(&context),
                    Door::flight => flight::router(&context),
                };
                tokio::spawn(listener.clone().accept(door, socket, router));
            }
            stop.0.notified().await;
            phase.set(Phase::Closing);
            tokio::time::sleep(config.drain_wait).await;
            phase.set(Phase::Draining);
            if tokio::time::timeout(config.drain_timeout, listener.drained()).await.is_err() {
                phase.set(Phase::Stopping);
                context.statements.cancel_all();
                let _ = tokio::time::timeout(STOPPING_MAX, listener.drained()).await;
            }
        });
        let synced = context.store.sync();
        // A call that blocks for ever does not keep the process.
        runtime.shutdown_timeout(Duration::from_secs(1));
        synced
    }
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("addresses", &self.addresses).finish_non_exhaustive()
    }
}
