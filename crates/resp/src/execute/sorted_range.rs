//! Ranges of the members of a sorted set: by places, by scores, by names.

use super::open_hash::OpenHash;
use super::texts::{ClientArgument, Text, Texts};
use super::walk::{WalkOrder, WalkRange};
use super::words;
use crate::values::{EntryName, score_of};

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

impl MemberRange {
    /// All members between two ends.
    pub(crate) fn of(by: RangeBy) -> Self {
        Self { by, is_reverse: false, offset: 0, count: -1, with_scores: false }
    }
}

impl OpenHash {
    /// How many members a range has.
    pub(super) fn count_in(&mut self, by: RangeBy, texts: &mut Texts<'_>) -> usize {
        if let RangeBy::Rank(first, last) = by {
            let (first, last) = rank_bounds(first, last, self.len());
            return last - first;
        }
        let Some(range) = self.walk_range(by, texts) else { return 0 };
        let mut count = 0;
        self.walk(&range, texts, &mut |_, _| {
            count += 1;
            true
        });
        count
    }

    /// The members of a range, with their scores.
    pub(super) fn members_in(
        &mut self,
        range: MemberRange,
        texts: &mut Texts<'_>,
    ) -> Result<Vec<(Text, Text)>, &'static str> {
        let mut offset = usize::try_from(range.offset).unwrap_or(usize::MAX);
        let mut count = usize::try_from(range.count).unwrap_or(usize::MAX);
        let (mut is_reverse, mut is_turned) = (range.is_reverse, false);
        if let RangeBy::Rank(first, last) = range.by {
            let (len, (first, last)) = (self.len(), rank_bounds(first, last, self.len()));
            self.note_read();
            (offset, count) = (first, last - first);
            // Places are counted from the nearer end.
            if first > len - last {
                (offset, is_reverse, is_turned) = (len - last, !is_reverse, true);
            }
        }
        let Some(mut walk) = self.walk_range(range.by, texts) else { return Ok(Vec::new()) };
        walk.is_reverse = is_reverse;
        walk.wanted = offset.saturating_add(count);
        let (mut chosen, begun, bytes_max) = (Vec::new(), texts.begin(), texts.bytes_max);
        if count > 0 {
            self.walk(&walk, texts, &mut |member, texts| {
                if offset > 0 {
                    offset -= 1;
                    return true;
                }
                chosen.push(member.keep(texts));
                // Beyond that the reply would be refused anyway.
                chosen.len() < count && texts.begin() - begun <= bytes_max
            });
        }
        if texts.begin() - begun > bytes_max {
            return Err(words::REPLY_TOO_LARGE);
        }
        if is_turned {
            chosen.reverse();
        }
        Ok(chosen)
    }

    /// The walk over a range; none where it is empty.
    fn walk_range(&mut self, by: RangeBy, texts: &mut Texts<'_>) -> Option<WalkRange> {
        let all = WalkRange::all(WalkOrder::Score);
        let (start, end) = match by {
            RangeBy::Rank(..) => return Some(all),
            RangeBy::Score(low, high) => {
                (score_place(low.score, low.is_open), score_place(high.score, !high.is_open))
            }
            // All have one score where this makes sense, and stand in the order of their names.
            RangeBy::Member(low, high) if self.spread.is_none() => {
                return self.walk_range_of_names(low, high, texts);
            }
            RangeBy::Member(low, high) => {
                let mut score = None;
                self.walk(&WalkRange { wanted: 1, ..all.clone() }, texts, &mut |member, texts| {
                    score = Some(score_of(member.value(texts)));
                    false
                });
                let score = score?;
                let place = |end: MemberEnd, is_behind: bool| match end {
                    MemberEnd::Lowest => score_place(score, false),
                    MemberEnd::Highest => score_place(score, true),
                    MemberEnd::With(member) | MemberEnd::Without(member) => {
                        let mut place = score_place(score, false);
                        place.extend_from_slice(texts.argument(member));
                        // Directly after the member itself.
                        if matches!(end, MemberEnd::With(_)) == is_behind {
                            place.push(0);
                        }
                        place
                    }
                };
                (place(low, false), place(high, true))
            }
        };
        (start < end).then_some(WalkRange { start, end: Some(end), ..all })
    }
}

impl OpenHash {
    /// The walk from the first member that is not below a name to the first one after it that is
    /// above another name, as Redis does it where scores differ.
    fn walk_range_of_names(
        &mut self,
        low: MemberEnd,
        high: MemberEnd,
        texts: &mut Texts<'_>,
    ) -> Option<WalkRange> {
        let all = WalkRange::all(WalkOrder::Score);
        let (mut start, mut end) = (None, None);
        self.walk(&all, texts, &mut |member, texts| {
            let name = member.name(texts);
            let place = || [&score_place(score_of(member.value(texts)), false)[..], name].concat();
            if start.is_none() && low.is_reached_by(name, texts) {
                start = Some(place());
            }
            if start.is_some() && high.is_passed_by(name, texts) {
                end = Some(place());
            }
            end.is_none()
        });
        let start = start.filter(|start| end.as_ref().is_none_or(|end| start < end))?;
        Some(WalkRange { start, end, ..all })
    }
}

impl MemberEnd {
    /// Whether a name is within a range that begins here.
    fn is_reached_by(self, name: &[u8], texts: &Texts<'_>) -> bool {
        match self {
            MemberEnd::Lowest => true,
            MemberEnd::Highest => false,
            MemberEnd::With(member) => name >= texts.argument(member),
            MemberEnd::Without(member) => name > texts.argument(member),
        }
    }

    /// Whether a name is beyond a range that ends here.
    fn is_passed_by(self, name: &[u8], texts: &Texts<'_>) -> bool {
        match self {
            MemberEnd::Lowest => true,
            MemberEnd::Highest => false,
            MemberEnd::With(member) => name > texts.argument(member),
            MemberEnd::Without(member) => name >= texts.argument(member),
        }
    }
}

/// The position before all members with a score, or after them.
fn score_place(score: f64, is_behind: bool) -> Vec<u8> {
    // There is one zero.
    let name = EntryName::of_score(0, score + 0.0);
    let order = EntryName::read(name.as_bytes()).map_or(0, |(order, _)| order);
    (order + u64::from(is_behind)).to_be_bytes().to_vec()
}

/// Places from the end, as a half-open range within so many members.
pub(super) fn rank_bounds(first: i64, last: i64, len: usize) -> (usize, usize) {
    let len = len as i64;
    let from_end = |place: i64| if place < 0 { len.saturating_add(place) } else { place };
    let (first, last) = (from_end(first).max(0), from_end(last).min(len - 1));
    if first > last { (0, 0) } else { (first as usize, last as usize + 1) }
}
