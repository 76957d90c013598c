//! A round: commands of many clients, with one look-up and one write.
//!
//! 1. The parts are sorted by their keys. Those of one key are a chain, in the order in which their
//!    commands came.
//! 2. The keys are looked up, but for those whose chain begins with a blind SET.
//! 3. Each chain is carried out in memory. If it leaves a change, that is written on the condition
//!    that the pair is still the one that was looked up.
//! 4. A chain whose condition did not hold is looked up and run anew: another writer changed the
//!    key meanwhile. Chains do not depend on each other, so the others stand.
//! 5. Answers become replies once everything is written.
//!
//! An answer may show one value many times, and many answers the same value. So their bytes are
//! counted before anything is written. Where they are too many for one round, the commands at its
//! end are given back to their clients, and come again once replies were sent.
//!
//! Commands that come together thus see each other's effects, however many of them change one key,
//! and cost one write for each key.

mod command;
mod look_up;
mod reply;
mod reply_bytes;
mod turn;

use std::ops::Range;

use tonnage::{Condition, Error, PairBatch, PairWrites, Pairs, Result, WriteResult};

use self::reply::write_reply;
use super::entry_source::EntrySource;
use super::keys::fetch_versions;
use super::open_collection::OpenCollection;
use super::open_spread::LOADED_MAX;
use super::part::{KeyState, StoredBase};
use super::part_reply::PartReply;
use super::plan::{KeyPart, ReplyShape};
use super::texts::Texts;
use super::words;
use crate::client::{Client, ClientState};
use crate::keyspace::Keyspace;
use crate::protocol::{ClientLimits, ReplyWriter};
pub(super) use command::{CommandPlace, RoundCommand};
pub(super) use turn::Turn;

/// How often a chain is tried that others get in the way of.
const TRIES_MAX: usize = 100;

/// The parts of one key.
#[derive(Clone, Copy, Debug)]
struct KeyChain {
    /// Where its parts stand in the order.
    start: u32,
    end: u32,
    state: KeyState,
}

/// The commands of a round, and memory that is used again.
#[derive(Debug)]
pub(super) struct Round {
    pub(super) commands: Vec<RoundCommand>,
    pub(super) parts: Vec<KeyPart>,
    order: Vec<u32>,
    chains: Vec<KeyChain>,
    /// The chains that are looked up, and those that are written, by their numbers.
    asked: Vec<u32>,
    written: Vec<u32>,
    keys: Pairs,
    found: PairBatch,
    found_again: PairBatch,
    writes: PairWrites,
    computed: Vec<u8>,
    /// The collection of the chain that is being carried out.
    open: OpenCollection,
    /// Chains that wrote nothing, and whose reads may be of two points in time.
    unsettled: Vec<u32>,
    failures: Vec<String>,
    /// The bytes of the replies so far.
    answered_bytes: usize,
    /// The first command that there was no room for.
    given_back_from: Option<usize>,
    pub(super) hits: u64,
    pub(super) misses: u64,
}

/// Why a round was not carried out.
enum RoundFailure {
    /// Its values are too large for one round.
    TooLarge,
    /// Its replies find no room beside those that were written before it.
    NoRoom,
    Store(Error),
}

/// Above so many bytes memory is given back.
const KEPT_BYTES_MAX: usize = 4 << 20;
/// The same for parts.
const KEPT_PARTS_MAX: usize = 64 << 10;

impl Round {
    pub(super) fn new(keyspace: &Keyspace) -> Self {
        Self {
            commands: Vec::new(),
            parts: Vec::new(),
            order: Vec::new(),
            chains: Vec::new(),
            asked: Vec::new(),
            written: Vec::new(),
            keys: Pairs::new(),
            found: PairBatch::default(),
            found_again: PairBatch::default(),
            writes: keyspace.session.writes(),
            computed: Vec::new(),
            open: OpenCollection::default(),
            unsettled: Vec::new(),
            failures: Vec::new(),
            answered_bytes: 0,
            given_back_from: None,
            hits: 0,
            misses: 0,
        }
    }

    /// Whether several keys change together, so that no client may read in between.
    fn is_alone(&self) -> bool {
        self.commands.iter().any(|command| matches!(command.shape, ReplyShape::Ok))
    }

    /// Carries all commands out, and answers them. Answers whether that was all: commands whose
    /// replies were too many were given back to their clients.
    pub(super) fn run(
        &mut self,
        keyspace: &Keyspace,
        clients: &mut [Box<Client>],
        is_held: bool,
    ) -> bool {
        let all = 0..self.commands.len();
        if self.parts.is_empty() {
            self.answer(all, clients, is_held);
        } else {
            let turn = Turn::take(keyspace, self.is_alone(), is_held);
            self.run_some(keyspace, clients, all, is_held);
            drop(turn);
        }
        let given_back_from = self.given_back_from.take();
        given_back_from.into_iter().for_each(|from| self.give_back(from, clients));
        self.answered_bytes = 0;
        self.commands.clear();
        self.parts.clear();
        self.clear_memory();
        given_back_from.is_none()
    }

    /// Gives the last commands back, from this one on.
    fn give_back(&mut self, from: usize, clients: &mut [Box<Client>]) {
        let mut given = self.commands.split_off(from);
        // Those of a client stay in their order.
        given.sort_by_key(|command| command.client);
        for of_one in given.chunk_by(|one, other| one.client == other.client) {
            let client = &mut clients[of_one[0].client as usize];
            let restored = |command: &RoundCommand| command.place.restored(&client.input);
            let lines: Vec<_> = of_one.iter().filter_map(restored).collect();
            client.take_back(of_one[0].place.start, &lines);
        }
    }

    fn parts_of(&self, commands: &Range<usize>) -> Range<usize> {
        let end_of = |command: usize| self.commands[command].parts_end as usize;
        let start = commands.start.checked_sub(1).map_or(0, end_of);
        start..commands.end.checked_sub(1).map_or(0, end_of).max(start)
    }

    /// Carries out some of the commands. Where their values are too large together, halves of them
    /// are carried out one after the other, so that a greedy command fails alone.
    fn run_some(
        &mut self,
        keyspace: &Keyspace,
        clients: &mut [Box<Client>],
        commands: Range<usize>,
        is_held: bool,
    ) {
        // Commands of a client stay in their order: none overtakes those that were given back.
        if self.given_back_from.is_some() {
            return;
        }
        let parts = self.parts_of(&commands);
        self.clear_memory();
        match self.carry_out(keyspace, clients, &commands, is_held) {
            Ok(()) => {}
            Err(RoundFailure::TooLarge) if commands.len() > 1 => {
                let middle = commands.start + commands.len() / 2;
                self.run_some(keyspace, clients, commands.start..middle, is_held);
                return self.run_some(keyspace, clients, middle..commands.end, is_held);
            }
            Err(RoundFailure::TooLarge) => {
                let refused = PartReply::Error(words::REPLY_TOO_LARGE);
                self.parts[parts].iter_mut().for_each(|part| part.reply = refused);
            }
            // Nothing of it is written, so its clients get it back.
            Err(RoundFailure::NoRoom) => {
                self.given_back_from = Some(commands.start);
                return;
            }
            Err(RoundFailure::Store(error)) => {
                let failed = self.failure(&error);
                self.parts[parts].iter_mut().for_each(|part| part.reply = failed);
            }
        }
        self.answer(commands, clients, is_held);
    }

    fn clear_memory(&mut self) {
        match self.keys.bytes() > KEPT_BYTES_MAX {
            true => self.keys = Pairs::new(),
            false => self.keys.clear(),
        }
        self.asked.clear();
        self.written.clear();
        self.unsettled.clear();
        self.writes.clear();
        self.computed.clear();
        self.failures.clear();
        // One large value is not to keep its memory for ever.
        if self.found.bytes() > KEPT_BYTES_MAX {
            self.found = PairBatch::default();
        }
        if self.found_again.bytes() > KEPT_BYTES_MAX {
            self.found_again = PairBatch::default();
        }
        if self.computed.capacity() > KEPT_BYTES_MAX {
            self.computed = Vec::new();
        }
        // Nor a command of a million words.
        if self.order.capacity() > KEPT_PARTS_MAX {
            self.order = Vec::new();
            self.chains = Vec::new();
        }
        if self.parts.is_empty() && self.parts.capacity() > KEPT_PARTS_MAX {
            self.parts = Vec::new();
        }
    }

    fn failure(&mut self, error: &Error) -> PartReply {
        self.failures.push(words::of_store(error));
        PartReply::Failed(self.failures.len() as u32 - 1)
    }

    fn carry_out(
        &mut self,
        keyspace: &Keyspace,
        clients: &[Box<Client>],
        commands: &Range<usize>,
        is_held: bool,
    ) -> std::result::Result<(), RoundFailure> {
        self.link(clients, self.parts_of(commands));
        self.look_up(keyspace, clients)?;
        let now_ms = keyspace.now_ms();
        let computed_max = bytes_max(clients);
        for chain in 0..self.chains.len() {
            self.carry_out_chain(keyspace, chain, clients, (now_ms, computed_max), is_held);
            // Nothing is written yet, so it can still be done by halves.
            if self.computed.len() > computed_max {
                return Err(RoundFailure::TooLarge);
            }
        }
        // A transaction is carried out as a whole: its client is closed where it answers too much.
        if !is_held {
            self.check_replies(commands, clients)?;
        }
        let mut outcomes = self.write(keyspace, clients);
        // Usually none is refused, and this ends at once.
        for _ in 0..TRIES_MAX {
            let mut refused = self.refused(outcomes);
            self.add_unsettled(keyspace, clients, &mut refused)?;
            if refused.is_empty() {
                return Ok(());
            }
            // Others stay as they are, so what was computed for them is kept.
            if self.computed.len() > computed_max {
                outcomes = Vec::new();
                self.give_up(&refused);
                break;
            }
            self.look_up_again(keyspace, clients, &refused).map_err(RoundFailure::Store)?;
            let now_ms = keyspace.now_ms();
            self.writes.clear();
            self.written.clear();
            for chain in refused {
                let bounds = (now_ms, usize::MAX);
                self.carry_out_chain(keyspace, chain as usize, clients, bounds, is_held);
            }
            outcomes = self.write(keyspace, clients);
        }
        let mut refused = self.refused(outcomes);
        refused.append(&mut self.unsettled);
        self.give_up(&refused);
        Ok(())
    }

    fn give_up(&mut self, chains: &[u32]) {
        for chain in chains {
            self.reply_to_all(*chain as usize, PartReply::Error(words::CHANGED_TOO_OFTEN));
        }
    }

    /// Carries out the parts of a key, and adds what they leave to the writes.
    fn carry_out_chain(
        &mut self,
        keyspace: &Keyspace,
        chain: usize,
        clients: &[Box<Client>],
        (now_ms, computed_max): (u64, usize),
        is_alone: bool,
    ) {
        let KeyChain { start, end, mut state } = self.chains[chain];
        let key = self.parts[self.order[start as usize] as usize].key;
        let key = key.span.of(&clients[key.client as usize].input);
        let mut texts = Texts {
            found: &self.found,
            clients,
            computed: &mut self.computed,
            entries: Some(EntrySource::new(keyspace, key)),
            failure: None,
            now_ms,
            bytes_max: bytes_max(clients),
        };
        self.open.close();
        let order = &self.order[start as usize..end as usize];
        for (number, part) in order.iter().enumerate() {
            if number.is_multiple_of(LOADED_MAX) {
                let some = order[number..].iter().take(LOADED_MAX);
                let members = some.filter_map(|part| self.parts[*part as usize].action.member());
                self.open.load_members(state.value, members, &mut texts);
            }
            let part = &mut self.parts[*part as usize];
            if part.action.is_look_up() {
                *(if state.value.is_some() { &mut self.hits } else { &mut self.misses }) += 1;
            }
            part.reply = state.apply(&part.action, &mut texts, &mut self.open, now_ms);
            if texts.computed.len() > computed_max {
                break;
            }
        }
        state.write_down(&mut texts, &mut self.open);
        self.chains[chain].state = state;
        // What could not be read leaves nothing to be written.
        if let Some(error) = texts.failure.take() {
            return self.fail_chain(chain, &error);
        }
        // Created and deleted again: there is nothing to write.
        if !state.is_changed || (state.base == StoredBase::Absent && state.value.is_none()) {
            if self.open.is_of_two_moments() && !is_alone {
                self.unsettled.push(chain as u32);
            }
            return;
        }
        let condition = match state.base {
            // No other client writes while this has its turn alone.
            _ if is_alone => Condition::Always,
            StoredBase::Unknown => Condition::Always,
            StoredBase::Absent => Condition::IfAbsent,
            StoredBase::Version(version) => Condition::IfVersion(version),
        };
        self.writes.begin();
        // A key has one component always, and a group was begun.
        let added = match state.value {
            Some(value) => {
                self.writes.put(&[key], &[], texts.get(value), state.expires_at_ms, condition)
            }
            None => self.writes.delete(&[key], &[], condition),
        };
        debug_assert!(added.is_ok());
        let writes = &mut self.writes;
        match self.open.write_entries(key, state.value, &texts, keyspace, writes) {
            Ok(()) => self.written.push(chain as u32),
            // No head without its members.
            Err(error) => {
                self.writes.give_up();
                self.fail_chain(chain, &error);
            }
        }
    }

    /// All parts of a key are answered with an error.
    fn fail_chain(&mut self, chain: usize, error: &Error) {
        let failed = self.failure(error);
        self.reply_to_all(chain, failed);
    }

    /// Adds the chains that only read, where the key has changed since it was looked up.
    fn add_unsettled(
        &mut self,
        keyspace: &Keyspace,
        clients: &[Box<Client>],
        refused: &mut Vec<u32>,
    ) -> std::result::Result<(), RoundFailure> {
        let unsettled = std::mem::take(&mut self.unsettled);
        if unsettled.is_empty() {
            return Ok(());
        }
        let keys: Vec<&[u8]> =
            unsettled.iter().map(|chain| self.key_of(*chain as usize, clients)).collect();
        let versions = fetch_versions(keyspace, &keys).map_err(RoundFailure::Store)?;
        for (chain, version) in unsettled.into_iter().zip(versions) {
            let now = version.map_or(StoredBase::Absent, StoredBase::Version);
            if self.chains[chain as usize].state.base != now {
                refused.push(chain);
            }
        }
        Ok(())
    }

    fn write(&mut self, keyspace: &Keyspace, clients: &[Box<Client>]) -> Vec<Result<WriteResult>> {
        if self.writes.is_empty() {
            return Vec::new();
        }
        let outcomes = keyspace.write(&self.writes);
        // Who waits for one of these keys looks again, whatever became of the write.
        if !keyspace.waits.is_empty() {
            self.signal(keyspace, clients);
        }
        outcomes
    }

    /// Marks the keys that were written as ready, in the order of the commands.
    fn signal(&self, keyspace: &Keyspace, clients: &[Box<Client>]) {
        let written = self.written.iter().map(|chain| *chain as usize);
        let mut stored: Vec<usize> =
            written.filter(|chain| self.chains[*chain].state.value.is_some()).collect();
        stored.sort_unstable_by_key(|chain| self.order[self.chains[*chain].start as usize]);
        stored.into_iter().for_each(|chain| {
            keyspace.waits.signal(self.key_of(chain, clients));
        });
    }

    /// The chains to be carried out anew. Those that failed are answered so.
    fn refused(&mut self, outcomes: Vec<Result<WriteResult>>) -> Vec<u32> {
        let mut refused = Vec::new();
        for (index, outcome) in outcomes.into_iter().enumerate() {
            let chain = self.written[index];
            match outcome {
                Ok(WriteResult::Stored { .. }) => {}
                Ok(WriteResult::ConditionFailed { .. }) => refused.push(chain),
                Err(error) => {
                    let failed = self.failure(&error);
                    self.reply_to_all(chain as usize, failed);
                }
            }
        }
        refused
    }

    /// All parts of a key saw what was not stored: they get the same answer.
    fn reply_to_all(&mut self, chain: usize, reply: PartReply) {
        let KeyChain { start, end, .. } = self.chains[chain];
        for part in &self.order[start as usize..end as usize] {
            self.parts[*part as usize].reply = reply;
        }
    }

    /// Writes the replies of some commands.
    fn answer(&mut self, commands: Range<usize>, clients: &mut [Box<Client>], is_held: bool) {
        let mut parts = self.parts_of(&commands);
        for index in commands {
            let RoundCommand { client, parts_end, ref shape, .. } = self.commands[index];
            parts.end = parts_end as usize;
            let client = client as usize;
            let bytes = self.reply_bytes(index, clients);
            let ClientLimits { output_bytes_max, output_pause_bytes, .. } = clients[client].limits;
            let waiting = clients[client].output().len() + bytes;
            // A client that reads so little would never catch up.
            if waiting > output_bytes_max.saturating_add(output_pause_bytes) {
                clients[client].state = ClientState::Closed;
            }
            if clients[client].state == ClientState::Closed {
                parts.start = parts.end;
                continue;
            }
            self.answered_bytes += bytes;
            // The replies go to the end of one client's output, and read the inputs of others.
            let mut output = std::mem::take(&mut clients[client].output);
            let start = output.len();
            let mut reply = ReplyWriter::new(&mut output, clients[client].protocol);
            let texts = Texts {
                found: &self.found,
                clients,
                computed: &mut self.computed,
                entries: None,
                failure: None,
                now_ms: 0,
                bytes_max: 0,
            };
            let answers = &self.parts[parts.clone()];
            write_reply(shape, answers, &texts, &self.failures, &mut reply);
            clients[client].output = output;
            clients[client].end_command(start, is_held);
            parts.start = parts.end;
        }
    }
}

/// What one client may leave unread bounds what is looked up and computed at a time.
fn bytes_max(clients: &[Box<Client>]) -> usize {
    let limits = clients.iter().map(|client| client.limits.output_bytes_max);
    limits.max().unwrap_or(usize::MAX)
}
