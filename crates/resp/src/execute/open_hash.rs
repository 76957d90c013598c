//! The hash, set or sorted set of the key whose parts are being carried out.
//!
//! A sorted set is a hash whose values are scores, a set one whose values are empty. Fields are
//! spans of the stored bytes and of what clients sent, so that many changes copy it once, at the
//! end.
//!
//! Of a [spread](super::spread) one, whose members are entries of their own, only those fields are
//! in memory that were asked for, with what is stored of each.

use std::cmp::Ordering;

use super::field_index::FieldIndex;
use super::open_spread::OpenSpread;
use super::texts::{Text, Texts};
use super::words;
use crate::values::{
    EncodedHash, HEAD_BYTES, SpreadHead, ValueKind, entry_bytes, score_of, write_expiring_head,
    write_head, write_lengths,
};

/// From so many fields on a table finds them, once it was looked for a field this often.
const INDEXED_FIELDS_MIN: usize = 32;
const INDEXED_FINDS_MIN: u32 = 8;
/// Memory for more fields is given back.
const KEPT_FIELDS_MAX: usize = 16 << 10;

/// A field of the hash.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpenField {
    pub(super) name: Text,
    pub(super) value: Text,
    /// Deleted ones stay until the table is built anew, so that the numbers of others stay valid.
    /// In a spread hash they stay, and so do those that were looked for and are not there.
    pub(super) is_deleted: bool,
    /// The value that an entry has, in a spread hash.
    pub(super) stored: Option<Text>,
    /// When it expires; 0 for never.
    pub(super) expires_at_ms: u64,
}

impl OpenField {
    pub(super) fn new(name: Text, value: Text) -> Self {
        Self { name, value, is_deleted: false, stored: None, expires_at_ms: 0 }
    }

    /// One that is known not to be there.
    pub(super) fn absent(name: Text) -> Self {
        Self { is_deleted: true, ..Self::new(name, name) }
    }

    /// Whether its entry has to be written.
    pub(super) fn is_pending(&self) -> bool {
        self.stored != (!self.is_deleted).then_some(self.value)
    }
}

/// A hash in memory.
#[derive(Debug)]
pub(crate) struct OpenHash {
    kind: ValueKind,
    pub(super) fields: Vec<OpenField>,
    deleted: usize,
    /// Where the members are, if they are entries of their own.
    pub(super) spread: Option<OpenSpread>,
    index: FieldIndex,
    finds: u32,
    /// Whether the members of a sorted set stand in their order.
    is_sorted: bool,
    /// How many fields expire by themselves.
    pub(super) expiring: usize,
    /// Whether fields were left out whose time is over.
    pub(super) is_cut: bool,
    /// Whether the fields are as the command that is carried out requires them.
    pub(super) is_met: bool,
    /// As it will be stored, without the times of fields.
    pub(super) bytes: usize,
    /// The text that it is, unless it was changed since.
    pub(super) written: Option<Text>,
    /// A text that turned out to be no hash.
    damaged: Option<Text>,
    /// Why the command that is carried out finds no room.
    pub(super) refusal: Option<&'static str>,
}

impl Default for OpenHash {
    fn default() -> Self {
        Self {
            kind: ValueKind::Hash,
            fields: Vec::new(),
            deleted: 0,
            spread: None,
            index: FieldIndex::default(),
            finds: 0,
            is_sorted: true,
            expiring: 0,
            is_cut: false,
            is_met: false,
            bytes: HEAD_BYTES,
            written: None,
            damaged: None,
            refusal: None,
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
        self.spread = None;
        (self.deleted, self.finds, self.bytes) = (0, 0, HEAD_BYTES);
        (self.kind, self.is_sorted, self.written) = (kind, true, None);
        (self.expiring, self.is_cut) = (0, false);
    }

    /// Forgets everything: the parts of another key follow.
    pub(super) fn close(&mut self) {
        self.begin(ValueKind::Hash);
        (self.damaged, self.refusal) = (None, None);
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
        // Of a head the members are read when they are asked for.
        let is_whole = match SpreadHead::read(bytes) {
            Ok(Some(head)) => {
                self.spread = Some(OpenSpread::new(head));
                true
            }
            Ok(None) => self.read(text, bytes, texts.now_ms).is_some(),
            Err(_) => false,
        };
        if !is_whole {
            self.begin(kind);
            self.damaged = Some(text);
            return Err(words::DAMAGED);
        }
        self.is_sorted = self.spread.is_some() || self.is_in_order(texts);
        self.written = (!self.is_cut).then_some(text);
        Ok(())
    }

    /// Reads all fields but those whose time is over.
    fn read(&mut self, text: Text, bytes: &[u8], now_ms: u64) -> Option<()> {
        for entry in EncodedHash::open(bytes, self.kind).ok()?.entries() {
            let entry = entry.ok()?;
            let value = &bytes[entry.value.clone()];
            if self.kind == ValueKind::SortedSet && score_of(value).is_nan() {
                return None;
            }
            let expires_at_ms = entry.expires_at_ms;
            if expires_at_ms > 0 && expires_at_ms <= now_ms {
                self.is_cut = true;
                continue;
            }
            self.bytes += entry_bytes(entry.field.len(), entry.value.len());
            self.expiring += usize::from(expires_at_ms > 0);
            let (name, value) = (text.part(entry.field), text.part(entry.value));
            self.fields.push(OpenField { expires_at_ms, ..OpenField::new(name, value) });
        }
        Some(())
    }

    /// Whether one precedes another: by the scores, then by the names.
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
        if !self.is_sorted && self.spread.is_none() {
            self.fields.retain(|field| !field.is_deleted);
            self.fields.sort_by(|one, other| Self::order(one, other, texts));
            // The table knew them by their numbers.
            self.index.clear();
            (self.deleted, self.is_sorted) = (0, true);
        }
    }

    pub(super) fn len(&self) -> usize {
        match &self.spread {
            Some(spread) => spread.count as usize,
            None => self.fields.len() - self.deleted,
        }
    }

    /// The names and values of all fields, unless it is spread, in the order of their creation.
    pub(super) fn fields(&self) -> impl Iterator<Item = (Text, Text)> + '_ {
        let there = self.fields.iter().filter(|field| !field.is_deleted);
        there.map(|field| (field.name, field.value))
    }

    /// The number of a field that is in memory, also of one that is known not to be there.
    pub(super) fn known(&mut self, name: &[u8], texts: &Texts<'_>) -> Option<usize> {
        self.finds = self.finds.saturating_add(1);
        let is_worth_it =
            self.finds >= INDEXED_FINDS_MIN && self.fields.len() >= INDEXED_FIELDS_MIN;
        if is_worth_it && !self.index.is_made() {
            self.make_index(texts);
        }
        let is_spread = self.spread.is_some();
        let is_it =
            |field: &OpenField| (is_spread || !field.is_deleted) && texts.get(field.name) == name;
        match self.index.is_made() {
            true => {
                let found = self.index.find(name, |number| is_it(&self.fields[number as usize]));
                found.map(|number| number as usize)
            }
            false => self.fields.iter().position(is_it),
        }
    }

    /// The number of a field, which is read where it is not in memory.
    fn place(&mut self, name: Text, texts: &mut Texts<'_>) -> Option<usize> {
        match self.known(texts.get(name), texts) {
            None if self.spread.is_some() => self.load(name, texts),
            known => known,
        }
    }

    /// Makes the table of all fields, and forgets those that were deleted.
    fn make_index(&mut self, texts: &Texts<'_>) {
        if self.spread.is_none() {
            self.fields.retain(|field| !field.is_deleted);
            self.deleted = 0;
        }
        self.index.make(self.fields.len());
        for (number, field) in self.fields.iter().enumerate() {
            self.index.add(texts.get(field.name), number as u32);
        }
    }

    /// The value of a field.
    pub(super) fn get(&mut self, name: Text, texts: &mut Texts<'_>) -> Option<Text> {
        let place = self.place(name, texts)?;
        let field = self.fields[place];
        (!field.is_deleted).then_some(field.value)
    }

    /// Adds a field that is not in memory. Answers its number.
    pub(super) fn push(&mut self, field: OpenField, texts: &Texts<'_>) -> usize {
        self.fields.push(field);
        let number = self.fields.len() - 1;
        if self.index.is_made() {
            match self.index.has_room() {
                true => self.index.add(texts.get(field.name), number as u32),
                false => {
                    self.make_index(texts);
                    return self.fields.len() - 1;
                }
            }
        }
        number
    }

    /// Sets a field, and says whether it is new.
    pub(super) fn set(&mut self, name: Text, value: Text, texts: &mut Texts<'_>) -> bool {
        let place = self.place(name, texts);
        let bytes = |value| entry_bytes(texts.get(name).len(), texts.get(value).len());
        self.written = None;
        self.is_sorted &= self.kind != ValueKind::SortedSet;
        self.bytes += bytes(value);
        let Some(at) = place else {
            self.push(OpenField::new(name, value), texts);
            return true;
        };
        let was_there = !self.fields[at].is_deleted;
        if was_there {
            self.bytes = self.bytes.saturating_sub(bytes(self.fields[at].value));
        }
        (self.fields[at].value, self.fields[at].is_deleted) = (value, false);
        // A new value lives for ever.
        let expired = std::mem::take(&mut self.fields[at].expires_at_ms) > 0;
        self.expiring -= usize::from(expired);
        if let Some(spread) = &mut self.spread {
            spread.count += u64::from(!was_there);
        }
        !was_there
    }

    /// Deletes a field, and says whether it was there.
    pub(super) fn delete(&mut self, name: Text, texts: &mut Texts<'_>) -> bool {
        let Some(at) = self.place(name, texts) else { return false };
        let field = &mut self.fields[at];
        if field.is_deleted {
            return false;
        }
        field.is_deleted = true;
        self.expiring -= usize::from(std::mem::take(&mut field.expires_at_ms) > 0);
        let bytes = entry_bytes(texts.get(field.name).len(), texts.get(field.value).len());
        self.bytes = self.bytes.saturating_sub(bytes);
        match &mut self.spread {
            Some(spread) => spread.count = spread.count.saturating_sub(1),
            None => self.deleted += 1,
        }
        self.written = None;
        true
    }

    /// The text that it is; [`Text::Open`] while it has changes.
    pub(super) fn written(&self) -> Option<Text> {
        Some(self.written.unwrap_or(Text::Open))
    }

    /// Writes it down as it is stored, unless that is done. Where it has become large, its members
    /// are entries of their own from now on, and this is its head.
    pub(super) fn write(&mut self, texts: &mut Texts<'_>) -> Text {
        if let Some(written) = self.written {
            return written;
        }
        if self.spread.is_none() && self.is_to_be_spread(texts) {
            self.fields.retain(|field| !field.is_deleted);
            self.index.clear();
            let spread = OpenSpread::of_whole(self.fields.len());
            (self.spread, self.deleted) = (Some(spread), 0);
        }
        let Some(spread) = &self.spread else { return self.encode(texts) };
        let start = texts.begin();
        spread.head(self.kind).append_to(texts.computed);
        let written = texts.computed_since(start);
        self.written = Some(written);
        written
    }

    /// Whether it is large, and each of its members finds room in the name of an entry.
    pub(super) fn is_to_be_spread(&self, texts: &Texts<'_>) -> bool {
        // Entries of their own have no time.
        let Some(entries) = texts.entries.as_ref().filter(|_| self.expiring == 0) else {
            return false;
        };
        let bytes_max = entries.member_bytes_max();
        entries.spreads(self.bytes)
            && self.fields().all(|(name, _)| texts.get(name).len() <= bytes_max)
    }

    /// When its last field expires; 0 where one of them never does.
    fn ends_at_ms(&self) -> u64 {
        let there = self.fields.iter().filter(|field| !field.is_deleted);
        match self.expiring == self.len() {
            true => there.map(|field| field.expires_at_ms).max().unwrap_or(0),
            false => 0,
        }
    }

    /// It is not spread any more: these are all of its fields.
    pub(super) fn become_whole(&mut self, fields: Vec<OpenField>, bytes: usize) {
        (self.fields, self.spread, self.deleted) = (fields, None, 0);
        (self.bytes, self.written) = (bytes, None);
        self.index.clear();
    }

    /// The whole of it as one value. It is not spread.
    pub(super) fn encode(&mut self, texts: &mut Texts<'_>) -> Text {
        if let Some(written) = self.written {
            return written;
        }
        self.sort(texts);
        let start = texts.begin();
        let has_times = self.expiring > 0;
        let bytes = self.bytes + if has_times { self.time_bytes(self.len()) } else { 0 };
        texts.computed.reserve(bytes);
        match has_times {
            true => write_expiring_head(self.len(), self.ends_at_ms(), texts.computed),
            false => write_head(self.kind, self.len(), texts.computed),
        }
        for field in self.fields.iter().filter(|field| !field.is_deleted) {
            let OpenField { name, value, expires_at_ms, .. } = *field;
            write_lengths(texts.get(name).len(), texts.get(value).len(), texts.computed);
            if has_times {
                texts.computed.extend_from_slice(&expires_at_ms.to_le_bytes());
            }
            texts.append(name);
            texts.append(value);
        }
        debug_assert_eq!(texts.begin() - start, bytes);
        let written = texts.computed_since(start);
        self.written = Some(written);
        written
    }
}
