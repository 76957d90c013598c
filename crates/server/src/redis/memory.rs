//! The memory that clients have for what they sent and have not read.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Clients with less are never closed for the sake of others.
const CLIENT_BYTES_FREE: usize = 64 << 10;

/// The bytes of all clients together.
#[derive(Debug)]
pub(super) struct ClientMemory {
    taken: AtomicUsize,
    bytes_max: usize,
}

/// What one client has of them.
#[derive(Debug)]
pub(super) struct ClientShare {
    memory: Arc<ClientMemory>,
    bytes: usize,
}

impl ClientMemory {
    pub(super) fn new(bytes_max: usize) -> Arc<Self> {
        Arc::new(Self { taken: AtomicUsize::new(0), bytes_max })
    }

    pub(super) fn share(self: &Arc<Self>) -> ClientShare {
        ClientShare { memory: self.clone(), bytes: 0 }
    }
}

impl ClientShare {
    /// Notes how much the client has now. Answers whether it may continue so.
    pub(super) fn set(&mut self, bytes: usize) -> bool {
        let taken = &self.memory.taken;
        let before = match bytes.checked_sub(self.bytes) {
            Some(more) => taken.fetch_add(more, Ordering::Relaxed).saturating_add(more),
            None => taken.fetch_sub(self.bytes - bytes, Ordering::Relaxed) - (self.bytes - bytes),
        };
        self.bytes = bytes;
        before <= self.memory.bytes_max || bytes <= CLIENT_BYTES_FREE
    }
}

impl Drop for ClientShare {
    fn drop(&mut self) {
        self.memory.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_gives_back_another_may_take_and_small_clients_always_go_on() {
        let memory = ClientMemory::new(10 * CLIENT_BYTES_FREE);
        let (mut large, mut other) = (memory.share(), memory.share());
        assert!(large.set(9 * CLIENT_BYTES_FREE));
        assert!(other.set(CLIENT_BYTES_FREE));
        assert!(!other.set(2 * CLIENT_BYTES_FREE));
        assert!(other.set(CLIENT_BYTES_FREE));
        drop(large);
        assert!(other.set(10 * CLIENT_BYTES_FREE));
        drop(other);
        assert_eq!(memory.taken.load(Ordering::Relaxed), 0);
    }
}
