//! Judges tables and indexes that were created, altered and dropped: acknowledged changes must
//! hold.

use super::{JudgedStore, by_key, rows_of};
use crate::content::{long, member_row};

impl JudgedStore {
    pub(super) fn judge_tables(&mut self) -> tonnage::Result<()> {
        let tried: Vec<i64> = self.expected.steps_tried.iter().map(|(table, _)| *table).collect();
        let mut tried = tried;
        tried.dedup();
        for table in tried {
            self.judge_table(table)?;
        }
        for table in self.store.tables() {
            let number = table.path().strip_prefix("made").and_then(|number| number.parse().ok());
            if let Some(number) =
                number.filter(|number| !self.expected.step_tried(*number, "create"))
            {
                self.complain(format_args!("PHANTOM table made{number}"));
            }
        }
        Ok(())
    }

    fn judge_table(&mut self, number: i64) -> tonnage::Result<()> {
        let name = format!("made{number}");
        let table = self.store.table(&name).ok();
        let (tried, kept) = (
            |step| self.expected.step_tried(number, step),
            |step| self.expected.step_kept(number, step),
        );
        // First of all: nothing else that was acknowledged of the table matters after its drop.
        if kept("drop") {
            if table.is_some() {
                self.complain(format_args!("PHANTOM table {name}: its drop was acknowledged"));
            }
            return Ok(());
        }
        let Some(table) = table else {
            if kept("create") && !tried("drop") {
                self.complain(format_args!("LOST table {name}"));
            }
            return Ok(());
        };
        let is_altered = table.schema().columns.iter().any(|column| column.name == "extra");
        if kept("alter") && !is_altered {
            self.complain(format_args!("LOST column extra of {name}"));
        }
        self.judge_members(number, &name)?;
        self.judge_its_index(number, &name)
    }

    fn judge_members(&mut self, number: i64, name: &str) -> tonnage::Result<()> {
        let rows = rows_of(&self.store, name)?;
        let keys: Vec<i64> = rows.iter().filter_map(|row| long(row, "k")).collect();
        let kept: Vec<i64> =
            self.expected.members_kept.range((number, 0)..(number + 1, 0)).map(|at| at.1).collect();
        for key in kept.iter().filter(|key| !keys.contains(key)) {
            self.complain(format_args!("LOST row {key} of {name}"));
        }
        for (row, key) in rows.iter().zip(&keys) {
            if !self.expected.members_tried.contains(&(number, *key)) {
                self.complain(format_args!("PHANTOM row {key} of {name}"));
            }
            if row.get("a") != member_row(*key).get("a") {
                self.complain(format_args!("TORN row {key} of {name}"));
            }
        }
        Ok(())
    }

    fn judge_its_index(&mut self, number: i64, name: &str) -> tonnage::Result<()> {
        let index = self.store.table(name)?.index("ix");
        let kept = |step| self.expected.step_kept(number, step);
        if kept("index") && !self.expected.step_tried(number, "noindex") {
            match index {
                Ok(_) => {
                    let rows = by_key(rows_of(&self.store, name)?);
                    self.judge_index(name, "ix", &rows)?;
                }
                Err(error) => self.complain(format_args!("LOST index of {name}: {error}")),
            }
        } else if kept("noindex") && index.is_ok() {
            self.complain(format_args!("PHANTOM index of {name}: its drop was acknowledged"));
        }
        Ok(())
    }
}
