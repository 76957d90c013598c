//! What commands do with a sorted set: a hash whose values are scores, in the order of these.

use super::hash_action::Answer;
use super::open_hash::OpenHash;
use super::part_reply::{ListShape, PartReply};
use super::room::CommandRoom;
use super::sorted_range::{MemberRange, RangeBy};
use super::text_list::TextList;
use super::texts::{ClientArgument, Text, Texts};
use super::walk::{WalkOrder, WalkRange};
use super::words;
use crate::values::{EntryName, entry_bytes, score_of};

/// What is done with a sorted set.
#[derive(Clone, Copy, Debug)]
pub(crate) enum SortedAction {
    Score(ClientArgument),
    Rank {
        member: ClientArgument,
        is_reverse: bool,
    },
    Count,
    /// How many members a range has.
    CountIn(RangeBy),
    Add(MemberAdd),
    Remove(ClientArgument),
    Range(MemberRange),
    /// Deletes the members of a range, and counts them.
    RemoveRange(RangeBy),
    /// Deletes so many with the lowest or highest scores, and shows them. Without a number it is
    /// one, which is shown by itself.
    Pop {
        count: Option<u64>,
        is_highest: bool,
    },
}

/// A member that a command adds, or whose score it changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberAdd {
    pub(crate) member: ClientArgument,
    pub(crate) score: f64,
    pub(crate) rule: AddRule,
    pub(crate) room: CommandRoom,
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

impl SortedAction {
    /// Whether INFO counts it as a look-up.
    pub(crate) fn is_look_up(&self) -> bool {
        !matches!(
            self,
            SortedAction::Add(_)
                | SortedAction::Remove(_)
                | SortedAction::RemoveRange(_)
                | SortedAction::Pop { .. }
        )
    }

    /// The member that it looks at.
    pub(super) fn member(&self) -> Option<ClientArgument> {
        match self {
            SortedAction::Score(member) | SortedAction::Remove(member) => Some(*member),
            SortedAction::Rank { member, .. } => Some(*member),
            SortedAction::Add(add) => Some(add.member),
            _ => None,
        }
    }
}

impl OpenHash {
    /// Carries out what is done with a sorted set, and says whether that changed it.
    pub(super) fn apply_sorted(
        &mut self,
        action: SortedAction,
        texts: &mut Texts<'_>,
    ) -> (Answer, bool) {
        // Beside the answer each says whether it is to be written.
        match action {
            SortedAction::Score(member) => {
                let score = self.score(member, texts);
                (Ok(score.map_or(PartReply::Null, PartReply::Double)), false)
            }
            SortedAction::Rank { member, is_reverse } => {
                (Ok(self.rank(member, is_reverse, texts)), false)
            }
            SortedAction::Count => (Ok(PartReply::Integer(self.len() as i64)), false),
            SortedAction::CountIn(range) => {
                (Ok(PartReply::Integer(self.count_in(range, texts) as i64)), false)
            }
            SortedAction::Remove(member) => {
                let was_there = self.delete(Text::Argument(member), texts);
                (Ok(PartReply::Integer(was_there.into())), was_there)
            }
            // One that is refused has changed nothing.
            SortedAction::Add(add) => match self.add_member(add, texts) {
                Ok((reply, is_changed)) => (Ok(reply), is_changed),
                Err(refusal) => (Err(refusal), false),
            },
            SortedAction::Range(range) => (self.range(range, texts), false),
            SortedAction::RemoveRange(range) => self.remove_range(range, texts),
            SortedAction::Pop { count, is_highest } => self.pop_ends(count, is_highest, texts),
        }
    }

    fn score(&mut self, member: ClientArgument, texts: &mut Texts<'_>) -> Option<f64> {
        let score = self.get(Text::Argument(member), texts)?;
        Some(score_of(texts.get(score)))
    }

    /// How many members stand before one: they are counted.
    fn rank(
        &mut self,
        member: ClientArgument,
        is_reverse: bool,
        texts: &mut Texts<'_>,
    ) -> PartReply {
        let Some(score) = self.score(member, texts) else { return PartReply::Null };
        let place = EntryName::of_score(0, score);
        let end = [&place.as_bytes()[9..], texts.argument(member)].concat();
        let before = WalkRange { end: Some(end), ..WalkRange::all(WalkOrder::Score) };
        let mut rank = 0;
        self.walk(&before, texts, &mut |_, _| {
            rank += 1;
            true
        });
        let last = (self.len() as i64).saturating_sub(1);
        self.note_read();
        PartReply::Integer(if is_reverse { (last - rank).max(0) } else { rank })
    }

    fn add_member(
        &mut self,
        add: MemberAdd,
        texts: &mut Texts<'_>,
    ) -> Result<(PartReply, bool), &'static str> {
        let MemberAdd { member, score, rule, room } = add;
        let refusal = self.check_room(room, texts);
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
            refusal?;
            // There is one zero: the sum of 0 and -0 is 0.
            let score = texts.keep(&(after + 0.0).to_le_bytes());
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

    fn range(&mut self, range: MemberRange, texts: &mut Texts<'_>) -> Answer {
        let chosen = self.members_in(range, texts)?;
        let mut list = TextList::begin(texts);
        for (member, score) in chosen {
            list.push(member, texts);
            if range.with_scores {
                list.push(score, texts);
            }
        }
        Ok(list.end(if range.with_scores { ListShape::Scores } else { ListShape::Array }, texts))
    }

    fn remove_range(&mut self, by: RangeBy, texts: &mut Texts<'_>) -> (Answer, bool) {
        let chosen = match self.members_in(MemberRange::of(by), texts) {
            Ok(chosen) => chosen,
            Err(refusal) => return (Err(refusal), false),
        };
        let count = chosen.len();
        self.delete_all(&chosen, texts);
        (Ok(PartReply::Integer(count as i64)), count > 0)
    }

    /// Deletes members that are there.
    fn delete_all(&mut self, members: &[(Text, Text)], texts: &mut Texts<'_>) {
        // What is deleted as a whole is not read one by one.
        if members.len() == self.len() {
            return self.begin(self.kind());
        }
        for (name, score) in members {
            self.delete_read(*name, *score, texts);
        }
    }

    fn pop_ends(
        &mut self,
        count: Option<u64>,
        is_highest: bool,
        texts: &mut Texts<'_>,
    ) -> (Answer, bool) {
        let wanted = count.unwrap_or(1).min(self.len() as u64) as i64;
        let range = MemberRange {
            is_reverse: is_highest,
            with_scores: true,
            ..MemberRange::of(RangeBy::Rank(0, wanted - 1))
        };
        // No place before the first is the last one.
        let chosen = match wanted {
            0 => Ok(Vec::new()),
            _ => self.members_in(range, texts),
        };
        let chosen = match chosen {
            Ok(chosen) => chosen,
            Err(refusal) => return (Err(refusal), false),
        };
        // Listed before they are deleted, while their texts stand.
        let mut list = TextList::begin(texts);
        for (member, score) in &chosen {
            list.push(*member, texts);
            list.push(*score, texts);
        }
        let shape = if count.is_some() { ListShape::Scores } else { ListShape::MemberAndScore };
        let reply = list.end(shape, texts);
        self.delete_all(&chosen, texts);
        (Ok(reply), !chosen.is_empty())
    }
}

/// How many bytes a member takes.
pub(crate) fn member_bytes(member: usize) -> usize {
    entry_bytes(member, size_of::<f64>())
}
