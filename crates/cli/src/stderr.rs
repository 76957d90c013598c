//! Writes lines to standard error, which may be a terminal or closed.
//!
//! `eprintln!` panics when it is closed. A server that printed in the signal thread panicked there,
//! and never drained.

use std::fmt::Display;
use std::io::Write;

use crate::plain;

/// Writes a line, if anybody reads it. Names of files and keys may hold what a terminal obeys.
pub(crate) fn line(text: impl Display) {
    let text = text.to_string();
    let _ = writeln!(std::io::stderr().lock(), "{}", plain::lines(&text));
}
