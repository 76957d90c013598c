//! Fields of a hash that expire by themselves.
//!
//! A hash with such fields is one value, whatever its size. Fields whose time is over are left out
//! when it is opened, and the next write leaves them out of the store.

use super::expiry_time::{ExpiryRule, NewExpiry};
use super::field_time::FieldTimeAction;
use super::hash_action::Answer;
use super::open_hash::{OpenField, OpenHash};
use super::part_reply::PartReply;
use super::room::CommandRoom;
use super::texts::{Text, Texts};
use super::walk::{WalkOrder, WalkRange};
use super::words;
use crate::values::{EXPIRY_BYTES, HEAD_BYTES, entry_bytes};

/// What is answered for a field.
const NO_FIELD: i64 = -2;
const NO_EXPIRY: i64 = -1;
const DELETED: i64 = 2;

impl OpenHash {
    /// Carries out what is done with the time of a field, and says whether that changed the hash.
    pub(super) fn apply_to_time(
        &mut self,
        action: FieldTimeAction,
        texts: &mut Texts<'_>,
    ) -> (Answer, bool) {
        let field = Text::Argument(action.field());
        let integer = |number: i64| Ok(PartReply::Integer(number));
        let value = self.get(field, texts);
        let expires_at_ms = self.expiry_of(field, texts);
        match action {
            FieldTimeAction::Require { is_there, is_first, .. } => {
                self.is_met = (is_first || self.is_met) && value.is_some() == is_there;
                (integer(self.is_met.into()), false)
            }
            // The fields are not as the command requires them.
            FieldTimeAction::Set { is_conditional: true, .. }
            | FieldTimeAction::Reserve { is_conditional: true, .. }
                if !self.is_met =>
            {
                (integer(0), false)
            }
            FieldTimeAction::Reserve { room, has_times, .. } => {
                let reserved = self.reserve(room, has_times, texts);
                self.refusal = reserved.err();
                (reserved.map(|()| PartReply::Integer(1)), false)
            }
            FieldTimeAction::Set { value, expiry, .. } => {
                self.set_until(field, Text::Argument(value), expiry, texts)
            }
            FieldTimeAction::GetAndExpire { .. } | FieldTimeAction::GetAndDelete(_)
                if value.is_none() =>
            {
                (Ok(PartReply::Null), false)
            }
            _ if value.is_none() => (integer(NO_FIELD), false),
            FieldTimeAction::Expire { at_ms, rule, bytes_max, .. } => {
                match is_taken(expires_at_ms, at_ms, rule) {
                    false => (integer(0), false),
                    true => self.expire_field(field, at_ms, bytes_max, texts),
                }
            }
            FieldTimeAction::Persist(_) if expires_at_ms == 0 => (integer(NO_EXPIRY), false),
            FieldTimeAction::Persist(_) => {
                self.set_expiry(field, 0, texts);
                (integer(1), true)
            }
            FieldTimeAction::TimeToLive(..) | FieldTimeAction::ExpiryTime(..)
                if expires_at_ms == 0 =>
            {
                (integer(NO_EXPIRY), false)
            }
            // Rounded up, as Redis does it for fields.
            FieldTimeAction::TimeToLive(_, unit_ms) => {
                let left_ms = expires_at_ms.saturating_sub(texts.now_ms);
                (integer(left_ms.div_ceil(unit_ms) as i64), false)
            }
            FieldTimeAction::ExpiryTime(_, unit_ms) => {
                (integer(expires_at_ms.div_ceil(unit_ms) as i64), false)
            }
            FieldTimeAction::GetAndDelete(_) => {
                let was_there = self.delete(field, texts);
                (Ok(value.map_or(PartReply::Null, PartReply::Text)), was_there)
            }
            FieldTimeAction::GetAndExpire { expiry, bytes_max, .. } => {
                let changed = match expiry {
                    NewExpiry::At(at_ms) => self.expire_field(field, at_ms, bytes_max, texts),
                    NewExpiry::Never if expires_at_ms > 0 => {
                        self.set_expiry(field, 0, texts);
                        (integer(1), true)
                    }
                    NewExpiry::Never | NewExpiry::Kept => (integer(0), false),
                };
                let value = value.map_or(PartReply::Null, PartReply::Text);
                (changed.0.map(|_| value), changed.1)
            }
        }
    }

    /// Refuses fields that find no room, with times for all where they have some.
    fn reserve(
        &mut self,
        room: CommandRoom,
        has_times: bool,
        texts: &mut Texts<'_>,
    ) -> Result<(), &'static str> {
        self.check_room(room, texts)?;
        match has_times {
            true => self.gather(room.bytes_max.saturating_sub(room.bytes), texts),
            false => Ok(()),
        }
    }

    /// Sets a field with its time, after room was made for it.
    fn set_until(
        &mut self,
        field: Text,
        value: Text,
        expiry: NewExpiry,
        texts: &mut Texts<'_>,
    ) -> (Answer, bool) {
        if let Some(refusal) = self.refusal {
            return (Err(refusal), false);
        }
        let expires_at_ms = match expiry {
            NewExpiry::Never => 0,
            NewExpiry::Kept => self.expiry_of(field, texts),
            NewExpiry::At(at_ms) => at_ms,
        };
        // A time that is over is the end of it.
        if matches!(expiry, NewExpiry::At(at_ms) if at_ms <= texts.now_ms) {
            let was_there = self.delete(field, texts);
            return (Ok(PartReply::Integer(1)), was_there);
        }
        self.set(field, value, texts);
        if expires_at_ms > 0 {
            self.set_expiry(field, expires_at_ms, texts);
        }
        (Ok(PartReply::Integer(1)), true)
    }

    /// Gives a field that is there a time, which may be over.
    fn expire_field(
        &mut self,
        field: Text,
        at_ms: u64,
        bytes_max: usize,
        texts: &mut Texts<'_>,
    ) -> (Answer, bool) {
        if at_ms <= texts.now_ms {
            let was_there = self.delete(field, texts);
            return (Ok(PartReply::Integer(DELETED)), was_there);
        }
        if let Err(refusal) = self.gather(bytes_max, texts) {
            return (Err(refusal), false);
        }
        self.set_expiry(field, at_ms, texts);
        (Ok(PartReply::Integer(1)), true)
    }

    /// When a field expires; 0 for never.
    pub(super) fn expiry_of(&mut self, field: Text, texts: &mut Texts<'_>) -> u64 {
        // Of a spread hash no field does.
        if self.expiring == 0 {
            return 0;
        }
        let known = self.known(texts.get(field), texts);
        known.map_or(0, |number| self.fields[number].expires_at_ms)
    }

    /// Sets when a field that is in memory expires.
    pub(super) fn set_expiry(&mut self, field: Text, at_ms: u64, texts: &Texts<'_>) {
        let Some(number) = self.known(texts.get(field), texts) else { return };
        let before = std::mem::replace(&mut self.fields[number].expires_at_ms, at_ms);
        self.expiring += usize::from(at_ms > 0);
        self.expiring -= usize::from(before > 0);
        self.written = None;
    }

    /// Brings the fields of a hash into one value, where a field gets a time: entries of their own
    /// have none.
    fn gather(&mut self, bytes_max: usize, texts: &mut Texts<'_>) -> Result<(), &'static str> {
        let times = self.time_bytes(self.len() + 1);
        if self.bytes.saturating_add(times) > bytes_max {
            return Err(words::TOO_LARGE_TO_EXPIRE);
        }
        if self.spread.is_none() {
            return Ok(());
        }
        let (mut fields, mut bytes) = (Vec::new(), HEAD_BYTES + times);
        self.walk(&WalkRange::all(WalkOrder::Stored), texts, &mut |member, texts| {
            bytes += entry_bytes(member.name(texts).len(), member.value(texts).len());
            if bytes > bytes_max {
                return false;
            }
            let (name, value) = member.keep(texts);
            fields.push(OpenField::new(name, value));
            true
        });
        if bytes > bytes_max {
            return Err(words::TOO_LARGE_TO_EXPIRE);
        }
        self.become_whole(fields, bytes - times);
        Ok(())
    }

    /// What the times of so many fields take.
    pub(super) fn time_bytes(&self, fields: usize) -> usize {
        EXPIRY_BYTES * (1 + fields)
    }
}

/// Whether a new time takes the place of the one from before. Without one a field lives for ever,
/// which is later than any time.
fn is_taken(before_ms: u64, at_ms: u64, rule: ExpiryRule) -> bool {
    let has_expiry = before_ms > 0;
    let current = if has_expiry { before_ms } else { u64::MAX };
    !((rule.if_none && has_expiry)
        || (rule.if_any && !has_expiry)
        || (rule.if_later && at_ms <= current)
        || (rule.if_earlier && at_ms >= current))
}
