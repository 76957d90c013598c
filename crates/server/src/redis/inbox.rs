//! What other threads tell an event loop.

use std::io;
use std::sync::Mutex;

use mio::{Registry, Token, Waker};
use tonnage::internal::sync::lock;

use super::connection::NewConnection;
use super::login::LoginOutcome;

/// Something that a loop is told.
pub(super) enum LoopMessage {
    /// The loop serves this connection from now on.
    Connected(NewConnection),
    /// A login ended.
    LoggedIn { slot: usize, client: u64, outcome: LoginOutcome },
    /// No further commands are read; what came is answered.
    Drain,
    /// The loop ends.
    Stop,
}

/// The messages of a loop, which wake it.
pub(super) struct LoopInbox {
    messages: Mutex<Vec<LoopMessage>>,
    waker: Waker,
}

impl LoopInbox {
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        Ok(Self { messages: Mutex::default(), waker: Waker::new(registry, token)? })
    }

    pub(super) fn post(&self, message: LoopMessage) {
        lock(&self.messages).push(message);
        // A loop that cannot be woken looks by itself soon.
        let _ = self.waker.wake();
    }

    pub(super) fn take(&self) -> Vec<LoopMessage> {
        std::mem::take(&mut *lock(&self.messages))
    }
}
