//! What an opening knows of the other members at one point in time.

use super::row::MembersSnapshot;

/// Whether others are there, and how many changes of tables they announced so far.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MemberView {
    epoch: u64,
    is_alone: bool,
}

impl MemberView {
    /// What member `own` sees.
    pub(super) fn of(all: &MembersSnapshot, own: u64) -> Self {
        let is_alone = all.members.iter().all(|(member, _)| member.id == own);
        Self { epoch: all.epoch, is_alone }
    }

    /// Whether there is no other opening, as far as rows tell. One that ended without a word counts
    /// as there until others have missed it for a while.
    pub(crate) fn is_alone(self) -> bool {
        self.is_alone
    }

    /// Whether no member changed tables between this look and a later one. A member that came and
    /// left in between has announced its changes.
    pub(crate) fn was_alone_until(self, later: Self) -> bool {
        self.is_alone && later.is_alone && self.epoch == later.epoch
    }
}
