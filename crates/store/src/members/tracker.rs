//! Tracks by its own clock when the row of each other member last changed.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use super::row::MembersSnapshot;

/// The version of each member's row, and since when this process has seen no other.
#[derive(Debug, Default)]
pub(super) struct MemberTracker {
    seen: HashMap<u64, (u64, Instant)>,
}

impl MemberTracker {
    /// Notes what the rows are now.
    pub(super) fn record(&mut self, all: &MembersSnapshot, now: Instant) {
        self.seen.retain(|id, _| all.members.iter().any(|(member, _)| member.id == *id));
        for (member, version) in &all.members {
            let seen = self.seen.entry(member.id).or_insert((*version, now));
            if seen.0 != *version {
                *seen = (*version, now);
            }
        }
    }

    /// Whether the row of a member has stayed as it is for so long.
    pub(super) fn is_gone(&self, id: u64, now: Instant, after: Duration) -> bool {
        self.seen.get(&id).is_some_and(|(_, since)| now.saturating_duration_since(*since) >= after)
    }

    /// The members that are gone, with the versions of their rows.
    pub(super) fn gone_members(
        &self,
        now: Instant,
        after: Duration,
    ) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.seen
            .iter()
            .filter(move |(id, _)| self.is_gone(**id, now, after))
            .map(|(id, (version, _))| (*id, *version))
    }
}
