//! What `bench tables` is asked to do.

use std::time::Duration;

use tonnage::{Error, Result};

use crate::choice::{choice, options};
use crate::report::distinct;
use crate::system::SystemKind;
use crate::workload::RunOptions;
use crate::workload::options::check_counts;

options! {
    /// What `bench tables` is asked to do.
    pub struct TablesOptions {
        /// The options of every workload.
        run: RunOptions = RunOptions {
            systems: vec![SystemKind::TonnageRocksDb.into()],
            repeats: 5,
            ..RunOptions::default()
        },
        /// What is measured.
        subjects: Vec<Subject> = Subject::ALL.to_vec() => "subjects" names,
        /// Tables of the larger case of puts and gets; the smaller one has one. The fewer tables of
        /// queries.
        tables: usize = 10 => "containers",
        /// The more tables of queries.
        tables_many: usize = 100 => "containers_many",
        /// Rows of each table.
        rows: u64 = 10_000 => "rows",
        /// Rows of each table where there are large ones, too: put in one call, and selected.
        rows_large: u64 = 100_000 => "rows_large",
        /// Queries of one row that make one call.
        queries: usize = 100 => "queries",
        /// Rows of the tables beside the tables, for keys in a list, scans and the index.
        table_rows: u64 = 1_000_000 => "table_rows",
        /// Keys in a list.
        list_keys: u64 = 100_000 => "list_keys",
        /// What a row is known by.
        key: TableKey = TableKey::Name => "key",
        /// How long the same queries are asked again and again in each repeat; once at least.
        window: Duration = Duration::from_millis(500) => "window_ms" millis,
    }
}

fn names(subjects: &[Subject]) -> String {
    subjects.iter().map(|subject| subject.name()).collect::<Vec<_>>().join(",")
}

fn millis(time: &Duration) -> String {
    time.as_millis().to_string()
}

choice! {
    /// What is measured, in this order.
    pub enum Subject {
        /// Rows in: a loop of puts against one multi put.
        Put = "put",
        /// Rows out by their keys: a loop of gets against one multi get.
        Get = "get",
        /// Queries of one row each.
        OneRow = "one-row",
        /// Queries of all rows.
        Select = "select",
        /// The five aggregates of each table.
        Aggregates = "aggregates",
        /// A long list of keys in a query against a bulk get.
        List = "list",
        /// Aggregates over all rows of a large table.
        Scan = "scan",
        /// A condition that an index answers, against the scan of the same table without it.
        Index = "index",
    }
}

choice! {
    /// What a row of a table is known by.
    pub enum TableKey {
        /// A number, which joins the other columns.
        Id = "id",
        /// Its name.
        Name = "name",
    }
}

/// Some tables of so many rows each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) tables: usize,
    pub(super) rows: u64,
}

impl TablesOptions {
    /// Whether something is to be measured.
    pub(super) fn wants(&self, subject: Subject) -> bool {
        self.subjects.contains(&subject)
    }

    /// About how many bytes a system holds in the end.
    pub fn data_bytes(&self) -> u64 {
        // Two methods, each repeat with tables of its own.
        let methods = 2 * self.run.repeats as u64;
        let calls = [(Subject::Put, self.put_sizes()), (Subject::Get, self.get_sizes())];
        let calls = calls.iter().filter(|(subject, _)| self.wants(*subject));
        let calls = calls.map(|(_, sizes)| rows_in(sizes).saturating_mul(methods));
        let calls = calls.fold(0, u64::saturating_add);
        // The wide table with an index, and the narrow one.
        let beside = self.table_rows.saturating_mul(3);
        calls.saturating_add(rows_in(&self.query_sizes())).saturating_add(beside).saturating_mul(60)
    }

    /// What is put.
    pub(super) fn put_sizes(&self) -> Vec<Size> {
        let large = Size { tables: self.tables, rows: self.rows_large };
        distinct([self.get_sizes(), vec![large]].concat())
    }

    /// What is got by its keys.
    pub(super) fn get_sizes(&self) -> Vec<Size> {
        distinct([1, self.tables].map(|tables| Size { tables, rows: self.rows }))
    }

    /// What queries are asked over.
    pub(super) fn query_sizes(&self) -> Vec<Size> {
        let few = Size { tables: self.tables, rows: self.rows };
        let (many, large) =
            (Size { tables: self.tables_many, ..few }, Size { rows: self.rows_large, ..few });
        distinct([few, many, large])
    }

    /// Says what does not fit together.
    ///
    /// # Errors
    /// `Invalid`, with the remedy.
    pub fn check(&self) -> Result<()> {
        self.run.check()?;
        check_counts([
            ("tables", self.tables as u64),
            ("tables where there are many", self.tables_many as u64),
            ("rows", self.rows),
            ("rows of large tables", self.rows_large),
            ("queries", self.queries as u64),
            ("rows of the widest table", self.table_rows),
            ("keys in a list", self.list_keys),
            ("subjects", self.subjects.len() as u64),
        ])?;
        if self.list_keys > self.table_rows {
            return Err(Error::invalid(format!(
                "{} keys in a list, and the table has {} rows: ask for fewer keys, or for more \
                 rows",
                self.list_keys, self.table_rows
            )));
        }
        Ok(())
    }
}

fn rows_in(sizes: &[Size]) -> u64 {
    let rows = |size: &Size| size.rows.saturating_mul(size.tables as u64);
    sizes.iter().map(rows).fold(0, u64::saturating_add)
}
