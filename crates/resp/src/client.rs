//! A client: what it sent, what it is answered, and what it has set up.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use crate::access::ClientAccess;
use crate::client_list::ClientCard;
use crate::keyspace::Keyspace;
use crate::mail::{ClientWaker, Letter, Mail, Message};
use crate::outside_call::OutsideCall;
use crate::protocol::{
    ArgumentSpan, ClientLimits, CommandReader, Protocol, ProtocolError, REDIS_VERSION, ReadStep,
    ReplyWriter,
};
use crate::subscriptions::{ChannelKind, Subscriptions, may_subscribe};
use crate::wait_answer::WaitAnswer;
use crate::waits::Waiter;

/// How long a client may leave many messages unread.
const SLOW_MAX_MS: u64 = 60_000;

/// An empty buffer larger than this is given back.
const KEPT_BYTES_MAX: usize = 16 << 10;

/// Who a client says it is. The owner of the client verifies it, then calls
/// [`Client::finish_login`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoginRequest {
    /// The user; none for a password or token by itself.
    pub user: Option<String>,
    /// The password, or a token.
    pub password: String,
    pub(crate) hello: Option<HelloRequest>,
}

/// The rest of a HELLO with a login.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HelloRequest {
    pub(crate) protocol: Protocol,
    pub(crate) name: Option<String>,
}

/// Whether a client continues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum ClientState {
    #[default]
    Open,
    /// It is closed once it has its replies.
    Closing,
    /// It is closed at once.
    Closed,
}

/// Which replies a client does not get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MutedReplies {
    /// All of them.
    pub(crate) all: bool,
    /// That of this command.
    pub(crate) this: bool,
    /// That of the next command.
    pub(crate) next: bool,
}

/// What was read and is not carried out yet, because commands before it are under way.
#[derive(Debug, Default)]
pub(crate) enum HeldRead {
    #[default]
    None,
    Command,
    Failure(ProtocolError),
}

/// The keys that a transaction depends on, with their versions when they were looked at.
#[derive(Debug, Default)]
pub(crate) struct WatchedKeys {
    pub(crate) versions: BTreeMap<Vec<u8>, Option<u64>>,
    pub(crate) bytes: usize,
}

impl WatchedKeys {
    /// What a key takes beside its bytes.
    const ENTRY_BYTES: usize = 64;

    /// Watches a key. What was watched first counts: it may have changed since.
    pub(crate) fn add(&mut self, key: &[u8], version: Option<u64>) {
        if !self.versions.contains_key(key) {
            self.bytes += key.len() + Self::ENTRY_BYTES;
            self.versions.insert(key.to_vec(), version);
        }
    }
}

/// Commands that wait for EXEC, as they were sent.
#[derive(Debug, Default)]
pub(crate) struct Transaction {
    pub(crate) commands: Vec<Vec<Vec<u8>>>,
    pub(crate) bytes: usize,
    /// Whether one of them was refused: EXEC carries out none then.
    pub(crate) is_broken: bool,
}

/// A command that waits for an element.
#[derive(Clone, Debug)]
pub(crate) struct WaitingCall {
    pub(crate) waiter: Arc<Waiter>,
    /// When it ends, in milliseconds since 1970.
    pub(crate) deadline_ms: Option<u64>,
}

/// A client.
#[derive(Debug)]
pub struct Client {
    pub(crate) input: Vec<u8>,
    /// Replies, those before `sent_bytes` sent already.
    pub(crate) output: Vec<u8>,
    sent_bytes: usize,
    pub(crate) reader: CommandReader,
    pub(crate) held: HeldRead,
    /// The error after the last byte that came: sent once all before it is answered.
    pub(crate) failure_behind: Option<ProtocolError>,
    /// Whether the current command continues after what came.
    pub(crate) needs_more: bool,
    pub(crate) protocol: Protocol,
    pub(crate) access: ClientAccess,
    pub(crate) state: ClientState,
    pub(crate) muted: MutedReplies,
    pub(crate) login: Option<LoginRequest>,
    /// Whether RESET logged it out since the last check.
    pub(crate) was_reset: bool,
    pub(crate) transaction: Option<Transaction>,
    pub(crate) watched: WatchedKeys,
    pub(crate) subscriptions: Subscriptions,
    /// The command that it waits with. No other one is carried out meanwhile.
    pub(crate) waiting: Option<WaitingCall>,
    /// The command that its owner carries out. No other one is carried out meanwhile.
    pub(crate) outside: Option<OutsideCall>,
    /// Since when it has left many messages unread.
    slow_since_ms: Option<u64>,
    /// Whether it is closed because it left too much unread.
    is_cut_off: bool,
    pub(crate) card: Arc<ClientCard>,
    pub(crate) limits: ClientLimits,
}

impl Client {
    /// A client that has just connected.
    pub fn new(
        keyspace: &Keyspace,
        address: String,
        local_address: String,
        access: ClientAccess,
        limits: ClientLimits,
    ) -> Box<Self> {
        keyspace.counters.connections.fetch_add(1, Ordering::Relaxed);
        let card = keyspace.clients.admit(address, local_address, keyspace.now_ms());
        card.texts.lock().user = access.user().to_owned();
        Box::new(Self::with_card(card, access, limits))
    }

    /// One that others know by this card.
    pub(crate) fn with_card(
        card: Arc<ClientCard>,
        access: ClientAccess,
        limits: ClientLimits,
    ) -> Self {
        Self {
            // Memory is taken with the first bytes: most of 10,000 clients send none.
            input: Vec::new(),
            output: Vec::new(),
            sent_bytes: 0,
            reader: CommandReader::default(),
            held: HeldRead::None,
            failure_behind: None,
            needs_more: true,
            // HELLO asks for another one.
            protocol: Protocol::Two,
            access,
            state: ClientState::Open,
            muted: MutedReplies::default(),
            login: None,
            was_reset: false,
            transaction: None,
            watched: WatchedKeys::default(),
            subscriptions: Subscriptions::default(),
            waiting: None,
            outside: None,
            slow_since_ms: None,
            is_cut_off: false,
            card,
            limits,
        }
    }

    /// It has gone: others do not see it any more, it gets no messages, and waits for nothing.
    pub fn leave(&mut self, keyspace: &Keyspace) {
        keyspace.clients.remove(self.card.id);
        keyspace.waits.remove(self.card.id);
        keyspace.channels.unsubscribe_all(&self.card, &mut self.subscriptions);
        self.card.mailbox.close();
    }

    /// Its number, under which [`Keyspace`] knows it.
    pub fn id(&self) -> u64 {
        self.card.id
    }

    /// Bytes that it sent.
    pub fn receive(&mut self, bytes: &[u8]) {
        self.input.extend_from_slice(bytes);
    }

    /// What it is to be sent.
    pub fn output(&self) -> &[u8] {
        &self.output[self.sent_bytes..]
    }

    /// So many bytes were sent.
    pub fn sent(&mut self, bytes: usize) {
        self.sent_bytes += bytes;
        if self.sent_bytes < self.output.len() {
            // What is moved is less than what was sent since: each byte moves once at most.
            if self.sent_bytes > self.output.len() / 2 {
                self.output.drain(..self.sent_bytes);
                self.sent_bytes = 0;
            }
            return;
        }
        self.output.clear();
        self.sent_bytes = 0;
        if self.output.capacity() > KEPT_BYTES_MAX {
            self.output = Vec::new();
        }
    }

    /// Whether more of it should be read: not while it leaves replies unread, logs in, or has
    /// commands waiting.
    pub fn wants_input(&self) -> bool {
        self.can_go_on() && self.needs_more
    }

    /// Whether there is more to carry out already.
    pub fn has_waiting(&self) -> bool {
        self.can_go_on() && !self.needs_more
    }

    /// Whether its next command may be carried out.
    pub(crate) fn can_go_on(&self) -> bool {
        self.state == ClientState::Open
            && !self.rests()
            && self.output().len() < self.limits.output_pause_bytes
    }

    /// Whether it has a command whose answer comes later.
    pub(crate) fn rests(&self) -> bool {
        self.login.is_some() || self.waiting.is_some() || self.outside.is_some()
    }

    /// Whether it is to be closed: at once, or when it has all its replies.
    pub fn is_closed(&self) -> bool {
        match self.state {
            ClientState::Open => self.card.is_killed.load(Ordering::Relaxed),
            ClientState::Closing => self.output().is_empty() && self.outside.is_none(),
            ClientState::Closed => true,
        }
    }

    /// Closes it once it has its replies.
    pub fn close(&mut self) {
        self.state = ClientState::Closing;
    }

    /// Tells an error, and closes it.
    pub fn refuse(&mut self, error: &str) {
        ReplyWriter::new(&mut self.output, self.protocol).error(error);
        self.close();
    }

    /// The memory of its buffers.
    pub fn memory_bytes(&self) -> usize {
        let queued = self.transaction.as_ref().map_or(0, |transaction| transaction.bytes);
        let waiting = self.waiting.as_ref().map_or(0, |call| call.waiter.bytes());
        let outside = self.outside.as_ref().map_or(0, OutsideCall::bytes);
        self.input.capacity()
            + self.output.capacity()
            + queued
            + self.watched.bytes
            + self.subscriptions.bytes
            + waiting
            + outside
    }

    /// The command that its owner is to carry out.
    pub fn outside_call(&self) -> Option<&OutsideCall> {
        self.outside.as_ref()
    }

    /// Ends that command with its reply, as [`ReplyWriter`] writes it.
    pub fn finish_call(&mut self, reply: &[u8]) {
        if self.outside.take().is_some() {
            let start = self.output.len();
            self.output.extend_from_slice(reply);
            self.end_reply(start);
        }
    }

    /// Sets who wakes the loop of this client when another one leaves something for it.
    pub fn set_waker(&self, waker: Box<dyn ClientWaker>) {
        self.card.mailbox.set_waker(waker);
    }

    /// Whether a command of it waits for an element.
    pub fn is_waiting(&self) -> bool {
        self.waiting.is_some()
    }

    /// When its wait ends, in milliseconds since 1970 of the store's clock, if it ends by itself.
    pub fn deadline_ms(&self) -> Option<u64> {
        self.waiting.as_ref().and_then(|call| call.deadline_ms)
    }

    /// Whether it is closed because it left too many messages unread.
    pub fn is_cut_off(&self) -> bool {
        self.is_cut_off
    }

    /// Takes what others left for it. Called between two replies.
    pub(crate) fn take_mail(&mut self, now_ms: u64) {
        if !self.card.mailbox.has_mail() || self.state != ClientState::Open {
            return;
        }
        let Mail { letters, is_overflown, .. } = self.card.mailbox.take();
        for letter in letters {
            match letter {
                Letter::Message { pattern, message } => {
                    self.show_message(pattern.as_deref(), &message);
                }
                Letter::Answer(answer) => self.end_wait(&answer),
            }
        }
        if is_overflown || self.leaves_too_much(now_ms) {
            self.is_cut_off = true;
            self.state = ClientState::Closed;
            self.forget_replies();
        }
    }

    fn show_message(&mut self, pattern: Option<&[u8]>, message: &Message) {
        let kind = match (pattern, message.is_sharded) {
            (Some(_), _) => ChannelKind::Pattern,
            (None, true) => ChannelKind::Sharded,
            (None, false) => ChannelKind::Channel,
        };
        // It may have been on its way when the client unsubscribed.
        if !self.subscriptions.of(kind).contains(pattern.unwrap_or(&message.channel)) {
            return;
        }
        let mut reply = ReplyWriter::new(&mut self.output, self.protocol);
        reply.push(if pattern.is_some() { 4 } else { 3 });
        reply.bulk(match kind {
            ChannelKind::Pattern => b"pmessage",
            ChannelKind::Sharded => b"smessage",
            ChannelKind::Channel => b"message",
        });
        pattern.into_iter().for_each(|pattern| reply.bulk(pattern));
        reply.bulk(&message.channel);
        reply.bulk(&message.payload);
    }

    /// Whether a client that subscribes leaves more unread than it may.
    fn leaves_too_much(&mut self, now_ms: u64) -> bool {
        if self.subscriptions.is_empty() {
            return false;
        }
        let unread = self.output().len();
        if unread <= self.limits.messages_bytes_kept {
            self.slow_since_ms = None;
            return false;
        }
        let since_ms = *self.slow_since_ms.get_or_insert(now_ms);
        unread > self.limits.messages_bytes_max || now_ms.saturating_sub(since_ms) >= SLOW_MAX_MS
    }

    /// Ends the command that waits.
    pub(crate) fn end_wait(&mut self, answer: &WaitAnswer) {
        let Some(call) = self.waiting.take() else { return };
        self.card.is_waiting.store(false, Ordering::Relaxed);
        let start = self.output.len();
        answer.write(call.waiter.action, &mut ReplyWriter::new(&mut self.output, self.protocol));
        self.end_reply(start);
    }

    /// Who it says it is, once: nothing of it is carried out before [`Client::finish_login`].
    pub fn login(&self) -> Option<&LoginRequest> {
        self.login.as_ref()
    }

    /// Whether RESET logged it out since this was asked last.
    pub fn take_reset(&mut self) -> bool {
        std::mem::take(&mut self.was_reset)
    }

    /// The access of a client that has logged in.
    pub fn access(&self) -> &ClientAccess {
        &self.access
    }

    /// Its rights have changed. Without a login it has to log in again. A client that subscribes to
    /// what it may not any more, or waits for it, is closed.
    pub fn set_access(&mut self, access: ClientAccess) {
        self.card.texts.lock().user = access.user().to_owned();
        self.access = access;
        if !self.may_keep_subscriptions() || !self.may_keep_waiting() {
            self.state = ClientState::Closed;
            self.forget_replies();
        }
    }

    fn may_keep_subscriptions(&self) -> bool {
        let may_keep = |kind| {
            let mut names = self.subscriptions.of(kind).iter();
            names.all(|name| may_subscribe(&self.access, kind, name).unwrap_or(false))
        };
        ChannelKind::ALL.into_iter().all(may_keep)
    }

    fn may_keep_waiting(&self) -> bool {
        let Some(WaitingCall { waiter, .. }) = &self.waiting else { return true };
        let may = |key: &[u8]| {
            let mut rights = waiter.rights.iter();
            rights.all(|right| self.access.ask(|user| user.may(*right, key)).unwrap_or(false))
        };
        waiter.all_keys().all(may)
    }

    /// Ends a login: with the access of its user, or the reason why it is refused.
    pub fn finish_login(&mut self, outcome: Result<ClientAccess, String>) {
        let Some(request) = self.login.take() else { return };
        let start = self.output.len();
        match (outcome, request.hello) {
            (Err(reason), _) => ReplyWriter::new(&mut self.output, self.protocol).error(&reason),
            (Ok(access), None) => {
                self.set_access(access);
                ReplyWriter::new(&mut self.output, self.protocol).ok();
            }
            (Ok(access), Some(hello)) => {
                self.set_access(access);
                self.greet(&hello);
            }
        }
        self.end_reply(start);
    }

    /// Carries out a HELLO of a client that has logged in.
    pub(crate) fn greet(&mut self, hello: &HelloRequest) {
        self.protocol = hello.protocol;
        let id = self.card.id;
        {
            let mut texts = self.card.texts.lock();
            texts.protocol = hello.protocol;
            if let Some(name) = &hello.name {
                texts.name.clone_from(name);
            }
        }
        let mut reply = ReplyWriter::new(&mut self.output, self.protocol);
        reply.map(7);
        for (name, value) in [("server", "redis"), ("version", REDIS_VERSION)] {
            reply.bulk(name.as_bytes());
            reply.bulk(value.as_bytes());
        }
        reply.bulk(b"proto");
        reply.integer(hello.protocol.number());
        reply.bulk(b"id");
        reply.integer(id as i64);
        for (name, value) in [("mode", "standalone"), ("role", "master")] {
            reply.bulk(name.as_bytes());
            reply.bulk(value.as_bytes());
        }
        reply.bulk(b"modules");
        reply.array(0);
    }

    /// Reads the next command, unless one is held.
    pub(crate) fn read_next(&mut self) -> Result<ReadStep, ProtocolError> {
        match std::mem::take(&mut self.held) {
            HeldRead::Command => return Ok(ReadStep::Command),
            HeldRead::Failure(error) => return Err(error),
            HeldRead::None => {}
        }
        let is_authenticated = self.access.is_authenticated();
        let step = self.reader.next(&mut self.input, &self.limits, is_authenticated)?;
        self.needs_more = step == ReadStep::Incomplete;
        if self.needs_more
            && let Some(error) = self.failure_behind.take()
        {
            return Err(error);
        }
        // No client could ever run it.
        let waiting = self.input.len() - self.reader.needed_from();
        if self.needs_more && waiting >= self.limits.input_bytes_max {
            let bytes_max = self.limits.input_bytes_max;
            let error = format!("ERR Protocol error: a command of more than {bytes_max} bytes");
            return Err(ProtocolError(error));
        }
        Ok(step)
    }

    /// Takes away what was carried out.
    pub(crate) fn compact(&mut self) {
        if !matches!(self.held, HeldRead::None) {
            return;
        }
        let done = self.reader.needed_from();
        if done == 0 {
            return;
        }
        self.input.drain(..done);
        self.reader.shift(done);
        if self.input.is_empty() && self.input.capacity() > KEPT_BYTES_MAX {
            self.input = Vec::new();
        }
    }

    /// Ends a command: leaves out its reply, which begins at `start`, where the client asked for
    /// that.
    pub(crate) fn end_reply(&mut self, start: usize) {
        self.mute(start);
        self.muted.this = std::mem::take(&mut self.muted.next);
    }

    /// The same for a command that may be one of a transaction: that is one command.
    pub(crate) fn end_command(&mut self, start: usize, is_held: bool) {
        match is_held {
            true => self.mute(start),
            false => self.end_reply(start),
        }
    }

    /// Forgets what it was answered: it is closed.
    pub(crate) fn forget_replies(&mut self) {
        (self.output, self.sent_bytes) = (Vec::new(), 0);
    }

    /// Leaves out what was written since `start`, where the client asked for that.
    pub(crate) fn mute(&mut self, start: usize) {
        if self.muted.all || self.muted.this {
            self.output.truncate(start);
        }
    }

    /// Takes back what was read and not run: the command at `from`, and all after it. `lines` are
    /// those of them that came as lines of words, which reading has changed.
    pub(crate) fn take_back(&mut self, from: usize, lines: &[(usize, usize, Vec<u8>)]) {
        match std::mem::take(&mut self.held) {
            HeldRead::Failure(error) => {
                self.input.truncate(self.reader.begun_at());
                self.failure_behind = Some(error);
            }
            HeldRead::Command => {
                let (start, end) = (self.reader.begun_at(), self.reader.position());
                if self.input[start] != b'*' {
                    let command = encode_command(self.reader.arguments(), &self.input);
                    self.input.splice(start..end, command);
                }
            }
            HeldRead::None => {}
        }
        // The last one first, so that the places of the others stay.
        for (start, end, command) in lines.iter().rev() {
            self.input.splice(*start..*end, command.iter().copied());
        }
        self.reader.go_back(from);
        self.needs_more = false;
    }
}

/// A command as programs send it.
pub(crate) fn encode_command(words: &[ArgumentSpan], input: &[u8]) -> Vec<u8> {
    let mut command = Vec::new();
    let mut writer = ReplyWriter::new(&mut command, Protocol::Two);
    writer.array(words.len());
    words.iter().for_each(|word| writer.bulk(word.of(input)));
    command
}
