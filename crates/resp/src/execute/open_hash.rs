//! The hash or sorted set of the key whose parts are being carried out.
//!
//! A sorted set is a hash whose values are scores. Fields are spans of the stored bytes and of what
//! clients sent, so that many changes of a large hash copy it once, at the end.

use std::cmp::Ordering;

use super::field_index::FieldIndex;
use super::texts::{Text, Texts};
use super::words;
use crate::values::{
    EncodedHash, HEAD_BYTES, ValueKind, entry_bytes, score_of, write_head, write_lengths,
};

/// From so many fields on a table finds them, once it was looked for a field this often.
const INDEXED_FIELDS_MIN: usize = 32;
const INDEXED_FINDS_MIN: u32 = 8;
/// Memory for more fields is given back.
const KEPT_FIELDS_MAX: usize = 16 << 10;

/// A field of the hash.
#[derive(Clone, Copy, Debug)]
struct OpenField {
    name: Text,
    value: Text,
    /// Deleted ones stay until the table is made anew, so that the numbers of others stand.
    is_deleted: bool,
}

/// A hash in memory.
#[derive(Debug)]
pub(crate) struct OpenHash {
    kind: ValueKind,
    fields: Vec<OpenField>,
    deleted: usize,
    index: FieldIndex,
    finds: u32,
    /// Whether the members of a sorted set stand in their order.
    is_sorted: bool,
    /// As it will be stored.
    bytes: usize,
    /// The text that it is, unless it was changed since.
    written: Option<Text>,
    /// A text that turned out to be no hash.
    damaged: Option<Text>,
    /// Whether the command that is carried out found no room.
    pub(super) is_full: bool,
}

impl Default for OpenHash {
    fn default() -> Self {
        Self {
            kind: ValueKind::Hash,
            fields: Vec::new(),
            deleted: 0,
            index: FieldIndex::default(),
            finds: 0,
            is_sorted: true,
            bytes: HEAD_BYTES,
            written: None,
            damaged: None,
            is_full: false,
        }
    }
}

impl OpenHash {
    pub(super) fn kind(&self) -> ValueKind {
        self.kind
    }

    /// A hash without fields, or a sorted set without members.
    pub(super) fn begin(&mut self, kind: ValueKind) {
        match self.fields.capacity() > KEPT_FIELDS_MAX {
            true => self.fields = Vec::new(),
            false => self.fields.clear(),
        }
        self.index.clear();
        (self.deleted, self.finds, self.bytes) = (0, 0, HEAD_BYTES);
        (self.kind, self.is_sorted, self.written) = (kind, true, None);
    }

    /// Forgets everything: the parts of another key follow.
    pub(super) fn close(&mut self) {
        self.begin(ValueKind::Hash);
        (self.damaged, self.is_full) = (None, false);
    }

    /// The hash or sorted set of a text, unless it is that one already.
    pub(super) fn open(
        &mut self,
        text: Text,
        kind: ValueKind,
        texts: &Texts<'_>,
    ) -> Result<(), &'static str> {
        let bytes = texts.get(text);
        if ValueKind::of(bytes) != kind {
            return Err(words::WRONG_TYPE);
        }
        if self.written == Some(text) {
            return Ok(());
        }
        // It would be read to its fault for every field that is asked for.
        if self.damaged == Some(text) {
            return Err(words::DAMAGED);
        }
        self.begin(kind);
        if self.read(text, bytes).is_none() {
            self.begin(kind);
            self.damaged = Some(text);
            return Err(words::DAMAGED);
        }
        self.is_sorted = self.is_in_order(texts);
        self.written = Some(text);
        Ok(())
    }

    fn read(&mut self, text: Text, bytes: &[u8]) -> Option<()> {
        for entry in EncodedHash::open(bytes, self.kind).ok()?.entries() {
            let entry = entry.ok()?;
            let value = &bytes[entry.value.clone()];
            if self.kind == ValueKind::SortedSet && score_of(value).is_nan() {
                return None;
            }
            self.bytes += entry_bytes(entry.field.len(), entry.value.len());
            let (name, value) = (text.part(entry.field), text.part(entry.value));
            self.fields.push(OpenField { name, value, is_deleted: false });
        }
        Some(())
    }

    /// Whether one stands before another: by the scores, then by the names.
    fn order(one: &OpenField, other: &OpenField, texts: &Texts<'_>) -> Ordering {
        let score = |field: &OpenField| score_of(texts.get(field.value));
        // No score is NaN.
        let by_score = score(one).partial_cmp(&score(other)).unwrap_or(Ordering::Equal);
        by_score.then_with(|| texts.get(one.name).cmp(texts.get(other.name)))
    }

    fn is_in_order(&self, texts: &Texts<'_>) -> bool {
        let is_before = |one: &OpenField, other: &OpenField| {
            Self::order(one, other, texts) != Ordering::Greater
        };
        self.kind != ValueKind::SortedSet || self.fields.is_sorted_by(is_before)
    }

    /// Brings the members of a sorted set into their order.
    pub(super) fn sort(&mut self, texts: &Texts<'_>) {
        if !self.is_sorted {
            self.fields.retain(|field| !field.is_deleted);
            self.fields.sort_by(|one, other| Self::order(one, other, texts));
            // The table knew them by their numbers.
            self.index.clear();
            (self.deleted, self.is_sorted) = (0, true);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.fields.len() - self.deleted
    }

    /// How many bytes it takes as it will be stored.
    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Names and values, in the order in which they were made.
    pub(super) fn fields(&self) -> impl Iterator<Item = (Text, Text)> + '_ {
        let there = self.fields.iter().filter(|field| !field.is_deleted);
        there.map(|field| (field.name, field.value))
    }

    fn find(&mut self, name: Text, texts: &Texts<'_>) -> Option<usize> {
        self.finds = self.finds.saturating_add(1);
        let is_worth_it =
            self.finds >= INDEXED_FINDS_MIN && self.fields.len() >= INDEXED_FIELDS_MIN;
        if is_worth_it && !self.index.is_made() {
            self.make_index(texts);
        }
        let wanted = texts.get(name);
        let is_it = |field: &OpenField| !field.is_deleted && texts.get(field.name) == wanted;
        match self.index.is_made() {
            true => {
                let found = self.index.find(wanted, |number| is_it(&self.fields[number as usize]));
                found.map(|number| number as usize)
            }
            false => self.fields.iter().position(is_it),
        }
    }

    /// Makes the table of all fields, and forgets those that were deleted.
    fn make_index(&mut self, texts: &Texts<'_>) {
        self.fields.retain(|field| !field.is_deleted);
        self.deleted = 0;
        self.index.make(self.fields.len());
        for (number, field) in self.fields.iter().enumerate() {
            self.index.add(texts.get(field.name), number as u32);
        }
    }

    /// The value of a field.
    pub(super) fn get(&mut self, name: Text, texts: &Texts<'_>) -> Option<Text> {
        self.find(name, texts).map(|at| self.fields[at].value)
    }

    /// Sets a field, and tells whether it is new.
    pub(super) fn set(&mut self, name: Text, value: Text, texts: &Texts<'_>) -> bool {
        let bytes = |value| entry_bytes(texts.get(name).len(), texts.get(value).len());
        self.written = None;
        self.is_sorted &= self.kind != ValueKind::SortedSet;
        self.bytes += bytes(value);
        if let Some(at) = self.find(name, texts) {
            self.bytes -= bytes(self.fields[at].value);
            self.fields[at].value = value;
            return false;
        }
        self.fields.push(OpenField { name, value, is_deleted: false });
        if self.index.is_made() {
            match self.index.has_room() {
                true => self.index.add(texts.get(name), self.fields.len() as u32 - 1),
                false => self.make_index(texts),
            }
        }
        true
    }

    /// Deletes a field, and tells whether it was there.
    pub(super) fn delete(&mut self, name: Text, texts: &Texts<'_>) -> bool {
        let Some(at) = self.find(name, texts) else { return false };
        let field = &mut self.fields[at];
        field.is_deleted = true;
        self.bytes -= entry_bytes(texts.get(field.name).len(), texts.get(field.value).len());
        self.deleted += 1;
        self.written = None;
        true
    }

    /// The text that it is; [`Text::Open`] while it has changes.
    pub(super) fn written(&self) -> Option<Text> {
        Some(self.written.unwrap_or(Text::Open))
    }

    /// Writes it down as it is stored, unless that is done.
    pub(super) fn write(&mut self, texts: &mut Texts<'_>) -> Text {
        if let Some(written) = self.written {
            return written;
        }
        self.sort(texts);
        let start = texts.begin();
        texts.computed.reserve(self.bytes);
        write_head(self.kind, self.len(), texts.computed);
        for (name, value) in self.fields() {
            write_lengths(texts.get(name).len(), texts.get(value).len(), texts.computed);
            texts.append(name);
            texts.append(value);
        }
        debug_assert_eq!(texts.begin() - start, self.bytes);
        let written = texts.computed_since(start);
        self.written = Some(written);
        written
    }
}
