//! Judges a store by its ledger: it must open, be sound, and hold what it must and nothing that it
//! may not.

mod checkpoint_moment;
mod expect;
mod loads;
mod pairs_and_groups;
mod pushed;
mod read;
mod rows;
mod tables;

use std::fmt::Arguments;
use std::path::Path;

use tonnage::{Durability, Store, WriteOptions};

use crate::content::{TABLES, builder, key_row, row};
use expect::ExpectedRows;
pub(crate) use expect::Loss;
use read::{RowsByKey, by_key, rows_of, rows_through};

/// A store under judgement. What is wrong with it is gathered, one text each.
struct JudgedStore {
    store: Store,
    expected: ExpectedRows,
    is_checkpoint: bool,
    complaints: Vec<String>,
}

/// What is wrong with the store; nothing when all is well.
pub(crate) fn judge(
    store: &Path,
    ledger: &Path,
    loss: Loss,
    checkpoint: Option<i64>,
) -> std::io::Result<Vec<String>> {
    let ledger = if ledger.exists() { std::fs::read(ledger)? } else { Vec::new() };
    let ledger = String::from_utf8_lossy(&ledger);
    let mut expected = ExpectedRows::read(&ledger, loss);
    // A store may be missing as long as nothing acknowledged says that it was created.
    let must_exist = expected.tables_kept || checkpoint.is_some();
    let opened = builder(&store.display().to_string()).create_if_missing(!must_exist).open();
    let store = match opened {
        Ok(store) => store,
        Err(error) => return Ok(vec![format!("OPEN {error}")]),
    };
    // What a checkpoint must hold follows from what it shows, so it is opened first.
    if let Some(number) = checkpoint {
        match checkpoint_moment::lines_before(&store, &ledger, number) {
            Ok(lines) => expected = ExpectedRows::read_checkpoint(&ledger, lines),
            Err(error) => return Ok(vec![format!("READ {error}")]),
        }
    }
    let is_checkpoint = checkpoint.is_some();
    let complaints = expected.wrong.iter().map(|text| format!("WRONG {text}")).collect();
    let mut case = JudgedStore { store, expected, is_checkpoint, complaints };
    if let Err(error) = case.judge_all() {
        case.complain(format_args!("READ {error}"));
    }
    Ok(case.complaints)
}

impl JudgedStore {
    fn complain(&mut self, text: Arguments<'_>) {
        self.complaints.push(text.to_string().replace('\n', " "));
    }

    fn judge_all(&mut self) -> tonnage::Result<()> {
        self.judge_soundness("CHECK");
        if self.expected.tables_kept {
            for table in ["single", "single.child", "loaded", "purged", "pushed"] {
                if let Err(error) = self.store.table(table) {
                    self.complain(format_args!("LOST table {table}: {error}"));
                }
            }
        }
        self.store.execute(TABLES)?;
        let single = self.judge_rows()?;
        let loaded = self.judge_loads()?;
        let pushed = self.judge_pushed()?;
        self.judge_index("pushed", "pushed_v", &pushed)?;
        self.judge_index("loaded", "loaded_v", &loaded)?;
        self.judge_index("single", "single_v", &single)?;
        self.judge_changing_index(&loaded)?;
        self.judge_tables()?;
        self.judge_pairs()?;
        self.judge_groups()?;
        if !self.is_checkpoint {
            self.judge_new_writes();
        }
        Ok(())
    }

    fn judge_soundness(&mut self, when: &str) {
        match self.store.check() {
            Ok(report) if report.is_sound() => {}
            Ok(report) => {
                let first: Vec<String> =
                    report.damages.iter().take(3).map(|damage| format!("{damage:?}")).collect();
                self.complain(format_args!("{when} {}", first.join(", ")));
            }
            Err(error) => self.complain(format_args!("{when} {error}")),
        }
    }

    /// An index leads to exactly the rows that are there.
    fn judge_index(&mut self, table: &str, index: &str, rows: &RowsByKey) -> tonnage::Result<()> {
        let led = rows_through(&self.store, table, index)?;
        if led.0 != *rows || led.1 > 0 {
            let (found, twice) = (led.0.len(), led.1);
            self.complain(format_args!(
                "INDEX {index} leads to {found} rows of {}, to {twice} of them twice",
                rows.len()
            ));
        }
        Ok(())
    }

    /// The recurring index: it exists if its creation was acknowledged last, and can be created
    /// anew in any case.
    fn judge_changing_index(&mut self, loaded: &RowsByKey) -> tonnage::Result<()> {
        if self.expected.index_stands && !self.is_checkpoint {
            match self.store.table("loaded")?.index("loaded_vg") {
                Ok(_) => self.judge_index("loaded", "loaded_vg", loaded)?,
                Err(error) => self.complain(format_args!("LOST index loaded_vg: {error}")),
            }
        }
        self.store.execute("CREATE INDEX IF NOT EXISTS loaded_vg ON loaded (v, g)")?;
        self.judge_index("loaded", "loaded_vg", loaded)
    }

    /// The store takes further writes, and is sound after them.
    fn judge_new_writes(&mut self) {
        const KEY: i64 = 9_999_999;
        let options = WriteOptions { durability: Durability::Fsync, ..WriteOptions::default() };
        let written = || {
            let table = self.store.table("single")?;
            table.put(&row(KEY, 1), &options)?;
            let found = table.get(&key_row(KEY))?.map(|found| found.row);
            table.delete(&key_row(KEY), &options)?;
            Ok::<_, tonnage::Error>(found == Some(row(KEY, 1)))
        };
        match written() {
            Ok(true) => {}
            Ok(false) => self.complain(format_args!("LOST a row put after opening")),
            Err(error) => self.complain(format_args!("WRITE after opening: {error}")),
        }
        self.judge_soundness("CHECK after writing:");
    }
}
