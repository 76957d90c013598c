//! Channels: who gets the messages that are published.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use parking_lot::RwLock;

use crate::client_list::ClientCard;
use crate::mail::{Letter, Message};
use crate::protocol::glob_matches;
use crate::subscriptions::{ChannelKind, Subscriptions};

/// The clients that subscribe to one name, by their numbers.
type Subscribers = BTreeMap<u64, Arc<ClientCard>>;

/// The channels that have subscribers.
#[derive(Debug, Default)]
pub(crate) struct Channels {
    names: RwLock<[BTreeMap<Arc<[u8]>, Subscribers>; 3]>,
    /// Messages that were left for clients.
    delivered: AtomicU64,
}

impl Channels {
    /// Adds a client to those that get messages.
    pub(crate) fn subscribe(
        &self,
        kind: ChannelKind,
        name: &[u8],
        card: &Arc<ClientCard>,
        own: &mut Subscriptions,
    ) {
        if own.of(kind).contains(name) {
            return;
        }
        let mut names = self.names.write();
        let of_kind = &mut names[kind as usize];
        // All subscribers share one copy of the name.
        let known = of_kind.get_key_value(name).map(|(name, _)| name.clone());
        let name = known.unwrap_or_else(|| name.into());
        of_kind.entry(name.clone()).or_default().insert(card.id, card.clone());
        drop(names);
        own.add(kind, name);
        card.note_subscriptions(own);
    }

    /// Removes a client from them.
    pub(crate) fn unsubscribe(
        &self,
        kind: ChannelKind,
        name: &[u8],
        card: &ClientCard,
        own: &mut Subscriptions,
    ) {
        if !own.remove(kind, name) {
            return;
        }
        let mut names = self.names.write();
        if let Entry::Occupied(mut entry) = names[kind as usize].entry(name.into()) {
            entry.get_mut().remove(&card.id);
            if entry.get().is_empty() {
                entry.remove();
            }
        }
        drop(names);
        card.note_subscriptions(own);
    }

    /// Removes all subscriptions of a client.
    pub(crate) fn unsubscribe_all(&self, card: &ClientCard, own: &mut Subscriptions) {
        for kind in ChannelKind::ALL {
            let names: Vec<Arc<[u8]>> = own.of(kind).iter().cloned().collect();
            names.iter().for_each(|name| self.unsubscribe(kind, name, card, own));
        }
    }

    /// Leaves a message for all who subscribe to its channel. Answers how many get it, counting a
    /// client once for each of its patterns.
    pub(crate) fn publish(&self, channel: &[u8], payload: &[u8], is_sharded: bool) -> usize {
        let names = self.names.read();
        let [channels, patterns, shards] = &*names;
        let named = if is_sharded { shards.get(channel) } else { channels.get(channel) };
        let is_matched = |(pattern, _): &(&Arc<[u8]>, &Subscribers)| glob_matches(pattern, channel);
        let mut matched = patterns.iter().filter(|_| !is_sharded).filter(is_matched).peekable();
        // A message for no client is not copied.
        if named.is_none() && matched.peek().is_none() {
            return 0;
        }
        let (channel, payload) = (channel.into(), payload.into());
        let message = Arc::new(Message { channel, payload, is_sharded });
        let mut count = 0;
        let mut leave = |pattern: Option<&Arc<[u8]>>, subscribers: &Subscribers| {
            count += subscribers.len();
            for card in subscribers.values() {
                let (pattern, message) = (pattern.cloned(), message.clone());
                card.mailbox.leave(Letter::Message { pattern, message });
            }
        };
        named.into_iter().for_each(|subscribers| leave(None, subscribers));
        matched.for_each(|(pattern, subscribers)| leave(Some(pattern), subscribers));
        self.delivered.fetch_add(count as u64, Ordering::Relaxed);
        count
    }

    /// The names with subscribers that match a pattern.
    pub(crate) fn matching(&self, kind: ChannelKind, pattern: &[u8]) -> Vec<Arc<[u8]>> {
        let names = self.names.read();
        let of_kind = names[kind as usize].keys();
        of_kind.filter(|name| glob_matches(pattern, name)).cloned().collect()
    }

    /// How many clients subscribe to a name.
    pub(crate) fn subscribers(&self, kind: ChannelKind, name: &[u8]) -> usize {
        self.names.read()[kind as usize].get(name).map_or(0, BTreeMap::len)
    }

    /// How many names have subscribers.
    pub(crate) fn count(&self, kind: ChannelKind) -> usize {
        self.names.read()[kind as usize].len()
    }

    /// How many messages were left for clients.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered.load(Ordering::Relaxed)
    }
}
