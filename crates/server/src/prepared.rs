//! Prepared statements of clients: a handle for each, and the rows bound to its parameters.

use std::collections::HashMap;
use std::ops::Deref;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use tonnage::internal::sync::lock;
use tonnage::{Error, Result};
use tonnage_sql::Prepared;

use crate::budget::{MemoryBudget, MemoryReservation, bytes_of};
use crate::random::random_name;

/// A statement unused for so long is forgotten when there are too many.
const IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// Statements that may be prepared at a time.
const PREPARED_MAX: usize = 10_000;
/// What may be bound to the parameters of one statement,
const BOUND_BYTES_MAX: usize = 64 << 20;
/// and to those of all statements.
const BOUND_BYTES_MAX_OF_ALL: usize = 1 << 30;

/// All prepared statements.
pub(crate) struct PreparedStatements {
    statements: Mutex<HashMap<String, PreparedEntry>>,
    bound: Arc<MemoryBudget>,
}

impl Default for PreparedStatements {
    fn default() -> Self {
        let bound = MemoryBudget::new(BOUND_BYTES_MAX_OF_ALL, "parameters of prepared statements");
        Self { statements: Mutex::default(), bound }
    }
}

struct PreparedEntry {
    statement: Arc<OwnedStatement>,
    used: Instant,
}

/// A prepared statement.
pub(crate) struct OwnedStatement {
    pub(crate) prepared: Prepared,
    owner: Option<String>,
    bound: Mutex<BoundRows>,
}

/// Rows that are bound to parameters: a row for each time that the statement is carried out.
#[derive(Clone, Debug, Default)]
pub(crate) struct BoundRows {
    rows: Arc<[RecordBatch]>,
    /// Held as long as a caller has the rows.
    _taken: Option<Arc<MemoryReservation>>,
}

impl Deref for BoundRows {
    type Target = [RecordBatch];

    fn deref(&self) -> &[RecordBatch] {
        &self.rows
    }
}

/// Rows that come to be bound.
pub(crate) struct BoundRowsBuilder {
    rows: Vec<RecordBatch>,
    bytes: usize,
    taken: MemoryReservation,
}

impl BoundRowsBuilder {
    /// Takes further rows.
    ///
    /// # Errors
    /// `Exhausted` for too many bytes.
    pub(crate) fn push(&mut self, rows: RecordBatch) -> Result<()> {
        let bytes = bytes_of(&rows);
        self.bytes += bytes;
        if self.bytes > BOUND_BYTES_MAX {
            return Err(Error::exhausted(format!(
                "more than {BOUND_BYTES_MAX} bytes are bound to the parameters: bind fewer rows at \
                 once, or put rows in bulk"
            )));
        }
        self.taken.grow(bytes)?;
        self.rows.push(rows);
        Ok(())
    }
}

impl OwnedStatement {
    /// What is bound to its parameters.
    pub(crate) fn bound(&self) -> BoundRows {
        lock(&self.bound).clone()
    }

    /// Binds rows in the place of those that were.
    pub(crate) fn bind(&self, binding: BoundRowsBuilder) {
        let BoundRowsBuilder { rows, taken, .. } = binding;
        let bound = BoundRows { rows: rows.into(), _taken: Some(Arc::new(taken)) };
        *lock(&self.bound) = bound;
    }
}

impl PreparedStatements {
    /// Keeps a statement, and gives its handle.
    ///
    /// # Errors
    /// `Exhausted` when there are too many that were used lately.
    pub(crate) fn keep(&self, prepared: Prepared, owner: Option<String>) -> Result<String> {
        let handle = random_name()?;
        let mut known = self.statements();
        if known.len() >= PREPARED_MAX {
            known.retain(|_, kept| kept.used.elapsed() < IDLE_MAX);
        }
        if known.len() >= PREPARED_MAX {
            return Err(Error::exhausted(format!(
                "{PREPARED_MAX} statements are prepared: close those that are not needed"
            )));
        }
        let statement = Arc::new(OwnedStatement { prepared, owner, bound: Mutex::default() });
        known.insert(handle.clone(), PreparedEntry { statement, used: Instant::now() });
        Ok(handle)
    }

    /// The statement of a handle.
    ///
    /// # Errors
    /// `NotFound` for a handle that is not known, or is another's.
    pub(crate) fn get(&self, handle: &[u8], user: Option<&str>) -> Result<Arc<OwnedStatement>> {
        let missing = || Error::not_found("there is no such prepared statement: prepare it again");
        let handle = std::str::from_utf8(handle).map_err(|_| missing())?;
        let mut known = self.statements();
        let kept = known.get_mut(handle).filter(|kept| kept.statement.owner.as_deref() == user);
        let kept = kept.ok_or_else(missing)?;
        kept.used = Instant::now();
        Ok(kept.statement.clone())
    }

    /// Begins to take rows for the parameters of a statement.
    pub(crate) fn binding(&self) -> BoundRowsBuilder {
        BoundRowsBuilder { rows: Vec::new(), bytes: 0, taken: self.bound.reservation() }
    }

    /// Forgets a statement.
    pub(crate) fn close(&self, handle: &[u8], user: Option<&str>) {
        if self.get(handle, user).is_ok() {
            let handle = String::from_utf8_lossy(handle);
            self.statements().remove(handle.as_ref());
        }
    }

    fn statements(&self) -> MutexGuard<'_, HashMap<String, PreparedEntry>> {
        lock(&self.statements)
    }
}

#[cfg(test)]
mod tests {
    use arrow::array::{ArrayRef, StringArray};

    use super::*;

    /// Once all that came was kept in memory, and counted only after its end.
    #[test]
    fn what_is_bound_is_counted_as_it_comes_and_for_all_statements() {
        let words: ArrayRef = Arc::new(StringArray::from(vec!["x".repeat(2 << 20)]));
        let rows = RecordBatch::try_from_iter([("w", words)]).unwrap();
        let statements = PreparedStatements::default();
        let fill = || {
            let mut binding = statements.binding();
            let refused = (0..1_000).find_map(|_| binding.push(rows.clone()).err());
            (binding, refused.unwrap())
        };
        let (first, refused) = fill();
        assert!(refused.message().contains("67108864 bytes are bound"), "{refused}");
        assert_eq!(first.rows.len(), 31);
        let all: Vec<_> = (0..17).map(|_| fill()).collect();
        let refused = &all.last().unwrap().1;
        assert!(refused.message().contains("1073741824 bytes"), "{refused}");
        drop((first, all));
        assert_eq!(fill().0.rows.len(), 31);
    }
}
