//! Byte strings of a round, by where they stand: nothing is copied before a reply or a write needs
//! it.

use std::ops::Range;

use tonnage::{Error, PairBatch};

use super::entry_source::EntrySource;
use crate::client::Client;
use crate::protocol::ArgumentSpan;

/// An argument of a command of a client.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct ClientArgument {
    pub(crate) client: u32,
    pub(crate) span: ArgumentSpan,
}

/// A byte string.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Text {
    /// The value of a pair that was found.
    Found(u32),
    /// Some of its bytes.
    FoundPart { row: u32, start: u32, end: u32 },
    /// What a client sent.
    Argument(ClientArgument),
    /// What was computed.
    Computed { start: usize, end: usize },
    /// The hash that is open, with changes that no bytes have yet: it is written down before
    /// anybody asks for its bytes.
    Open,
}

impl Text {
    /// Some of the bytes of a text.
    pub(crate) fn part(self, part: Range<usize>) -> Self {
        match self {
            // Values have less than 4 GiB.
            Text::Found(row) => {
                Text::FoundPart { row, start: part.start as u32, end: part.end as u32 }
            }
            Text::FoundPart { row, start, .. } => {
                let at = |offset: usize| start + offset as u32;
                Text::FoundPart { row, start: at(part.start), end: at(part.end) }
            }
            Text::Argument(ClientArgument { client, span }) => {
                let at = |offset: usize| span.start + offset as u32;
                let span = ArgumentSpan { start: at(part.start), end: at(part.end) };
                Text::Argument(ClientArgument { client, span })
            }
            Text::Computed { start, .. } => {
                Text::Computed { start: start + part.start, end: start + part.end }
            }
            Text::Open => Text::Open,
        }
    }
}

/// Where they stand.
pub(crate) struct Texts<'t> {
    pub(crate) found: &'t PairBatch,
    pub(crate) clients: &'t [Box<Client>],
    pub(crate) computed: &'t mut Vec<u8>,
    /// Where members are read that are not in memory.
    pub(crate) entries: Option<EntrySource<'t>>,
    /// What the store said when they were.
    pub(crate) failure: Option<Error>,
    /// The time of the round.
    pub(crate) now_ms: u64,
    /// What is collected for one reply at most.
    pub(crate) bytes_max: usize,
}

impl Texts<'_> {
    pub(crate) fn get(&self, text: Text) -> &[u8] {
        match text {
            Text::Found(row) => self.found.value(row as usize),
            Text::FoundPart { row, start, end } => {
                &self.found.value(row as usize)[start as usize..end as usize]
            }
            Text::Argument(argument) => self.argument(argument),
            Text::Computed { start, end } => &self.computed[start..end],
            Text::Open => b"",
        }
    }

    pub(crate) fn argument(&self, argument: ClientArgument) -> &[u8] {
        argument.span.of(&self.clients[argument.client as usize].input)
    }

    /// A text that is computed from now on, and ends with [`Texts::computed_since`].
    pub(crate) fn begin(&self) -> usize {
        self.computed.len()
    }

    pub(crate) fn computed_since(&self, start: usize) -> Text {
        Text::Computed { start, end: self.computed.len() }
    }

    /// Bytes that were read, as a text.
    pub(crate) fn keep(&mut self, bytes: &[u8]) -> Text {
        let start = self.begin();
        self.computed.extend_from_slice(bytes);
        self.computed_since(start)
    }

    /// What came of a read; the first failure is kept, for all parts of the key.
    pub(crate) fn or_fail<T>(&mut self, read: tonnage::Result<T>) -> Option<T> {
        match read {
            Ok(read) => Some(read),
            Err(error) => {
                self.failure.get_or_insert(error);
                None
            }
        }
    }

    /// Appends a text to what is being computed.
    pub(crate) fn append(&mut self, text: Text) {
        let len = self.get(text).len();
        self.append_part(text, 0..len);
    }

    /// The same with some of its bytes.
    pub(crate) fn append_part(&mut self, text: Text, part: Range<usize>) {
        // What was computed cannot be borrowed while more is.
        if let Text::Computed { start, .. } = text {
            return self.computed.extend_from_within(start + part.start..start + part.end);
        }
        let Self { found, clients, computed, .. } = self;
        let bytes = match text {
            Text::Found(row) => found.value(row as usize),
            Text::FoundPart { row, start, end } => {
                &found.value(row as usize)[start as usize..end as usize]
            }
            Text::Argument(ClientArgument { client, span }) => {
                span.of(&clients[client as usize].input)
            }
            Text::Computed { .. } | Text::Open => return,
        };
        computed.extend_from_slice(&bytes[part]);
    }
}
