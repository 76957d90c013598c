//! Searches an order of operations that explains all of their answers.
//!
//! The search is that of Wing and Gong, "Testing and verifying concurrent objects" (1993), with the
//! memory that Lowe added in "Testing for linearizability" (2017):
//!
//! 1. An operation may come next if no other open one ended before it was called.
//! 2. Take one whose answer fits the state. If none does, take back the one before.
//! 3. Remember what was done and the state after it: being there again leads nowhere new.

use std::collections::HashSet;

use super::history::{HistoryEvent, HistoryOperation, LearnedVersions, ObjectState, step};

/// What the search found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SearchVerdict {
    Explained,
    Unexplained,
    /// There were too many possibilities.
    GaveUp,
}

/// Places remembered before the search gives up.
const MEMORY: usize = 600_000;

/// With `lenient`, an entry of a load may also have had no effect at all.
pub(super) fn search(
    events: &[HistoryEvent],
    versions: &LearnedVersions,
    lenient: bool,
) -> SearchVerdict {
    let mut events: Vec<&HistoryEvent> = events.iter().collect();
    events.sort_by_key(|event| event.call);
    Search { events, versions, lenient, seen: HashSet::new() }.run()
}

/// Which operations were done, one bit each.
type DoneBits = Vec<u64>;

/// A place of the search: what was done, the state then, and what may come next.
struct SearchNode {
    done: DoneBits,
    count: usize,
    state: ObjectState,
    next: Vec<OperationChoice>,
}

#[derive(Clone, Copy)]
struct OperationChoice {
    event: usize,
    has_effect: bool,
}

struct Search<'e> {
    events: Vec<&'e HistoryEvent>,
    versions: &'e LearnedVersions,
    lenient: bool,
    seen: HashSet<(DoneBits, ObjectState)>,
}

impl Search<'_> {
    fn run(mut self) -> SearchVerdict {
        if self.events.is_empty() {
            return SearchVerdict::Explained;
        }
        let done = vec![0; self.events.len().div_ceil(64)];
        let next = self.candidates(&done);
        let mut path = vec![SearchNode { done, count: 0, state: ObjectState::default(), next }];
        while let Some(place) = path.last_mut() {
            let Some(candidate) = place.next.pop() else {
                path.pop();
                continue;
            };
            let operation = &self.events[candidate.event].operation;
            let state = match candidate.has_effect {
                true => step(&place.state, operation, self.versions),
                false => Some(place.state),
            };
            let Some(state) = state else { continue };
            let mut done = place.done.clone();
            done[candidate.event / 64] |= 1 << (candidate.event % 64);
            let count = place.count + 1;
            if count == self.events.len() {
                return SearchVerdict::Explained;
            }
            // The search takes exponential time at worst. To give up is no verdict on the store.
            if self.seen.len() > MEMORY {
                return SearchVerdict::GaveUp;
            }
            // Another order of the same operations came here before: what follows is the same.
            if self.seen.insert((done.clone(), state)) {
                let next = self.candidates(&done);
                path.push(SearchNode { done, count, state, next });
            }
        }
        SearchVerdict::Unexplained
    }

    fn candidates(&self, done: &DoneBits) -> Vec<OperationChoice> {
        let mut first_end = u64::MAX;
        let mut open = Vec::new();
        for (at, event) in self.events.iter().enumerate() {
            if event.call > first_end {
                break;
            }
            if done[at / 64] >> (at % 64) & 1 == 0 {
                first_end = first_end.min(event.end);
                open.push(at);
            }
        }
        open.retain(|at| self.events[*at].call < first_end);
        let is_load =
            |at: usize| matches!(self.events[at].operation, HistoryOperation::Load { .. });
        let idle = open.iter().filter(|at| self.lenient && is_load(**at));
        let idle = idle.map(|event| OperationChoice { event: *event, has_effect: false });
        let with_effect =
            open.iter().map(|event| OperationChoice { event: *event, has_effect: true });
        with_effect.chain(idle).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linear::history::{LoadMode, WriteAnswer, WriteCondition};

    fn event(call: u64, end: u64, operation: HistoryOperation) -> HistoryEvent {
        HistoryEvent { call, end, thread: 0, operation }
    }

    fn get(write: u64) -> HistoryOperation {
        HistoryOperation::Get { key: 0, write }
    }

    fn put(write: u64) -> HistoryOperation {
        HistoryOperation::Put { key: 0, write }
    }

    fn verdict(events: &[HistoryEvent]) -> SearchVerdict {
        search(events, &LearnedVersions::new(), false)
    }

    #[test]
    fn operations_at_the_same_time_may_come_in_either_order() {
        for seen in [7, 8] {
            let history = [event(1, 5, put(7)), event(2, 4, put(8)), event(6, 7, get(seen))];
            assert_eq!(verdict(&history), SearchVerdict::Explained, "{seen}");
        }
    }

    #[test]
    fn a_read_after_a_write_shows_it() {
        let history = [event(1, 2, put(7)), event(3, 4, get(0))];
        assert_eq!(verdict(&history), SearchVerdict::Unexplained);
    }

    #[test]
    fn a_write_that_was_seen_stays_seen() {
        let history = [event(1, 9, put(7)), event(2, 3, get(7)), event(4, 5, get(0))];
        assert_eq!(verdict(&history), SearchVerdict::Unexplained);
    }

    #[test]
    fn an_entry_of_a_load_that_a_conditional_write_overtook_is_explained_leniently_only() {
        let conditional = HistoryOperation::Conditional {
            key: 0,
            when: WriteCondition::Shows(7),
            write: 9,
            answer: WriteAnswer::Stored,
        };
        let history = [
            event(1, 2, put(7)),
            event(3, 10, HistoryOperation::Load { key: 0, write: 8, mode: LoadMode::Overwrite }),
            event(4, 5, conditional),
            event(11, 12, get(9)),
        ];
        // The load last would show 8; first, the condition would not hold.
        assert_eq!(verdict(&history), SearchVerdict::Unexplained);
        assert_eq!(search(&history, &LearnedVersions::new(), true), SearchVerdict::Explained);
    }
}
