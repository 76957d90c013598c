//! Whether what a command adds finds room in a collection.

use super::entry_source::EntrySource;
use super::open_hash::OpenHash;
use super::texts::Texts;
use super::words;

/// What the members take that a command adds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CommandRoom {
    /// Whether this is its first one: all of them find room, or none.
    pub(crate) is_first: bool,
    /// Their bytes, if all of them are new.
    pub(crate) bytes: usize,
    /// The bytes of the longest name.
    pub(crate) longest: usize,
    pub(crate) bytes_max: usize,
}

impl OpenHash {
    /// Refuses a command whose members find no room. The first of them answers for all: what is
    /// refused has changed nothing.
    pub(super) fn check_room(
        &mut self,
        room: CommandRoom,
        texts: &Texts<'_>,
    ) -> Result<(), &'static str> {
        if room.is_first {
            self.refusal = self.lacks_room(room, texts);
        }
        self.refusal.map_or(Ok(()), Err)
    }

    fn lacks_room(&self, room: CommandRoom, texts: &Texts<'_>) -> Option<&'static str> {
        let entries = texts.entries.as_ref();
        let is_short = entries.is_some_and(|entries| room.longest <= entries.member_bytes_max());
        if self.spread.is_some() {
            return (!is_short).then_some(words::MEMBER_TOO_LONG);
        }
        // What becomes large is spread, unless a member is too long for that.
        let can_spread = entries.is_some_and(EntrySource::can_spread) && self.expiring == 0;
        let grows = is_short && can_spread;
        let is_over = self.bytes.saturating_add(room.bytes) > room.bytes_max;
        (is_over && !grows).then_some(words::FIELDS_TOO_LONG)
    }
}
