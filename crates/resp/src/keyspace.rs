//! What all clients share: the store, the other clients, positions of scans, counters.

use std::collections::BTreeMap;
use std::sync::atomic::{
    AtomicBool, AtomicI64, AtomicU8, AtomicU16, AtomicU64, AtomicUsize, Ordering,
};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use tonnage::{
    CollectionSession, Durability, PairPosition, PairSession, PairWrites, Result, Store,
    WriteOptions, WriteResult,
};

use crate::channels::Channels;
use crate::client_list::ClientList;
use crate::command::COMMANDS;
use crate::leftover_search::LeftoverSearch;
use crate::subscriptions::ChannelKind;
use crate::waits::Waits;

/// A collection of more bytes gives its members entries of their own: up to here the whole is
/// written anew by each change.
const WHOLE_BYTES_MAX: usize = 16 << 10;

/// Scans of which a position is kept. Older ones begin anew.
const POSITIONS_MAX: usize = 16_384;

/// When a write is acknowledged, and what survives a power failure.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(u8)]
pub enum SyncPolicy {
    /// Writes survive the process; the disk has them when the system writes them.
    No,
    /// The same, and the disk has them a second later.
    #[default]
    EverySecond,
    /// Writes are acknowledged once they are on the disk.
    Always,
}

impl SyncPolicy {
    /// The one that Redis calls so.
    pub fn named(name: &str) -> Option<Self> {
        match name.to_ascii_lowercase().as_str() {
            "no" => Some(Self::No),
            "everysec" => Some(Self::EverySecond),
            "always" => Some(Self::Always),
            _ => None,
        }
    }

    /// Its name in Redis.
    pub fn name(self) -> &'static str {
        match self {
            Self::No => "no",
            Self::EverySecond => "everysec",
            Self::Always => "always",
        }
    }
}

/// What INFO tells.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    pub(crate) connections: AtomicU64,
    pub(crate) commands: AtomicU64,
    pub(crate) hits: AtomicU64,
    pub(crate) misses: AtomicU64,
    /// When the store was synced last, in seconds since 1970.
    pub(crate) synced_s: AtomicI64,
}

/// What there is between clients: metrics show it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientExchange {
    /// The channels that have subscribers.
    pub channels: usize,
    /// The patterns that have subscribers.
    pub patterns: usize,
    /// The messages that were left for subscribers.
    pub messages: u64,
    /// The clients that wait for an element.
    pub waiting: usize,
}

/// The positions of scans, by the numbers that clients know them by.
#[derive(Debug)]
pub(crate) struct ScanCursors {
    next: u64,
    positions: BTreeMap<u64, PairPosition>,
}

impl ScanCursors {
    /// Numbers from this time on: one from before a restart means no other position.
    fn new(now_ms: u64) -> Self {
        Self { next: now_ms << 10, positions: BTreeMap::new() }
    }

    /// The number of a position. No number comes twice, and the oldest position makes room.
    pub(crate) fn keep(&mut self, position: PairPosition) -> u64 {
        self.next += 1;
        self.positions.insert(self.next, position);
        if self.positions.len() > POSITIONS_MAX {
            self.positions.pop_first();
        }
        self.next
    }

    pub(crate) fn get(&self, number: u64) -> Option<PairPosition> {
        self.positions.get(&number).cloned()
    }
}

/// A store as clients of Redis see it: the pairs whose major path has one component, and that have
/// no minor path, are its keys.
#[derive(Debug)]
pub struct Keyspace {
    pub(crate) store: Store,
    pub(crate) session: PairSession,
    pub(crate) clients: ClientList,
    pub(crate) channels: Channels,
    pub(crate) waits: Waits,
    pub(crate) cursors: Mutex<ScanCursors>,
    pub(crate) counters: Counters,
    pub(crate) calls: Vec<AtomicU64>,
    pub(crate) started_ms: u64,
    pub(crate) port: AtomicU16,
    pub(crate) has_users: bool,
    pub(crate) key_bytes_max: usize,
    /// Held exclusively by what changes several keys at once, and shared by everything else: no
    /// client sees half of an MSET, and nothing comes between the commands of a transaction.
    pub(crate) turn: RwLock<()>,
    sync_policy: AtomicU8,
    /// Whether something was written since the last sync.
    is_unsynced: AtomicBool,
    /// How long a write waits at most, in nanoseconds; 0 for as long as it takes.
    write_timeout_ns: AtomicU64,
    /// The members of collections, once there are any.
    collections: OnceLock<CollectionSession>,
    /// None where the engine cannot write them together with their key.
    whole_bytes_max: Option<AtomicUsize>,
    /// The position of the search for entries that are left over.
    pub(crate) leftovers: Mutex<LeftoverSearch>,
}

impl Keyspace {
    /// The keys of a store. With users, clients have to log in.
    pub fn new(store: Store, sync_policy: SyncPolicy, has_users: bool) -> Arc<Self> {
        let session = store.kv().session();
        let started_ms = session.now_ms();
        let is_atomic = store.capability().spaces_per_batch > 1;
        let whole_bytes_max = is_atomic.then(|| AtomicUsize::new(WHOLE_BYTES_MAX));
        Arc::new(Self {
            key_bytes_max: store.capability().key_bytes_max,
            store,
            clients: ClientList::default(),
            channels: Channels::default(),
            waits: Waits::default(),
            cursors: Mutex::new(ScanCursors::new(started_ms)),
            counters: Counters::default(),
            calls: COMMANDS.iter().map(|_| AtomicU64::new(0)).collect(),
            started_ms,
            port: AtomicU16::new(0),
            has_users,
            turn: RwLock::new(()),
            sync_policy: AtomicU8::new(sync_policy as u8),
            is_unsynced: AtomicBool::new(false),
            write_timeout_ns: AtomicU64::new(0),
            collections: OnceLock::new(),
            whole_bytes_max,
            leftovers: Mutex::default(),
            session,
        })
    }

    /// The time of the store, in milliseconds since 1970.
    pub fn now_ms(&self) -> u64 {
        self.session.now_ms()
    }

    /// Collections of more bytes give their members entries of their own.
    pub fn set_whole_bytes_max(&self, bytes: usize) {
        self.whole_bytes_max.iter().for_each(|max| max.store(bytes, Ordering::Relaxed));
    }

    /// Whether a collection of so many bytes gives its members entries of their own.
    pub(crate) fn spreads(&self, bytes: usize) -> bool {
        self.whole_bytes_max.as_ref().is_some_and(|max| bytes > max.load(Ordering::Relaxed))
    }

    /// The members of collections, if there ever were any.
    pub(crate) fn collections(&self) -> Result<Option<&CollectionSession>> {
        if self.collections.get().is_none()
            && let Some(found) = self.session.collections()?
        {
            return Ok(Some(self.collections.get_or_init(|| found)));
        }
        Ok(self.collections.get())
    }

    /// The same; created where there are none yet.
    pub(crate) fn make_collections(&self) -> Result<&CollectionSession> {
        match self.collections()? {
            Some(found) => Ok(found),
            None => {
                let made = self.session.make_collections()?;
                Ok(self.collections.get_or_init(|| made))
            }
        }
    }

    /// The port that INFO tells.
    pub fn set_port(&self, port: u16) {
        self.port.store(port, Ordering::Relaxed);
    }

    /// All clients together leave so many bytes of messages untaken.
    pub fn set_messages_bytes_max(&self, bytes: usize) {
        self.clients.mail.bytes_max.store(bytes, Ordering::Relaxed);
    }

    /// What there is between clients.
    pub fn exchange(&self) -> ClientExchange {
        ClientExchange {
            channels: self.channels.count(ChannelKind::Channel)
                + self.channels.count(ChannelKind::Sharded),
            patterns: self.channels.count(ChannelKind::Pattern),
            messages: self.channels.delivered(),
            waiting: self.waits.len(),
        }
    }

    /// Changes whenever a client was killed by another.
    pub fn kills(&self) -> u64 {
        self.clients.kills()
    }

    /// How often each command was called, with its name.
    pub fn calls(&self) -> impl Iterator<Item = (&'static str, u64)> + '_ {
        let calls = self.calls.iter().map(|calls| calls.load(Ordering::Relaxed));
        COMMANDS.iter().map(|command| command.name).zip(calls)
    }

    /// When writes are acknowledged.
    pub fn sync_policy(&self) -> SyncPolicy {
        match self.sync_policy.load(Ordering::Relaxed) {
            0 => SyncPolicy::No,
            1 => SyncPolicy::EverySecond,
            _ => SyncPolicy::Always,
        }
    }

    /// Acknowledges writes by another policy from now on. What was acknowledged before keeps what
    /// it was promised, and has what the new policy promises: it is synced.
    ///
    /// # Errors
    /// What the store says. Then the policy is the one from before.
    pub(crate) fn set_sync_policy(&self, policy: SyncPolicy) -> Result<()> {
        let before = self.sync_policy.swap(policy as u8, Ordering::Relaxed);
        let synced = self.sync();
        if synced.is_err() {
            self.sync_policy.store(before, Ordering::Relaxed);
        }
        synced
    }

    /// How long a write waits at most.
    pub fn set_write_timeout(&self, timeout: Option<Duration>) {
        let nanos = timeout.map_or(0, |timeout| timeout.as_nanos().clamp(1, u64::MAX.into()));
        self.write_timeout_ns.store(nanos as u64, Ordering::Relaxed);
    }

    /// Writes, as the current policy says.
    pub(crate) fn write(&self, writes: &PairWrites) -> Vec<Result<WriteResult>> {
        let timeout_ns = self.write_timeout_ns.load(Ordering::Relaxed);
        let timeout = (timeout_ns > 0).then(|| Duration::from_nanos(timeout_ns));
        let durability = self.durability();
        let options = WriteOptions { durability, timeout, ..WriteOptions::default() };
        let outcomes = self.session.write_many(writes, &options);
        self.note_written(durability);
        outcomes
    }

    /// Something was written: the next sync has work. Called after the write, since a sync between
    /// the two would not cover it.
    pub(crate) fn note_written(&self, durability: Durability) {
        if durability != Durability::Fsync {
            self.is_unsynced.store(true, Ordering::Relaxed);
        }
    }

    pub(crate) fn durability(&self) -> Durability {
        match self.sync_policy() {
            SyncPolicy::Always => Durability::Fsync,
            SyncPolicy::No | SyncPolicy::EverySecond => Durability::Write,
        }
    }

    /// Syncs what was written and is not synced yet, where the policy asks for that. Called each
    /// second.
    ///
    /// # Errors
    /// What the store says. Then it is tried again a second later.
    pub fn sync_each_second(&self) -> Result<()> {
        if self.sync_policy() != SyncPolicy::No && self.is_unsynced.load(Ordering::Relaxed) {
            self.sync()?;
        }
        Ok(())
    }

    pub(crate) fn sync(&self) -> Result<()> {
        let was_unsynced = self.is_unsynced.swap(false, Ordering::Relaxed);
        if let Err(error) = self.store.sync() {
            self.is_unsynced.fetch_or(was_unsynced, Ordering::Relaxed);
            return Err(error);
        }
        let now_s = (self.now_ms() / 1_000) as i64;
        self.counters.synced_s.store(now_s, Ordering::Relaxed);
        Ok(())
    }
}
