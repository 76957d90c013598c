//! The clients that are connected, as others may know them.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicU32, AtomicU64, Ordering};

use parking_lot::Mutex;

use crate::mail::{MailMemory, Mailbox};
use crate::protocol::Protocol;
use crate::subscriptions::{ChannelKind, Subscriptions};

/// What other clients may know of a client: CLIENT LIST shows it, CLIENT KILL ends it.
#[derive(Debug)]
pub struct ClientCard {
    pub(crate) id: u64,
    pub(crate) address: String,
    pub(crate) local_address: String,
    pub(crate) connected_ms: u64,
    pub(crate) active_ms: AtomicU64,
    pub(crate) last_command: AtomicU16,
    pub(crate) is_killed: AtomicBool,
    /// Whether it waits for an element.
    pub(crate) is_waiting: AtomicBool,
    /// How many names of each kind it subscribes to.
    pub(crate) subscriptions: [AtomicU32; 3],
    pub(crate) mailbox: Mailbox,
    pub(crate) texts: Mutex<CardTexts>,
}

impl ClientCard {
    /// Notes how much it subscribes to.
    pub(crate) fn note_subscriptions(&self, own: &Subscriptions) {
        for (kind, count) in ChannelKind::ALL.into_iter().zip(&self.subscriptions) {
            count.store(own.of(kind).len() as u32, Ordering::Relaxed);
        }
    }

    pub(crate) fn subscription_count(&self, kind: ChannelKind) -> u32 {
        self.subscriptions[kind as usize].load(Ordering::Relaxed)
    }
}

/// What a client says of itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct CardTexts {
    pub(crate) name: String,
    pub(crate) user: String,
    pub(crate) library: String,
    pub(crate) library_version: String,
    pub(crate) protocol: Protocol,
}

/// The clients that are connected.
#[derive(Debug, Default)]
pub(crate) struct ClientList {
    next: AtomicU64,
    kills: AtomicU64,
    /// What waits to be taken by all of them.
    pub(crate) mail: Arc<MailMemory>,
    cards: Mutex<BTreeMap<u64, Arc<ClientCard>>>,
}

impl ClientList {
    pub(crate) fn admit(
        &self,
        address: String,
        local_address: String,
        now_ms: u64,
    ) -> Arc<ClientCard> {
        let id = self.next.fetch_add(1, Ordering::Relaxed) + 1;
        let card = Arc::new(ClientCard {
            id,
            address,
            local_address,
            connected_ms: now_ms,
            active_ms: AtomicU64::new(now_ms),
            last_command: AtomicU16::new(u16::MAX),
            is_killed: AtomicBool::new(false),
            is_waiting: AtomicBool::new(false),
            subscriptions: Default::default(),
            mailbox: Mailbox::new(self.mail.clone()),
            texts: Mutex::new(CardTexts::default()),
        });
        self.cards.lock().insert(id, card.clone());
        card
    }

    pub(crate) fn all(&self) -> Vec<Arc<ClientCard>> {
        self.cards.lock().values().cloned().collect()
    }

    pub(crate) fn len(&self) -> usize {
        self.cards.lock().len()
    }

    pub(crate) fn remove(&self, client: u64) {
        self.cards.lock().remove(&client);
    }

    /// Changes whenever a client is killed.
    pub(crate) fn kills(&self) -> u64 {
        self.kills.load(Ordering::Relaxed)
    }

    pub(crate) fn kill(&self, card: &ClientCard) {
        card.is_killed.store(true, Ordering::Relaxed);
        self.kills.fetch_add(1, Ordering::Relaxed);
    }
}
