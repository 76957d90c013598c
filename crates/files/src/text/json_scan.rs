//! Finds the members of one JSON object without building anything.
//!
//! The grammar is checked in full (RFC 8259): an object that passes here is JSON. `serde_json`
//! skips nested values, and limits their depth. They stay raw text.

use std::borrow::Cow;

use memchr::memchr2;
use serde::de::IgnoredAny;

use super::block::{Cell, CellKind};
use super::json_check::unescape;

/// A member as written in the text.
pub(crate) struct JsonMember<'a> {
    /// The name between its quotes.
    pub(crate) name: &'a [u8],
    /// Whether the name has backslashes in it.
    pub(crate) name_escaped: bool,
    /// The position of the value.
    pub(crate) value: Cell,
}

/// What is wrong, and at which byte of the text.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct JsonSyntaxError {
    pub(crate) at: usize,
    pub(crate) reason: &'static str,
}

/// Why a line is not a record.
pub(super) struct RecordRefusal {
    pub(super) column: Option<String>,
    pub(super) reason: String,
}

impl From<JsonSyntaxError> for RecordRefusal {
    fn from(error: JsonSyntaxError) -> Self {
        RecordRefusal { column: None, reason: error.reason.to_owned() }
    }
}

/// The name of a member as it is meant.
pub(super) fn decoded_name<'a>(member: &JsonMember<'a>) -> Cow<'a, str> {
    match member.name_escaped {
        true => Cow::Owned(unescape(member.name).unwrap_or_default()),
        false => String::from_utf8_lossy(member.name),
    }
}

/// Calls `found` for each member of the object that `text[start..end]` must be.
pub(crate) fn scan_object<'a, E: From<JsonSyntaxError>>(
    text: &'a [u8],
    start: usize,
    end: usize,
    mut found: impl FnMut(JsonMember<'a>) -> Result<(), E>,
) -> Result<(), E> {
    let mut scan = ObjectScan { text: &text[..end], at: start };
    scan.space();
    scan.expect(b'{', "the record is not a JSON object")?;
    scan.space();
    // An empty object is looked for here: in the loop a brace after a comma would pass.
    if scan.peek() == Some(b'}') {
        scan.at += 1;
        return Ok(scan.nothing_left()?);
    }
    loop {
        scan.space();
        scan.expect(b'"', "a member name in quotes is missing")?;
        let (name_start, name_end, name_escaped) = scan.scan_string()?;
        scan.space();
        scan.expect(b':', "a colon is missing after a member name")?;
        scan.space();
        let value = scan.scan_value()?;
        // Called while the rest may still be broken: the callee takes members back on an error.
        found(JsonMember { name: &text[name_start..name_end], name_escaped, value })?;
        scan.space();
        match scan.peek() {
            Some(b',') => scan.at += 1,
            Some(b'}') => {
                scan.at += 1;
                return Ok(scan.nothing_left()?);
            }
            _ => return Err(scan.wrong("a comma or the end of the object is missing").into()),
        }
    }
}

struct ObjectScan<'a> {
    text: &'a [u8],
    at: usize,
}

impl ObjectScan<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn wrong(&self, reason: &'static str) -> JsonSyntaxError {
        JsonSyntaxError { at: self.at, reason }
    }

    fn space(&mut self) {
        while let Some(b' ' | b'\t' | b'\r' | b'\n') = self.peek() {
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8, reason: &'static str) -> Result<(), JsonSyntaxError> {
        if self.peek() != Some(byte) {
            return Err(self.wrong(reason));
        }
        self.at += 1;
        Ok(())
    }

    fn nothing_left(&mut self) -> Result<(), JsonSyntaxError> {
        self.space();
        if self.at < self.text.len() { Err(self.wrong("text follows the object")) } else { Ok(()) }
    }

    /// Steps over a string after its opening quote: where its text begins and ends, and whether it
    /// has escapes.
    fn scan_string(&mut self) -> Result<(usize, usize, bool), JsonSyntaxError> {
        let start = self.at;
        let mut escaped = false;
        loop {
            // The end is searched for by itself, which is fast. What precedes it is checked
            // afterwards.
            let Some(length) = memchr2(b'"', b'\\', &self.text[self.at..]) else {
                return Err(self.wrong("a string is never closed"));
            };
            self.at += length;
            if self.text[self.at] == b'"' {
                break;
            }
            escaped = true;
            // The text may end with the backslash.
            self.at = (self.at + 2).min(self.text.len());
        }
        let end = self.at;
        self.at += 1;
        let raw = &self.text[start..end];
        if raw.iter().any(|byte| *byte < 0x20) {
            return Err(JsonSyntaxError {
                at: start,
                reason: "a string has a control character that is not escaped",
            });
        }
        if escaped && unescape(raw).is_none() {
            return Err(JsonSyntaxError {
                at: start,
                reason: "a string has an escape that JSON does not know",
            });
        }
        Ok((start, end, escaped))
    }

    fn scan_value(&mut self) -> Result<Cell, JsonSyntaxError> {
        let start = self.at;
        match self.peek() {
            Some(b'"') => {
                self.at += 1;
                let (start, end, escaped) = self.scan_string()?;
                Ok(Cell::new(
                    start,
                    end,
                    if escaped { CellKind::StringEscaped } else { CellKind::String },
                ))
            }
            Some(b'-' | b'0'..=b'9') => {
                self.scan_number()?;
                Ok(Cell::new(start, self.at, CellKind::Number))
            }
            Some(b'{' | b'[') => {
                self.scan_nested()?;
                Ok(Cell::new(start, self.at, CellKind::Nested))
            }
            Some(b't') => self.scan_literal(b"true", CellKind::Bool),
            Some(b'f') => self.scan_literal(b"false", CellKind::Bool),
            // A null and a member that is not there mean the same.
            Some(b'n') => self.scan_literal(b"null", CellKind::Missing),
            _ => Err(self.wrong("a value is missing")),
        }
    }

    fn scan_literal(&mut self, word: &[u8], kind: CellKind) -> Result<Cell, JsonSyntaxError> {
        if !self.text[self.at..].starts_with(word) {
            return Err(self.wrong(
                "a value is neither a string, a number, true, false, null, an object nor an array",
            ));
        }
        let start = self.at;
        self.at += word.len();
        Ok(Cell::new(start, self.at, kind))
    }

    fn scan_number(&mut self) -> Result<(), JsonSyntaxError> {
        // Built before any byte is passed, so that it names the position where the number begins.
        let wrong = self.wrong("a number is not written as JSON wants it");
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        // Rust's parsers take `01` and `1.`, which are not JSON: they are refused here, before any
        // is asked.
        match self.digits() {
            0 => return Err(wrong),
            length if length > 1 && self.text[self.at - length] == b'0' => return Err(wrong),
            _ => {}
        }
        if self.peek() == Some(b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(wrong);
            }
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            if self.digits() == 0 {
                return Err(wrong);
            }
        }
        Ok(())
    }

    fn digits(&mut self) -> usize {
        let length = self.text[self.at..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        self.at += length;
        length
    }

    fn scan_nested(&mut self) -> Result<(), JsonSyntaxError> {
        let mut values =
            serde_json::Deserializer::from_slice(&self.text[self.at..]).into_iter::<IgnoredAny>();
        match values.next() {
            Some(Ok(_)) => {
                self.at += values.byte_offset();
                Ok(())
            }
            _ => Err(self.wrong("a nested value is broken")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names_and_values(text: &str) -> Result<Vec<(String, String)>, JsonSyntaxError> {
        let mut members = Vec::new();
        scan_object(text.as_bytes(), 0, text.len(), |member| {
            let text_of = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
            members.push((text_of(member.name), text_of(member.value.json_text(text.as_bytes()))));
            Ok::<(), JsonSyntaxError>(())
        })?;
        Ok(members)
    }

    #[test]
    fn members_are_found_as_they_stand() {
        let members =
            names_and_values(r#" { "a" : 1.5e3, "b":"x\"y" ,"c":{"d":[1,{}]},"e":null } "#)
                .unwrap();
        let expected =
            [("a", "1.5e3"), ("b", r#""x\"y""#), ("c", r#"{"d":[1,{}]}"#), ("e", "null")];
        assert_eq!(members, expected.map(|(name, value)| (name.to_owned(), value.to_owned())));
    }

    #[test]
    fn what_serde_refuses_is_refused_too() {
        for text in [
            "",
            "{",
            "{}x",
            "[]",
            "{\"a\"}",
            "{\"a\":}",
            "{\"a\":1,}",
            "{\"a\":01}",
            "{\"a\":1.}",
            "{\"a\":-}",
            "{\"a\":tru}",
            "{\"a\":\"\t\"}",
            "{\"a\":\"\\x\"}",
            "{\"a\":\"",
            "{\"a\":\"\\",
            "{\"a\":{\"b\":}}",
            "{a:1}",
            "{\"a\":1 \"b\":2}",
            "{\"a\":1e}",
        ] {
            assert!(names_and_values(text).is_err(), "{text} should be refused");
            assert!(
                serde_json::from_str::<serde_json::Map<String, serde_json::Value>>(text).is_err(),
                "{text} is not a good example"
            );
        }
    }
}
