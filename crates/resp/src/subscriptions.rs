//! What one client subscribes to, and whether it may.

use std::collections::BTreeSet;
use std::sync::Arc;

use crate::access::{ClientAccess, KeyRight};

/// What a client subscribes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChannelKind {
    /// A channel by its name.
    Channel,
    /// All channels that match a pattern.
    Pattern,
    /// A channel of `SPUBLISH`. There is one shard.
    Sharded,
}

impl ChannelKind {
    pub(crate) const ALL: [Self; 3] = [Self::Channel, Self::Pattern, Self::Sharded];
}

/// What one client subscribes to.
#[derive(Debug, Default)]
pub(crate) struct Subscriptions {
    names: [BTreeSet<Arc<[u8]>>; 3],
    /// The memory that they take.
    pub(crate) bytes: usize,
}

impl Subscriptions {
    /// What a name takes beside its bytes, here and among the channels.
    const ENTRY_BYTES: usize = 256;

    pub(crate) fn of(&self, kind: ChannelKind) -> &BTreeSet<Arc<[u8]>> {
        &self.names[kind as usize]
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.names.iter().all(BTreeSet::is_empty)
    }

    pub(crate) fn len(&self) -> usize {
        self.names.iter().map(BTreeSet::len).sum()
    }

    /// The number in a confirmation.
    pub(crate) fn told(&self, kind: ChannelKind) -> usize {
        let count = |kind| self.of(kind).len();
        match kind {
            ChannelKind::Sharded => count(kind),
            _ => count(ChannelKind::Channel) + count(ChannelKind::Pattern),
        }
    }

    pub(crate) fn add(&mut self, kind: ChannelKind, name: Arc<[u8]>) {
        let bytes = name.len() + Self::ENTRY_BYTES;
        if self.names[kind as usize].insert(name) {
            self.bytes += bytes;
        }
    }

    pub(crate) fn remove(&mut self, kind: ChannelKind, name: &[u8]) -> bool {
        let was_there = self.names[kind as usize].remove(name);
        if was_there {
            self.bytes -= name.len() + Self::ENTRY_BYTES;
        }
        was_there
    }
}

/// What all channels that match a pattern begin with.
fn literal_beginning(pattern: &[u8]) -> &[u8] {
    let end = pattern.iter().position(|byte| b"*?[\\".contains(byte));
    &pattern[..end.unwrap_or(pattern.len())]
}

/// Whether a client may subscribe: who may read the key of a name may get the messages of its
/// channel. A pattern needs the right to read all keys that begin with its literal beginning.
pub(crate) fn may_subscribe(
    access: &ClientAccess,
    kind: ChannelKind,
    name: &[u8],
) -> tonnage::Result<bool> {
    let beginning = match kind {
        ChannelKind::Pattern => literal_beginning(name),
        ChannelKind::Channel | ChannelKind::Sharded => name,
    };
    access.ask(|user| match kind == ChannelKind::Pattern && beginning.is_empty() {
        true => user.may_all(KeyRight::Read),
        false => user.may(KeyRight::Read, beginning),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_begins_with_what_means_itself() {
        for (pattern, beginning) in
            [("news.*", "news."), ("*", ""), ("a", "a"), ("a[bc]", "a"), (r"a\*", "a"), ("h?", "h")]
        {
            assert_eq!(literal_beginning(pattern.as_bytes()), beginning.as_bytes(), "{pattern}");
        }
    }
}
