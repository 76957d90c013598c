//! Walks over the members of a collection in their order.
//!
//! Members of a spread collection are read page by page. What the parts before have changed is not
//! stored yet: changed members are left out of the pages, and come in between at their new places.

use super::open_hash::OpenHash;
use super::texts::{Text, Texts};
use crate::values::{EntryName, ValueKind, score_of};

/// The rows of the first page, unless fewer are wanted, and of those after it.
const FIRST_ROWS: usize = 128;
const NEXT_ROWS: usize = 2_048;

/// In which order members come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WalkOrder {
    /// That in which they lie.
    Stored,
    /// By their scores, then by their names.
    Score,
}

/// Which members come: those whose places are not below the start and below the end. A place is the
/// bytes of a hash or a score, then those of the member.
#[derive(Clone, Debug)]
pub(super) struct WalkRange {
    pub(super) order: WalkOrder,
    pub(super) start: Vec<u8>,
    pub(super) end: Option<Vec<u8>>,
    pub(super) is_reverse: bool,
    /// How many are wanted at most, as far as that is known.
    pub(super) wanted: usize,
}

/// A member on the way.
#[derive(Clone, Copy, Debug)]
pub(super) enum WalkedMember<'m> {
    /// One that is in memory, with its value.
    Known(Text, Text),
    /// One that was read.
    Read(&'m [u8], &'m [u8]),
}

impl<'m> WalkedMember<'m> {
    pub(super) fn name<'t>(&self, texts: &'t Texts<'_>) -> &'t [u8]
    where
        'm: 't,
    {
        match self {
            Self::Known(name, _) => texts.get(*name),
            Self::Read(name, _) => name,
        }
    }

    pub(super) fn value<'t>(&self, texts: &'t Texts<'_>) -> &'t [u8]
    where
        'm: 't,
    {
        match self {
            Self::Known(_, value) => texts.get(*value),
            Self::Read(_, value) => value,
        }
    }

    /// Its name and value as texts; what was read is copied.
    pub(super) fn keep(&self, texts: &mut Texts<'_>) -> (Text, Text) {
        match self {
            Self::Known(name, value) => (*name, *value),
            Self::Read(name, value) => (texts.keep(name), texts.keep(value)),
        }
    }
}

impl WalkRange {
    /// All members.
    pub(super) fn all(order: WalkOrder) -> Self {
        Self { order, start: Vec::new(), end: None, is_reverse: false, wanted: usize::MAX }
    }

    fn holds(&self, place: &[u8]) -> bool {
        place >= &self.start[..] && self.end.as_ref().is_none_or(|end| place < &end[..])
    }
}

/// Takes a member; answers false to end the walk.
pub(super) type TakeMember<'f> = &'f mut dyn FnMut(WalkedMember<'_>, &mut Texts<'_>) -> bool;

impl OpenHash {
    /// Walks over members.
    pub(super) fn walk(&mut self, range: &WalkRange, texts: &mut Texts<'_>, take: TakeMember<'_>) {
        match self.spread.is_some() {
            true => self.walk_spread(range, texts, take),
            false => self.walk_whole(range, texts, take),
        }
    }

    fn walk_whole(&mut self, range: &WalkRange, texts: &mut Texts<'_>, take: TakeMember<'_>) {
        self.sort(texts);
        // Those of a hash have no order that a range could be of: all of them come.
        let is_bounded = self.kind() == ValueKind::SortedSet && range.order == WalkOrder::Score;
        let mut place = Vec::new();
        let mut place_of = |number: usize| {
            let field = &self.fields[number];
            self.place_of(range.order, field.name, field.value, texts, &mut place);
            place.clone()
        };
        let (mut first, mut last) = (0, self.fields.len());
        if is_bounded {
            first = partition_point(last, |number| place_of(number) < range.start);
            if let Some(end) = &range.end {
                last = partition_point(last, |number| place_of(number) < *end).max(first);
            }
        }
        for step in first..last {
            let number = if range.is_reverse { first + last - 1 - step } else { step };
            let field = self.fields[number];
            if !field.is_deleted && !take(WalkedMember::Known(field.name, field.value), texts) {
                return;
            }
        }
    }

    /// The bytes that a member is sorted by.
    fn place_of(
        &self,
        order: WalkOrder,
        name: Text,
        value: Text,
        texts: &Texts<'_>,
        place: &mut Vec<u8>,
    ) {
        let name = texts.get(name);
        let entry = match order {
            WalkOrder::Stored => EntryName::of_member(0, name),
            WalkOrder::Score => EntryName::of_score(0, score_of(texts.get(value))),
        };
        place.clear();
        place.extend_from_slice(&entry.as_bytes()[9..]);
        place.extend_from_slice(name);
    }

    fn walk_spread(&mut self, range: &WalkRange, texts: &mut Texts<'_>, take: TakeMember<'_>) {
        let Some(spread) = &mut self.spread else { return };
        let Some(source) = texts.entries else { return };
        let like = match range.order {
            WalkOrder::Stored => EntryName::from_hash(spread.generation, 0),
            WalkOrder::Score => EntryName::of_score(spread.generation, 0.0),
        };
        let start = [&like.first_like()[..], &range.start].concat();
        let end = match &range.end {
            Some(end) => [&like.first_like()[..], end].concat(),
            None => like.behind_like().to_vec(),
        };
        let (mut page, is_stored) = (std::mem::take(&mut spread.page), !spread.is_new);
        // Those in between, the next one last.
        let mut between = self.pending_places(range, texts);
        let rows = range.wanted.saturating_add(between.len()).clamp(1, FIRST_ROWS);
        let scan = is_stored.then(|| source.scan((&start, Some(&end)), range.is_reverse, rows));
        let mut scan = scan.and_then(|scan| texts.or_fail(scan));
        let mut goes_on = true;
        // Both are in the order of the walk, and become one.
        while goes_on && let Some(open) = &mut scan {
            let read = open.next_batch(&mut page);
            if !texts.or_fail(read).unwrap_or(false) {
                break;
            }
            open.set_rows_max(NEXT_ROWS);
            self.spread.iter_mut().for_each(|spread| spread.reads += 1);
            for row in 0..page.len() {
                let entry = page.name(row);
                let Some((order, member)) = EntryName::read(entry) else { continue };
                let place = &entry[9..];
                let is_first =
                    |other: &[u8]| if range.is_reverse { other > place } else { other < place };
                while goes_on && between.last().is_some_and(|(other, _)| is_first(other)) {
                    goes_on = self.take_pending(&mut between, texts, take);
                }
                let is_changed = self
                    .known(member, texts)
                    .is_some_and(|number| self.fields[number].is_pending());
                if goes_on && !is_changed {
                    let score = EntryName::score(order).to_le_bytes();
                    let value = match range.order {
                        WalkOrder::Stored => page.value(row),
                        WalkOrder::Score => &score,
                    };
                    goes_on = take(WalkedMember::Read(member, value), texts);
                }
                if !goes_on {
                    break;
                }
            }
        }
        self.spread.iter_mut().for_each(|spread| spread.page = std::mem::take(&mut page));
        while goes_on && !between.is_empty() {
            goes_on = self.take_pending(&mut between, texts, take);
        }
    }

    /// The places of changed members within a range, and their numbers, the last one first.
    fn pending_places(&self, range: &WalkRange, texts: &Texts<'_>) -> Vec<(Vec<u8>, usize)> {
        let pending = |(_, field): &(usize, &super::open_hash::OpenField)| {
            !field.is_deleted && field.is_pending()
        };
        let mut places: Vec<(Vec<u8>, usize)> = Vec::new();
        for (number, field) in self.fields.iter().enumerate().filter(pending) {
            let mut place = Vec::new();
            self.place_of(range.order, field.name, field.value, texts, &mut place);
            if range.holds(&place) {
                places.push((place, number));
            }
        }
        places.sort_unstable();
        if !range.is_reverse {
            places.reverse();
        }
        places
    }

    fn take_pending(
        &self,
        between: &mut Vec<(Vec<u8>, usize)>,
        texts: &mut Texts<'_>,
        take: TakeMember<'_>,
    ) -> bool {
        let Some((_, number)) = between.pop() else { return true };
        let field = self.fields[number];
        take(WalkedMember::Known(field.name, field.value), texts)
    }
}

/// The first number below `len` for which it does not hold; it holds for all before.
fn partition_point(len: usize, mut holds: impl FnMut(usize) -> bool) -> usize {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        match holds(middle) {
            true => low = middle + 1,
            false => high = middle,
        }
    }
    low
}
