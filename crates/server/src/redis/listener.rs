//! The listener: it accepts connections, and hands them to the event loops.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::io::AsyncWriteExt;
use tokio_rustls::rustls::ServerConnection;
use tonnage::{Error, Result, cores};
use tonnage_resp::Keyspace;

use super::connection::NewConnection;
use super::event_loop::{EventLoop, LoopShared};
use super::inbox::{LoopInbox, LoopMessage};
use super::memory::ClientMemory;
use super::socket::{ClientSocket, ClientStream};
use crate::context::ServerContext;
use crate::drain::DrainPhase;
use crate::listen::{Acceptor, AdmittedConnection, Incoming, ListenerSocket};
use crate::metrics::ListenerKind;
use crate::tls::Tls;

/// More loops than this have nothing to do.
const LOOPS_MAX: usize = 16;
/// How often what was written is synced.
const SYNC_INTERVAL: Duration = Duration::from_secs(1);
/// How long the loops may take to end, and how often they are looked at.
const STOP_MAX: Duration = Duration::from_secs(5);
const STOP_PAUSE: Duration = Duration::from_millis(2);
/// What a client over the limit is told, as Redis does it.
const TOO_MANY: &[u8] = b"-ERR max number of clients reached\r\n";

/// The event loops of a listener.
pub(crate) struct RedisLoops {
    inboxes: Vec<Arc<LoopInbox>>,
    threads: Vec<JoinHandle<()>>,
}

impl RedisLoops {
    /// Ends the loops. One that the store keeps is left behind: it does not keep the process.
    pub(crate) fn stop(self) {
        self.inboxes.iter().for_each(|inbox| inbox.post(LoopMessage::Stop));
        let begun = Instant::now();
        while self.threads.iter().any(|thread| !thread.is_finished()) && begun.elapsed() < STOP_MAX
        {
            std::thread::sleep(STOP_PAUSE);
        }
    }
}

/// Serves a listener until the server drains. Called inside the runtime.
///
/// # Errors
/// `Unavailable` when no thread can be had.
pub(crate) fn start(
    context: &Arc<ServerContext>,
    keyspace: &Arc<Keyspace>,
    acceptor: Acceptor,
    socket: ListenerSocket,
) -> Result<RedisLoops> {
    if let Some(address) = socket.address().and_then(|address| address.tcp()) {
        keyspace.set_port(address.port());
    }
    keyspace.set_write_timeout(context.config.statement_timeout);
    keyspace.set_messages_bytes_max(context.config.redis_memory_bytes);
    let memory = ClientMemory::new(context.config.redis_memory_bytes);
    let mut loops = RedisLoops { inboxes: Vec::new(), threads: Vec::new() };
    // A loop a core: more would take each other's time.
    for number in 0..cores().min(LOOPS_MAX) {
        let shared = LoopShared {
            context: context.clone(),
            keyspace: keyspace.clone(),
            memory: memory.clone(),
            runtime: tokio::runtime::Handle::current(),
        };
        let unavailable = |error: std::io::Error| {
            Error::unavailable(format!("no event loop can be had for the Redis listener: {error}"))
        };
        let event_loop = EventLoop::new(shared).map_err(unavailable)?;
        loops.inboxes.push(event_loop.inbox());
        let thread = std::thread::Builder::new().name(format!("redis-{number}"));
        loops.threads.push(thread.spawn(move || event_loop.run()).map_err(unavailable)?);
    }
    // What waits for the network or the clock is a task; the loops are threads.
    let inboxes = loops.inboxes.clone();
    tokio::spawn(accept(context.clone(), acceptor, socket, inboxes.clone()));
    tokio::spawn(drain(context.clone(), inboxes));
    tokio::spawn(sync(context.clone(), keyspace.clone()));
    Ok(loops)
}

async fn accept(
    context: Arc<ServerContext>,
    acceptor: Acceptor,
    socket: ListenerSocket,
    inboxes: Vec<Arc<LoopInbox>>,
) {
    let mut next = 0;
    let take = |incoming: Incoming, counted: Option<AdmittedConnection>| {
        let Some(counted) = counted else {
            refuse(incoming);
            return;
        };
        // In turn, so that few connections do not share a loop by chance.
        next = (next + 1) % inboxes.len();
        if let Ok(connection) = connection(&context, incoming, counted) {
            inboxes[next].post(LoopMessage::Connected(connection));
        }
    };
    acceptor.accept_each(ListenerKind::redis, socket, take).await;
}

/// Tells the client why it is closed.
fn refuse(incoming: Incoming) {
    tokio::spawn(async move {
        let told = async {
            match incoming {
                Incoming::Tcp(mut stream, _) => stream.write_all(TOO_MANY).await,
                Incoming::Unix(mut stream) => stream.write_all(TOO_MANY).await,
            }
        };
        // Nobody waits for a client that is not served.
        let _ = tokio::time::timeout(SYNC_INTERVAL, told).await;
    });
}

fn connection(
    context: &ServerContext,
    incoming: Incoming,
    counted: AdmittedConnection,
) -> std::io::Result<NewConnection> {
    Ok(match incoming {
        // What does not leave the machine needs no TLS.
        Incoming::Unix(stream) => {
            let socket = mio::net::UnixStream::from_std(stream.into_std()?);
            let stream = ClientStream { socket: ClientSocket::Unix(socket), tls: None };
            let address = "unix:0".to_owned();
            NewConnection { stream, local_address: address.clone(), address, counted }
        }
        Incoming::Tcp(stream, _) => {
            let stream = stream.into_std()?;
            let address = stream.peer_addr()?.to_string();
            let local_address = stream.local_addr()?.to_string();
            let tls = context.tls.as_ref().map(Tls::acceptor);
            let tls = tls.map(|tls| ServerConnection::new(tls.config().clone()));
            let tls = tls.transpose().map_err(std::io::Error::other)?.map(Box::new);
            let socket = ClientSocket::Tcp(mio::net::TcpStream::from_std(stream));
            NewConnection { stream: ClientStream { socket, tls }, address, local_address, counted }
        }
    })
}

/// Tells the loops when the server drains.
async fn drain(context: Arc<ServerContext>, inboxes: Vec<Arc<LoopInbox>>) {
    context.phases.wait_for(DrainPhase::Draining).await;
    inboxes.iter().for_each(|inbox| inbox.post(LoopMessage::Drain));
}

/// Syncs each second what was written, where that is asked for.
async fn sync(context: Arc<ServerContext>, keyspace: Arc<Keyspace>) {
    let mut was_told = false;
    loop {
        tokio::select! {
            () = tokio::time::sleep(SYNC_INTERVAL) => {}
            () = context.phases.wait_for(DrainPhase::Stopping) => return,
        }
        let synced = keyspace.clone();
        let synced = tokio::task::spawn_blocking(move || {
            // What is left over now is left over a second later, too.
            let _ = synced.delete_some_leftovers();
            synced.sync_each_second()
        })
        .await;
        if let Ok(Err(error)) = synced
            && !was_told
        {
            eprintln!("tonnage: what Redis clients wrote cannot be synced: {error}");
            was_told = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Once a loop whose call of the store never ended kept the server from ending.
    #[test]
    fn a_loop_that_does_not_end_is_left_behind() {
        let (keep, kept) = mpsc::channel::<()>();
        let stuck = std::thread::spawn(move || {
            let _ = kept.recv();
        });
        let ended = std::thread::spawn(|| {});
        let begun = Instant::now();
        RedisLoops { inboxes: Vec::new(), threads: vec![ended, stuck] }.stop();
        assert!((STOP_MAX..4 * STOP_MAX).contains(&begun.elapsed()), "{:?}", begun.elapsed());
        drop(keep);
    }
}
