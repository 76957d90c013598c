//! What commands do with a hash.

use super::open_hash::OpenHash;
use super::part_reply::{FieldShow, ListShape, PartReply, REPLY_HEAD_BYTES};
use super::random::Chance;
use super::text_list::TextList;
use super::texts::{ClientArgument, Text, Texts};
use super::words;
use crate::protocol::{Decimal, digits_of, glob_matches, parse_integer};
use crate::values::entry_bytes;

/// What is done with a hash.
#[derive(Clone, Copy, Debug)]
pub(crate) enum HashAction {
    Get(ClientArgument),
    Exists(ClientArgument),
    ValueLength(ClientArgument),
    Length,
    Set(FieldSet),
    Delete(ClientArgument),
    Add {
        field: ClientArgument,
        delta: i64,
        bytes_max: usize,
    },
    AddDecimal {
        field: ClientArgument,
        delta: ClientArgument,
        bytes_max: usize,
    },
    Show(FieldShow),
    /// A field by chance.
    Random,
    /// So many, each once; as often as it comes where the number is negative.
    RandomMany {
        count: i64,
        with_values: bool,
        bytes_max: usize,
    },
    /// Those whose names match, or why the options are refused.
    Scan(Result<Option<ClientArgument>, &'static str>),
}

/// A field that a command sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldSet {
    pub(crate) field: ClientArgument,
    pub(crate) value: ClientArgument,
    pub(crate) only_if_new: bool,
    /// Whether it is the first one of its command: all of them find room, or none.
    pub(crate) is_first: bool,
    /// What the command adds at most, from this field on.
    pub(crate) command_bytes: usize,
    pub(crate) bytes_max: usize,
}

type Answer = Result<PartReply, &'static str>;

impl HashAction {
    /// Whether INFO counts it as a look-up.
    pub(crate) fn is_look_up(&self) -> bool {
        !matches!(
            self,
            HashAction::Set(_)
                | HashAction::Delete(_)
                | HashAction::Add { .. }
                | HashAction::AddDecimal { .. }
        )
    }
}

impl OpenHash {
    /// Carries out what is done with a hash, and tells whether that changed it.
    pub(super) fn apply(&mut self, action: HashAction, texts: &mut Texts<'_>) -> (Answer, bool) {
        // A name is looked for where the client sent it: nothing is copied for that.
        let name = Text::Argument;
        let flag = |is_so: bool| Ok(PartReply::Integer(is_so.into()));
        match action {
            HashAction::Get(field) => {
                let value = self.get(name(field), texts);
                (Ok(value.map_or(PartReply::Null, PartReply::Text)), false)
            }
            HashAction::Exists(field) => (flag(self.get(name(field), texts).is_some()), false),
            HashAction::ValueLength(field) => {
                let value = self.get(name(field), texts);
                let len = value.map_or(0, |value| texts.get(value).len());
                (Ok(PartReply::Integer(len as i64)), false)
            }
            HashAction::Length => (Ok(PartReply::Integer(self.len() as i64)), false),
            HashAction::Set(set) => self.set_field(set, texts),
            HashAction::Delete(field) => {
                let was_there = self.delete(name(field), texts);
                (flag(was_there), was_there)
            }
            // A sum that is refused has changed nothing.
            HashAction::Add { field, delta, bytes_max } => {
                let sum = self.add(name(field), delta, bytes_max, texts);
                (sum, sum.is_ok())
            }
            HashAction::AddDecimal { field, delta, bytes_max } => {
                let sum = self.add_decimal(name(field), delta, bytes_max, texts);
                (sum, sum.is_ok())
            }
            HashAction::Show(show) => (Ok(self.show(show, texts)), false),
            HashAction::Random => (Ok(self.random()), false),
            HashAction::RandomMany { count, with_values, bytes_max } => {
                (self.random_many(count, with_values, bytes_max, texts), false)
            }
            HashAction::Scan(pattern) => (self.scan(pattern, texts), false),
        }
    }

    fn set_field(&mut self, set: FieldSet, texts: &Texts<'_>) -> (Answer, bool) {
        let FieldSet { field, value, only_if_new, is_first, command_bytes, bytes_max } = set;
        let (field, value) = (Text::Argument(field), Text::Argument(value));
        if only_if_new && self.get(field, texts).is_some() {
            return (Ok(PartReply::Integer(0)), false);
        }
        // What is refused has changed nothing, so the first field answers for all.
        if is_first {
            self.is_full = self.bytes().saturating_add(command_bytes) > bytes_max;
        }
        if self.is_full {
            return (Err(words::FIELDS_TOO_LONG), false);
        }
        let is_new = self.set(field, value, texts);
        (Ok(PartReply::Integer(is_new.into())), true)
    }

    /// Sets a field to what was computed for it.
    fn set_computed(
        &mut self,
        field: Text,
        value: Text,
        bytes_max: usize,
        texts: &Texts<'_>,
    ) -> Result<(), &'static str> {
        let added = entry_bytes(texts.get(field).len(), texts.get(value).len());
        if self.bytes().saturating_add(added) > bytes_max {
            return Err(words::FIELDS_TOO_LONG);
        }
        self.set(field, value, texts);
        Ok(())
    }

    fn add(&mut self, field: Text, delta: i64, bytes_max: usize, texts: &mut Texts<'_>) -> Answer {
        let before = match self.get(field, texts) {
            None => 0,
            Some(value) => parse_integer(texts.get(value)).ok_or(words::HASH_NOT_AN_INTEGER)?,
        };
        let after = before.checked_add(delta).ok_or(words::OVERFLOW)?;
        let (digits, from) = digits_of(after);
        let start = texts.begin();
        texts.computed.extend_from_slice(&digits[from..]);
        self.set_computed(field, texts.computed_since(start), bytes_max, texts)?;
        Ok(PartReply::Integer(after))
    }

    fn add_decimal(
        &mut self,
        field: Text,
        delta: ClientArgument,
        bytes_max: usize,
        texts: &mut Texts<'_>,
    ) -> Answer {
        let before = match self.get(field, texts) {
            None => Decimal::Exact(0),
            Some(value) => Decimal::parse(texts.get(value)).ok_or(words::HASH_NOT_A_FLOAT)?,
        };
        // Planning has seen that it is a number.
        let delta = Decimal::parse(texts.argument(delta)).ok_or(words::NOT_A_FLOAT)?;
        let after = before.checked_add(delta).ok_or(words::NOT_FINITE)?;
        let mut digits = String::new();
        after.write(&mut digits);
        let start = texts.begin();
        texts.computed.extend_from_slice(digits.as_bytes());
        let value = texts.computed_since(start);
        self.set_computed(field, value, bytes_max, texts)?;
        Ok(PartReply::Text(value))
    }

    fn show(&mut self, show: FieldShow, texts: &mut Texts<'_>) -> PartReply {
        let hash = (self.len() > 0).then(|| self.write(texts));
        PartReply::Fields { hash, show }
    }

    fn random(&self) -> PartReply {
        let number = Chance::new().below(self.len() as u64) as usize;
        self.fields().nth(number).map_or(PartReply::Null, |(name, _)| PartReply::Text(name))
    }

    fn random_many(
        &self,
        count: i64,
        with_values: bool,
        bytes_max: usize,
        texts: &mut Texts<'_>,
    ) -> Answer {
        let shape = if with_values { ListShape::Pairs } else { ListShape::Array };
        let (mut list, mut chance) = (TextList::begin(texts), Chance::new());
        let mut take = |(name, value): (Text, Text), list: &mut TextList| {
            list.push(name, texts);
            if with_values {
                list.push(value, texts);
            }
            // Beyond that the reply is refused anyway.
            list.bytes(texts) <= bytes_max
        };
        let wanted = count.unsigned_abs();
        if count >= 0 {
            // Each of those that are left is taken with the chance that so many of them are.
            let mut wanted = wanted.min(self.len() as u64);
            for (left, field) in (1..=self.len() as u64).rev().zip(self.fields()) {
                if chance.below(left) < wanted {
                    wanted -= 1;
                    if !take(field, &mut list) {
                        break;
                    }
                }
            }
        } else if self.len() > 0 {
            // Each has a head in the reply, so it is known before that there is no room.
            if wanted > (bytes_max / REPLY_HEAD_BYTES) as u64 {
                return Err(words::REPLY_TOO_LARGE);
            }
            let fields: Vec<(Text, Text)> = self.fields().collect();
            for _ in 0..wanted {
                if !take(fields[chance.below(fields.len() as u64) as usize], &mut list) {
                    break;
                }
            }
        }
        Ok(list.end(shape, texts))
    }

    fn scan(
        &self,
        pattern: Result<Option<ClientArgument>, &'static str>,
        texts: &mut Texts<'_>,
    ) -> Answer {
        let mut list = TextList::begin(texts);
        // Redis looks at the options only where there is something to scan.
        if self.len() > 0 {
            let pattern = pattern?;
            for (name, value) in self.fields() {
                let matches = pattern
                    .is_none_or(|pattern| glob_matches(texts.argument(pattern), texts.get(name)));
                if matches {
                    list.push(name, texts);
                    list.push(value, texts);
                }
            }
        }
        Ok(list.end(ListShape::LastPage, texts))
    }
}
