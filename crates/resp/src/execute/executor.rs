//! Gathers commands, round after round.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::dispatch::{Handler, handler_of};
use super::immediate::{ImmediateCall, call_immediate, check_right};
use super::messages::{check_subscribed, is_answered_by_pushes};
use super::plan::{CommandArguments, PartSink, ReplyShape};
use super::round::{CommandPlace, Round, RoundCommand, Turn};
use super::waiting::serve;
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::client::{Client, ClientState, HeldRead};
use crate::command::{COMMANDS, Command, find};
use crate::keyspace::Keyspace;
use crate::protocol::{ArgumentSpan, ReadStep, ReplyWriter};
use crate::wait_answer::WaitAnswer;

/// The most parts of a round, unless one command alone has more.
const ROUND_PARTS_MAX: usize = 4_096;
/// How soon a client whose time is over looks again, where it is being served.
const SERVED_MS: u64 = 100;
/// So many rounds, then others get their turn.
const ROUNDS_MAX: usize = 16;

/// Carries out the commands of clients, on the calling thread and with memory that is used again.
#[derive(Debug)]
pub struct Executor {
    keyspace: Arc<Keyspace>,
    round: Round,
    spans: Vec<ArgumentSpan>,
    /// The position of the current command.
    place: CommandPlace,
    /// How often each command was called, until it is passed to the others.
    calls: Vec<u64>,
    /// The client whose commands the next round begins with.
    next_client: usize,
    /// Whether the turn is held further out: this carries out a transaction.
    is_held: bool,
    /// Whether the round ends here: clients that wait for a key get its elements before a later
    /// command does.
    is_sealed: bool,
}

/// What a run left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// How many commands were carried out.
    pub commands: u64,
    /// Whether there may be more to carry out already: run again.
    pub has_more: bool,
}

/// What became of the next command of a client.
enum GatherStep {
    /// It joined the round, or was carried out.
    Taken,
    /// It has to wait for those before it.
    Waits,
    /// There is none, or the client rests.
    None,
}

impl Executor {
    /// Carries out commands on these keys.
    pub fn new(keyspace: Arc<Keyspace>) -> Self {
        let round = Round::new(&keyspace);
        let calls = vec![0; COMMANDS.len()];
        Self {
            keyspace,
            round,
            spans: Vec::new(),
            place: CommandPlace::default(),
            calls,
            next_client: 0,
            is_held: false,
            is_sealed: false,
        }
    }

    /// Carries out all that clients sent, while the caller has its turn alone.
    fn carry_out_alone(keyspace: &Arc<Keyspace>, clients: &mut [Box<Client>]) {
        let mut executor = Self { is_held: true, ..Self::new(keyspace.clone()) };
        // All of it, even where the client is closed in the middle.
        while executor.run(clients).has_more {}
    }

    /// Carries out what these clients have sent. Replies stand in the order of the commands of each
    /// client; commands of different clients have no order.
    pub fn run(&mut self, clients: &mut [Box<Client>]) -> RunReport {
        let mut commands = 0;
        if !self.is_held {
            self.take_mail(clients);
        }
        for _ in 0..ROUNDS_MAX {
            let (taken, has_more, is_full) = self.run_round(clients);
            commands += taken;
            // Replies are sent before there are more of them.
            if !has_more || is_full {
                let goes_on = self.finish(clients, commands);
                return RunReport { commands, has_more: has_more || goes_on };
            }
        }
        self.finish(clients, commands);
        RunReport { commands, has_more: true }
    }

    /// Hands clients what others left for them, and ends waits that have lasted too long. Answers
    /// whether that lets one continue.
    fn take_mail(&self, clients: &mut [Box<Client>]) -> bool {
        let now_ms = self.keyspace.now_ms();
        let mut goes_on = false;
        for client in clients {
            let was_waiting = client.is_waiting();
            client.take_mail(now_ms);
            if client.deadline_ms().is_some_and(|deadline_ms| deadline_ms <= now_ms) {
                self.time_out(client, now_ms);
            }
            goes_on |= was_waiting && client.has_waiting();
        }
        goes_on
    }

    fn time_out(&self, client: &mut Client, now_ms: u64) {
        match self.keyspace.waits.remove(client.card.id) {
            Some(_) => client.end_wait(&WaitAnswer::TimedOut),
            // It is being served: its answer comes, or it waits on.
            None => {
                let again_ms = now_ms + SERVED_MS;
                client.waiting.iter_mut().for_each(|call| call.deadline_ms = Some(again_ms));
            }
        }
    }

    /// Gives elements that came to those who wait for them.
    fn serve_waiting(&self) {
        if !self.is_held && self.keyspace.waits.has_ready() {
            let _turn = Turn::take(&self.keyspace, true, false);
            serve(&self.keyspace, Self::carry_out_alone);
        }
    }

    /// Whether clients wait for a key that a command names.
    fn is_awaited(&self, client: &Client, command: &Command) -> bool {
        let mut indexes = command.key_indexes(self.spans.len());
        !self.keyspace.waits.is_empty()
            && command.has_flag("write")
            && indexes.any(|at| self.keyspace.waits.is_awaited(self.spans[at].of(&client.input)))
    }

    /// How many commands were taken, whether there may be more, and whether there are replies
    /// enough.
    fn run_round(&mut self, clients: &mut [Box<Client>]) -> (u64, bool, bool) {
        let (mut taken, mut has_more, mut waits) = (0, false, false);
        let now_ms = self.keyspace.now_ms();
        // A client that found no room in the round before comes first in this one.
        let start = std::mem::take(&mut self.next_client);
        for step in 0..clients.len() {
            let index = (start + step) % clients.len();
            let first = self.round.commands.len();
            loop {
                // A transaction is one round, so that it is one write.
                if (self.round.parts.len() >= ROUND_PARTS_MAX || self.is_sealed) && !self.is_held {
                    self.next_client = if has_more { self.next_client } else { index };
                    has_more = true;
                    break;
                }
                let is_first = self.round.commands.len() == first;
                match self.gather(&mut clients[index], index as u32, is_first, now_ms) {
                    GatherStep::Taken => taken += 1,
                    GatherStep::Waits => {
                        waits = true;
                        break;
                    }
                    GatherStep::None => break,
                }
            }
        }
        self.is_sealed = false;
        let is_full = !self.round.run(&self.keyspace, clients, self.is_held);
        self.serve_waiting();
        (taken, has_more || waits || is_full, is_full)
    }

    /// Answers whether a client that waited continues.
    fn finish(&mut self, clients: &mut [Box<Client>], commands: u64) -> bool {
        let goes_on = !self.is_held && self.take_mail(clients);
        let counters = &self.keyspace.counters;
        counters.commands.fetch_add(commands, Ordering::Relaxed);
        counters.hits.fetch_add(std::mem::take(&mut self.round.hits), Ordering::Relaxed);
        counters.misses.fetch_add(std::mem::take(&mut self.round.misses), Ordering::Relaxed);
        for (calls, told) in self.calls.iter_mut().zip(&self.keyspace.calls) {
            if *calls > 0 {
                told.fetch_add(std::mem::take(calls), Ordering::Relaxed);
            }
        }
        let now_ms = self.keyspace.now_ms();
        for client in clients {
            client.compact();
            client.card.active_ms.store(now_ms, Ordering::Relaxed);
        }
        goes_on
    }

    /// Takes the next command of a client. `is_first` says that none of it waits in this round.
    fn gather(
        &mut self,
        client: &mut Box<Client>,
        index: u32,
        is_first: bool,
        now_ms: u64,
    ) -> GatherStep {
        // A transaction runs to its end, even where its client is closed meanwhile.
        if !self.is_held && !client.can_go_on() {
            return GatherStep::None;
        }
        // What waits for the commands before it is held, and read again in the next round.
        match client.read_next() {
            Ok(ReadStep::Incomplete) => return GatherStep::None,
            Ok(ReadStep::Command) => {}
            Err(error) if is_first => {
                client.refuse(&error.0);
                return GatherStep::None;
            }
            Err(error) => {
                client.held = HeldRead::Failure(error);
                return GatherStep::Waits;
            }
        }
        // Copied, because the reader changes with the client while a command is carried out.
        self.spans.clear();
        self.spans.extend_from_slice(client.reader.arguments());
        let (start, end) = (client.reader.begun_at(), client.reader.position());
        let is_line = client.input.get(start).is_some_and(|byte| *byte != b'*');
        let line = is_line.then(|| self.spans.as_slice().into());
        self.place = CommandPlace { start, end, line };
        if self.spans.is_empty() {
            // It counts as a command whose reply is left out.
            if is_first && !self.is_held {
                client.end_reply(client.output.len());
            }
            return GatherStep::Taken;
        }
        self.take(client, index, is_first, now_ms)
    }

    fn take(
        &mut self,
        client: &mut Box<Client>,
        index: u32,
        is_first: bool,
        now_ms: u64,
    ) -> GatherStep {
        let name = self.spans[0].of(&client.input);
        // A browser that was led here sends these. What follows is not to be taken for commands.
        if name.eq_ignore_ascii_case(b"post") || name.eq_ignore_ascii_case(b"host:") {
            client.state = if is_first { ClientState::Closed } else { ClientState::Closing };
            return GatherStep::None;
        }
        let number = find(name);
        let command = number.map(|number| &COMMANDS[usize::from(number)]);
        // In a transaction commands are only noted, and refusals break it.
        let is_parts = number.is_some_and(|number| matches!(handler_of(number), Handler::Parts(_)));
        if (!is_parts || client.transaction.is_some()) && !is_first {
            client.held = HeldRead::Command;
            return GatherStep::Waits;
        }
        if let Some(number) = number {
            client.card.last_command.store(number, Ordering::Relaxed);
        }
        let checked = self.check(client, command);
        match (checked, command) {
            (Ok(()), Some(command)) => {
                let number = number.unwrap_or_default();
                self.calls[usize::from(number)] += 1;
                self.start(client, index, (command, handler_of(number)), now_ms);
            }
            (Err(refusal), _) if client.transaction.is_some() => {
                if let Some(transaction) = &mut client.transaction {
                    transaction.is_broken = true;
                }
                let start = client.output.len();
                ReplyWriter::new(&mut client.output, client.protocol).error(&refusal);
                client.end_reply(start);
            }
            (Err(refusal), _) => self.refuse(index, refusal),
            (Ok(()), None) => {}
        }
        GatherStep::Taken
    }

    /// Whether the client may call this.
    fn check(&self, client: &Client, command: Option<&Command>) -> Result<(), Refusal> {
        let word = |span: &ArgumentSpan| span.of(&client.input);
        let words = || self.spans.iter().map(word).collect::<Vec<_>>();
        let command = command.ok_or_else(|| words::unknown_command(&words()))?;
        if !command.takes(self.spans.len()) {
            return Err(words::wrong_arity(command.name).into());
        }
        if !client.access.is_authenticated() && !command.has_flag("no_auth") {
            return Err(words::NOAUTH.into());
        }
        for index in command.key_indexes(self.spans.len()) {
            let key = word(&self.spans[index]);
            // The bytes of a key as it is stored: 0x00 takes two, the ends of its parts four.
            let zeros = memchr::memchr_iter(0, key).count();
            if key.len() + zeros + 4 > self.keyspace.key_bytes_max {
                return Err(words::KEY_TOO_LONG.into());
            }
            for right in command.rights {
                check_right(client, *right, key)?;
            }
            // They tell the value from before, or the score.
            let is_get = |span| word(span).eq_ignore_ascii_case(b"get");
            let is_incr = |span| word(span).eq_ignore_ascii_case(b"incr");
            // Options of ZADD stand before the first score.
            let is_option =
                |span: &&ArgumentSpan| word(span).first().is_some_and(u8::is_ascii_alphabetic);
            let tells = match command.name {
                "set" => self.spans[3..].iter().any(is_get),
                "zadd" => self.spans[2..].iter().take_while(is_option).any(is_incr),
                _ => false,
            };
            if tells {
                check_right(client, KeyRight::Read, key)?;
            }
        }
        // The commands of a transaction were checked when they were noted.
        match self.is_held {
            true => Ok(()),
            false => check_subscribed(client, command.name, self.spans.get(1).map(word)),
        }
    }

    fn start(
        &mut self,
        client: &mut Box<Client>,
        index: u32,
        (command, handler): (&'static Command, Handler),
        now_ms: u64,
    ) {
        let ends_or_checks =
            matches!(command.name, "exec" | "discard" | "multi" | "watch" | "quit" | "reset");
        if client.transaction.is_some() && !ends_or_checks {
            let start = client.output.len();
            super::transactions::queue(client, command.name, &self.spans);
            return client.end_reply(start);
        }
        match handler {
            Handler::Parts(plan) => {
                let first_part = self.round.parts.len();
                let arguments =
                    CommandArguments { input: &client.input, spans: &self.spans, client: index };
                let mut sink = PartSink {
                    parts: &mut self.round.parts,
                    arguments: &arguments,
                    now_ms,
                    value_bytes_max: client.limits.argument_bytes_max,
                    reply_bytes_max: client.limits.output_bytes_max,
                };
                match plan(&arguments, &mut sink) {
                    Ok(shape) => {
                        self.push(index, shape);
                        self.is_sealed |= !self.is_held && self.is_awaited(client, command);
                    }
                    Err(refusal) => {
                        // Parts that came before the fault go with it.
                        self.round.parts.truncate(first_part);
                        self.refuse(index, refusal);
                    }
                }
            }
            Handler::Immediate(handler) => {
                if !self.is_held {
                    client.take_mail(now_ms);
                }
                // The words stay readable while the client changes.
                let input = std::mem::take(&mut client.input);
                let start = client.output.len();
                let mut call = ImmediateCall {
                    keyspace: &self.keyspace,
                    client: &mut *client,
                    input: &input,
                    spans: &self.spans,
                    is_held: self.is_held,
                    carry_out: Self::carry_out_alone,
                };
                call_immediate(handler, &mut call);
                client.input = input;
                Self::end_immediate(client, command, start, self.is_held);
                if !self.is_held {
                    client.take_mail(now_ms);
                    self.is_sealed |= self.keyspace.waits.has_ready();
                }
            }
        }
    }

    fn end_immediate(client: &mut Client, command: &Command, start: usize, is_held: bool) {
        let limits = client.limits;
        // A client that reads so little would never catch up.
        if client.output().len() > limits.output_bytes_max.saturating_add(limits.output_pause_bytes)
        {
            client.state = ClientState::Closed;
            client.forget_replies();
        }
        match command.name {
            // Each of its commands left out its own reply.
            "exec" => client.end_reply(client.output.len()),
            // Logins, waits and calls of others end later.
            _ if client.rests() => {}
            name if is_answered_by_pushes(name) => {
                client.end_command(client.output.len(), is_held);
            }
            _ => client.end_command(start, is_held),
        }
    }

    fn push(&mut self, client: u32, shape: ReplyShape) {
        let parts_end = self.round.parts.len() as u32;
        let place = std::mem::take(&mut self.place);
        self.round.commands.push(RoundCommand { client, parts_end, shape, place });
    }

    fn refuse(&mut self, client: u32, refusal: Refusal) {
        self.push(client, ReplyShape::Refused(refusal.into()));
    }
}
