//! Keeps each definition of a type once for the whole process, so that a [`crate::ColumnType`] is a
//! few bytes that can be copied and compared.
//!
//! Definitions are never freed. A bound limits how many bytes all of them may take.

use std::collections::HashSet;
use std::hash::Hash;
use std::sync::Mutex;

use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result};

/// The most bytes that all definitions of the process may take.
const BYTES_MAX: usize = 256 << 20;

/// The definitions of one kind.
pub(super) struct Interned<T: 'static> {
    known: Mutex<Option<InternPool<T>>>,
}

struct InternPool<T: 'static> {
    definitions: HashSet<&'static T>,
    bytes: usize,
}

impl<T: Hash + Eq> Interned<T> {
    pub(super) const fn new() -> Self {
        Self { known: Mutex::new(None) }
    }

    /// The one definition that is equal to this one, which takes about so many bytes.
    ///
    /// # Errors
    /// `Invalid` when all of them together would take too much.
    pub(super) fn get(&self, definition: T, bytes: usize) -> Result<&'static T> {
        let mut known = lock(&self.known);
        let known =
            known.get_or_insert_with(|| InternPool { definitions: HashSet::new(), bytes: 0 });
        if let Some(definition) = known.definitions.get(&definition) {
            return Ok(definition);
        }
        if known.bytes.saturating_add(bytes) > BYTES_MAX {
            return Err(Error::invalid(format!(
                "the definitions of types take more than {BYTES_MAX} bytes in this process: use fewer different ones, or start it again"
            )));
        }
        known.bytes += bytes;
        let definition: &'static T = Box::leak(Box::new(definition));
        known.definitions.insert(definition);
        Ok(definition)
    }
}
