//! Accepts connections, and serves them.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming as IncomingBody;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto::Builder;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::task::TaskTracker;
use tokio_util::task::task_tracker::TaskTrackerToken;
use tonnage::internal::sync::lock;
use tower_service::Service;

use super::first_read::FirstReadDeadline;
use super::lingering_close::{LingeringClose, UnreadBody};
use super::socket::{Incoming, ListenerSocket};
use super::{BodyEnd, WatchedBody};
use crate::auth::PeerCertificate;
use crate::context::ServerContext;
use crate::drain::DrainPhase;
use crate::metrics::{ConnectionGauge, ListenerKind};
use crate::tls::Tls;

const TLS_HANDSHAKE_MAX: Duration = Duration::from_secs(5);
/// Also how long a connection may lie idle between requests. Load balancers and pools of clients
/// keep theirs for 60 s: a server that closes before they do makes a request of theirs fail.
const HEADER_READ_MAX: Duration = Duration::from_secs(75);
const PING_INTERVAL: Duration = Duration::from_secs(30);
const PING_ANSWER_MAX: Duration = Duration::from_secs(20);
/// HTTP/2's own 64 KiB would keep a stream to that much a round trip.
const STREAM_WINDOW_BYTES: u32 = 8 << 20;
const CONNECTION_WINDOW_BYTES: u32 = 32 << 20;
const STREAMS_PER_CONNECTION: u32 = 256;
const HEADER_BYTES_MAX: u32 = 32 << 10;
/// After a failure to accept, such as too many open files.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What all listeners count together.
#[derive(Clone)]
struct ConnectionLimits {
    free: Arc<Semaphore>,
    by_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
    per_address_max: usize,
}

/// One connection, as it is counted.
struct CountedConnection {
    _place: OwnedSemaphorePermit,
    by_address: Arc<Mutex<HashMap<IpAddr, usize>>>,
    address: Option<IpAddr>,
}

impl ConnectionLimits {
    /// A place for a connection from an address; from none, where it comes through a Unix socket.
    fn admit(&self, address: Option<IpAddr>) -> Option<CountedConnection> {
        let place = self.free.clone().try_acquire_owned().ok()?;
        let mut counted =
            CountedConnection { _place: place, by_address: self.by_address.clone(), address: None };
        let Some(address) = address else { return Some(counted) };
        let mut by_address = lock(&self.by_address);
        let count = by_address.entry(address).or_default();
        if *count >= self.per_address_max {
            return None;
        }
        *count += 1;
        counted.address = Some(address);
        drop(by_address);
        Some(counted)
    }
}

impl Drop for CountedConnection {
    fn drop(&mut self) {
        let Some(address) = self.address else { return };
        let mut by_address = lock(&self.by_address);
        if let Some(count) = by_address.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                by_address.remove(&address);
            }
        }
    }
}

/// A connection that is served elsewhere. It is counted, and the server waits for it at its end,
/// until this is dropped.
pub(crate) struct AdmittedConnection {
    _counted: CountedConnection,
    _connected: ConnectionGauge,
    _token: TaskTrackerToken,
}

/// Accepts and serves connections, until the server drains.
#[derive(Clone)]
pub(crate) struct Acceptor {
    context: Arc<ServerContext>,
    limits: ConnectionLimits,
    /// Those of the Redis listener have a number of their own: they are many, and cheap.
    redis_limits: ConnectionLimits,
    connections: TaskTracker,
}

impl Acceptor {
    pub(crate) fn new(context: Arc<ServerContext>) -> Self {
        let limits = ConnectionLimits {
            free: Arc::new(Semaphore::new(context.config.connections_max)),
            by_address: Arc::default(),
            per_address_max: context.config.connections_per_address_max,
        };
        let redis_free = Arc::new(Semaphore::new(context.config.redis_connections_max));
        let redis_limits = ConnectionLimits { free: redis_free, ..limits.clone() };
        Self { context, limits, redis_limits, connections: TaskTracker::new() }
    }

    /// Accepts connections of the Redis listener until the server drains. `take` gets each, with
    /// its position if there was one.
    pub(crate) async fn accept_each(
        self,
        listener: ListenerKind,
        socket: ListenerSocket,
        mut take: impl FnMut(Incoming, Option<AdmittedConnection>),
    ) {
        loop {
            let accepted = tokio::select! {
                accepted = socket.accept() => accepted,
                () = self.context.phases.wait_for(DrainPhase::Draining) => return,
            };
            let Ok(incoming) = accepted else {
                tokio::time::sleep(ACCEPT_PAUSE).await;
                continue;
            };
            let counted = self.redis_limits.admit(incoming.peer());
            if counted.is_none() {
                self.context.metrics.count_refused(listener);
            }
            let admitted = counted.map(|counted| AdmittedConnection {
                _counted: counted,
                _connected: self.context.metrics.count_connection(listener),
                _token: self.connections.token(),
            });
            take(incoming, admitted);
        }
    }

    /// Accepts connections of a listener until the server drains.
    pub(crate) async fn accept(
        self,
        listener: ListenerKind,
        socket: ListenerSocket,
        router: Router,
    ) {
        loop {
            let accepted = tokio::select! {
                accepted = socket.accept() => accepted,
                () = self.context.phases.wait_for(DrainPhase::Draining) => return,
            };
            match accepted {
                Ok(incoming) => match self.limits.admit(incoming.peer()) {
                    Some(counted) => self.start(listener, incoming, counted, router.clone()),
                    None => self.context.metrics.count_refused(listener),
                },
                Err(_) => tokio::time::sleep(ACCEPT_PAUSE).await,
            }
        }
    }

    fn start(
        &self,
        listener: ListenerKind,
        incoming: Incoming,
        counted: CountedConnection,
        router: Router,
    ) {
        let acceptor = self.clone();
        self.connections.spawn(async move {
            let _counted = counted;
            let _connected = acceptor.context.metrics.count_connection(listener);
            match (incoming, acceptor.context.tls.as_ref().map(Tls::acceptor)) {
                // What does not leave the machine needs no TLS.
                (Incoming::Unix(stream), _) => acceptor.serve(stream, None, router).await,
                (Incoming::Tcp(stream, _), None) => acceptor.serve(stream, None, router).await,
                (Incoming::Tcp(stream, _), Some(tls)) => {
                    let handshake = tokio::time::timeout(TLS_HANDSHAKE_MAX, tls.accept(stream));
                    if let Ok(Ok(stream)) = handshake.await {
                        let shown = stream.get_ref().1.peer_certificates();
                        let first = shown.and_then(|shown| shown.first());
                        let certificate = first.map(|der| PeerCertificate(der.as_ref().into()));
                        acceptor.serve(stream, certificate, router).await;
                    }
                }
            }
        });
    }

    async fn serve<S>(&self, stream: S, certificate: Option<PeerCertificate>, router: Router)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let unread = UnreadBody::default();
        let stream = LingeringClose::new(stream, unread.clone());
        let service = service_fn(move |request: Request<IncomingBody>| {
            unread.clear();
            let (end, version) = (BodyEnd::default(), request.version());
            let (watched, unread) = (end.clone(), unread.clone());
            let mut request =
                request.map(|body| Body::new(WatchedBody::new(body, watched, unread, version)));
            request.extensions_mut().insert(end);
            if let Some(certificate) = &certificate {
                request.extensions_mut().insert(certificate.clone());
            }
            router.clone().call(request)
        });
        let builder = connection_builder();
        let stream = TokioIo::new(FirstReadDeadline::new(stream, HEADER_READ_MAX));
        let connection = builder.serve_connection(stream, service);
        tokio::pin!(connection);
        tokio::select! {
            // What is wrong with a connection its client has met already.
            _ = &mut connection => return,
            () = self.context.phases.wait_for(DrainPhase::Draining) => {}
        }
        // No further calls from here on. Those that run may end, and `wait_drained` waits for them.
        connection.as_mut().graceful_shutdown();
        let _ = connection.await;
    }

    /// Waits until all connections have ended.
    pub(crate) async fn wait_drained(&self) {
        self.connections.close();
        self.connections.wait().await;
    }
}

fn connection_builder() -> Builder<TokioExecutor> {
    let mut builder = Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_READ_MAX);
    builder
        .http2()
        .timer(TokioTimer::new())
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_concurrent_streams(STREAMS_PER_CONNECTION)
        .max_header_list_size(HEADER_BYTES_MAX)
        .keep_alive_interval(PING_INTERVAL)
        .keep_alive_timeout(PING_ANSWER_MAX);
    builder
}
