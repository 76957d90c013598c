//! An event loop: a thread with its connections.
//!
//! A turn of the loop:
//!
//! 1. It waits until sockets have something, or somebody tells it something.
//! 2. It reads once from each connection that has sent something.
//! 3. The commands of all of them are carried out together.
//! 4. Replies are sent, as far as sockets take them. Who does not take them is read no further.
//! 5. Connections with more to do come first in the next turn.

use std::collections::BTreeSet;
use std::io;
use std::sync::Arc;
use std::time::{Duration, Instant};

use mio::{Events, Poll, Token};
use tonnage::Error;
use tonnage_resp::{Client, ClientAccess, ClientLimits, Executor, Keyspace};

use super::connection::{Connection, NewConnection, OverdueReason};
use super::inbox::{LoopInbox, LoopMessage, SlotWaker};
use super::login::{LoginOutcome, access_of};
use super::memory::ClientMemory;
use super::table_calls;
use crate::auth::{Caller, PeerCertificate};
use crate::context::ServerContext;
use crate::metrics::ListenerKind;
use crate::random::random_name;

const WAKE: Token = Token(usize::MAX);
const EVENTS_MAX: usize = 1_024;
/// What is read from a connection in a turn.
const READ_BYTES: usize = 64 << 10;
/// How soon a loop notices a client that another one has killed.
const LOOK_INTERVAL: Duration = Duration::from_millis(100);
/// How often it looks for clients that take too long.
const OVERDUE_INTERVAL: Duration = Duration::from_secs(1);

/// What the loops of a listener share.
pub(super) struct LoopShared {
    pub(super) context: Arc<ServerContext>,
    pub(super) keyspace: Arc<Keyspace>,
    pub(super) memory: Arc<ClientMemory>,
    pub(super) runtime: tokio::runtime::Handle,
}

/// A loop with its connections.
pub(super) struct EventLoop {
    shared: LoopShared,
    poll: Poll,
    inbox: Arc<LoopInbox>,
    connections: Vec<Option<Connection>>,
    free: Vec<usize>,
    /// The connections with something to do.
    scheduled: Vec<usize>,
    /// The connections whose clients wait for an element, by the ends of their waits.
    deadlines: BTreeSet<(u64, usize)>,
    executor: Executor,
    buffer: Vec<u8>,
    kills_seen: u64,
    users_seen: u64,
    overdue_seen: Instant,
    is_draining: bool,
}

impl EventLoop {
    pub(super) fn new(shared: LoopShared) -> io::Result<Self> {
        let poll = Poll::new()?;
        let inbox = Arc::new(LoopInbox::new(poll.registry(), WAKE)?);
        Ok(Self {
            executor: Executor::new(shared.keyspace.clone()),
            kills_seen: shared.keyspace.kills(),
            users_seen: shared.context.logins.generation(),
            shared,
            poll,
            inbox,
            connections: Vec::new(),
            free: Vec::new(),
            scheduled: Vec::new(),
            deadlines: BTreeSet::new(),
            buffer: vec![0; READ_BYTES],
            overdue_seen: Instant::now(),
            is_draining: false,
        })
    }

    /// Where it can be told something.
    pub(super) fn inbox(&self) -> Arc<LoopInbox> {
        self.inbox.clone()
    }

    /// Runs until it is told to stop.
    pub(super) fn run(mut self) {
        let mut events = Events::with_capacity(EVENTS_MAX);
        loop {
            let wait = self.pause();
            // An interrupted wait is one without events.
            if self.poll.poll(&mut events, Some(wait)).is_err() {
                events.clear();
            }
            for event in &events {
                let Token(slot) = event.token();
                if let Some(Some(connection)) = self.connections.get_mut(slot) {
                    let is_readable = event.is_readable() || event.is_read_closed();
                    connection.is_read_closed |= event.is_read_closed();
                    connection.is_readable |= is_readable || event.is_error();
                    self.schedule(slot);
                }
            }
            for message in self.inbox.take() {
                if matches!(message, LoopMessage::Stop) {
                    return self.close_all();
                }
                self.handle(message);
            }
            // Other threads have answers or messages for these clients.
            for slot in self.inbox.take_called() {
                self.schedule(slot);
            }
            self.look_around();
            self.schedule_overdue();
            self.turn();
        }
    }

    /// How long it waits for an event.
    fn pause(&self) -> Duration {
        if !self.scheduled.is_empty() {
            return Duration::ZERO;
        }
        let Some((deadline_ms, _)) = self.deadlines.first() else { return LOOK_INTERVAL };
        let left_ms = deadline_ms.saturating_sub(self.shared.keyspace.now_ms());
        Duration::from_millis(left_ms).min(LOOK_INTERVAL)
    }

    /// Schedules the connections whose clients have waited long enough.
    fn schedule_overdue(&mut self) {
        if self.deadlines.is_empty() {
            return;
        }
        let now_ms = self.shared.keyspace.now_ms();
        let overdue = self.deadlines.range(..=(now_ms, usize::MAX)).map(|(_, slot)| *slot);
        overdue.collect::<Vec<_>>().into_iter().for_each(|slot| self.schedule(slot));
    }

    /// Notes when the wait of a client ends.
    fn note_deadline(&mut self, slot: usize) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return };
        let deadline_ms = connection.client.as_ref().and_then(|client| client.deadline_ms());
        let before_ms = std::mem::replace(&mut connection.deadline_ms, deadline_ms);
        if before_ms != deadline_ms {
            before_ms.into_iter().for_each(|ms| _ = self.deadlines.remove(&(ms, slot)));
            deadline_ms.into_iter().for_each(|ms| _ = self.deadlines.insert((ms, slot)));
        }
    }

    fn schedule(&mut self, slot: usize) {
        if let Some(Some(connection)) = self.connections.get_mut(slot)
            && !connection.is_scheduled
        {
            connection.is_scheduled = true;
            self.scheduled.push(slot);
        }
    }

    fn handle(&mut self, message: LoopMessage) {
        match message {
            LoopMessage::Connected(connection) => self.connect(connection),
            LoopMessage::LoggedIn { slot, client, outcome } => {
                self.finish_login(slot, client, outcome);
            }
            LoopMessage::Answered { slot, client, reply, failure } => {
                self.finish_call(slot, client, &reply, failure.as_ref());
            }
            LoopMessage::Drain => {
                self.is_draining = true;
                for slot in 0..self.connections.len() {
                    self.close_when_answered(slot);
                }
            }
            LoopMessage::Stop => {}
        }
    }

    fn connect(&mut self, new: NewConnection) {
        let context = &self.shared.context;
        let access = match context.logins.is_guarded() {
            // Without users everybody is allowed everything, which an audit log still notes.
            true => context.logins.anybody().map_or(ClientAccess::Nothing, access_of),
            false => ClientAccess::Everything,
        };
        let client = Client::new(
            &self.shared.keyspace,
            new.address.clone(),
            new.local_address.clone(),
            access,
            ClientLimits::default(),
        );
        let mut connection = Connection::new(new, client, self.shared.memory.share());
        // Slots are used again: events name them, and clients have numbers of their own.
        let slot = self.free.pop().unwrap_or_else(|| {
            self.connections.push(None);
            self.connections.len() - 1
        });
        if let Some(client) = &connection.client {
            client.set_waker(Box::new(SlotWaker { inbox: self.inbox.clone(), slot }));
        }
        let registered = connection.stream.socket.register(self.poll.registry(), Token(slot));
        self.connections[slot] = Some(connection);
        match registered {
            Ok(()) => self.schedule(slot),
            Err(_) => self.close(slot),
        }
        if self.is_draining {
            self.close_when_answered(slot);
        }
    }

    fn close_when_answered(&mut self, slot: usize) {
        if let Some(Some(connection)) = self.connections.get_mut(slot) {
            connection.client.iter_mut().for_each(|client| client.close());
            self.schedule(slot);
        }
    }

    /// Looks whether clients were killed, users changed, or somebody takes too long.
    fn look_around(&mut self) {
        let (kills, users) =
            (self.shared.keyspace.kills(), self.shared.context.logins.generation());
        if kills != self.kills_seen {
            self.kills_seen = kills;
            (0..self.connections.len()).for_each(|slot| self.schedule(slot));
        }
        if users != self.users_seen {
            self.users_seen = users;
            (0..self.connections.len()).for_each(|slot| self.renew_access(slot));
        }
        let now = Instant::now();
        if now.saturating_duration_since(self.overdue_seen) >= OVERDUE_INTERVAL {
            self.overdue_seen = now;
            (0..self.connections.len()).for_each(|slot| self.close_overdue(slot, now));
        }
    }

    fn renew_access(&mut self, slot: usize) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return };
        let Some(caller) = connection.caller.take() else { return };
        let renewed = self.shared.context.logins.renewed(&caller);
        let access = renewed.clone().map_or(ClientAccess::Nothing, access_of);
        connection.forget_caller();
        if let Some(client) = &mut connection.client {
            client.set_access(access);
        }
        connection.caller = renewed;
        // It may be one that is to be closed now.
        self.schedule(slot);
    }

    fn close_overdue(&mut self, slot: usize, now: Instant) {
        let Some(Some(connection)) = self.connections.get(slot) else { return };
        match connection.overdue(now, self.shared.context.config.reader_timeout) {
            Some(OverdueReason::SlowReader) => {
                self.shared.context.metrics.slow_readers.inc();
                self.close(slot);
            }
            Some(OverdueReason::Silence) => self.close(slot),
            None => {}
        }
    }

    /// Reads, carries out and answers.
    fn turn(&mut self) {
        let slots = std::mem::take(&mut self.scheduled);
        let (mut clients, mut taken) = (Vec::with_capacity(slots.len()), Vec::new());
        for slot in slots {
            let Some(Some(connection)) = self.connections.get_mut(slot) else { continue };
            connection.is_scheduled = false;
            if connection.read(&mut self.buffer).is_err() {
                self.close(slot);
                continue;
            }
            login_by_certificate(&self.shared.context, connection);
            if let Some(client) = connection.client.take() {
                clients.push(client);
                taken.push(slot);
            }
        }
        if clients.is_empty() {
            return;
        }
        self.executor.run(&mut clients);
        for (slot, client) in taken.into_iter().zip(clients) {
            if let Some(Some(connection)) = self.connections.get_mut(slot) {
                connection.client = Some(client);
                self.answer(slot);
            }
        }
    }

    /// Sends what a client is answered, and sees what comes next.
    fn answer(&mut self, slot: usize) {
        self.start_login(slot);
        self.start_call(slot);
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return };
        if connection.client.as_mut().is_some_and(|client| client.take_reset()) {
            connection.forget_caller();
        }
        let is_cut_off = connection.client.as_ref().is_some_and(|client| client.is_cut_off());
        let is_broken = connection.write().is_err();
        let bytes = connection.client.as_ref().map_or(0, |client| client.memory_bytes());
        let may_go_on = connection.share.set(bytes);
        if is_broken || connection.is_over() || !may_go_on {
            if !may_go_on {
                self.shared.context.metrics.count_refused(ListenerKind::redis);
            }
            if is_cut_off {
                self.shared.context.metrics.slow_readers.inc();
            }
            return self.close(slot);
        }
        if connection.has_work() {
            self.schedule(slot);
        }
        self.note_deadline(slot);
    }

    /// Has a password verified by another thread.
    fn start_login(&mut self, slot: usize) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return };
        let Some(client) = connection.client.as_ref().filter(|_| !connection.is_logging_in) else {
            return;
        };
        let Some(request) = client.login().cloned() else { return };
        connection.is_logging_in = true;
        let (id, context, inbox) = (client.id(), self.shared.context.clone(), self.inbox.clone());
        self.shared.runtime.spawn(async move {
            let caller = context.logins.named_caller(request.user.as_deref(), &request.password);
            let outcome = caller.await.map_err(|error| {
                context.metrics.count_failed_login(ListenerKind::redis);
                match error.kind() {
                    tonnage::ErrorKind::Invalid => WRONG_PASSWORD.to_owned(),
                    _ => format!("ERR {}", error.message()),
                }
            });
            inbox.post(LoopMessage::LoggedIn { slot, client: id, outcome });
        });
    }

    /// Has SQL or rows of tables seen to by another thread.
    fn start_call(&mut self, slot: usize) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return };
        let Some(client) = connection.client.as_ref().filter(|_| connection.running.is_none())
        else {
            return;
        };
        let Some(call) = client.outside_call().cloned() else { return };
        let context = self.shared.context.clone();
        let caller = connection.caller.clone().or_else(|| context.logins.anybody());
        let name = random_name().unwrap_or_else(|_| format!("redis-{}", client.id()));
        let origin = table_calls::origin_of(caller.as_ref(), &call);
        let running = context.statements.start(name, origin);
        let cancel = running.cancel().clone();
        let (client, inbox) = (client.id(), self.inbox.clone());
        connection.running = Some(running);
        self.shared.runtime.spawn(async move {
            let (reply, failure) = table_calls::reply(&context, caller, call, cancel).await;
            inbox.post(LoopMessage::Answered { slot, client, reply, failure });
        });
    }

    fn finish_call(&mut self, slot: usize, id: u64, reply: &[u8], failure: Option<&Error>) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return };
        let Some(client) = connection.client.as_mut().filter(|client| client.id() == id) else {
            return;
        };
        if let (Some(running), Some(error)) = (connection.running.take(), failure) {
            running.note_failure(error);
        }
        client.finish_call(reply);
        self.schedule(slot);
    }

    fn finish_login(&mut self, slot: usize, id: u64, outcome: LoginOutcome) {
        let Some(Some(connection)) = self.connections.get_mut(slot) else { return };
        let Some(client) = connection.client.as_mut().filter(|client| client.id() == id) else {
            return;
        };
        connection.is_logging_in = false;
        // The users may have changed while the password was verified.
        let logins = &self.shared.context.logins;
        let outcome = outcome.and_then(|caller: Caller| {
            logins.renewed(&caller).ok_or_else(|| WRONG_PASSWORD.to_owned())
        });
        if let Ok(caller) = &outcome {
            connection.caller = Some(caller.clone());
        }
        client.finish_login(outcome.map(access_of));
        self.schedule(slot);
    }

    fn close(&mut self, slot: usize) {
        let Some(mut connection) = self.connections.get_mut(slot).and_then(Option::take) else {
            return;
        };
        connection.stream.close();
        connection.stream.socket.deregister(self.poll.registry());
        connection.deadline_ms.into_iter().for_each(|ms| _ = self.deadlines.remove(&(ms, slot)));
        if let Some(client) = &mut connection.client {
            client.leave(&self.shared.keyspace);
        }
        self.free.push(slot);
    }

    fn close_all(&mut self) {
        (0..self.connections.len()).for_each(|slot| self.close(slot));
    }
}

/// What Redis reports a wrong name as well as of a wrong password.
const WRONG_PASSWORD: &str = "WRONGPASS invalid username-password pair or user is disabled.";

/// Logs a client in that showed a certificate.
fn login_by_certificate(context: &ServerContext, connection: &mut Connection) {
    let Some(client) = &mut connection.client else { return };
    if client.access().is_authenticated() || connection.stream.is_handshaking() {
        return;
    }
    let Some(tls) = &connection.stream.tls else { return };
    let shown = tls.peer_certificates().and_then(|shown| shown.first());
    let certificate = shown.map(|der| PeerCertificate(der.as_ref().into()));
    let caller = certificate.and_then(|shown| context.logins.certified_caller(&shown));
    if let Some(caller) = caller {
        client.set_access(access_of(caller.clone()));
        connection.caller = Some(caller);
    }
}
