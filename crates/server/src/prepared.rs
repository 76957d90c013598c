//! Statements that clients prepared: a handle for each, with what is bound to its parameters.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use arrow::array::RecordBatch;
use tonnage::{Error, Result};
use tonnage_sql::Prepared;

use crate::random::random_name;

/// A statement that nobody used for so long is forgotten when there are too many.
const IDLE_MAX: Duration = Duration::from_secs(30 * 60);
/// Statements that may be prepared at a time.
const PREPARED_MAX: usize = 10_000;
/// What may be bound to the parameters of one statement.
const BOUND_BYTES_MAX: usize = 64 << 20;

/// All prepared statements.
#[derive(Default)]
pub(crate) struct PreparedStatements {
    known: Mutex<HashMap<String, Kept>>,
}

struct Kept {
    statement: Arc<PreparedStatement>,
    used: Instant,
}

/// A prepared statement.
pub(crate) struct PreparedStatement {
    pub(crate) prepared: Prepared,
    owner: Option<String>,
    bound: Mutex<Vec<RecordBatch>>,
}

impl PreparedStatement {
    /// What is bound to its parameters: a row for each time that it is carried out.
    pub(crate) fn bound(&self) -> Vec<RecordBatch> {
        self.bound.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Binds rows in the place of those that were.
    ///
    /// # Errors
    /// `Exhausted` for too many bytes.
    pub(crate) fn bind(&self, rows: Vec<RecordBatch>) -> Result<()> {
        let bytes: usize = rows.iter().map(RecordBatch::get_array_memory_size).sum();
        if bytes > BOUND_BYTES_MAX {
            return Err(Error::exhausted(format!(
                "{bytes} bytes are bound to the parameters, {BOUND_BYTES_MAX} are the most: bind \
                 fewer rows at once, or put rows in bulk"
            )));
        }
        *self.bound.lock().unwrap_or_else(PoisonError::into_inner) = rows;
        Ok(())
    }
}

impl PreparedStatements {
    /// Keeps a statement, and gives its handle.
    ///
    /// # Errors
    /// `Exhausted` when there are too many that were used lately.
    pub(crate) fn keep(&self, prepared: Prepared, owner: Option<String>) -> Result<String> {
        let handle = random_name()?;
        let mut known = self.known();
        if known.len() >= PREPARED_MAX {
            known.retain(|_, kept| kept.used.elapsed() < IDLE_MAX);
        }
        if known.len() >= PREPARED_MAX {
            return Err(Error::exhausted(format!(
                "{PREPARED_MAX} statements are prepared: close those that are not needed"
            )));
        }
        let statement = Arc::new(PreparedStatement { prepared, owner, bound: Mutex::default() });
        known.insert(handle.clone(), Kept { statement, used: Instant::now() });
        Ok(handle)
    }

    /// The statement of a handle.
    ///
    /// # Errors
    /// `NotFound` for a handle that is not known, or is another's.
    pub(crate) fn get(&self, handle: &[u8], user: Option<&str>) -> Result<Arc<PreparedStatement>> {
        let missing = || Error::not_found("there is no such prepared statement: prepare it again");
        let handle = std::str::from_utf8(handle).map_err(|_| missing())?;
        let mut known = self.known();
        let kept = known.get_mut(handle).filter(|kept| kept.statement.owner.as_deref() == user);
        let kept = kept.ok_or_else(missing)?;
        kept.used = Instant::now();
        Ok(kept.statement.clone())
    }

    /// Forgets a statement.
    pub(crate) fn close(&self, handle: &[u8], user: Option<&str>) {
        if self.get(handle, user).is_ok() {
            let handle = String::from_utf8_lossy(handle);
            self.known().remove(handle.as_ref());
        }
    }

    fn known(&self) -> MutexGuard<'_, HashMap<String, Kept>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
