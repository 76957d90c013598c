//! A collection whose members are entries of their own, while its parts are carried out.
//!
//! Its value is a head, which says how many members there are, and by its generation which entries
//! they are. Each change writes the head, on the condition that it is still the one that was looked
//! up, and in the same step the entries that differ. So the head determines the members at its
//! time, and a watch, an expiry and a deletion need nothing but the head. Entries that no head
//! names are deleted later ([`crate::leftovers`]).

use tonnage::{PairWrites, Result};

use super::open_hash::{OpenField, OpenHash};
use super::open_spread::LOADED_MAX;
use super::texts::{Text, Texts};
use crate::keyspace::Keyspace;
use crate::values::{EntryName, ValueKind, score_of};

/// The bytes of the values that are looked up in one call, at most.
const LOADED_BYTES_MAX: usize = 4 << 20;

impl OpenHash {
    /// Reads a field that is not in memory. Answers its number.
    pub(super) fn load(&mut self, name: Text, texts: &mut Texts<'_>) -> Option<usize> {
        self.load_some(&[name], texts);
        self.known(texts.get(name), texts)
    }

    /// Reads some fields in one call, as many as there is room for: others follow when they are
    /// asked for.
    pub(super) fn load_some(&mut self, names: &[Text], texts: &mut Texts<'_>) {
        let mut wanted: Vec<Text> = Vec::new();
        for name in names.iter().take(LOADED_MAX) {
            if self.known(texts.get(*name), texts).is_none() {
                wanted.push(*name);
            }
        }
        let Some(spread) = &mut self.spread else { return };
        if spread.is_new {
            for name in wanted {
                self.push(OpenField::absent(name), texts);
            }
            return;
        }
        let Some(source) = texts.entries.filter(|_| !wanted.is_empty()) else { return };
        let (generation, mut page) = (spread.generation, std::mem::take(&mut spread.page));
        spread.reads += 1;
        let mut entry_names: Vec<Vec<u8>> = Vec::with_capacity(wanted.len());
        // What is too long for the name of an entry is none of its members.
        let bytes_max = source.member_bytes_max();
        for name in &wanted {
            let member = texts.get(*name);
            let member = if member.len() > bytes_max { &[][..] } else { member };
            entry_names
                .push([EntryName::of_member(generation, member).as_bytes(), member].concat());
        }
        let asked = entry_names.iter().map(Vec::as_slice);
        let read = source.get_many(asked, LOADED_BYTES_MAX, &mut page);
        let read = texts.or_fail(read).unwrap_or(0);
        let mut rows = (0..page.len()).peekable();
        for (number, name) in wanted.into_iter().enumerate().take(read) {
            let row = rows.next_if(|row| page.origin(*row) == number);
            // A name may stand among them twice.
            if self.known(texts.get(name), texts).is_none() {
                let is_member = texts.get(name).len() <= bytes_max;
                let stored = row.filter(|_| is_member).map(|row| texts.keep(page.value(row)));
                let field = match stored {
                    Some(value) => OpenField { stored, ..OpenField::new(name, value) },
                    None => OpenField::absent(name),
                };
                self.push(field, texts);
            }
        }
        if let Some(spread) = &mut self.spread {
            spread.page = page;
        }
    }

    /// Something of it was read, or decided, beside what is written of its entries.
    pub(super) fn note_read(&mut self) {
        self.spread.iter_mut().for_each(|spread| spread.reads += 1);
    }

    /// Deletes a member that was just read with its value.
    pub(super) fn delete_read(&mut self, name: Text, value: Text, texts: &mut Texts<'_>) {
        if self.spread.is_some() && self.known(texts.get(name), texts).is_none() {
            let stored = Some(value);
            self.push(OpenField { stored, ..OpenField::new(name, value) }, texts);
        }
        self.delete(name, texts);
    }

    /// Whether the reads may be of two points in time.
    pub(super) fn is_of_two_moments(&self) -> bool {
        self.spread.as_ref().is_some_and(|spread| spread.reads > 1)
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
        // The key may have another value since.
        let Some(spread) =
            self.spread.as_ref().filter(|_| value.is_some() && value == self.written)
        else {
            return Ok(());
        };
        let (entries, generation) = (keyspace.make_collections()?, spread.generation);
        for field in self.fields.iter().filter(|field| field.is_pending()) {
            let member = texts.get(field.name);
            let name = EntryName::of_member(generation, member);
            let name = [name.as_bytes(), member];
            match field.is_deleted {
                true => writes.delete_entry(entries, key, &name)?,
                false => writes.put_entry(entries, key, &name, texts.get(field.value))?,
            }
            // A member of a sorted set has a place by its score beside its entry.
            if self.kind() != ValueKind::SortedSet {
                continue;
            }
            let place = |value: Text| EntryName::of_score(generation, score_of(texts.get(value)));
            let (before, after) = (field.stored, (!field.is_deleted).then_some(field.value));
            if let Some(before) = before {
                writes.delete_entry(entries, key, &[place(before).as_bytes(), member])?;
            }
            if let Some(after) = after {
                writes.put_entry(entries, key, &[place(after).as_bytes(), member], b"")?;
            }
        }
        Ok(())
    }
}
