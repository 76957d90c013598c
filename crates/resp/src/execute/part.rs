//! What commands do with one key.
//!
//! A command of several keys is as many parts: MGET a b is two of them. Parts of one key are
//! carried out in order on the state of that key in memory ([`KeyState`]). What they leave is
//! written at the end, once for all of them.

use super::expiry_time::{ExpiryRefusal, ExpiryRule, NewExpiry};
use super::hash_action::HashAction;
use super::list_action::ListAction;
use super::open_collection::OpenCollection;
use super::part_reply::PartReply;
use super::sorted_action::SortedAction;
use super::texts::{ClientArgument, Text, Texts};
use super::words;
use crate::bit_fields::{BitFieldOperation, FieldChange};
use crate::bits::{self, BitUnit};
use crate::protocol::{Decimal, digits_of, parse_integer};
use crate::values::{ValueKind, is_over, would_be_marked};

/// Whether a value is set at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetOnly {
    Always,
    IfAbsent,
    IfPresent,
}

/// What SET and its relatives answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum SetAnswer {
    /// OK, or nothing if it was not set.
    Ok,
    /// 1, or 0 if it was not set.
    Flag,
    /// The value from before.
    Previous,
}

/// What is done with one key.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PartAction {
    Get,
    /// The same, and nothing of what is not a string.
    GetIfString,
    Length,
    Exists,
    Type,
    /// How long it lives: the number of milliseconds in the unit.
    TimeToLive(u64),
    /// When it expires, likewise.
    ExpiryTime(u64),
    Range {
        start: i64,
        end: i64,
    },
    Set {
        value: ClientArgument,
        expiry: NewExpiry,
        only: SetOnly,
        answer: SetAnswer,
    },
    GetAndDelete,
    GetAndExpire(Result<NewExpiry, ExpiryRefusal>),
    Add {
        delta: i64,
    },
    AddDecimal {
        delta: ClientArgument,
    },
    Append {
        value: ClientArgument,
        bytes_max: usize,
    },
    SetRange {
        offset: usize,
        value: ClientArgument,
        bytes_max: usize,
    },
    Delete,
    /// Only if the value is this one, or another one.
    DeleteIf {
        value: ClientArgument,
        is_equal: bool,
    },
    Expire {
        at_ms: i64,
        rule: ExpiryRule,
    },
    Persist,
    GetBit {
        offset: usize,
    },
    SetBit {
        offset: usize,
        bit: bool,
    },
    BitField(BitFieldOperation),
    CountBits {
        start: i64,
        end: i64,
        unit: BitUnit,
    },
    FindBit {
        bit: bool,
        start: i64,
        end: Option<i64>,
        unit: BitUnit,
    },
    /// With the members of a hash, a set or a sorted set.
    Members(ValueKind, HashAction),
    Sorted(SortedAction),
    List(ListAction),
}

impl PartAction {
    /// Whether it does the same whatever is stored, and tells nothing of it.
    pub(crate) fn is_blind(&self) -> bool {
        matches!(
            self,
            PartAction::Set {
                expiry: NewExpiry::Never | NewExpiry::At(_),
                only: SetOnly::Always,
                answer: SetAnswer::Ok,
                ..
            }
        )
    }

    /// Whether INFO counts it as a look-up.
    pub(crate) fn is_look_up(&self) -> bool {
        match self {
            PartAction::Get | PartAction::GetIfString | PartAction::Length => true,
            PartAction::Range { .. } | PartAction::Exists => true,
            PartAction::Members(_, action) => action.is_look_up(),
            PartAction::Sorted(action) => action.is_look_up(),
            PartAction::List(action) => action.is_look_up(),
            _ => false,
        }
    }

    /// The member of a collection that it looks at.
    pub(super) fn member(&self) -> Option<ClientArgument> {
        match self {
            PartAction::Members(_, action) => action.member(),
            PartAction::Sorted(action) => action.member(),
            _ => None,
        }
    }

    /// Whether it looks at no bytes of the value that is there.
    fn is_of_key(&self) -> bool {
        match self {
            PartAction::Exists | PartAction::Type | PartAction::Delete => true,
            PartAction::TimeToLive(_) | PartAction::ExpiryTime(_) => true,
            PartAction::Expire { .. } | PartAction::Persist => true,
            PartAction::Set { answer, .. } => *answer != SetAnswer::Previous,
            _ => false,
        }
    }
}

/// What is known of the pair that is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StoredBase {
    /// It was not looked up, because nothing depends on it.
    Unknown,
    Absent,
    Version(u64),
}

/// A key in memory, with what the parts before have left.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeyState {
    pub(crate) base: StoredBase,
    pub(crate) value: Option<Text>,
    /// 0 for never.
    pub(crate) expires_at_ms: u64,
    pub(crate) is_changed: bool,
    /// Whether an answer shows the value: then it is not changed in place.
    pub(crate) is_shown: bool,
}

/// Why a part is refused.
type Refusal = &'static str;

impl KeyState {
    /// A key of which nothing is known yet.
    pub(crate) const UNKNOWN: Self = Self {
        base: StoredBase::Unknown,
        value: None,
        expires_at_ms: 0,
        is_changed: false,
        is_shown: false,
    };

    /// Carries out a part.
    pub(crate) fn apply(
        &mut self,
        action: &PartAction,
        texts: &mut Texts<'_>,
        open: &mut OpenCollection,
        now_ms: u64,
    ) -> PartReply {
        // Set and expired within the same round.
        if self.value.is_some() && self.expires_at_ms != 0 && self.expires_at_ms <= now_ms {
            self.remove();
        }
        // Or all of its fields are.
        if self.value.is_some_and(|value| is_over(texts.get(value), now_ms)) {
            self.remove();
        }
        match *action {
            PartAction::Members(kind, action) => {
                let apply =
                    |open: &mut OpenCollection, texts: &mut _| open.hash.apply(action, texts);
                return self.apply_to_members(kind, texts, open, apply);
            }
            PartAction::Sorted(action) => {
                let apply = |open: &mut OpenCollection, texts: &mut _| {
                    open.hash.apply_sorted(action, texts)
                };
                return self.apply_to_members(ValueKind::SortedSet, texts, open, apply);
            }
            PartAction::List(action) => {
                let apply =
                    |open: &mut OpenCollection, texts: &mut _| open.list.apply(action, texts);
                return self.apply_to_members(ValueKind::List, texts, open, apply);
            }
            _ => {}
        }
        if !action.is_of_key() {
            self.write_down(texts, open);
            // All others are of strings.
            if self.kind(texts, open).is_some_and(|kind| kind != ValueKind::String) {
                return match action {
                    PartAction::GetIfString => PartReply::Null,
                    _ => PartReply::Error(words::WRONG_TYPE),
                };
            }
        }
        let answer = match *action {
            PartAction::Set { value, expiry, only, answer } => {
                Ok(self.set(value, expiry, only, answer, now_ms))
            }
            PartAction::Add { delta } => self.add(delta, texts),
            PartAction::AddDecimal { delta } => self.add_decimal(delta, texts),
            PartAction::Append { value, bytes_max } => self.append(value, bytes_max, texts),
            PartAction::SetRange { offset, value, bytes_max } => {
                self.set_range(offset, value, bytes_max, texts)
            }
            PartAction::SetBit { offset, bit } => self.set_bit(offset, bit, texts),
            PartAction::BitField(operation) => self.bit_field(operation, texts),
            PartAction::Expire { at_ms, rule } => Ok(self.expire(at_ms, rule, now_ms)),
            PartAction::GetAndDelete => Ok(self.get_and_delete()),
            PartAction::GetAndExpire(expiry) => self.get_and_expire(expiry, now_ms),
            PartAction::Delete => Ok(self.delete()),
            PartAction::DeleteIf { value, is_equal } => {
                let expected = texts.argument(value);
                let is_it = |found: Text| (texts.get(found) == expected) == is_equal;
                Ok(match self.value.is_some_and(is_it) {
                    true => self.delete(),
                    false => PartReply::Integer(0),
                })
            }
            PartAction::Persist => Ok(self.persist()),
            PartAction::Type => {
                let kind = self.kind(texts, open);
                Ok(PartReply::Simple(kind.map_or("none", ValueKind::name)))
            }
            ref other => Ok(self.look(other, texts, now_ms)),
        };
        // What is refused has changed nothing.
        let answer = answer.unwrap_or_else(PartReply::Error);
        self.is_shown |= matches!(answer, PartReply::Text(_));
        answer
    }

    /// What kind of value there is, if there is one.
    fn kind(&self, texts: &Texts<'_>, open: &OpenCollection) -> Option<ValueKind> {
        self.value.map(|value| match value {
            Text::Open => open.kind(),
            value => ValueKind::of(texts.get(value)),
        })
    }

    /// Carries out what is done with a collection of a kind.
    fn apply_to_members<'t>(
        &mut self,
        kind: ValueKind,
        texts: &mut Texts<'t>,
        open: &mut OpenCollection,
        apply: impl FnOnce(&mut OpenCollection, &mut Texts<'t>) -> (Result<PartReply, Refusal>, bool),
    ) -> PartReply {
        let opened = match self.value {
            None => {
                open.begin(kind);
                Ok(())
            }
            Some(Text::Open) if open.kind() == kind => Ok(()),
            Some(Text::Open) => Err(words::WRONG_TYPE),
            Some(value) => open.open(value, kind, texts),
        };
        if let Err(refusal) = opened {
            return PartReply::Error(refusal);
        }
        let (answer, is_changed) = apply(open, texts);
        // What has expired is not stored any longer.
        let is_changed = std::mem::take(&mut open.hash.is_cut) || is_changed;
        match (is_changed, open.len()) {
            (true, 0) => self.remove(),
            (true, _) => self.put(Text::Open),
            // It may have been written down to be shown.
            (false, _) if self.value == Some(Text::Open) => self.value = open.written(),
            (false, _) => {}
        }
        // What is refused has changed nothing.
        answer.unwrap_or_else(PartReply::Error)
    }

    /// Writes down the collection that is open, where it has changes that no bytes have yet.
    pub(crate) fn write_down(&mut self, texts: &mut Texts<'_>, open: &mut OpenCollection) {
        if self.value == Some(Text::Open) {
            self.value = Some(open.write(texts));
        }
    }

    /// What only looks at the value.
    fn look(&self, action: &PartAction, texts: &mut Texts<'_>, now_ms: u64) -> PartReply {
        let bytes = self.value.map(|value| texts.get(value));
        match *action {
            PartAction::Length => PartReply::Integer(bytes.map_or(0, <[u8]>::len) as i64),
            PartAction::Exists => PartReply::Integer(self.value.is_some().into()),
            PartAction::TimeToLive(unit_ms) => PartReply::Integer(match self.value {
                None => -2,
                Some(_) if self.expires_at_ms == 0 => -1,
                // Rounded as Redis does it.
                Some(_) => {
                    let left_ms = self.expires_at_ms.saturating_sub(now_ms);
                    (left_ms.saturating_add(unit_ms / 2) / unit_ms) as i64
                }
            }),
            PartAction::ExpiryTime(unit_ms) => PartReply::Integer(match self.value {
                None => -2,
                Some(_) if self.expires_at_ms == 0 => -1,
                Some(_) => (self.expires_at_ms.saturating_add(unit_ms / 2) / unit_ms) as i64,
            }),
            PartAction::Range { start, end } => {
                let bytes = bytes.unwrap_or_default();
                let (start, end) = byte_range(start, end, bytes.len());
                let from = texts.begin();
                if let Some(value) = self.value {
                    texts.append_part(value, start..end);
                }
                PartReply::Text(texts.computed_since(from))
            }
            PartAction::GetBit { offset } => {
                PartReply::Integer(bits::get(bytes.unwrap_or_default(), offset).into())
            }
            PartAction::CountBits { start, end, unit } => {
                PartReply::Integer(bits::count(bytes.unwrap_or_default(), start, end, unit))
            }
            PartAction::FindBit { bit, start, end, unit } => {
                // No value is zeros without an end; an empty one has no bit at all.
                let found = bytes.map(|bytes| bits::find(bytes, bit, start, end, unit));
                PartReply::Integer(found.unwrap_or(if bit { -1 } else { 0 }))
            }
            // GET, and what else answers with the value itself.
            _ => self.value.map_or(PartReply::Null, PartReply::Text),
        }
    }

    fn put(&mut self, value: Text) {
        self.value = Some(value);
        self.is_changed = true;
        self.is_shown = false;
    }

    fn remove(&mut self) {
        self.value = None;
        self.expires_at_ms = 0;
        self.is_changed = true;
    }

    fn set(
        &mut self,
        value: ClientArgument,
        expiry: NewExpiry,
        only: SetOnly,
        answer: SetAnswer,
        now_ms: u64,
    ) -> PartReply {
        let previous = self.value.map_or(PartReply::Null, PartReply::Text);
        let is_set = match only {
            SetOnly::Always => true,
            SetOnly::IfAbsent => self.value.is_none(),
            SetOnly::IfPresent => self.value.is_some(),
        };
        if is_set {
            self.put(Text::Argument(value));
            self.expire_at(expiry, now_ms);
        }
        match (answer, is_set) {
            (SetAnswer::Previous, _) => previous,
            (SetAnswer::Flag, is_set) => PartReply::Integer(is_set.into()),
            (SetAnswer::Ok, true) => PartReply::Ok,
            (SetAnswer::Ok, false) => PartReply::Null,
        }
    }

    fn expire_at(&mut self, expiry: NewExpiry, now_ms: u64) {
        match expiry {
            NewExpiry::Kept => {}
            NewExpiry::Never => self.expires_at_ms = 0,
            // A time that is over is the end of it.
            NewExpiry::At(at_ms) if at_ms <= now_ms => self.remove(),
            NewExpiry::At(at_ms) => self.expires_at_ms = at_ms,
        }
    }

    fn add(&mut self, delta: i64, texts: &mut Texts<'_>) -> Result<PartReply, Refusal> {
        let before = match self.value {
            None => 0,
            Some(value) => parse_integer(texts.get(value)).ok_or(words::NOT_AN_INTEGER)?,
        };
        let after = before.checked_add(delta).ok_or(words::OVERFLOW)?;
        let start = texts.begin();
        let (digits, from) = digits_of(after);
        texts.computed.extend_from_slice(&digits[from..]);
        self.put(texts.computed_since(start));
        Ok(PartReply::Integer(after))
    }

    fn add_decimal(
        &mut self,
        delta: ClientArgument,
        texts: &mut Texts<'_>,
    ) -> Result<PartReply, Refusal> {
        let before = match self.value {
            None => Decimal::Exact(0),
            Some(value) => Decimal::parse(texts.get(value)).ok_or(words::NOT_A_FLOAT)?,
        };
        let delta = Decimal::parse(texts.argument(delta)).ok_or(words::NOT_A_FLOAT)?;
        let after = before.checked_add(delta).ok_or(words::NOT_FINITE)?;
        let mut digits = String::new();
        after.write(&mut digits);
        let start = texts.begin();
        texts.computed.extend_from_slice(digits.as_bytes());
        let value = texts.computed_since(start);
        self.put(value);
        Ok(PartReply::Text(value))
    }

    /// The value at the end of what was computed, where it can be changed and can grow. A chain of
    /// appends would copy it once for each of them.
    fn writable(&self, texts: &mut Texts<'_>) -> usize {
        match self.value {
            Some(Text::Computed { start, end })
                if end == texts.computed.len() && !self.is_shown =>
            {
                start
            }
            value => {
                let start = texts.begin();
                value.into_iter().for_each(|value| texts.append(value));
                start
            }
        }
    }

    /// Refuses what would make the string look like a hash.
    fn check_mark(&self, offset: usize, bytes: &[u8], texts: &Texts<'_>) -> Result<(), Refusal> {
        let before = self.value.map(|value| texts.get(value)).unwrap_or_default();
        if would_be_marked(before, offset, bytes) { Err(words::MARKED) } else { Ok(()) }
    }

    fn append(
        &mut self,
        value: ClientArgument,
        bytes_max: usize,
        texts: &mut Texts<'_>,
    ) -> Result<PartReply, Refusal> {
        let before = self.value.map_or(0, |value| texts.get(value).len());
        if before.saturating_add(texts.argument(value).len()) > bytes_max {
            return Err(words::TOO_LONG);
        }
        self.check_mark(before, texts.argument(value), texts)?;
        let start = self.writable(texts);
        texts.append(Text::Argument(value));
        self.put(texts.computed_since(start));
        Ok(PartReply::Integer((texts.computed.len() - start) as i64))
    }

    fn set_range(
        &mut self,
        offset: usize,
        value: ClientArgument,
        bytes_max: usize,
        texts: &mut Texts<'_>,
    ) -> Result<PartReply, Refusal> {
        let len = texts.argument(value).len();
        if len == 0 {
            return Ok(self.look(&PartAction::Length, texts, 0));
        }
        let end = offset.checked_add(len).filter(|end| *end <= bytes_max);
        let end = end.ok_or(words::TOO_LONG)?;
        self.check_mark(offset, texts.argument(value), texts)?;
        let start = self.writable(texts);
        if texts.computed.len() < start + end {
            texts.computed.resize(start + end, 0);
        }
        let Texts { clients, computed, .. } = texts;
        let bytes = value.span.of(&clients[value.client as usize].input);
        computed[start + offset..start + end].copy_from_slice(bytes);
        self.put(texts.computed_since(start));
        Ok(PartReply::Integer((texts.computed.len() - start) as i64))
    }

    fn set_bit(
        &mut self,
        offset: usize,
        bit: bool,
        texts: &mut Texts<'_>,
    ) -> Result<PartReply, Refusal> {
        let before = self.value.map(|value| texts.get(value)).unwrap_or_default();
        let mut byte = [before.get(offset / 8).copied().unwrap_or(0)];
        bits::set(&mut byte, offset % 8, bit);
        self.check_mark(offset / 8, &byte, texts)?;
        let start = self.writable(texts);
        let end = start + offset / 8 + 1;
        if texts.computed.len() < end {
            texts.computed.resize(end, 0);
        }
        let before = bits::set(&mut texts.computed[start..], offset, bit);
        self.put(texts.computed_since(start));
        Ok(PartReply::Integer(before.into()))
    }

    /// Reads or changes a number. One that its field has no room for may stay as it is, but the
    /// value grows even then, as in Redis.
    fn bit_field(
        &mut self,
        operation: BitFieldOperation,
        texts: &mut Texts<'_>,
    ) -> Result<PartReply, Refusal> {
        let BitFieldOperation { kind, offset, change, overflow, bytes_min } = operation;
        let bytes = self.value.map(|value| texts.get(value)).unwrap_or_default();
        let before = kind.get(bytes, offset);
        if change == FieldChange::None {
            return Ok(PartReply::Integer(before));
        }
        let after = kind.change(before, change, overflow);
        let (first, last) = (offset / 8, kind.last_byte(offset).unwrap_or(offset / 8));
        let mut changed: Vec<u8> = Vec::with_capacity(last + 1 - first);
        changed.extend((first..=last).map(|at| bytes.get(at).copied().unwrap_or(0)));
        kind.put(&mut changed, offset % 8, after.unwrap_or(before));
        self.check_mark(first, &changed, texts)?;
        let start = self.writable(texts);
        let end = start + bytes_min.max(last + 1);
        if texts.computed.len() < end {
            texts.computed.resize(end, 0);
        }
        texts.computed[start + first..=start + last].copy_from_slice(&changed);
        self.put(texts.computed_since(start));
        let shown = if matches!(change, FieldChange::Set(_)) { Some(before) } else { after };
        Ok(after.and(shown).map_or(PartReply::Null, PartReply::Integer))
    }

    fn expire(&mut self, at_ms: i64, rule: ExpiryRule, now_ms: u64) -> PartReply {
        let has_expiry = self.expires_at_ms != 0;
        // Without an expiry a value lives for ever, which is later than any time.
        let current = if has_expiry { self.expires_at_ms as i64 } else { i64::MAX };
        let is_refused = self.value.is_none()
            || (rule.if_none && has_expiry)
            || (rule.if_any && !has_expiry)
            || (rule.if_later && at_ms <= current)
            || (rule.if_earlier && at_ms >= current);
        if is_refused {
            return PartReply::Integer(0);
        }
        self.is_changed = true;
        self.expire_at(NewExpiry::At(at_ms.max(0) as u64), now_ms);
        PartReply::Integer(1)
    }

    fn persist(&mut self) -> PartReply {
        let had_expiry = self.value.is_some() && self.expires_at_ms != 0;
        if had_expiry {
            self.expires_at_ms = 0;
            self.is_changed = true;
        }
        PartReply::Integer(had_expiry.into())
    }

    fn get_and_delete(&mut self) -> PartReply {
        let answer = self.value.map_or(PartReply::Null, PartReply::Text);
        self.delete();
        answer
    }

    fn get_and_expire(
        &mut self,
        expiry: Result<NewExpiry, ExpiryRefusal>,
        now_ms: u64,
    ) -> Result<PartReply, Refusal> {
        let Some(value) = self.value else { return Ok(PartReply::Null) };
        let expiry = expiry.map_err(|refusal| match refusal {
            ExpiryRefusal::NotAnInteger => words::NOT_AN_INTEGER,
            ExpiryRefusal::Invalid => words::INVALID_GETEX_EXPIRY,
        })?;
        if expiry != NewExpiry::Kept {
            self.is_changed = true;
            self.expire_at(expiry, now_ms);
        }
        Ok(PartReply::Text(value))
    }

    fn delete(&mut self) -> PartReply {
        let was_there = self.value.is_some();
        if was_there {
            self.remove();
        }
        PartReply::Integer(was_there.into())
    }
}

/// The bytes from `start` to `end`, both inside, counted from the end where they are negative; as a
/// half-open range.
pub(crate) fn byte_range(start: i64, end: i64, len: usize) -> (usize, usize) {
    let len = len as i64;
    let from_end = |index: i64| if index < 0 { (len + index).max(0) } else { index };
    if len == 0 || (start < 0 && end < 0 && start > end) {
        return (0, 0);
    }
    let (start, end) = (from_end(start), from_end(end).min(len - 1));
    if start > end { (0, 0) } else { (start as usize, end as usize + 1) }
}
