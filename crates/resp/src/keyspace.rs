//! What all clients share: the store, the other clients, positions of scans, counters.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU8, AtomicU16, AtomicU64, Ordering};

use parking_lot::{Mutex, RwLock};
use tonnage::{Durability, PairPosition, PairSession, Result, Store, WriteOptions};

use crate::client_list::ClientList;
use crate::command::COMMANDS;

/// Scans of which a position is kept. Older ones begin anew.
const POSITIONS_MAX: u64 = 16_384;

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

/// The positions of scans, by the numbers that clients know them by.
#[derive(Debug, Default)]
pub(crate) struct ScanCursors {
    next: u64,
    positions: BTreeMap<u64, PairPosition>,
}

impl ScanCursors {
    /// The number of a position. Numbers go round, so that old positions make room.
    pub(crate) fn keep(&mut self, position: PairPosition) -> u64 {
        self.next = self.next % POSITIONS_MAX + 1;
        self.positions.insert(self.next, position);
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
    pub(crate) cursors: Mutex<ScanCursors>,
    pub(crate) counters: Counters,
    pub(crate) calls: Vec<AtomicU64>,
    pub(crate) started_ms: u64,
    pub(crate) port: AtomicU16,
    pub(crate) has_users: bool,
    pub(crate) key_bytes_max: usize,
    /// Held exclusively by what changes several keys at once, and shared by everything else: nobody
    /// sees half of an MSET, and nothing comes between the commands of a transaction.
    pub(crate) turn: RwLock<()>,
    sync_policy: AtomicU8,
    /// Whether something was written since the last sync.
    is_unsynced: AtomicBool,
}

impl Keyspace {
    /// The keys of a store. With users, clients have to log in.
    pub fn new(store: Store, sync_policy: SyncPolicy, has_users: bool) -> Arc<Self> {
        let session = store.kv().session();
        let started_ms = session.now_ms();
        Arc::new(Self {
            key_bytes_max: store.capability().key_bytes_max,
            store,
            clients: ClientList::default(),
            cursors: Mutex::default(),
            counters: Counters::default(),
            calls: COMMANDS.iter().map(|_| AtomicU64::new(0)).collect(),
            started_ms,
            port: AtomicU16::new(0),
            has_users,
            turn: RwLock::new(()),
            sync_policy: AtomicU8::new(sync_policy as u8),
            is_unsynced: AtomicBool::new(false),
            session,
        })
    }

    pub(crate) fn now_ms(&self) -> u64 {
        self.session.now_ms()
    }

    /// The port that INFO tells.
    pub fn set_port(&self, port: u16) {
        self.port.store(port, Ordering::Relaxed);
    }

    /// A client has gone.
    pub fn forget(&self, client: u64) {
        self.clients.remove(client);
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

    pub(crate) fn set_sync_policy(&self, policy: SyncPolicy) {
        self.sync_policy.store(policy as u8, Ordering::Relaxed);
    }

    pub(crate) fn write_options(&self) -> WriteOptions {
        WriteOptions { durability: self.durability(), ..WriteOptions::default() }
    }

    /// Something was written: the next sync has work. Told behind the write, since a sync between
    /// the two would not cover it.
    pub(crate) fn note_written(&self) {
        self.is_unsynced.store(true, Ordering::Relaxed);
    }

    pub(crate) fn durability(&self) -> Durability {
        match self.sync_policy() {
            SyncPolicy::Always => Durability::Fsync,
            SyncPolicy::No | SyncPolicy::EverySecond => Durability::Write,
        }
    }

    /// Syncs what was written, where the policy asks for that each second. Called each second.
    ///
    /// # Errors
    /// What the store says.
    pub fn sync_each_second(&self) -> Result<()> {
        if self.sync_policy() == SyncPolicy::EverySecond
            && self.is_unsynced.swap(false, Ordering::Relaxed)
        {
            self.sync()?;
        }
        Ok(())
    }

    pub(crate) fn sync(&self) -> Result<()> {
        self.store.sync()?;
        let now_s = (self.now_ms() / 1_000) as i64;
        self.counters.synced_s.store(now_s, Ordering::Relaxed);
        Ok(())
    }
}
