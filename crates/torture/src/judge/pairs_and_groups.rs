//! Judges key/value pairs, and groups that are deleted by range.

use std::collections::BTreeMap;

use super::JudgedStore;
use super::read::rows_of;
use crate::content::{long, pair_key, pair_value, purged_row};

impl JudgedStore {
    pub(super) fn judge_pairs(&mut self) -> tonnage::Result<()> {
        let pairs = self.store.kv();
        let expected: Vec<_> = self.expected.pairs.iter().map(|(k, g)| (*k, *g)).collect();
        for (key, known) in expected {
            let Some(pair) = pairs.get(&pair_key(key))? else {
                if let Some(kept) = known.kept {
                    self.complain(format_args!("LOST pair {key}: absent, {kept} is durable"));
                }
                continue;
            };
            let text = String::from_utf8_lossy(&pair.value);
            // One that cannot be read becomes -1, which no pair has: it shows as torn.
            let generation =
                text.split(' ').next().and_then(|word| word.parse().ok()).unwrap_or(-1);
            // The value follows from key and generation, so a mix of two shows.
            if pair.value != pair_value(key, generation) {
                self.complain(format_args!("TORN pair {key}"));
            }
            if generation > known.tried {
                self.complain(format_args!("PHANTOM pair {key} of generation {generation}"));
            }
            if let Some(kept) = known.kept.filter(|kept| generation < *kept) {
                self.complain(format_args!(
                    "LOST pair {key}: it has generation {generation}, {kept} is durable"
                ));
            }
        }
        Ok(())
    }

    /// A group is there whole, or not at all.
    pub(super) fn judge_groups(&mut self) -> tonnage::Result<()> {
        let mut found = BTreeMap::<i64, i64>::new();
        for row in rows_of(&self.store, "purged")? {
            let (group, key) = (long(&row, "p").unwrap_or(-1), long(&row, "k").unwrap_or(-1));
            *found.entry(group).or_default() += 1;
            // A group that was never put may have no rows at all.
            let count = self.expected.groups.get(&group).map_or(0, |group| group.count);
            if !(0..count).contains(&key) {
                self.complain(format_args!("PHANTOM row {key} of group {group}"));
            }
            if row != purged_row(group, key) {
                self.complain(format_args!("TORN row {key} of group {group}"));
            }
        }
        let groups: Vec<_> = self.expected.groups.iter().map(|(n, group)| (*n, *group)).collect();
        for (number, group) in groups {
            let found = found.get(&number).copied().unwrap_or(0);
            // A purge without an answer may have gone either way, but never in part.
            if found != 0 && found != group.count {
                let count = group.count;
                self.complain(format_args!("TORN group {number}: {found} rows of {count}"));
            } else if found == 0 && group.is_kept && !group.purge_tried {
                self.complain(format_args!("LOST group {number}"));
            } else if found != 0 && group.purge_kept {
                self.complain(format_args!("PHANTOM group {number}: it was purged"));
            }
        }
        Ok(())
    }
}
