//! The ledger outside the store: what a workload tried, and what was acknowledged.
//!
//! One fact a line, `try` before a call and `ok` after it returned, so that what a store must hold
//! and may hold follows from it at all times:
//!
//! ```text
//! try tables                       ok tables
//! try row KEY GENERATION           ok row KEY GENERATION DURABILITY
//! try load NUMBER FIRST COUNT MODE ok load NUMBER DURABILITY
//! try table STEP NUMBER            ok table STEP NUMBER
//! try member NUMBER KEY            ok member NUMBER KEY DURABILITY
//! try pair KEY GENERATION          ok pair KEY GENERATION DURABILITY
//! try fill GROUP COUNT             ok fill GROUP DURABILITY
//! try push FIRST COUNT             ok push FIRST DURABILITY
//! try purge GROUP                  ok purge GROUP DURABILITY
//! try index STEP                   ok index STEP
//! try checkpoint NUMBER            ok checkpoint NUMBER
//! try sync NUMBER                  ok sync NUMBER
//! fail WHAT TEXT                   a call that returned an error: what it tried stays open
//! wrong TEXT                       an answer that cannot be right
//! ```

use std::fmt::{Arguments, Display};
use std::fs::File;
use std::io::{self, Write};
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use tonnage::Durability;
use tonnage::internal::sync::lock;

/// A ledger that is being written. Lines go out in one write each, for the shim puts them into its
/// trace.
pub(crate) struct Ledger {
    file: Mutex<File>,
    bytes: AtomicU64,
}

impl Ledger {
    pub(crate) fn append(path: &Path) -> io::Result<Self> {
        let file = File::options().create(true).append(true).open(path)?;
        let bytes = AtomicU64::new(file.metadata()?.len());
        Ok(Self { file: Mutex::new(file), bytes })
    }

    pub(crate) fn write_line(&self, line: Arguments<'_>) {
        let line = format!("{line}\n");
        self.bytes.fetch_add(line.len() as u64, Ordering::Relaxed);
        let mut file = lock(&self.file);
        file.write_all(line.as_bytes()).expect("the ledger can be written");
    }

    pub(crate) fn write_failure(&self, what: &str, error: impl Display) {
        self.write_line(format_args!("fail {what} {}", error.to_string().replace('\n', " ")));
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes.load(Ordering::Relaxed)
    }
}

pub(crate) fn durability_name(durability: Durability) -> &'static str {
    match durability {
        Durability::None => "none",
        Durability::Write => "write",
        Durability::Fsync => "fsync",
    }
}

/// Unknown names promise nothing.
pub(crate) fn durability_named(name: &str) -> Durability {
    match name {
        "fsync" => Durability::Fsync,
        "write" => Durability::Write,
        _ => Durability::None,
    }
}

/// The lines of a ledger, in words. A last line cut short by a kill says nothing.
pub(crate) fn lines(text: &str) -> impl Iterator<Item = Vec<&str>> {
    let whole = text.split_inclusive('\n').filter_map(|line| line.strip_suffix('\n'));
    whole.map(|line| line.split(' ').collect())
}

/// Checkpoints that are judged of one store: the last ones acknowledged.
const CHECKPOINTS: usize = 2;

/// Their numbers, as a ledger tells them.
pub(crate) fn last_checkpoints(ledger: &[u8]) -> Vec<i64> {
    let text = String::from_utf8_lossy(ledger);
    let numbers = lines(&text).filter_map(|line| match line[..] {
        ["ok", "checkpoint", number] => number.parse().ok(),
        _ => None,
    });
    let mut numbers: Vec<i64> = numbers.collect();
    numbers.split_off(numbers.len().saturating_sub(CHECKPOINTS))
}
