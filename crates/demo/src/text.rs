//! Prints the story line by line, with numbers as people read them.

use std::fmt;
use std::io::Write;

use tonnage::{Error, Result};

/// Writes the story, line by line.
pub(crate) struct DemoOutput<'a>(&'a mut dyn Write);

impl<'a> DemoOutput<'a> {
    pub(crate) fn new(output: &'a mut dyn Write) -> Self {
        Self(output)
    }

    /// Write one line, and show it at once.
    pub(crate) fn print_line(&mut self, text: impl fmt::Display) -> Result<()> {
        writeln!(self.0, "{text}").and_then(|()| self.0.flush()).map_err(|error| {
            Error::unavailable(format!("the output cannot be written: {error}")).with_source(error)
        })
    }
}

/// A count with thousands set apart: `1,234,567`.
pub(crate) fn grouped(count: u64) -> String {
    let digits = count.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A count with its noun: `1 picture`, `2 pictures`.
pub(crate) fn counted(count: u64, noun: &str) -> String {
    format!("{} {noun}{}", grouped(count), if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_read_well() {
        assert_eq!(grouped(1_234_567), "1,234,567");
        assert_eq!(counted(1, "picture"), "1 picture");
        assert_eq!(counted(1_000, "picture"), "1,000 pictures");
    }
}
