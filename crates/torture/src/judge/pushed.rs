//! Judges batches that were pushed into an open load: rows up to an acknowledged position must be
//! there.

use super::JudgedStore;
use super::read::{RowsByKey, by_key, rows_of};
use crate::content::row;

impl JudgedStore {
    /// Gives the rows of `pushed`.
    pub(super) fn judge_pushed(&mut self) -> tonnage::Result<RowsByKey> {
        let rows = by_key(rows_of(&self.store, "pushed")?);
        let pushes: Vec<_> = self.expected.pushes.iter().map(|(n, push)| (*n, *push)).collect();
        for (first, push) in pushes.iter().filter(|(_, push)| push.is_kept) {
            let found = rows.range(first..&(first + push.count)).count() as i64;
            if found < push.count {
                let count = push.count;
                self.complain(format_args!("LOST rows pushed from {first}: {found} of {count}"));
            }
        }
        for (key, found) in &rows {
            let last = self.expected.pushes.range(..=key).next_back();
            if last.is_none_or(|(first, push)| *key >= first + push.count) {
                self.complain(format_args!("PHANTOM pushed row {key}"));
            }
            if *found != row(*key, 1) {
                self.complain(format_args!("TORN pushed row {key}"));
            }
        }
        Ok(rows)
    }
}
