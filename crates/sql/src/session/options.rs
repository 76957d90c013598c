//! Options of a session.

use std::path::PathBuf;
use std::time::Duration;

use tonnage::{Acks, Consistency, Durability, Error, Result, cores};

/// How a [`crate::Sql`] runs its statements. The defaults are good without tuning.
#[derive(Clone, Debug)]
pub struct SqlOptions {
    /// The memory that sorts, joins and groupings of all statements may take together; past it they
    /// spill to disk (16 MiB or more). The results of [`crate::Sql::fetch_all`] may take as much
    /// again.
    pub memory_bytes_max: usize,
    /// The memory for columns of tables that are scanned again and again; 0 for none. Default: an
    /// eighth of the machine's memory. Sessions of a store share it: what the last one says counts.
    pub column_cache_bytes_max: Option<usize>,
    /// The most bytes on disk that spilled data may take.
    pub spill_bytes_max: u64,
    /// The directory of spilled data; the system's directory for temporary files without it.
    pub spill_directory: Option<PathBuf>,
    /// The longest that a statement may take, from its start to its last row.
    pub timeout: Option<Duration>,
    /// How many threads work on statements (1 to 1,024). Default: the number of cores.
    pub parallelism: Option<usize>,
    /// About how many rows one batch of a result holds (1 to 1,048,576).
    pub batch_rows_max: usize,
    /// How many plans of statements are kept for the next time; 0 for none.
    pub plans_max: usize,
    /// Whether simple statements are read straight from the store. Off for comparing the two ways.
    pub direct: bool,
    /// Whether conditions are answered by reading less of the store. Off for comparing.
    pub push_down: bool,
    /// When a write is acknowledged.
    pub durability: Durability,
    /// How many copies have a write by then; as the store was opened without it.
    pub acks: Option<Acks>,
    /// Whether the session belongs to one user of this machine: SET and PREPARE hold for the
    /// statements after them, and statements read and write files. A server, whose users share the
    /// session, turns it off.
    pub is_local: bool,
    /// Whether BEGIN opens a transaction. All that run statements in a session share it: turn it
    /// off for a session of several users or threads that do not know of each other.
    pub transactions: bool,
    /// How fresh the rows of a query must be; as the store was opened without it. Statements that
    /// change rows always see the latest of them.
    pub consistency: Option<Consistency>,
}

impl Default for SqlOptions {
    fn default() -> Self {
        Self {
            memory_bytes_max: 1 << 30,
            column_cache_bytes_max: None,
            spill_bytes_max: 100 << 30,
            spill_directory: None,
            timeout: None,
            parallelism: None,
            batch_rows_max: 8_192,
            plans_max: 1_024,
            direct: true,
            push_down: true,
            durability: Durability::default(),
            acks: None,
            is_local: true,
            transactions: true,
            consistency: None,
        }
    }
}

impl SqlOptions {
    /// Refuses settings out of their range, each by name and with its limits.
    pub(crate) fn check(&self) -> Result<()> {
        within("memory_bytes_max", self.memory_bytes_max, 16 << 20, 1 << 50)?;
        within("parallelism", self.workers(), 1, 1_024)?;
        within("batch_rows_max", self.batch_rows_max, 1, 1 << 20)?;
        match self.timeout {
            Some(timeout) if timeout.is_zero() => {
                Err(Error::invalid("timeout is 0: give a longer one, or none"))
            }
            _ => Ok(()),
        }
    }

    /// Whether scans take columns that are kept.
    pub(crate) fn keeps_columns(&self) -> bool {
        self.column_cache_bytes_max != Some(0)
    }

    pub(crate) fn workers(&self) -> usize {
        self.parallelism.unwrap_or_else(cores)
    }
}

fn within(name: &str, value: usize, least: usize, most: usize) -> Result<()> {
    if (least..=most).contains(&value) {
        return Ok(());
    }
    Err(Error::invalid(format!("{name} is {value}: it must be between {least} and {most}")))
}
