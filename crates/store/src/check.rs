//! Checks that everything stored is consistent.
//!
//! 1. The engine reads all of its files and verifies their checksums.
//! 2. Each key of each space is assigned to its table, and each row is decoded with all its
//!    columns.
//! 3. Each table of the catalog must have its space.
//! 4. Each index is compared with the rows of its table, and each large object with its chunks.
//!
//! Tables and indexes may be created, altered and dropped meanwhile. So what does not fit the
//! catalog as it was is judged again by the catalog as it is, and counts as damage only then.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tonnage_engine::{
    Damage, Error, ErrorKind, FillCache, Projection, Ranges, Result, Rows, ScanOptions,
    VerifyReport,
};

use crate::call_limits::CallLimits;
use crate::cancel::Cancel;
use crate::catalog::TableEntry;
use crate::codec::KeyOwner;
use crate::index::{IndexFindings, OpenIndex, check_index};
use crate::inner::Inner;
use crate::kv::Key;
use crate::lob::{LobCheck, check_lobs};

/// Damaged places that a report names; further ones are only counted.
const DAMAGES_MAX: usize = 1_000;

/// What is said of a table whose space is lost.
const NO_SPACE: &str =
    "the catalog has this table, the engine has no space for it: restore from a copy";

/// How to check a store.
#[derive(Clone, Debug, Default)]
pub struct CheckOptions {
    /// The longest that the check may take; then it ends with `TimedOut`, and without a report.
    pub timeout: Option<Duration>,
    /// Ends the check from another thread, between two batches of rows. The verification of
    /// checksums comes first and looks at the timeout alone.
    pub cancel: Cancel,
}

/// What a check read and found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckReport {
    /// Rows of each table, by path.
    pub rows: BTreeMap<String, u64>,
    /// Key/value pairs.
    pub pairs: u64,
    /// Large objects.
    pub large_objects: u64,
    /// Chunks of large objects that writers which were cut short have left: harmless, see
    /// [`KeyValue::clean_lobs`](crate::KeyValue::clean_lobs).
    pub orphan_chunks: u64,
    /// Rows of dropped child tables that are still stored and never read.
    pub leftover_rows: u64,
    /// Entries of indexes that lead to no row, or to one that changed since: harmless, readers pass
    /// them over.
    pub stale_index_entries: u64,
    /// Indexes whose making was cut short, as the statements that make them: to be carried out
    /// again.
    pub unfinished_indexes: Vec<String>,
    /// What the engine read, itself included.
    pub verified: VerifyReport,
    /// What is damaged, at most a thousand places; empty when all is well.
    pub damages: Vec<Damage>,
    /// How many damaged places there are in all.
    pub damage_count: u64,
}

impl CheckReport {
    /// Whether all is well.
    pub fn is_sound(&self) -> bool {
        self.damage_count == 0
    }

    fn damage(&mut self, location: impl Into<String>, what: impl Into<String>) {
        self.damage_count += 1;
        if self.damages.len() < DAMAGES_MAX {
            self.damages.push(Damage { location: location.into(), what: what.into() });
        }
    }
}

pub(crate) fn check(store: &Inner, options: &CheckOptions) -> Result<CheckReport> {
    let limits =
        &CallLimits::new("the check", "nothing was changed", &options.cancel, options.timeout)?;
    let verified = store.engine.verify_by(limits.deadline());
    let verified = verified.map_err(|error| limits.finding(error).unwrap_or_else(|ended| ended))?;
    let mut report = CheckReport { verified, ..CheckReport::default() };
    // Moved rather than copied, so that the report names each place once.
    for damage in std::mem::take(&mut report.verified.damages) {
        report.damage(damage.location, damage.what);
    }
    let tables = store.catalog.tables();
    // Listed after the tables: the space of a table is created before it, and dropped after it.
    let spaces = store.engine.spaces()?;
    let mut roots = Vec::new();
    for table in tables {
        report.rows.insert(table.schema.path.clone(), 0);
        if !spaces.iter().any(|space| space.id == table.space) {
            if newest(store, &table).is_some() {
                report.damage(&table.schema.path, NO_SPACE);
            }
        } else if table.schema.parent_path().is_none() {
            roots.push(table);
        }
    }
    // Child tables lie in the space of their top-level table, so each space is read once.
    for root in roots {
        check_family(store, &root, limits, &mut report)?;
    }
    check_pairs(store, limits, &mut report)?;
    check_large_objects(store, limits, &mut report)?;
    // Those that were dropped meanwhile may be read in part.
    report.rows.retain(|path, _| store.catalog.find(path).is_some());
    Ok(report)
}

/// A table as it is by now; nothing when it was dropped meanwhile.
fn newest(store: &Inner, table: &TableEntry) -> Option<Arc<TableEntry>> {
    // Another process may have changed it. If that cannot be learned, what is known here counts.
    let _ = store.catalog.catch_up();
    let family = store.catalog.family(table.space);
    family.into_iter().find(|own| own.schema.table_id == table.schema.table_id)
}

/// Reads one space to its end, or to the first error of the engine, which it answers.
fn read_space(
    store: &Inner,
    space: tonnage_engine::SpaceId,
    limits: &CallLimits,
    mut visit: impl FnMut(&Rows),
) -> Result<Option<Error>> {
    // An error of the engine is a finding: the other spaces are still read.
    let finding = |error: Error| limits.finding(error).map(Some);
    // Everything is read once, so nothing of it is worth a place in the cache.
    let options = ScanOptions {
        projection: Projection::KeysAndValues,
        fill_cache: FillCache::No,
        deadline: limits.deadline(),
        ..ScanOptions::default()
    };
    let mut scanner = match store.engine.scan(space, Ranges::whole_space(), options) {
        Ok(scanner) => scanner,
        Err(error) => return finding(error),
    };
    let mut rows = Rows::new();
    loop {
        limits.check()?;
        match scanner.next_batch(&mut rows) {
            Ok(true) => visit(&rows),
            Ok(false) => return Ok(None),
            Err(error) => return finding(error),
        }
    }
}

fn check_family(
    store: &Inner,
    root: &TableEntry,
    limits: &CallLimits,
    report: &mut CheckReport,
) -> Result<()> {
    let family = store.catalog.family(root.space);
    if family.is_empty() {
        return Ok(());
    }
    let ended = read_space(store, root.space, limits, |rows| {
        // Sorted out by table first: the rows of one table are decoded in one go.
        let mut which = vec![Vec::new(); family.len()];
        for index in 0..rows.len() {
            match root.classifier.classify(rows.keys.get(index)) {
                Ok(KeyOwner::Table(id)) => {
                    // The classifier may know a child table that was dropped since: its rows are
                    // left over, too.
                    match family.iter().position(|entry| entry.schema.table_id == id) {
                        Some(table) => which[table].push(index as u32),
                        None => report.leftover_rows += 1,
                    }
                }
                Ok(KeyOwner::Other) => report.leftover_rows += 1,
                Err(error) => report.damage(&root.schema.path, error.message()),
            }
        }
        for (entry, which) in family.iter().zip(&which) {
            check_rows(store, entry, rows, which, report);
        }
    })?;
    if let Some(error) = ended {
        // The engine has no space of a table that was dropped.
        if newest(store, root).is_none() {
            return Ok(());
        }
        report.damage(&root.schema.path, error.message());
    }
    family.iter().try_for_each(|entry| check_indexes(store, entry, limits, report))
}

/// Decodes rows together and, when that fails, one by one, to name each that is damaged.
fn check_rows(
    store: &Inner,
    entry: &TableEntry,
    rows: &Rows,
    which: &[u32],
    report: &mut CheckReport,
) {
    if entry.codec.decode(rows, Some(which), None).is_err() {
        // Rows that were written after an ALTER TABLE are read by the current definition of the
        // table.
        if let Some(entry) = newest(store, entry) {
            for index in which {
                if let Err(error) = entry.codec.decode(rows, Some(&[*index]), None) {
                    report.damage(&entry.schema.path, error.message());
                }
            }
        }
    }
    *report.rows.entry(entry.schema.path.clone()).or_default() += which.len() as u64;
}

fn check_pairs(store: &Inner, limits: &CallLimits, report: &mut CheckReport) -> Result<()> {
    let ended = read_space(store, store.pairs, limits, |rows| {
        report.pairs += rows.len() as u64;
        for key in rows.keys.iter() {
            if let Err(error) = Key::decode(key) {
                report.damage("key/value pairs", error.message());
            }
        }
    })?;
    if let Some(error) = ended {
        report.damage("key/value pairs", error.message());
    }
    Ok(())
}

fn check_large_objects(store: &Inner, limits: &CallLimits, report: &mut CheckReport) -> Result<()> {
    match check_lobs(store, limits) {
        Ok(LobCheck { objects, orphan_chunks, damages }) => {
            (report.large_objects, report.orphan_chunks) = (objects, orphan_chunks);
            damages.into_iter().for_each(|(location, what)| report.damage(location, what));
        }
        Err(error) => report.damage("large objects", limits.finding(error)?.message()),
    }
    Ok(())
}

fn check_indexes(
    store: &Inner,
    table: &TableEntry,
    limits: &CallLimits,
    report: &mut CheckReport,
) -> Result<()> {
    for index in &table.indexes.set().indexes {
        let location = format!("index {} on {}", index.stored.name, table.schema.path);
        // No reader uses such an index, so rows that it lacks are no damage.
        if !index.is_ready() {
            report.unfinished_indexes.push(index.to_ddl(&table.schema.path));
            continue;
        }
        let checked = check_newest_index(store, table, index, limits);
        // Checked after the look-up: until it was dropped it had every row.
        if table.indexes.check_kept_up(index).is_err() {
            continue;
        }
        match checked {
            Ok(findings) => {
                report.stale_index_entries += findings.stale;
                // A row without its entry is never found by the index. A stale entry only costs a
                // lookup.
                for key in findings.missing.iter() {
                    let what = format!(
                        "the row with key {key:02x?} is missing in it: drop the index and make it again"
                    );
                    report.damage(&location, what);
                }
            }
            Err(error) => report.damage(&location, limits.finding(error)?.message()),
        }
    }
    Ok(())
}

/// Checks an index, and does so again by what its table is by now as often as the table was altered
/// meanwhile.
fn check_newest_index(
    store: &Inner,
    table: &TableEntry,
    index: &OpenIndex,
    limits: &CallLimits,
) -> Result<IndexFindings> {
    let checked = check_index(store, table, index, limits);
    if !checked.as_ref().is_err_and(|error| error.kind() == ErrorKind::Conflict) {
        return checked;
    }
    let Some(newest) = newest(store, table) else { return Ok(IndexFindings::default()) };
    // A damaged row may claim a layout that no table has.
    if newest.schema.number == table.schema.number {
        return checked;
    }
    match newest.indexes.set().indexes.iter().find(|own| own.space() == index.space()) {
        Some(index) => check_newest_index(store, &newest, index, limits),
        None => Ok(IndexFindings::default()),
    }
}
