//! Judges single writes: no row is older than an acknowledged one, none was never tried, and groups
//! are whole.

use super::JudgedStore;
use super::read::{RowsByKey, by_key, rows_of};
use crate::content::{child_row, is_delete, long, row};

impl JudgedStore {
    /// Gives the rows of `single`.
    pub(super) fn judge_rows(&mut self) -> tonnage::Result<RowsByKey> {
        let rows = by_key(rows_of(&self.store, "single")?);
        let children = by_key(rows_of(&self.store, "single.child")?);
        for (key, found) in &rows {
            let generation = long(found, "g").unwrap_or(-1);
            self.judge_row(*key, generation);
            if *found != row(*key, generation) {
                self.complain(format_args!("TORN row {key}"));
            }
        }
        self.judge_absent_rows(&rows);
        self.judge_children(&rows, &children);
        Ok(rows)
    }

    fn judge_row(&mut self, key: i64, generation: i64) {
        let known = self.expected.rows.get(&key).copied().unwrap_or_default();
        if !(1..=known.tried).contains(&generation) || is_delete(generation) {
            self.complain(format_args!("PHANTOM row {key} of generation {generation}"));
        }
        if let Some(kept) = known.kept.filter(|kept| generation < *kept) {
            self.complain(format_args!(
                "LOST row {key}: it has generation {generation}, {kept} was acknowledged"
            ));
        }
    }

    fn judge_absent_rows(&mut self, rows: &RowsByKey) {
        let mut lost = Vec::new();
        for (key, known) in &self.expected.rows {
            let Some(kept) = known.kept.filter(|_| !rows.contains_key(key)) else { continue };
            if !(kept..=known.tried).any(is_delete) {
                lost.push((*key, kept));
            }
        }
        for (key, kept) in lost {
            self.complain(format_args!("LOST row {key}: absent, {kept} was acknowledged"));
        }
    }

    /// A row with an even key and its child are written and deleted together.
    fn judge_children(&mut self, rows: &RowsByKey, children: &RowsByKey) {
        for (key, found) in rows.iter().filter(|(key, _)| *key % 2 == 0) {
            let generation = long(found, "g").unwrap_or(-1);
            match children.get(key) {
                Some(child) if *child == child_row(*key, generation) => {}
                Some(child) => {
                    let other = long(child, "cg");
                    self.complain(format_args!("TORN group {key}: {generation} and {other:?}"));
                }
                None => self.complain(format_args!("TORN group {key}: {generation} and no child")),
            }
        }
        for key in children.keys().filter(|key| !rows.contains_key(key)) {
            self.complain(format_args!("TORN group {key}: a child without its row"));
        }
    }
}
