//! Whole keys on their way to point reads.
//!
//! Reading is the faster the closer together its keys lie: neighbours share blocks, and what one look-up brought near serves
//! the next. So as many keys as possible are gathered and sorted before they are dealt out to the workers in pieces. Measured
//! on 20 M rows: 3.1 us of processor time a key with 16 K keys sorted together, 2.1 with 128 K, 1.3 with 1 M.
//!
//! The first gathering is small, so that first rows come soon, and each is eight times as large as the one before. One that takes
//! long, because its source is slow, ends early.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use tonnage_engine::Slices;

use super::reading::ReadTask;

const GATHERED_FIRST: usize = 256;
const GATHERED_MOST: usize = 1 << 20;
const GATHERED_BYTES_MOST: usize = 32 << 20;
const GATHERING_LONGEST: Duration = Duration::from_millis(50);
/// How many keys are gathered between two looks at the clock, once so many have come: a slow source is looked at after every
/// key.
const CLOCK_EVERY: usize = 64;
/// Keys in one task: enough to be worth handing over, few enough that all workers end at about the same time.
const TASK_KEYS_MOST: usize = 32_768;

/// Gathers whole keys and makes tasks of them.
pub(crate) struct Points {
    ordered: bool,
    keys: Slices,
    size: usize,
    since: Option<Instant>,
    tasks: VecDeque<Slices>,
}

impl Points {
    /// Keys are read sorted and once each, unless they must be answered in the order given.
    pub(crate) fn new(ordered: bool) -> Self {
        Self { ordered, keys: Slices::new(), size: GATHERED_FIRST, since: None, tasks: VecDeque::new() }
    }

    /// The next task made of keys gathered before.
    pub(crate) fn next_task(&mut self) -> Option<ReadTask> {
        self.tasks.pop_front().map(ReadTask::Keys)
    }

    /// Whether there are no tasks to be taken.
    pub(crate) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    pub(crate) fn push(&mut self, key: &[u8]) {
        self.keys.push(key);
    }

    /// Whether enough is gathered for now.
    pub(crate) fn is_full(&mut self) -> bool {
        if self.keys.len() >= self.size || self.keys.bytes() >= GATHERED_BYTES_MOST {
            return true;
        }
        if self.keys.is_empty() || (self.keys.len() > CLOCK_EVERY && !self.keys.len().is_multiple_of(CLOCK_EVERY)) {
            return false;
        }
        self.since.get_or_insert_with(Instant::now).elapsed() >= GATHERING_LONGEST
    }

    /// Makes tasks of what is gathered.
    pub(crate) fn finish(&mut self) {
        if self.keys.len() >= self.size {
            self.size = (self.size * 8).min(GATHERED_MOST);
        }
        self.since = None;
        let keys = std::mem::take(&mut self.keys);
        let keys = if self.ordered { keys } else { sorted_and_distinct(&keys) };
        if keys.len() <= TASK_KEYS_MOST {
            self.tasks.extend((!keys.is_empty()).then_some(keys));
            return;
        }
        for first in (0..keys.len()).step_by(TASK_KEYS_MOST) {
            let piece = first..keys.len().min(first + TASK_KEYS_MOST);
            self.tasks.push_back(piece.map(|index| keys.get(index)).collect());
        }
    }
}

/// How many bytes of a key are compared at once.
const LEAD_LEN: usize = 12;

/// The keys in ascending order, each once.
fn sorted_and_distinct(keys: &Slices) -> Slices {
    let mut order = sorted_order(keys);
    order.dedup_by_key(|place| keys.get(*place as usize));
    let mut sorted = Slices::with_capacity(order.len(), keys.bytes());
    order.into_iter().for_each(|place| sorted.push(keys.get(place as usize)));
    sorted
}

/// The places of the keys in ascending order.
///
/// Most keys differ within a dozen bytes after what all have in common: these bytes and the number of the key make one integer,
/// and sorting integers needs no look at the keys. Only keys that agree in them are compared as a whole.
pub(crate) fn sorted_order(keys: &Slices) -> Vec<u32> {
    let common = common_prefix_len(keys);
    let lead = |index: usize| {
        let mut bytes = [0; 16];
        let rest = &keys.get(index)[common..];
        let len = rest.len().min(LEAD_LEN);
        bytes[..len].copy_from_slice(&rest[..len]);
        u128::from_be_bytes(bytes) | index as u128
    };
    let mut order: Vec<u128> = (0..keys.len()).map(lead).collect();
    order.sort_unstable();
    let key_of = |entry: u128| keys.get(entry as u32 as usize);
    for alike in order.chunk_by_mut(|a, b| a >> 32 == b >> 32).filter(|alike| alike.len() > 1) {
        alike.sort_unstable_by_key(|entry| key_of(*entry));
    }
    order.into_iter().map(|entry| entry as u32).collect()
}

fn common_prefix_len(keys: &Slices) -> usize {
    if keys.is_empty() {
        return 0;
    }
    let first = keys.get(0);
    keys.iter().fold(first.len(), |common, key| {
        if key.len() >= common && key[..common] == first[..common] {
            common
        } else {
            key.iter().zip(first).take_while(|(a, b)| a == b).count()
        }
    })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn keys_come_sorted_and_once_each(keys in proptest::collection::vec("[ab\\x00]{0,20}", 0..60), prefix in "[a]{0,14}") {
            let keys: Vec<Vec<u8>> = keys.into_iter().map(|key| format!("{prefix}{key}").into_bytes()).collect();
            let sorted = sorted_and_distinct(&keys.iter().map(Vec::as_slice).collect());
            let expected: BTreeSet<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            prop_assert!(sorted.iter().eq(expected));
        }
    }

    #[test]
    fn gathered_keys_become_tasks_of_bounded_size() {
        let mut points = Points::new(false);
        points.size = GATHERED_MOST;
        (0..100_000_u32).rev().for_each(|key| points.push(&key.to_be_bytes()));
        points.finish();
        let mut all = Slices::new();
        while let Some(ReadTask::Keys(keys)) = points.next_task() {
            assert!(keys.len() <= TASK_KEYS_MOST);
            keys.iter().for_each(|key| all.push(key));
        }
        assert!(all.iter().eq((0..100_000_u32).map(u32::to_be_bytes).collect::<Vec<_>>().iter().map(|key| &key[..])));
    }
}
