//! Escapes control characters in text for terminals.
//!
//! Values, names and pieces of files may hold control characters, which move the cursor, change
//! colours, or do worse. A terminal gets them as `\x1b` and the like.

use std::borrow::Cow;
use std::fmt::Write as _;
use std::io::{self, Write};

/// The text with its control characters visible. Line ends stay.
pub(crate) fn lines(text: &str) -> Cow<'_, str> {
    escape(text, |char| char == '\n' || char == '\t')
}

/// The text of one cell of a table: line ends stay, tabs would tear it apart.
pub(crate) fn cell(text: &str) -> Cow<'_, str> {
    escape(text, |char| char == '\n')
}

fn escape(text: &str, stays: impl Fn(char) -> bool) -> Cow<'_, str> {
    let is_plain = |char: char| !char.is_control() && !turns_text_round(char) || stays(char);
    if text.chars().all(is_plain) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 8);
    for char in text.chars() {
        match char {
            char if is_plain(char) => out.push(char),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            // Writing to a string cannot fail.
            char if u32::from(char) < 0x100 => drop(write!(out, "\\x{:02x}", u32::from(char))),
            char => drop(write!(out, "\\u{{{:x}}}", u32::from(char))),
        }
    }
    Cow::Owned(out)
}

/// Marks that let the following text be shown in another order than it has.
fn turns_text_round(char: char) -> bool {
    matches!(char, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// A terminal that is written to as text: control bytes are shown.
pub(crate) struct PlainWriter<W> {
    target: W,
    /// The beginning of a character whose end is still to come.
    rest: Vec<u8>,
}

impl<W: Write> PlainWriter<W> {
    pub(crate) fn new(target: W) -> Self {
        Self { target, rest: Vec::new() }
    }
}

impl<W: Write> Write for PlainWriter<W> {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.rest.extend_from_slice(bytes);
        let whole = match std::str::from_utf8(&self.rest) {
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            _ => self.rest.len(),
        };
        let text = String::from_utf8_lossy(&self.rest[..whole]).into_owned();
        self.rest.drain(..whole);
        self.target.write_all(lines(&text).as_bytes())?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.target.flush()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(lines("a\x1b[31mred\x07\r\n\tü€"), "a\\x1b[31mred\\x07\\r\n\tü€");
        assert_eq!(cell("a\tb\u{9b}c\u{202e}d"), "a\\tb\\x9bc\\u{202e}d");
        assert!(matches!(lines("nothing to do\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn a_terminal_gets_whole_characters() {
        let mut writer = PlainWriter::new(Vec::new());
        for byte in "ü\x1b€".as_bytes() {
            writer.write_all(&[*byte]).unwrap();
        }
        assert_eq!(writer.target, "ü\\x1b€".as_bytes());
    }
}
