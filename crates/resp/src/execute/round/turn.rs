//! Whether others may look while keys are changed.

use parking_lot::{RwLockReadGuard, RwLockWriteGuard};

use crate::keyspace::Keyspace;

/// Waits for its turn: alone, or together with all who need not be alone.
pub(in crate::execute) enum Turn<'k> {
    Shared {
        _guard: RwLockReadGuard<'k, ()>,
    },
    Alone {
        _guard: RwLockWriteGuard<'k, ()>,
    },
    /// It was taken further out.
    Held,
}

impl<'k> Turn<'k> {
    pub(in crate::execute) fn take(keyspace: &'k Keyspace, is_alone: bool, is_held: bool) -> Self {
        match (is_held, is_alone) {
            (true, _) => Turn::Held,
            (false, true) => Turn::Alone { _guard: keyspace.turn.write() },
            (false, false) => Turn::Shared { _guard: keyspace.turn.read() },
        }
    }
}
