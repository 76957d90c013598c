//! How late the time of a checkpoint was.
//!
//! A checkpoint shows the store at one point in time. The writes that it shows tell how late that
//! was. All that was acknowledged before must be in it, in whatever data directory.

use std::collections::BTreeSet;

use tonnage::Store;

use super::read::rows_of;
use crate::content::{long, pair_key};
use crate::ledger::lines;

/// The number of lines of the ledger that certainly happened before a checkpoint: those before it
/// began, and those before the last attempt that it shows.
pub(super) fn lines_before(store: &Store, ledger: &str, number: i64) -> tonnage::Result<usize> {
    let shown = VisibleContent::of(store)?;
    let number = number.to_string();
    let mut end = 0;
    for (at, line) in lines(ledger).enumerate() {
        let is_before = match line[..] {
            ["try", "checkpoint", begun] => begun == number,
            ["try", "row", key, generation] => {
                shown.rows.contains(&(key.into(), generation.into()))
            }
            ["try", "load", load, ..] => shown.loads.contains(load),
            ["try", "fill", group, _] => shown.groups.contains(group),
            ["try", "table", "create", table] => shown.tables.contains(table),
            ["try", "pair", key, generation] => shown.pair(store, key, generation)?,
            _ => false,
        };
        if is_before {
            end = at;
        }
    }
    Ok(end)
}

/// What a store shows, in the words of the ledger.
struct VisibleContent {
    rows: BTreeSet<(String, String)>,
    loads: BTreeSet<String>,
    groups: BTreeSet<String>,
    tables: BTreeSet<String>,
}

impl VisibleContent {
    fn of(store: &Store) -> tonnage::Result<Self> {
        let numbers = |table: &str, column: &str| -> tonnage::Result<BTreeSet<String>> {
            if store.table(table).is_err() {
                return Ok(BTreeSet::new());
            }
            let rows = rows_of(store, table)?;
            Ok(rows.iter().filter_map(|row| Some(long(row, column)?.to_string())).collect())
        };
        let rows = if store.table("single").is_ok() { rows_of(store, "single")? } else { vec![] };
        let word = |number: Option<i64>| number.unwrap_or(-1).to_string();
        let tables = store.tables();
        let tables = tables.iter().filter_map(|table| table.path().strip_prefix("made"));
        Ok(Self {
            rows: rows.iter().map(|row| (word(long(row, "k")), word(long(row, "g")))).collect(),
            loads: numbers("loaded", "g")?,
            groups: numbers("purged", "p")?,
            tables: tables.map(str::to_owned).collect(),
        })
    }

    fn pair(&self, store: &Store, key: &str, generation: &str) -> tonnage::Result<bool> {
        let found = store.kv().get(&pair_key(key.parse().unwrap_or(-1)))?;
        let begins = |value: &[u8]| value.split(|byte| *byte == b' ').next().map(<[u8]>::to_vec);
        Ok(found.is_some_and(|pair| begins(&pair.value) == Some(generation.as_bytes().to_vec())))
    }
}
