//! What commands do with a sorted set: a hash whose values are scores, in the order of these.

use super::open_hash::OpenHash;
use super::part_reply::{ListShape, PartReply};
use super::text_list::TextList;
use super::texts::{ClientArgument, Text, Texts};
use super::words;
use crate::values::{entry_bytes, score_of};

/// What is done with a sorted set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SortedAction {
    Score(ClientArgument),
    Rank(ClientArgument),
    Count,
    Add(MemberAdd),
    Remove(ClientArgument),
    Range(MemberRange),
}

/// A member that a command adds, or whose score it changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberAdd {
    pub(crate) member: ClientArgument,
    pub(crate) score: f64,
    pub(crate) rule: AddRule,
    /// Whether it is the first one of its command: all of them find room, or none.
    pub(crate) is_first: bool,
    /// What the command adds at most, from this member on.
    pub(crate) command_bytes: usize,
    pub(crate) bytes_max: usize,
}

/// The options of ZADD.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct AddRule {
    pub(crate) only_new: bool,
    pub(crate) only_present: bool,
    pub(crate) only_greater: bool,
    pub(crate) only_less: bool,
    /// Changed scores count as new members do.
    pub(crate) counts_changes: bool,
    /// The score is added to the one that is there, and the answer is the sum.
    pub(crate) is_sum: bool,
}

/// Some members, in their order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberRange {
    pub(crate) by: RangeBy,
    pub(crate) is_reverse: bool,
    /// So many are left out, then so many are taken: all of them where it is negative.
    pub(crate) offset: i64,
    pub(crate) count: i64,
    pub(crate) with_scores: bool,
}

/// What the ends of a range are.
#[derive(Clone, Copy, Debug)]
pub(crate) enum RangeBy {
    /// Places, from the end where they are negative.
    Rank(i64, i64),
    Score(ScoreEnd, ScoreEnd),
    Member(MemberEnd, MemberEnd),
}

/// An end of a range of scores.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ScoreEnd {
    pub(crate) score: f64,
    pub(crate) is_open: bool,
}

/// An end of a range of members.
#[derive(Clone, Copy, Debug)]
pub(crate) enum MemberEnd {
    Lowest,
    Highest,
    With(ClientArgument),
    Without(ClientArgument),
}

type Answer = Result<PartReply, &'static str>;

impl SortedAction {
    /// Whether INFO counts it as a look-up.
    pub(crate) fn is_look_up(&self) -> bool {
        !matches!(self, SortedAction::Add(_) | SortedAction::Remove(_))
    }
}

impl OpenHash {
    /// Carries out what is done with a sorted set, and tells whether that changed it.
    pub(super) fn apply_sorted(
        &mut self,
        action: SortedAction,
        texts: &mut Texts<'_>,
    ) -> (Answer, bool) {
        match action {
            SortedAction::Score(member) => {
                let score = self.score(member, texts);
                (Ok(score.map_or(PartReply::Null, PartReply::Double)), false)
            }
            SortedAction::Rank(member) => (Ok(self.rank(member, texts)), false),
            SortedAction::Count => (Ok(PartReply::Integer(self.len() as i64)), false),
            SortedAction::Remove(member) => {
                let was_there = self.delete(Text::Argument(member), texts);
                (Ok(PartReply::Integer(was_there.into())), was_there)
            }
            SortedAction::Add(add) => match self.add_member(add, texts) {
                Ok((reply, is_changed)) => (Ok(reply), is_changed),
                Err(refusal) => (Err(refusal), false),
            },
            SortedAction::Range(range) => (Ok(self.range(range, texts)), false),
        }
    }

    fn score(&mut self, member: ClientArgument, texts: &Texts<'_>) -> Option<f64> {
        let score = self.get(Text::Argument(member), texts)?;
        Some(score_of(texts.get(score)))
    }

    fn rank(&mut self, member: ClientArgument, texts: &Texts<'_>) -> PartReply {
        self.sort(texts);
        let wanted = texts.argument(member);
        let rank = self.fields().position(|(name, _)| texts.get(name) == wanted);
        rank.map_or(PartReply::Null, |rank| PartReply::Integer(rank as i64))
    }

    fn add_member(
        &mut self,
        add: MemberAdd,
        texts: &mut Texts<'_>,
    ) -> Result<(PartReply, bool), &'static str> {
        let MemberAdd { member, score, rule, is_first, command_bytes, bytes_max } = add;
        if is_first {
            self.is_full = self.bytes().saturating_add(command_bytes) > bytes_max;
        }
        let before = self.score(member, texts);
        let after = before.filter(|_| rule.is_sum).map_or(score, |before| before + score);
        // One that stays as it is has no sum.
        if after.is_nan() && (before.is_none() || !rule.only_new) {
            return Err(words::NOT_A_SCORE);
        }
        let is_taken = match before {
            None => !rule.only_present,
            Some(_) if rule.only_new => false,
            Some(before) => {
                (!rule.only_greater || after > before) && (!rule.only_less || after < before)
            }
        };
        let is_changed = is_taken && before != Some(after);
        if is_changed {
            // What is refused has changed nothing, so the first member answers for all.
            if self.is_full {
                return Err(words::FIELDS_TOO_LONG);
            }
            let start = texts.begin();
            // There is one zero: the sum of 0 and -0 is 0.
            texts.computed.extend_from_slice(&(after + 0.0).to_le_bytes());
            let score = texts.computed_since(start);
            self.set(Text::Argument(member), score, texts);
        }
        let counts = is_changed && (before.is_none() || rule.counts_changes);
        let reply = match (rule.is_sum, is_taken) {
            (false, _) => PartReply::Integer(counts.into()),
            (true, true) => PartReply::Double(after),
            (true, false) => PartReply::Null,
        };
        Ok((reply, is_changed))
    }

    fn range(&mut self, range: MemberRange, texts: &mut Texts<'_>) -> PartReply {
        self.sort(texts);
        let members: Vec<(Text, Text)> = self.fields().collect();
        let (start, end) = range.bounds(&members, texts);
        let mut some = members[start..end].to_vec();
        if range.is_reverse {
            some.reverse();
        }
        let offset = usize::try_from(range.offset).unwrap_or(usize::MAX);
        let count = usize::try_from(range.count).unwrap_or(usize::MAX);
        let mut list = TextList::begin(texts);
        for (member, score) in some.into_iter().skip(offset).take(count) {
            list.push(member, texts);
            if range.with_scores {
                list.push(score, texts);
            }
        }
        list.end(if range.with_scores { ListShape::Scores } else { ListShape::Array }, texts)
    }
}

impl MemberRange {
    /// Where it begins and ends among the members.
    fn bounds(&self, members: &[(Text, Text)], texts: &Texts<'_>) -> (usize, usize) {
        let (start, end) = match self.by {
            RangeBy::Rank(first, last) => {
                let (first, last) = rank_bounds(first, last, members.len());
                match self.is_reverse {
                    true => (members.len() - last, members.len() - first),
                    false => (first, last),
                }
            }
            // Members stand in the order of their scores, so each end is found by halves.
            RangeBy::Score(low, high) => {
                let score = |member: &(Text, Text)| score_of(texts.get(member.1));
                let is_below = |member: &_| {
                    score(member) < low.score || (low.is_open && score(member) <= low.score)
                };
                let is_within = |member: &_| {
                    score(member) < high.score || (!high.is_open && score(member) <= high.score)
                };
                (members.partition_point(is_below), members.partition_point(is_within))
            }
            // All have one score where this makes sense, and stand in the order of their names.
            RangeBy::Member(low, high) => {
                let name = |member: &(Text, Text)| texts.get(member.0);
                let is_below = |member: &_| match low {
                    MemberEnd::Lowest => false,
                    MemberEnd::Highest => true,
                    MemberEnd::With(low) => name(member) < texts.argument(low),
                    MemberEnd::Without(low) => name(member) <= texts.argument(low),
                };
                let is_within = |member: &_| match high {
                    MemberEnd::Lowest => false,
                    MemberEnd::Highest => true,
                    MemberEnd::With(high) => name(member) <= texts.argument(high),
                    MemberEnd::Without(high) => name(member) < texts.argument(high),
                };
                (members.partition_point(is_below), members.partition_point(is_within))
            }
        };
        (start, end.max(start))
    }
}

/// Places from the end, as a half-open range within so many members.
fn rank_bounds(first: i64, last: i64, len: usize) -> (usize, usize) {
    let len = len as i64;
    let from_end = |place: i64| if place < 0 { len.saturating_add(place) } else { place };
    let (first, last) = (from_end(first).max(0), from_end(last).min(len - 1));
    if first > last { (0, 0) } else { (first as usize, last as usize + 1) }
}

/// How many bytes a member takes.
pub(crate) fn member_bytes(member: usize) -> usize {
    entry_bytes(member, size_of::<f64>())
}
