//! Clients of a store in memory, whose clock does not move until it is set.

use std::sync::Arc;

use tonnage::{ManualClock, Store};
use tonnage_resp::{Client, ClientAccess, ClientLimits, Executor, Keyspace, SyncPolicy};

/// The first time of the clock.
pub(crate) const NOW_MS: u64 = 1_000_000_000_000;

/// Some clients of one store. They are boxed as the executor takes them.
#[allow(clippy::vec_box)]
pub(crate) struct Clients {
    pub(crate) store: Store,
    pub(crate) clock: Arc<ManualClock>,
    pub(crate) keyspace: Arc<Keyspace>,
    pub(crate) executor: Executor,
    pub(crate) all: Vec<Box<Client>>,
}

impl Clients {
    pub(crate) fn new(count: usize) -> Self {
        Self::with(count, false, ClientLimits::default())
    }

    pub(crate) fn with(count: usize, has_users: bool, limits: ClientLimits) -> Self {
        let clock = Arc::new(ManualClock::new(NOW_MS));
        let store = Store::builder("memory:").clock(clock.clone()).open().unwrap();
        let keyspace = Keyspace::new(store.clone(), SyncPolicy::EverySecond, has_users);
        let client = |number: usize| {
            let access = match has_users {
                true => ClientAccess::Nothing,
                false => ClientAccess::Everything,
            };
            let address = format!("127.0.0.1:{}", 1_000 + number);
            Client::new(&keyspace, address, "127.0.0.1:6379".into(), access, limits)
        };
        let all = (0..count).map(client).collect();
        let executor = Executor::new(keyspace.clone());
        Self { store, clock, keyspace, executor, all }
    }

    /// What a client is answered to these bytes.
    pub(crate) fn send(&mut self, client: usize, bytes: impl AsRef<[u8]>) -> String {
        self.all[client].receive(bytes.as_ref());
        self.run();
        self.answer(client)
    }

    pub(crate) fn run(&mut self) {
        while self.executor.run(&mut self.all).has_more {}
    }

    /// What a client was answered since it was asked last.
    pub(crate) fn answer(&mut self, client: usize) -> String {
        let answer = String::from_utf8_lossy(self.all[client].output()).into_owned();
        let sent = self.all[client].output().len();
        self.all[client].sent(sent);
        answer
    }

    /// What the first client is answered to a command on a line.
    pub(crate) fn ask(&mut self, line: &str) -> String {
        self.send(0, format!("{line}\r\n"))
    }

    /// Asks in turn, and compares each answer: line ends are written as spaces.
    pub(crate) fn expect(&mut self, cases: &[(&str, &str)]) {
        for (line, expected) in cases {
            let answer = self.ask(line).replace("\r\n", " ");
            assert_eq!(answer.trim_end(), *expected, "{line}");
        }
    }

    pub(crate) fn turn_clock(&self, ms: u64) {
        self.clock.set_ms(NOW_MS + ms);
    }
}

/// A command in the form of programs.
pub(crate) fn command(words: &[&[u8]]) -> Vec<u8> {
    let mut bytes = format!("*{}\r\n", words.len()).into_bytes();
    for word in words {
        bytes.extend_from_slice(format!("${}\r\n", word.len()).as_bytes());
        bytes.extend_from_slice(word);
        bytes.extend_from_slice(b"\r\n");
    }
    bytes
}
