//! The collection of the key whose parts are being carried out, of whatever kind.

use tonnage::{PairWrites, Result};

use super::open_hash::OpenHash;
use super::open_list::OpenList;
use super::texts::{ClientArgument, Text, Texts};
use crate::keyspace::Keyspace;
use crate::values::{SpreadHead, ValueKind};

/// The collection of a key.
#[derive(Debug, Default)]
pub(crate) struct OpenCollection {
    pub(super) hash: OpenHash,
    pub(super) list: OpenList,
    /// Which of the two it is.
    is_list: bool,
}

impl OpenCollection {
    pub(super) fn kind(&self) -> ValueKind {
        if self.is_list { ValueKind::List } else { self.hash.kind() }
    }

    /// A collection without members.
    pub(super) fn begin(&mut self, kind: ValueKind) {
        self.is_list = kind == ValueKind::List;
        match self.is_list {
            true => self.list.begin(),
            false => self.hash.begin(kind),
        }
    }

    /// The collection of a text.
    pub(super) fn open(
        &mut self,
        text: Text,
        kind: ValueKind,
        texts: &Texts<'_>,
    ) -> std::result::Result<(), &'static str> {
        match kind {
            ValueKind::List => self.list.open(text, texts)?,
            _ => self.hash.open(text, kind, texts)?,
        }
        self.is_list = kind == ValueKind::List;
        Ok(())
    }

    /// Forgets everything: the parts of another key follow.
    pub(super) fn close(&mut self) {
        self.hash.close();
        self.list.close();
    }

    pub(super) fn len(&self) -> usize {
        if self.is_list { self.list.len() } else { self.hash.len() }
    }

    /// The text that it is; [`Text::Open`] while it has changes.
    pub(super) fn written(&self) -> Option<Text> {
        if self.is_list { self.list.written() } else { self.hash.written() }
    }

    pub(super) fn write(&mut self, texts: &mut Texts<'_>) -> Text {
        if self.is_list { self.list.write(texts) } else { self.hash.write(texts) }
    }

    /// Reads members that are about to be looked at in one call, if they are entries of their own.
    pub(super) fn load_members(
        &mut self,
        value: Option<Text>,
        members: impl Iterator<Item = ClientArgument>,
        texts: &mut Texts<'_>,
    ) {
        let Some(value) = value else { return };
        // A whole value is not even read where its members are not needed.
        let is_spread = match (value, SpreadHead::read(texts.get(value))) {
            (Text::Open, _) => !self.is_list && self.hash.spread.is_some(),
            (_, Ok(Some(head))) if head.kind != ValueKind::List => {
                self.open(value, head.kind, texts).is_ok()
            }
            _ => false,
        };
        if is_spread {
            self.hash.load_some(&members.map(Text::Argument).collect::<Vec<Text>>(), texts);
        }
    }

    /// Adds the entries that differ to the group of the head. `value` is what the key has by now.
    pub(super) fn write_entries(
        &self,
        key: &[u8],
        value: Option<Text>,
        texts: &Texts<'_>,
        keyspace: &Keyspace,
        writes: &mut PairWrites,
    ) -> Result<()> {
        match self.list.spread_as(value).filter(|_| self.is_list) {
            Some(list) => list.write_entries(key, texts, keyspace, writes),
            None if self.is_list => Ok(()),
            None => self.hash.write_entries(key, value, texts, keyspace, writes),
        }
    }

    /// Whether the reads may be of two points in time.
    pub(super) fn is_of_two_moments(&self) -> bool {
        match self.is_list {
            // The head gives the position of an element.
            true => self.list.spread.as_ref().is_some_and(|spread| spread.reads > 0),
            false => self.hash.is_of_two_moments(),
        }
    }
}
