//! The connection to a server, and how a call waits for its answer.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::Duration;

use arrow_flight::flight_service_client::FlightServiceClient;
use arrow_flight::{Action, Criteria, FlightInfo, HandshakeRequest};
use futures::{StreamExt, TryStreamExt};
use tokio::runtime::{Builder, Runtime};
use tokio_rustls::TlsConnector;
use tonic::metadata::AsciiMetadataValue;
use tonic::transport::Channel;
use tonic::{Request, Status};
use tonnage::{Cancel, Error, Result};

use crate::address::ServerAddress;
use crate::call_stream::IdleStreams;
use crate::limits::CallLimits;
use crate::options::ClientOptions;
use crate::{channel, failure, tls};

/// How often a call that waits looks whether it was called off.
const LOOK: Duration = Duration::from_millis(20);
/// One for the connection, one for what encodes and decodes.
const THREADS: usize = 2;

/// A store on a server, with the calls of [`tonnage::Store`]. Clones share the connection. Calls
/// block the thread that makes them, and may be made from several at a time.
#[derive(Clone)]
pub struct RemoteStore {
    link: Arc<ServerLink>,
    cancel: Cancel,
    timeout: Option<Duration>,
}

struct ServerLink {
    server: String,
    address: ServerAddress,
    tls: Option<TlsConnector>,
    connect_timeout: Duration,
    flight: FlightServiceClient<Channel>,
    authorization: Option<AsciiMetadataValue>,
    /// Streams of single calls that no call uses now.
    streams: IdleStreams,
    runtime: Arc<ClientRuntime>,
}

/// The threads of connections.
struct ClientRuntime(Option<Runtime>);

impl ClientRuntime {
    fn start() -> Result<Self> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("tonnage-client")
            .enable_all()
            .build()
            .map_err(|error| Error::unavailable(format!("no threads for a client: {error}")))?;
        Ok(Self(Some(runtime)))
    }

    fn get(&self) -> Result<&Runtime> {
        self.0.as_ref().ok_or_else(|| Error::internal("the client has no threads"))
    }
}

impl Drop for ClientRuntime {
    fn drop(&mut self) {
        // Waits for nothing, so that it can run wherever the last clone is dropped.
        if let Some(runtime) = self.0.take() {
            runtime.shutdown_background();
        }
    }
}

impl RemoteStore {
    /// Whether a text is the address of a server, right or wrong: `grpc://`, `grpc+tcp://` or
    /// `grpc+tls://`.
    pub fn is_address(text: &str) -> bool {
        ServerAddress::is_one(text)
    }

    /// Connects to the Flight listener of a server, `grpc://HOST:PORT` or `grpc+tls://HOST:PORT`,
    /// and says who calls.
    ///
    /// # Errors
    /// `Invalid` for an address that is none, certificates that cannot be read, and credentials
    /// that the server does not know. `Unavailable` without an answer, `TimedOut` when it takes too
    /// long.
    pub fn connect(address: &str, options: ClientOptions) -> Result<RemoteStore> {
        let address = ServerAddress::parse(address)?;
        if !address.is_tls && (options.tls_ca.is_some() || options.tls_certificate.is_some()) {
            return Err(Error::invalid(format!(
                "{address}: certificates are given, but there is no TLS: write grpc+tls://{}",
                address.authority()
            )));
        }
        let tls = match address.is_tls {
            true => Some(tls::connector(&options)?),
            false => None,
        };
        let authorization = options.credentials.as_ref().map(|credentials| {
            let mut value = AsciiMetadataValue::try_from(credentials.header()).map_err(|_| {
                Error::invalid("a token has letters, digits and signs only, on one line")
            })?;
            // Credentials stay out of debug output, and out of the tables that compress headers.
            value.set_sensitive(true);
            Ok::<_, Error>(value)
        });
        let authorization = authorization.transpose()?;
        let runtime = Arc::new(ClientRuntime::start()?);
        let connect_timeout = options.connect_timeout;
        // Connecting and the login share one limit: together they may take `connect_timeout`.
        let limits = CallLimits::begin(&options.cancel, Some(connect_timeout));
        let (server, flight) = open(&address, &tls, connect_timeout, &runtime, &limits)?;
        let streams = IdleStreams::default();
        let link = ServerLink {
            server,
            address,
            tls,
            connect_timeout,
            flight,
            authorization,
            streams,
            runtime,
        };
        let (cancel, timeout) = (options.cancel, options.timeout);
        let client = RemoteStore { link: Arc::new(link), cancel, timeout };
        let introduced = client.log_in(&limits);
        introduced.map_err(|error| failure::of_silence(client.server(), error))?;
        Ok(client)
    }

    /// Opens another connection to the server, with the credentials and the threads of this one.
    ///
    /// # Errors
    /// As [`RemoteStore::connect`].
    pub fn connect_again(&self) -> Result<RemoteStore> {
        let ServerLink { address, tls, connect_timeout, authorization, runtime, .. } = &*self.link;
        let limits = CallLimits::begin(&self.cancel, Some(*connect_timeout));
        let (server, flight) = open(address, tls, *connect_timeout, runtime, &limits)?;
        let link = ServerLink {
            server,
            flight,
            address: address.clone(),
            tls: tls.clone(),
            connect_timeout: *connect_timeout,
            authorization: authorization.clone(),
            streams: IdleStreams::default(),
            runtime: runtime.clone(),
        };
        Ok(RemoteStore { link: Arc::new(link), ..self.clone() })
    }

    /// The same connection for calls that are called off by another `cancel`, or take no longer
    /// than a time of their own.
    #[must_use]
    pub fn with_limits(&self, cancel: &Cancel, timeout: Option<Duration>) -> RemoteStore {
        let timeout = timeout.or(self.timeout);
        RemoteStore { link: self.link.clone(), cancel: cancel.clone(), timeout }
    }

    /// The server's address.
    pub fn server(&self) -> &str {
        &self.link.server
    }

    /// The paths of the tables that the caller may see.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn table_paths(&self) -> Result<Vec<String>> {
        let (mut flight, request) = (self.flight(), self.request(Criteria::default()));
        let infos: Vec<FlightInfo> = self.call(async move {
            flight.list_flights(request).await?.into_inner().try_collect().await
        })?;
        let paths = infos.into_iter().filter_map(|info| info.flight_descriptor);
        Ok(paths.map(|descriptor| descriptor.path.join(".")).collect())
    }

    /// Makes everything that was acknowledged durable.
    ///
    /// # Errors
    /// What the server says, and `Unavailable` when it cannot be reached.
    pub fn sync(&self) -> Result<()> {
        self.act("tonnage.Sync", Vec::new()).map(drop)
    }

    /// Tells the server who calls, so that wrong credentials are heard of at once.
    fn log_in(&self, limits: &CallLimits) -> Result<()> {
        let mut flight = self.flight();
        let hello = futures::stream::iter([HandshakeRequest::default()]);
        let request = self.request(hello);
        let call = async move {
            flight.handshake(request).await?.into_inner().try_for_each(async |_| Ok(())).await
        };
        self.checked(self.wait(limits, call)?)
    }

    /// An action, with the bodies of its results.
    pub(crate) fn act(&self, action: &str, body: Vec<u8>) -> Result<Vec<Vec<u8>>> {
        self.act_within(&self.limits(), action, body)
    }

    /// The same within limits of its own.
    pub(crate) fn act_within(
        &self,
        limits: &CallLimits,
        action: &str,
        body: Vec<u8>,
    ) -> Result<Vec<Vec<u8>>> {
        let mut flight = self.flight();
        let request = self.request(Action::new(action, body));
        let call = async move {
            let answers = flight.do_action(request).await?.into_inner();
            answers.map(|answer| answer.map(|answer| answer.body.to_vec())).try_collect().await
        };
        self.checked(self.wait(limits, call)?)
    }

    pub(crate) fn idle_streams(&self) -> &IdleStreams {
        &self.link.streams
    }

    pub(crate) fn flight(&self) -> FlightServiceClient<Channel> {
        self.link.flight.clone()
    }

    pub(crate) fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(authorization) = &self.link.authorization {
            request.metadata_mut().insert("authorization", authorization.clone());
        }
        request
    }

    /// The limits of a call that begins now.
    pub(crate) fn limits(&self) -> CallLimits {
        CallLimits::begin(&self.cancel, self.timeout)
    }

    /// Those of one with a cancel and a time-out of its own.
    pub(crate) fn limits_of(&self, cancel: &Cancel, timeout: Option<Duration>) -> CallLimits {
        self.limits().and(cancel, timeout)
    }

    pub(crate) fn cancel(&self) -> &Cancel {
        &self.cancel
    }

    pub(crate) fn timeout(&self) -> Option<Duration> {
        self.timeout
    }

    /// A call with one answer.
    pub(crate) fn call<T>(
        &self,
        call: impl Future<Output = std::result::Result<T, Status>>,
    ) -> Result<T> {
        self.checked(self.wait(&self.limits(), call)?)
    }

    /// An answer that cannot be read.
    pub(crate) fn unreadable_answer(&self) -> Error {
        Error::internal(format!("{}: an answer is of another version", self.server()))
    }

    pub(crate) fn checked<T>(&self, answer: std::result::Result<T, Status>) -> Result<T> {
        answer.map_err(|status| failure::of_status(self.server(), &status))
    }

    /// Waits for something, as long as the limits allow.
    pub(crate) fn wait<T>(
        &self,
        limits: &CallLimits,
        future: impl Future<Output = T>,
    ) -> Result<T> {
        wait(self.runtime()?, limits, future)
    }

    /// Lets something run by itself.
    pub(crate) fn spawn(&self, future: impl Future<Output = ()> + Send + 'static) -> Result<()> {
        self.runtime()?.spawn(future);
        Ok(())
    }

    fn runtime(&self) -> Result<&Runtime> {
        self.link.runtime.get()
    }
}

/// Opens a connection. Gives the server's address, as errors name it, too.
fn open(
    address: &ServerAddress,
    tls: &Option<TlsConnector>,
    timeout: Duration,
    runtime: &ClientRuntime,
    limits: &CallLimits,
) -> Result<(String, FlightServiceClient<Channel>)> {
    let server = address.to_string();
    let connecting = channel::connect(address.clone(), tls.clone(), timeout);
    let channel = wait(runtime.get()?, limits, connecting)
        .map_err(|error| failure::of_silence(&server, error))
        .map_err(|error| error.at(format!("{server}: no connection")))?
        .map_err(|error| failure::of_connecting(&server, &error))?;
    // The server bounds its messages; a row may be large.
    let flight = FlightServiceClient::new(channel).max_decoding_message_size(usize::MAX);
    Ok((server, flight))
}

/// Carries a call on in the thread that waits for it: an answer wakes this thread, and no other one
/// before it. Unlike tokio's own ways to block, that may be done anywhere.
fn wait<T>(runtime: &Runtime, limits: &CallLimits, future: impl Future<Output = T>) -> Result<T> {
    limits.check()?;
    let _inside = runtime.enter();
    let waiter = Arc::new(Waiter { thread: thread::current(), is_woken: AtomicBool::new(false) });
    let waker = Waker::from(waiter.clone());
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        if let Poll::Ready(answer) = future.as_mut().poll(&mut context) {
            return Ok(answer);
        }
        while !waiter.is_woken.swap(false, Ordering::Acquire) {
            thread::park_timeout(limits.pause(LOOK));
            limits.check()?;
        }
    }
}

/// A thread that waits.
struct Waiter {
    thread: Thread,
    is_woken: AtomicBool,
}

impl Wake for Waiter {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.is_woken.store(true, Ordering::Release);
        self.thread.unpark();
    }
}

impl fmt::Debug for RemoteStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("RemoteStore").field(&self.server()).finish()
    }
}
