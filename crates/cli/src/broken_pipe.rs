//! Notes that the reader of standard output has gone, as `head` does.
//!
//! A broken connection or file gives the same error, but is a failure. So only writes to the output
//! are noted here.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

static IS_GONE: AtomicBool = AtomicBool::new(false);

/// Notes what became of a write to the output.
pub(crate) fn noting_broken_pipe<T>(written: io::Result<T>) -> io::Result<T> {
    let is_gone = |error: &io::Error| error.kind() == io::ErrorKind::BrokenPipe;
    if written.as_ref().is_err_and(is_gone) {
        IS_GONE.store(true, Relaxed);
    }
    written
}

/// Whether a write found that no reader is left.
pub(crate) fn reader_has_gone() -> bool {
    IS_GONE.load(Relaxed)
}
