//! What commands do with a hash, and with the members of a set or of a sorted set.

use tonnage::internal::placement_hash;

use super::field_set::FieldSet;
use super::field_time::FieldTimeAction;
use super::open_hash::OpenHash;
use super::part_reply::{FieldShow, ListShape, PartReply};
use super::room::CommandRoom;
use super::text_list::TextList;
use super::texts::{ClientArgument, Text, Texts};
use super::walk::{WalkOrder, WalkRange};
use super::words;
use crate::protocol::{Decimal, digits_of, glob_matches, parse_integer, write_double};
use crate::values::{ValueKind, entry_bytes, score_of};

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
    /// A member by chance, which is deleted.
    Pop,
    /// So many, likewise.
    PopMany(u64),
    Scan(FieldScan),
    Time(FieldTimeAction),
}

/// A page of a scan.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldScan {
    pub(crate) cursor: u64,
    /// Or why they are refused.
    pub(crate) options: Result<ScanOptions, &'static str>,
}

/// Which fields a page shows, and what of them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScanOptions {
    pub(crate) pattern: Option<ClientArgument>,
    pub(crate) count: usize,
    pub(crate) show: FieldShow,
}

pub(super) type Answer = Result<PartReply, &'static str>;

impl HashAction {
    /// Whether INFO counts it as a look-up.
    pub(crate) fn is_look_up(&self) -> bool {
        if let HashAction::Time(action) = self {
            return action.is_look_up();
        }
        !matches!(
            self,
            HashAction::Set(_)
                | HashAction::Delete(_)
                | HashAction::Add { .. }
                | HashAction::AddDecimal { .. }
                | HashAction::Pop
                | HashAction::PopMany(_)
        )
    }
}

impl HashAction {
    /// The member that it looks at.
    pub(super) fn member(&self) -> Option<ClientArgument> {
        match self {
            HashAction::Get(field) | HashAction::Exists(field) => Some(*field),
            HashAction::ValueLength(field) | HashAction::Delete(field) => Some(*field),
            HashAction::Set(set) => Some(set.field),
            HashAction::Time(action) => Some(action.field()),
            HashAction::Add { field, .. } | HashAction::AddDecimal { field, .. } => Some(*field),
            _ => None,
        }
    }
}

impl OpenHash {
    /// Carries out what is done with a hash, and says whether that changed it.
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
            HashAction::Show(show) => (self.show(show, texts), false),
            HashAction::Random => (Ok(self.random(texts)), false),
            HashAction::RandomMany { count, with_values, bytes_max } => {
                (self.random_many(count, with_values, bytes_max, texts), false)
            }
            HashAction::Pop => self.pop(texts),
            HashAction::PopMany(count) => self.pop_many(count, texts),
            HashAction::Scan(scan) => (self.scan(scan, texts), false),
            HashAction::Time(action) => self.apply_to_time(action, texts),
        }
    }

    fn set_field(&mut self, set: FieldSet, texts: &mut Texts<'_>) -> (Answer, bool) {
        let FieldSet { field, value, only_if_new, room } = set;
        let (field, value) = (Text::Argument(field), Text::Argument(value));
        if only_if_new && self.get(field, texts).is_some() {
            return (Ok(PartReply::Integer(0)), false);
        }
        if let Err(refusal) = self.check_room(room, texts) {
            return (Err(refusal), false);
        }
        // A member of a set has no value that could change.
        if self.kind() == ValueKind::Set && self.get(field, texts).is_some() {
            return (Ok(PartReply::Integer(0)), false);
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
        texts: &mut Texts<'_>,
    ) -> Result<(), &'static str> {
        let longest = texts.get(field).len();
        let bytes = entry_bytes(longest, texts.get(value).len());
        self.check_room(CommandRoom { is_first: true, bytes, longest, bytes_max }, texts)?;
        // A sum lives as long as the number did.
        let expires_at_ms = self.expiry_of(field, texts);
        self.set(field, value, texts);
        if expires_at_ms > 0 {
            self.set_expiry(field, expires_at_ms, texts);
        }
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

    fn show(&mut self, show: FieldShow, texts: &mut Texts<'_>) -> Answer {
        // What is about to be spread is not written down as a whole.
        if self.spread.is_none() && (self.written.is_some() || !self.is_to_be_spread(texts)) {
            let hash = (self.len() > 0).then(|| self.encode(texts));
            return Ok(PartReply::Fields { hash, show });
        }
        let mut list = TextList::begin(texts);
        let bytes_max = texts.bytes_max;
        self.walk(&WalkRange::all(WalkOrder::Stored), texts, &mut |member, texts| {
            list.push_member(member, show, texts);
            // Beyond that the reply is refused anyway.
            list.bytes(texts) <= bytes_max
        });
        let shape = match show {
            FieldShow::Names | FieldShow::Values => ListShape::Array,
            FieldShow::Both => ListShape::Map,
            FieldShow::Members => ListShape::Set,
        };
        Ok(list.end(shape, texts))
    }

    /// A page of a scan. Whole collections are one page; of others it begins at a hash, and the
    /// next one where it ends, so that nothing has to be kept for it.
    fn scan(&mut self, scan: FieldScan, texts: &mut Texts<'_>) -> Answer {
        let FieldScan { cursor, options } = scan;
        let mut list = TextList::begin(texts);
        // Redis looks at the options only where there is something to scan.
        if self.len() == 0 {
            return Ok(list.end(ListShape::Page(0), texts));
        }
        let ScanOptions { pattern, count, show } = options?;
        let has_scores = self.kind() == ValueKind::SortedSet;
        let is_spread = self.spread.is_some();
        let (mut taken, mut last, mut next) = (0, 0, 0);
        let start = if is_spread { cursor.to_be_bytes().to_vec() } else { Vec::new() };
        let range = WalkRange { start, wanted: count, ..WalkRange::all(WalkOrder::Stored) };
        self.walk(&range, texts, &mut |member, texts| {
            let hash = if is_spread { placement_hash(member.name(texts)) } else { 0 };
            // Those of one hash stay together: the next page begins at a hash.
            if is_spread && taken >= count && hash != last {
                next = hash;
                return false;
            }
            (taken, last) = (taken + 1, hash);
            let name = member.name(texts);
            if pattern.is_none_or(|pattern| glob_matches(texts.argument(pattern), name)) {
                list.push_member(member, if has_scores { FieldShow::Names } else { show }, texts);
                if has_scores {
                    let score = scanned_score(score_of(member.value(texts)), is_spread);
                    list.push_bytes(score.as_bytes(), texts);
                }
            }
            true
        });
        Ok(list.end(ListShape::Page(next), texts))
    }
}

/// A score as Redis writes it in a scan: a whole number with all digits, while the set is small.
fn scanned_score(score: f64, is_spread: bool) -> String {
    let is_whole = score.fract() == 0.0 && score.abs() < i64::MAX as f64;
    if is_whole && !is_spread { (score as i64).to_string() } else { write_double(score) }
}
