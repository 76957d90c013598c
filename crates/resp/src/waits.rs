//! Clients that wait for an element of a list or a sorted set.
//!
//! A client that finds no element is added to the queue of each of its keys, with its turn alone, so
//! that no push comes between the look and the queue. Who pushes marks the key as ready. Then the
//! clients of its queue are served, the first one first, by the thread that pushed.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use crate::access::KeyRight;
use crate::client_list::ClientCard;
use crate::protocol::ClientLimits;
use crate::wait_answer::WaitAction;

/// A client that waits, and for what.
#[derive(Debug)]
pub(crate) struct Waiter {
    pub(crate) card: Arc<ClientCard>,
    pub(crate) limits: ClientLimits,
    /// In the order in which they are looked at.
    pub(crate) keys: Vec<Arc<[u8]>>,
    /// The list that elements are moved to.
    pub(crate) target: Option<Box<[u8]>>,
    pub(crate) action: WaitAction,
    /// What its user needs for each key.
    pub(crate) rights: &'static [KeyRight],
}

impl Waiter {
    /// What a key takes beside its bytes.
    const KEY_BYTES: usize = 192;

    /// The memory that it takes, its position in the queues included.
    pub(crate) fn bytes(&self) -> usize {
        let keys: usize = self.keys.iter().map(|key| 2 * key.len() + Self::KEY_BYTES).sum();
        size_of::<Self>() + keys + self.target.as_ref().map_or(0, |target| target.len())
    }

    /// All keys that it reads and changes.
    pub(crate) fn all_keys(&self) -> impl Iterator<Item = &[u8]> {
        self.keys.iter().map(|key| &**key).chain(self.target.as_deref())
    }
}

/// The clients that wait for a key, by their tickets: those who came first have the lowest.
#[derive(Debug, Default)]
struct KeyQueue {
    waiters: BTreeMap<u64, Arc<Waiter>>,
    is_ready: bool,
}

#[derive(Debug, Default)]
struct WaitQueues {
    next: u64,
    /// The ticket of each client, and for what it waits.
    by_client: HashMap<u64, (u64, Arc<Waiter>)>,
    by_key: HashMap<Arc<[u8]>, KeyQueue>,
    ready: VecDeque<Arc<[u8]>>,
}

/// All clients that wait.
#[derive(Debug, Default)]
pub(crate) struct Waits {
    count: AtomicUsize,
    has_ready: AtomicBool,
    queues: Mutex<WaitQueues>,
}

impl Waits {
    /// How many clients wait.
    pub(crate) fn len(&self) -> usize {
        self.count.load(Ordering::Acquire)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Adds a client after all others. The caller has its turn alone.
    pub(crate) fn add(&self, waiter: Arc<Waiter>) {
        let mut queues = self.queues.lock();
        queues.next += 1;
        let ticket = queues.next;
        queues.insert(ticket, waiter);
        self.count.store(queues.by_client.len(), Ordering::Release);
    }

    /// Adds a client in its position from before.
    pub(crate) fn add_again(&self, (ticket, waiter): (u64, Arc<Waiter>)) {
        let mut queues = self.queues.lock();
        queues.insert(ticket, waiter);
        self.count.store(queues.by_client.len(), Ordering::Release);
    }

    /// Ends the wait of a client. Only one caller gets it: that one answers the client.
    pub(crate) fn remove(&self, client: u64) -> Option<(u64, Arc<Waiter>)> {
        if self.is_empty() {
            return None;
        }
        let mut queues = self.queues.lock();
        let (ticket, waiter) = queues.by_client.remove(&client)?;
        for key in &waiter.keys {
            let Some(queue) = queues.by_key.get_mut(key) else { continue };
            queue.waiters.remove(&ticket);
            if queue.waiters.is_empty() {
                queues.by_key.remove(key);
            }
        }
        self.count.store(queues.by_client.len(), Ordering::Release);
        Some((ticket, waiter))
    }

    /// Whether clients wait for a key.
    pub(crate) fn is_awaited(&self, key: &[u8]) -> bool {
        !self.is_empty() && self.queues.lock().by_key.contains_key(key)
    }

    /// A key was written: who waits for it may find elements.
    pub(crate) fn signal(&self, key: &[u8]) {
        if self.is_empty() {
            return;
        }
        let mut queues = self.queues.lock();
        let Some((key, _)) = queues.by_key.get_key_value(key) else { return };
        let key = key.clone();
        if let Some(queue) = queues.by_key.get_mut(&key)
            && !queue.is_ready
        {
            queue.is_ready = true;
            queues.ready.push_back(key);
            self.has_ready.store(true, Ordering::Release);
        }
    }

    /// Whether there are keys whose clients are to be served.
    pub(crate) fn has_ready(&self) -> bool {
        self.has_ready.load(Ordering::Acquire)
    }

    /// The next of these keys.
    pub(crate) fn next_ready(&self) -> Option<Arc<[u8]>> {
        let mut queues = self.queues.lock();
        let key = queues.ready.pop_front();
        if let Some(queue) = key.as_ref().and_then(|key| queues.by_key.get_mut(key)) {
            queue.is_ready = false;
        }
        self.has_ready.store(!queues.ready.is_empty(), Ordering::Release);
        key
    }

    /// The first client that waits for a key after a ticket.
    pub(crate) fn next_of(&self, key: &[u8], behind: u64) -> Option<(u64, Arc<Waiter>)> {
        let queues = self.queues.lock();
        let mut waiters = queues.by_key.get(key)?.waiters.range(behind + 1..);
        waiters.next().map(|(ticket, waiter)| (*ticket, waiter.clone()))
    }
}

impl WaitQueues {
    fn insert(&mut self, ticket: u64, waiter: Arc<Waiter>) {
        for key in &waiter.keys {
            let queue = self.by_key.entry(key.clone()).or_default();
            queue.waiters.insert(ticket, waiter.clone());
        }
        self.by_client.insert(waiter.card.id, (ticket, waiter));
    }
}
