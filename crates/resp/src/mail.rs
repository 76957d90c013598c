//! What other clients leave for a client: messages of channels, and the answer that it waits for.
//!
//! Any thread may leave something. The loop of the client is woken, and the client takes all of it
//! between two of its replies.

use std::collections::VecDeque;
use std::fmt::Debug;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;

use crate::wait_answer::WaitAnswer;

/// What a letter takes beside its bytes.
const LETTER_BYTES: usize = 64;

/// Wakes the loop that serves a client.
pub trait ClientWaker: Debug + Send + Sync {
    /// The client has something to take: its loop is to run the executor with it.
    fn wake(&self);
}

/// A message as it was published. All who get it share it.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) channel: Box<[u8]>,
    pub(crate) payload: Box<[u8]>,
    pub(crate) is_sharded: bool,
}

/// What is left for a client.
#[derive(Debug)]
pub(crate) enum Letter {
    /// A message, with the pattern that its channel matched.
    Message { pattern: Option<Arc<[u8]>>, message: Arc<Message> },
    /// What a command gets that waited.
    Answer(WaitAnswer),
}

impl Letter {
    /// What counts towards the bounds. An answer always finds room: a client waits for one at a time.
    fn bytes(&self) -> usize {
        match self {
            Self::Message { message, .. } => {
                LETTER_BYTES + message.channel.len() + message.payload.len()
            }
            Self::Answer(_) => 0,
        }
    }
}

/// The bytes of all letters that wait.
#[derive(Debug)]
pub(crate) struct MailMemory {
    taken: AtomicUsize,
    pub(crate) bytes_max: AtomicUsize,
}

/// Letters of one client beyond this are not kept.
const CLIENT_MAIL_MAX: usize = 32 << 20;
/// The same for all clients together, until it is set.
const MAIL_MAX: usize = 256 << 20;

impl Default for MailMemory {
    fn default() -> Self {
        Self { taken: AtomicUsize::new(0), bytes_max: AtomicUsize::new(MAIL_MAX) }
    }
}

/// The letters of a client.
#[derive(Debug, Default)]
pub(crate) struct Mail {
    pub(crate) letters: VecDeque<Letter>,
    bytes: usize,
    /// Whether there were too many: then the client is closed.
    pub(crate) is_overflown: bool,
}

/// Where letters of a client wait.
#[derive(Debug)]
pub(crate) struct Mailbox {
    mail: Mutex<Mail>,
    has_mail: AtomicBool,
    is_closed: AtomicBool,
    waker: OnceLock<Box<dyn ClientWaker>>,
    memory: Arc<MailMemory>,
}

impl Mailbox {
    pub(crate) fn new(memory: Arc<MailMemory>) -> Self {
        Self {
            mail: Mutex::default(),
            has_mail: AtomicBool::new(false),
            is_closed: AtomicBool::new(false),
            waker: OnceLock::new(),
            memory,
        }
    }

    /// Sets who wakes the loop of the client.
    pub(crate) fn set_waker(&self, waker: Box<dyn ClientWaker>) {
        // A client stays with its loop, so this is called once.
        let _ = self.waker.set(waker);
    }

    /// Leaves a letter. A client that takes too little gets none any more, and is closed.
    pub(crate) fn leave(&self, letter: Letter) {
        let bytes = letter.bytes();
        let mut mail = self.mail.lock();
        if mail.is_overflown || self.is_closed.load(Ordering::Relaxed) {
            return;
        }
        let taken = self.memory.taken.fetch_add(bytes, Ordering::Relaxed).saturating_add(bytes);
        mail.bytes += bytes;
        mail.letters.push_back(letter);
        let is_much = taken > self.memory.bytes_max.load(Ordering::Relaxed) && bytes > 0;
        if mail.bytes > CLIENT_MAIL_MAX || is_much {
            mail.is_overflown = true;
            mail.letters = VecDeque::new();
            self.memory.taken.fetch_sub(std::mem::take(&mut mail.bytes), Ordering::Relaxed);
        }
        drop(mail);
        // The first one wakes: until the client has taken it, others need not.
        if !self.has_mail.swap(true, Ordering::AcqRel)
            && let Some(waker) = self.waker.get()
        {
            waker.wake();
        }
    }

    pub(crate) fn has_mail(&self) -> bool {
        self.has_mail.load(Ordering::Acquire)
    }

    /// Takes all letters.
    pub(crate) fn take(&self) -> Mail {
        // What is left from here on wakes anew.
        self.has_mail.store(false, Ordering::Release);
        let mut mail = self.mail.lock();
        let taken = std::mem::take(&mut *mail);
        mail.is_overflown = taken.is_overflown;
        self.memory.taken.fetch_sub(taken.bytes, Ordering::Relaxed);
        taken
    }

    /// Takes no letters any more.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Relaxed);
        self.take();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug)]
    struct Count(Arc<AtomicUsize>);

    impl ClientWaker for Count {
        fn wake(&self) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    fn letter(bytes: usize) -> Letter {
        let message =
            Message { channel: b"c"[..].into(), payload: vec![0; bytes].into(), is_sharded: false };
        Letter::Message { pattern: None, message: Arc::new(message) }
    }

    #[test]
    fn the_first_letter_wakes_and_those_behind_it_do_not() {
        let (memory, woken) = (Arc::new(MailMemory::default()), Arc::new(AtomicUsize::new(0)));
        let mailbox = Mailbox::new(memory.clone());
        mailbox.set_waker(Box::new(Count(woken.clone())));
        mailbox.leave(letter(10));
        mailbox.leave(letter(10));
        assert_eq!(woken.load(Ordering::Relaxed), 1);
        assert_eq!(mailbox.take().letters.len(), 2);
        assert!(!mailbox.has_mail());
        mailbox.leave(letter(10));
        assert_eq!(woken.load(Ordering::Relaxed), 2);
        mailbox.close();
        mailbox.leave(letter(10));
        assert_eq!(mailbox.take().letters.len(), 0);
        assert_eq!(memory.taken.load(Ordering::Relaxed), 0);
    }

    #[test]
    fn letters_are_bounded_for_one_and_for_all() {
        let memory = Arc::new(MailMemory::default());
        let (one, other) = (Mailbox::new(memory.clone()), Mailbox::new(memory.clone()));
        (0..3).for_each(|_| one.leave(letter(CLIENT_MAIL_MAX / 2)));
        assert!(one.take().is_overflown);
        assert_eq!(memory.taken.load(Ordering::Relaxed), 0);
        memory.bytes_max.store(1_000, Ordering::Relaxed);
        other.leave(letter(500));
        other.leave(letter(500));
        let mail = other.take();
        assert!(mail.is_overflown && mail.letters.is_empty());
        assert_eq!(memory.taken.load(Ordering::Relaxed), 0);
    }
}
