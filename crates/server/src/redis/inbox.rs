//! What other threads tell an event loop.

use std::io;
use std::sync::{Arc, Mutex};

use mio::{Registry, Token, Waker};
use tonnage::Error;
use tonnage::internal::sync::lock;
use tonnage_resp::ClientWaker;

use super::connection::NewConnection;
use super::login::LoginOutcome;

/// Something that a loop is told.
pub(super) enum LoopMessage {
    /// The loop serves this connection from now on.
    Connected(NewConnection),
    /// A login ended.
    LoggedIn { slot: usize, client: u64, outcome: LoginOutcome },
    /// A call of tables ended, with this reply; with the error that it says, if it is one.
    Answered { slot: usize, client: u64, reply: Vec<u8>, failure: Option<Error> },
    /// No further commands are read; what came is answered.
    Drain,
    /// The loop ends.
    Stop,
}

/// The messages of a loop, which wake it.
pub(super) struct LoopInbox {
    messages: Mutex<Vec<LoopMessage>>,
    /// The connections for which another client has left something.
    called: Mutex<Vec<usize>>,
    waker: Waker,
}

impl LoopInbox {
    pub(super) fn new(registry: &Registry, token: Token) -> io::Result<Self> {
        Ok(Self {
            messages: Mutex::default(),
            called: Mutex::default(),
            waker: Waker::new(registry, token)?,
        })
    }

    pub(super) fn post(&self, message: LoopMessage) {
        lock(&self.messages).push(message);
        // A loop that cannot be woken looks by itself soon.
        let _ = self.waker.wake();
    }

    /// Another client has left something for a connection.
    fn call(&self, slot: usize) {
        let mut called = lock(&self.called);
        called.push(slot);
        // The first call wakes the loop, which takes all of them.
        if called.len() == 1 {
            let _ = self.waker.wake();
        }
    }

    /// The connections for which something was left.
    pub(super) fn take_called(&self) -> Vec<usize> {
        std::mem::take(&mut *lock(&self.called))
    }

    pub(super) fn take(&self) -> Vec<LoopMessage> {
        std::mem::take(&mut *lock(&self.messages))
    }
}

/// Wakes the loop of a connection.
pub(super) struct SlotWaker {
    pub(super) inbox: Arc<LoopInbox>,
    pub(super) slot: usize,
}

impl ClientWaker for SlotWaker {
    fn wake(&self) {
        self.inbox.call(self.slot);
    }
}

impl std::fmt::Debug for SlotWaker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("SlotWaker").field(&self.slot).finish()
    }
}
