//! Standard error, which may be a terminal, and which whoever started the program may have closed.
//!
//! `eprintln!` panics then. A server that told of its drain in the thread that hears signals went on
//! for ever.

use std::fmt::Display;
use std::io::Write;

use crate::plain;

/// Writes a line, if anybody reads it. Names of files and keys may hold what a terminal obeys.
pub(crate) fn line(text: impl Display) {
    let text = text.to_string();
    let _ = writeln!(std::io::stderr().lock(), "{}", plain::lines(&text));
}
