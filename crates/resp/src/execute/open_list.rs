//! The list of the key whose parts are being carried out.
//!
//! Elements are spans of the stored bytes and of what clients sent. A whole list is a value with all
//! elements. Of a spread one each element is an entry under its position, from the first one on,
//! which the head tells: so both ends grow and shrink without a look at the rest. A change in the
//! middle makes a whole list of it, which is spread anew when it is written.

use std::collections::VecDeque;

use super::entry_source::EntrySource;
use super::room::CommandRoom;
use super::spread_list::SpreadList;
use super::texts::{Text, Texts};
use super::words;
use crate::values::{
    EncodedHash, HEAD_BYTES, SpreadHead, ValueKind, entry_bytes, write_head, write_lengths,
};

/// A list in memory.
#[derive(Debug, Default)]
pub(super) struct OpenList {
    /// All elements, unless it is spread.
    elements: VecDeque<Text>,
    pub(super) spread: Option<SpreadList>,
    /// What the elements take in one value.
    bytes: usize,
    /// The text that it is, unless it was changed since.
    written: Option<Text>,
    /// A text that turned out to be no list.
    damaged: Option<Text>,
    /// Why the command that is carried out finds no room.
    refusal: Option<&'static str>,
}

impl OpenList {
    /// A list without elements.
    pub(super) fn begin(&mut self) {
        self.elements = VecDeque::new();
        (self.spread, self.bytes, self.written) = (None, 0, None);
    }

    /// Forgets everything: the parts of another key follow.
    pub(super) fn close(&mut self) {
        self.begin();
        (self.damaged, self.refusal) = (None, None);
    }

    /// The list of a text, unless it is that one already.
    pub(super) fn open(&mut self, text: Text, texts: &Texts<'_>) -> Result<(), &'static str> {
        let bytes = texts.get(text);
        if ValueKind::of(bytes) != ValueKind::List {
            return Err(words::WRONG_TYPE);
        }
        if self.written == Some(text) {
            return Ok(());
        }
        // It would be read to its fault by every part.
        if self.damaged == Some(text) {
            return Err(words::DAMAGED);
        }
        self.begin();
        // Of a head the elements are read when they are asked for.
        let is_whole = match SpreadHead::read(bytes) {
            Ok(Some(head)) => {
                self.spread = Some(SpreadList::new(head));
                true
            }
            Ok(None) => self.read(text, bytes).is_some(),
            Err(_) => false,
        };
        if !is_whole {
            self.begin();
            self.damaged = Some(text);
            return Err(words::DAMAGED);
        }
        self.written = Some(text);
        Ok(())
    }

    fn read(&mut self, text: Text, bytes: &[u8]) -> Option<()> {
        for entry in EncodedHash::open(bytes, ValueKind::List).ok()?.entries() {
            let entry = entry.ok()?;
            self.bytes += entry_bytes(entry.field.len(), 0);
            self.elements.push_back(text.part(entry.field));
        }
        Some(())
    }

    pub(super) fn len(&self) -> usize {
        self.spread.as_ref().map_or(self.elements.len(), SpreadList::len)
    }

    /// The text that it is; [`Text::Open`] while it has changes.
    pub(super) fn written(&self) -> Option<Text> {
        Some(self.written.unwrap_or(Text::Open))
    }

    /// Refuses a command whose elements find no room. The first of them answers for all.
    pub(super) fn check_room(
        &mut self,
        room: CommandRoom,
        texts: &Texts<'_>,
    ) -> Result<(), &'static str> {
        if room.is_first {
            let grows = texts.entries.as_ref().is_some_and(EntrySource::can_spread);
            let bytes = HEAD_BYTES + self.bytes.saturating_add(room.bytes);
            let is_over = self.spread.is_none() && bytes > room.bytes_max && !grows;
            self.refusal = is_over.then_some(words::FIELDS_TOO_LONG);
        }
        self.refusal.map_or(Ok(()), Err)
    }

    pub(super) fn get(&mut self, index: usize, texts: &mut Texts<'_>) -> Option<Text> {
        match &mut self.spread {
            None => self.elements.get(index).copied(),
            Some(spread) => spread.get(index, texts),
        }
    }

    /// Puts an element at an end.
    pub(super) fn push(&mut self, element: Text, is_front: bool, texts: &Texts<'_>) {
        self.written = None;
        match (&mut self.spread, is_front) {
            (Some(spread), _) => return spread.push(element, is_front),
            (None, true) => self.elements.push_front(element),
            (None, false) => self.elements.push_back(element),
        }
        self.bytes += entry_bytes(texts.get(element).len(), 0);
    }

    /// Takes an element from an end.
    pub(super) fn pop(&mut self, is_front: bool, texts: &mut Texts<'_>) -> Option<Text> {
        let popped = match (&mut self.spread, is_front) {
            (Some(spread), _) => spread.pop(is_front, texts)?,
            (None, true) => self.elements.pop_front()?,
            (None, false) => self.elements.pop_back()?,
        };
        self.written = None;
        let bytes = entry_bytes(texts.get(popped).len(), 0);
        self.bytes = self.bytes.saturating_sub(bytes);
        Some(popped)
    }

    /// Sets an element that is there.
    pub(super) fn set(&mut self, index: usize, element: Text, texts: &Texts<'_>) {
        self.written = None;
        if let Some(spread) = &mut self.spread {
            return spread.set(index, element);
        }
        let bytes = |element| entry_bytes(texts.get(element).len(), 0);
        self.bytes += bytes(element);
        let before = std::mem::replace(&mut self.elements[index], element);
        self.bytes = self.bytes.saturating_sub(bytes(before));
    }

    /// Keeps some elements.
    pub(super) fn keep(&mut self, start: usize, end: usize, texts: &Texts<'_>) {
        self.written = None;
        match &mut self.spread {
            Some(spread) => spread.keep(start, end),
            None => {
                self.elements.truncate(end);
                self.elements.drain(..start);
                self.count_bytes(texts);
            }
        }
    }

    fn count_bytes(&mut self, texts: &Texts<'_>) {
        let bytes = self.elements.iter().map(|element| entry_bytes(texts.get(*element).len(), 0));
        self.bytes = bytes.sum();
    }

    /// Calls `take` with the numbers and elements from `start` to `end`, until it answers false.
    pub(super) fn each(
        &mut self,
        (start, end): (usize, usize),
        texts: &mut Texts<'_>,
        take: &mut dyn FnMut(usize, &[u8], &mut Texts<'_>) -> bool,
    ) {
        if let Some(spread) = &mut self.spread {
            return spread.each((start, end), texts, take);
        }
        let mut copy = Vec::new();
        for index in start..end.min(self.elements.len()) {
            copy.clear();
            copy.extend_from_slice(texts.get(self.elements[index]));
            if !take(index, &copy, texts) {
                return;
            }
        }
    }

    /// All elements in memory, for a change in the middle. The list is written anew after it.
    pub(super) fn whole(
        &mut self,
        texts: &mut Texts<'_>,
    ) -> Result<&mut VecDeque<Text>, &'static str> {
        if self.spread.is_some() {
            let (mut all, begun, bytes_max) = (VecDeque::new(), texts.begin(), texts.bytes_max);
            self.each((0, self.len()), texts, &mut |_, element, texts| {
                all.push_back(texts.keep(element));
                texts.begin() - begun <= bytes_max
            });
            if texts.begin() - begun > bytes_max {
                return Err(words::LIST_TOO_LONG);
            }
            (self.elements, self.spread) = (all, None);
        }
        self.written = None;
        Ok(&mut self.elements)
    }

    /// Elements were changed in the middle.
    pub(super) fn changed(&mut self, texts: &Texts<'_>) {
        self.count_bytes(texts);
    }

    /// Writes it down as it is stored, unless that is done. Where it has become large, this is its
    /// head.
    pub(super) fn write(&mut self, texts: &mut Texts<'_>) -> Text {
        if let Some(written) = self.written {
            return written;
        }
        let is_large =
            texts.entries.as_ref().is_some_and(|entries| entries.spreads(HEAD_BYTES + self.bytes));
        if self.spread.is_none() && is_large {
            self.spread = Some(SpreadList::of_whole(std::mem::take(&mut self.elements)));
        }
        let start = texts.begin();
        match &self.spread {
            Some(spread) => spread.head().append_to(texts.computed),
            None => {
                write_head(ValueKind::List, self.elements.len(), texts.computed);
                for element in &self.elements {
                    write_lengths(texts.get(*element).len(), 0, texts.computed);
                    texts.append(*element);
                }
            }
        }
        let written = texts.computed_since(start);
        self.written = Some(written);
        written
    }

    /// The spread list that the key has by now.
    pub(super) fn spread_as(&self, value: Option<Text>) -> Option<&SpreadList> {
        self.spread.as_ref().filter(|_| value.is_some() && value == self.written)
    }
}
