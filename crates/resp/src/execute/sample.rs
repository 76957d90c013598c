//! Members of a collection by chance.
//!
//! Members of a spread collection lie in the order of hashes. A random one is the first after a
//! random hash: no rank is looked for, and one before which there is a wide gap comes a little more
//! often.

use std::collections::HashSet;

use super::hash_action::Answer;
use super::open_hash::OpenHash;
use super::part_reply::{FieldShow, ListShape, PartReply, REPLY_HEAD_BYTES};
use super::random::Chance;
use super::text_list::TextList;
use super::texts::{Text, Texts};
use super::walk::{WalkOrder, WalkRange};
use super::words;
use crate::values::ValueKind;

/// A share of the members from which on all of them are walked over.
const WALKED_FROM: u64 = 4;

impl OpenHash {
    pub(super) fn random(&mut self, texts: &mut Texts<'_>) -> PartReply {
        let found = self.one_by_chance(&mut Chance::new(), texts);
        found.map_or(PartReply::Null, |(name, _)| PartReply::Text(name))
    }

    fn one_by_chance(
        &mut self,
        chance: &mut Chance,
        texts: &mut Texts<'_>,
    ) -> Option<(Text, Text)> {
        if self.spread.is_none() {
            let number = chance.below(self.len() as u64) as usize;
            return self.fields().nth(number);
        }
        // After the last one the first follows.
        for hash in [chance.below(u64::MAX), 0] {
            let start = hash.to_be_bytes().to_vec();
            let range = WalkRange { start, wanted: 1, ..WalkRange::all(WalkOrder::Stored) };
            let mut found = None;
            self.walk(&range, texts, &mut |member, texts| {
                found = Some(member.keep(texts));
                false
            });
            if found.is_some() {
                return found;
            }
        }
        None
    }

    /// So many, each once; as often as it comes where the number is negative.
    pub(super) fn random_many(
        &mut self,
        count: i64,
        with_values: bool,
        bytes_max: usize,
        texts: &mut Texts<'_>,
    ) -> Answer {
        let shape = match (with_values, self.kind()) {
            (false, _) => ListShape::Array,
            (true, ValueKind::SortedSet) => ListShape::Scores,
            (true, _) => ListShape::Pairs,
        };
        let wanted = count.unsigned_abs();
        // Each has a head in the reply, so it is known before that there is no room.
        if count < 0 && self.len() > 0 && wanted > (bytes_max / REPLY_HEAD_BYTES) as u64 {
            return Err(words::REPLY_TOO_LARGE);
        }
        let chosen = match count >= 0 {
            true => self.choose(wanted, texts),
            false => self.draw(wanted, bytes_max, texts),
        };
        let mut list = TextList::begin(texts);
        for (name, value) in chosen {
            list.push(name, texts);
            if with_values {
                list.push(value, texts);
            }
            // Beyond that the reply is refused anyway.
            if list.bytes(texts) > bytes_max {
                break;
            }
        }
        Ok(list.end(shape, texts))
    }

    /// So many, as often as each comes.
    fn draw(&mut self, wanted: u64, bytes_max: usize, texts: &mut Texts<'_>) -> Vec<(Text, Text)> {
        let mut chance = Chance::new();
        if self.spread.is_none() {
            let fields: Vec<(Text, Text)> = self.fields().collect();
            let mut one = |_| fields.get(chance.below(fields.len() as u64) as usize).copied();
            return (0..wanted).map_while(&mut one).collect();
        }
        let (mut drawn, begun) = (Vec::new(), texts.begin());
        while (drawn.len() as u64) < wanted && texts.begin() - begun <= bytes_max {
            match self.one_by_chance(&mut chance, texts) {
                Some(one) => drawn.push(one),
                None => break,
            }
        }
        drawn
    }

    /// So many, each once.
    fn choose(&mut self, wanted: u64, texts: &mut Texts<'_>) -> Vec<(Text, Text)> {
        let (len, mut chance) = (self.len() as u64, Chance::new());
        let (mut wanted, mut chosen) = (wanted.min(len), Vec::new());
        if self.spread.is_some() && wanted < len / WALKED_FROM {
            let mut names: HashSet<Vec<u8>> = HashSet::new();
            // Members that come again and again are left to the walk.
            for _ in 0..4 * wanted {
                let Some(one) = self.one_by_chance(&mut chance, texts) else { break };
                if names.insert(texts.get(one.0).to_vec()) {
                    chosen.push(one);
                }
                if chosen.len() as u64 == wanted {
                    return chosen;
                }
            }
            chosen.clear();
        }
        // Each of those that are left is taken with the chance that so many of them are.
        let (mut left, bytes_max, begun) = (len, texts.bytes_max, texts.begin());
        self.walk(&WalkRange::all(WalkOrder::Stored), texts, &mut |member, texts| {
            if chance.below(left) < wanted {
                wanted -= 1;
                chosen.push(member.keep(texts));
            }
            left = left.saturating_sub(1);
            wanted > 0 && texts.begin() - begun <= bytes_max
        });
        chosen
    }

    /// Deletes a member by chance, and shows it.
    pub(super) fn pop(&mut self, texts: &mut Texts<'_>) -> (Answer, bool) {
        let popped = self.one_by_chance(&mut Chance::new(), texts);
        popped.map_or((Ok(PartReply::Null), false), |(name, _)| {
            let was_there = self.delete(name, texts);
            (Ok(PartReply::Text(name)), was_there)
        })
    }

    /// The same with so many.
    pub(super) fn pop_many(&mut self, count: u64, texts: &mut Texts<'_>) -> (Answer, bool) {
        if count >= self.len() as u64 {
            let mut list = TextList::begin(texts);
            let (bytes_max, was_there) = (texts.bytes_max, self.len() > 0);
            self.walk(&WalkRange::all(WalkOrder::Stored), texts, &mut |member, texts| {
                list.push_member(member, FieldShow::Names, texts);
                list.bytes(texts) <= bytes_max
            });
            if list.bytes(texts) > bytes_max {
                return (Err(words::REPLY_TOO_LARGE), false);
            }
            // What is deleted as a whole is not read one by one.
            self.begin(self.kind());
            return (Ok(list.end(ListShape::Set, texts)), was_there);
        }
        // Listed before they are deleted, while their texts stand.
        let chosen = self.choose(count, texts);
        let mut list = TextList::begin(texts);
        chosen.iter().for_each(|(name, _)| list.push(*name, texts));
        if list.bytes(texts) > texts.bytes_max {
            return (Err(words::REPLY_TOO_LARGE), false);
        }
        let mut is_changed = false;
        let names = list.end(ListShape::Set, texts);
        chosen.into_iter().for_each(|(name, _)| is_changed |= self.delete(name, texts));
        (Ok(names), is_changed)
    }
}
