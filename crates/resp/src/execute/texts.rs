//! Byte strings of a round, by where they stand: nothing is copied before a reply or a write needs
//! it.

use std::ops::Range;

use tonnage::PairBatch;

use crate::client::Client;
use crate::protocol::ArgumentSpan;

/// An argument of a command of a client.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ClientArgument {
    pub(crate) client: u32,
    pub(crate) span: ArgumentSpan,
}

/// A byte string.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Text {
    /// The value of a pair that was found.
    Found(u32),
    /// What a client sent.
    Argument(ClientArgument),
    /// What was computed.
    Computed { start: usize, end: usize },
}

/// Where they stand.
pub(crate) struct Texts<'t> {
    pub(crate) found: &'t PairBatch,
    pub(crate) clients: &'t [Box<Client>],
    pub(crate) computed: &'t mut Vec<u8>,
}

impl Texts<'_> {
    pub(crate) fn get(&self, text: Text) -> &[u8] {
        match text {
            Text::Found(row) => self.found.value(row as usize),
            Text::Argument(argument) => self.argument(argument),
            Text::Computed { start, end } => &self.computed[start..end],
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

    /// Appends a text to what is being computed.
    pub(crate) fn append(&mut self, text: Text) {
        let len = self.get(text).len();
        self.append_part(text, 0..len);
    }

    /// The same with some of its bytes.
    pub(crate) fn append_part(&mut self, text: Text, part: Range<usize>) {
        match text {
            Text::Computed { start, .. } => {
                self.computed.extend_from_within(start + part.start..start + part.end);
            }
            Text::Found(row) => {
                self.computed.extend_from_slice(&self.found.value(row as usize)[part]);
            }
            Text::Argument(argument) => {
                let input = &self.clients[argument.client as usize].input;
                self.computed.extend_from_slice(&argument.span.of(input)[part]);
            }
        }
    }
}
