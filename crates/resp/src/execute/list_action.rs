//! What commands do with a list.

use super::hash_action::Answer;
use super::open_list::OpenList;
use super::part_reply::{ListShape, PartReply};
use super::room::CommandRoom;
use super::sorted_range::rank_bounds;
use super::text_list::TextList;
use super::texts::{ClientArgument, Text, Texts};
use super::words;

/// What is done with a list.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ListAction {
    Length,
    Push {
        element: ClientArgument,
        is_front: bool,
        only_present: bool,
        room: CommandRoom,
    },
    /// So many from an end; without a number one, which is shown by itself.
    Pop {
        is_front: bool,
        count: Option<u64>,
    },
    /// The element at an index, or why the index is refused: that counts once there is a list.
    Get(Result<i64, &'static str>),
    Range(i64, i64),
    Set {
        index: Result<i64, &'static str>,
        element: ClientArgument,
        room: CommandRoom,
    },
    Trim(i64, i64),
    /// Deletes so many equal elements; from the end where the number is negative, all for 0.
    Remove {
        count: i64,
        element: ClientArgument,
    },
    Insert {
        is_behind: bool,
        pivot: ClientArgument,
        element: ClientArgument,
        room: CommandRoom,
    },
    Find(ElementSearch),
}

/// The position of an element.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ElementSearch {
    pub(crate) element: ClientArgument,
    /// The first that counts: 1 for the first one, -1 for the last one.
    pub(crate) rank: i64,
    /// How many are shown, all for 0; without a number one, which is shown by itself.
    pub(crate) count: Option<u64>,
    /// How many elements are looked at, all for 0.
    pub(crate) compared_max: u64,
}

impl ListAction {
    /// Whether INFO counts it as a look-up.
    pub(crate) fn is_look_up(&self) -> bool {
        use ListAction::{Find, Get, Length, Range};
        matches!(self, Length | Get(_) | Range(..) | Find(_))
    }
}

/// An index from the end where it is negative; none outside.
fn index_in(index: i64, len: usize) -> Option<usize> {
    let index = if index < 0 { (len as i64).checked_add(index)? } else { index };
    usize::try_from(index).ok().filter(|index| *index < len)
}

impl OpenList {
    /// Carries out what is done with a list, and says whether that changed it.
    pub(super) fn apply(&mut self, action: ListAction, texts: &mut Texts<'_>) -> (Answer, bool) {
        let len = self.len();
        // Beside the answer each says whether it is to be written.
        match action {
            ListAction::Length => (Ok(PartReply::Integer(len as i64)), false),
            ListAction::Push { element, is_front, only_present, room } => {
                if only_present && len == 0 {
                    return (Ok(PartReply::Integer(0)), false);
                }
                if let Err(refusal) = self.check_room(room, texts) {
                    return (Err(refusal), false);
                }
                self.push(Text::Argument(element), is_front, texts);
                (Ok(PartReply::Integer(len as i64 + 1)), true)
            }
            ListAction::Pop { is_front, count } => self.pop_some(is_front, count, texts),
            ListAction::Get(_) if len == 0 => (Ok(PartReply::Null), false),
            ListAction::Get(Err(refusal)) => (Err(refusal), false),
            ListAction::Get(Ok(index)) => {
                let found = index_in(index, len).and_then(|index| self.get(index, texts));
                (Ok(found.map_or(PartReply::Null, PartReply::Text)), false)
            }
            ListAction::Range(start, end) => (Ok(self.range(start, end, texts)), false),
            ListAction::Set { index, element, room } => {
                if len == 0 {
                    return (Err(words::NO_SUCH_KEY), false);
                }
                let index = match index.map(|index| index_in(index, len)) {
                    Ok(Some(index)) => index,
                    Ok(None) => return (Err(words::NO_SUCH_INDEX), false),
                    Err(refusal) => return (Err(refusal), false),
                };
                if let Err(refusal) = self.check_room(room, texts) {
                    return (Err(refusal), false);
                }
                self.set(index, Text::Argument(element), texts);
                (Ok(PartReply::Ok), true)
            }
            ListAction::Trim(start, end) => {
                let (start, end) = rank_bounds(start, end, len);
                // What keeps everything writes nothing.
                let is_changed = (start, end) != (0, len);
                if is_changed {
                    self.keep(start, end, texts);
                }
                (Ok(PartReply::Ok), is_changed)
            }
            ListAction::Remove { count, element } => match self.remove(count, element, texts) {
                Ok(removed) => (Ok(PartReply::Integer(removed as i64)), removed > 0),
                Err(refusal) => (Err(refusal), false),
            },
            ListAction::Insert { is_behind, pivot, element, room } => {
                match self.insert(is_behind, pivot, element, room, texts) {
                    Ok(reply) => (Ok(PartReply::Integer(reply)), reply > 0),
                    Err(refusal) => (Err(refusal), false),
                }
            }
            ListAction::Find(search) => (Ok(self.find(search, texts)), false),
        }
    }

    fn pop_some(
        &mut self,
        is_front: bool,
        count: Option<u64>,
        texts: &mut Texts<'_>,
    ) -> (Answer, bool) {
        let Some(count) = count else {
            let popped = self.pop(is_front, texts);
            return (Ok(popped.map_or(PartReply::Null, PartReply::Text)), popped.is_some());
        };
        // A list that is not there is no list; of one that is none may be asked for.
        if self.len() == 0 {
            return (Ok(TextList::begin(texts).end(ListShape::ArrayOrNull, texts)), false);
        }
        let count = count.min(self.len() as u64) as usize;
        if count == 0 {
            return (Ok(TextList::begin(texts).end(ListShape::Array, texts)), false);
        }
        let (start, end) = if is_front { (0, count) } else { (self.len() - count, self.len()) };
        let (mut popped, begun, bytes_max) = (Vec::new(), texts.begin(), texts.bytes_max);
        self.each((start, end), texts, &mut |_, element, texts| {
            popped.push(texts.keep(element));
            texts.begin() - begun <= bytes_max
        });
        if texts.begin() - begun > bytes_max {
            return (Err(words::REPLY_TOO_LARGE), false);
        }
        // From the end the last one comes first.
        if !is_front {
            popped.reverse();
        }
        let mut list = TextList::begin(texts);
        popped.iter().for_each(|element| list.push(*element, texts));
        let reply = list.end(ListShape::Array, texts);
        match is_front {
            true => self.keep(count, self.len(), texts),
            false => self.keep(0, start, texts),
        }
        (Ok(reply), true)
    }

    fn range(&mut self, start: i64, end: i64, texts: &mut Texts<'_>) -> PartReply {
        let range = rank_bounds(start, end, self.len());
        let (mut list, bytes_max) = (TextList::begin(texts), texts.bytes_max);
        self.each(range, texts, &mut |_, element, texts| {
            list.push_bytes(element, texts);
            // Beyond that the reply is refused anyway.
            list.bytes(texts) <= bytes_max
        });
        list.end(ListShape::Array, texts)
    }

    fn remove(
        &mut self,
        count: i64,
        element: ClientArgument,
        texts: &mut Texts<'_>,
    ) -> Result<usize, &'static str> {
        let mut found = Vec::new();
        // From the end on all are looked at: elements are read forward.
        self.each((0, self.len()), texts, &mut |index, other, texts| {
            if other == texts.argument(element) {
                found.push(index);
            }
            count <= 0 || (found.len() as i64) < count
        });
        let wanted = if count == 0 { usize::MAX } else { count.unsigned_abs() as usize };
        if count < 0 {
            found.drain(..found.len().saturating_sub(wanted));
        }
        if found.is_empty() {
            return Ok(0);
        }
        // In one pass, whatever their number is.
        let (mut number, mut next) = (0, found.iter().copied().peekable());
        self.whole(texts)?.retain(|_| {
            number += 1;
            next.next_if_eq(&(number - 1)).is_none()
        });
        self.changed(texts);
        Ok(found.len())
    }

    /// How many elements there are then; 0 without a list, -1 without the pivot.
    fn insert(
        &mut self,
        is_behind: bool,
        pivot: ClientArgument,
        element: ClientArgument,
        room: CommandRoom,
        texts: &mut Texts<'_>,
    ) -> Result<i64, &'static str> {
        if self.len() == 0 {
            return Ok(0);
        }
        let mut found = None;
        self.each((0, self.len()), texts, &mut |index, other, texts| {
            found = (other == texts.argument(pivot)).then_some(index);
            found.is_none()
        });
        let Some(index) = found else { return Ok(-1) };
        self.check_room(room, texts)?;
        self.whole(texts)?.insert(index + usize::from(is_behind), Text::Argument(element));
        self.changed(texts);
        Ok(self.len() as i64)
    }

    fn find(&mut self, search: ElementSearch, texts: &mut Texts<'_>) -> PartReply {
        let ElementSearch { element, rank, count, compared_max } = search;
        let (len, is_reverse) = (self.len(), rank < 0);
        let compared = if compared_max == 0 { len as u64 } else { compared_max.min(len as u64) };
        let start = if is_reverse { len - compared as usize } else { 0 };
        let wanted = match count {
            None => 1,
            Some(0) => u64::MAX,
            Some(count) => count,
        };
        // Those before the rank are found, and left out.
        let skipped = rank.unsigned_abs() - 1;
        let last = skipped.saturating_add(wanted);
        let mut found = Vec::new();
        self.each((start, start + compared as usize), texts, &mut |index, other, texts| {
            if other == texts.argument(element) {
                found.push(index as i64);
            }
            // From the end on the last ones count, which are not known before.
            is_reverse || (found.len() as u64) < last
        });
        if is_reverse {
            found.reverse();
        }
        let mut found = found.into_iter().skip(skipped as usize).take(wanted as usize);
        match count {
            None => found.next_back().map_or(PartReply::Null, PartReply::Integer),
            Some(_) => {
                let mut list = TextList::begin(texts);
                found.for_each(|index| list.push_bytes(&index.to_le_bytes(), texts));
                list.end(ListShape::Integers, texts)
            }
        }
    }
}
