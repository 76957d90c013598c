//! What `bench containers` is asked to do.

use std::time::Duration;

use tonnage::{Durability, Error, Result};

use super::Subject;
use crate::target::TargetKind;
use crate::workload::Place;

/// What `bench containers` is asked to do.
#[derive(Clone, Debug)]
pub struct ContainersOptions {
    /// Which systems.
    pub targets: Vec<TargetKind>,
    /// Where their data goes.
    pub place: Place,
    /// What is measured.
    pub subjects: Vec<Subject>,
    /// Containers of the larger case of puts and gets; the smaller one has one. The fewer
    /// containers of queries.
    pub containers: usize,
    /// The more containers of queries.
    pub containers_many: usize,
    /// Rows of each container.
    pub rows: u64,
    /// Rows of each container where there are large ones, too: put in one call, and selected.
    pub rows_large: u64,
    /// Queries of one row that make one call.
    pub queries: usize,
    /// Rows of the tables beside the containers, for keys in a list, scans and the index.
    pub table_rows: u64,
    /// Keys in a list.
    pub list_keys: u64,
    /// What a row is known by.
    pub key: ContainerKey,
    /// What an acknowledged put survives.
    pub durability: Durability,
    /// Memory for a target's cache and memtables, enforced; the target's own default when none.
    pub memory_bytes: Option<usize>,
    /// Whether data files are read and written past the operating system's cache.
    pub direct_io: bool,
    /// How often each thing is measured, puts each time with new containers.
    pub repeats: usize,
    /// How long the same queries are asked again and again in each repeat; once at least.
    pub window: Duration,
    /// The command line, for the report.
    pub command: String,
}

/// What a row of a container is known by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContainerKey {
    /// A number, which joins the other columns.
    Id,
    /// Its name.
    Name,
}

/// Some containers of so many rows each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Size {
    pub(super) containers: usize,
    pub(super) rows: u64,
}

impl Default for ContainersOptions {
    fn default() -> Self {
        ContainersOptions {
            targets: vec![TargetKind::TonnageRocksDb],
            place: Place { label: "data".to_owned(), directory: ".".into() },
            subjects: Subject::ALL.to_vec(),
            containers: 10,
            containers_many: 100,
            rows: 10_000,
            rows_large: 100_000,
            queries: 100,
            table_rows: 1_000_000,
            list_keys: 100_000,
            key: ContainerKey::Name,
            durability: Durability::Write,
            memory_bytes: None,
            direct_io: false,
            repeats: 5,
            window: Duration::from_millis(500),
            command: String::new(),
        }
    }
}

impl ContainersOptions {
    /// Whether something is to be measured.
    pub(super) fn wants(&self, subject: Subject) -> bool {
        self.subjects.contains(&subject)
    }

    /// About how many bytes a target holds in the end.
    pub fn data_bytes(&self) -> u64 {
        // Two methods, each repeat with containers of its own.
        let calls = |subject: Subject, sizes: &[Size]| {
            if self.wants(subject) {
                rows_in(sizes).saturating_mul(2 * self.repeats as u64)
            } else {
                0
            }
        };
        let calls = calls(Subject::Put, &self.put_sizes())
            .saturating_add(calls(Subject::Get, &self.get_sizes()));
        // The wide table with an index, and the narrow one.
        let beside = self.table_rows.saturating_mul(3);
        calls.saturating_add(rows_in(&self.query_sizes())).saturating_add(beside).saturating_mul(60)
    }

    /// What is put.
    pub(super) fn put_sizes(&self) -> Vec<Size> {
        let large = Size { containers: self.containers, rows: self.rows_large };
        distinct([self.get_sizes(), vec![large]].concat())
    }

    /// What is got by its keys.
    pub(super) fn get_sizes(&self) -> Vec<Size> {
        distinct([1, self.containers].map(|containers| Size { containers, rows: self.rows }).into())
    }

    /// What queries are asked over.
    pub(super) fn query_sizes(&self) -> Vec<Size> {
        let few = Size { containers: self.containers, rows: self.rows };
        distinct(vec![
            few,
            Size { containers: self.containers_many, ..few },
            Size { rows: self.rows_large, ..few },
        ])
    }

    /// Says what does not fit together.
    ///
    /// # Errors
    /// `Invalid`, with the remedy.
    pub fn check(&self) -> Result<()> {
        let counts = [
            ("containers", self.containers as u64),
            ("containers where there are many", self.containers_many as u64),
            ("rows", self.rows),
            ("rows of large containers", self.rows_large),
            ("queries", self.queries as u64),
            ("rows of the table", self.table_rows),
            ("keys in a list", self.list_keys),
            ("repeats", self.repeats as u64),
            ("subjects", self.subjects.len() as u64),
        ];
        if let Some((name, _)) = counts.into_iter().find(|(_, count)| *count == 0) {
            return Err(Error::invalid(format!("0 {name}: there must be one at least")));
        }
        if self.list_keys > self.table_rows {
            return Err(Error::invalid(format!(
                "{} keys in a list, and the table has {} rows: ask for fewer keys, or for more rows",
                self.list_keys, self.table_rows
            )));
        }
        if self.targets.is_empty() {
            return Err(Error::invalid("there is nothing to measure: name a target"));
        }
        Ok(())
    }
}

fn rows_in(sizes: &[Size]) -> u64 {
    sizes
        .iter()
        .fold(0, |rows, size| rows.saturating_add(size.rows.saturating_mul(size.containers as u64)))
}

/// The sizes without those that came before.
fn distinct(sizes: Vec<Size>) -> Vec<Size> {
    let is_first =
        |(place, size): (usize, &Size)| (!sizes[..place].contains(size)).then_some(*size);
    sizes.iter().enumerate().filter_map(is_first).collect()
}
