//! Whether whoever read the output has seen enough, as `head` has.
//!
//! Connections and files break likewise, and then the run has failed. So who writes the output notes
//! it.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static IS_GONE: AtomicBool = AtomicBool::new(false);

/// Notes what became of a write to the output.
pub(crate) fn noting<T>(written: io::Result<T>) -> io::Result<T> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if written.as_ref().is_err_and(is_gone) {
        IS_GONE.store(true, Relaxed);
    }
    written
}

/// Whether a write found that nobody reads any more.
pub(crate) fn is_noted() -> bool {
    IS_GONE.load(Relaxed)
}
