//! Standard error, which whoever started the program may have closed.
//!
//! `eprintln!` panics then. A server that told of its drain in the thread that hears signals went on
//! for ever.

use std::fmt::Display;
use std::io::Write;

/// Writes a line, if anybody reads it.
pub(crate) fn line(text: impl Display) {
    let _ = writeln!(std::io::stderr().lock(), "{text}");
}
