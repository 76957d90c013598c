//! Splits a JSON array into its elements, on one line or many, and a sequence of objects without an
//! array.
//!
//! 1. An element ends where its brackets close, or, if it has none, at the comma or bracket of the
//!    array itself. Brackets are counted, strings skipped. The array may stand inside a document:
//!    the text after it is skipped then.
//! 2. Other modules check that an element is JSON. A broken element ends where its brackets close,
//!    so the next one is found again.

use memchr::{memchr_iter, memchr2};

/// The position of the next byte in the array.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArrayState {
    Before,
    FirstElement,
    Element,
    BehindElement,
    Behind,
    /// Between objects that follow each other.
    Between,
}

/// What encloses the elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ArrayContext {
    Array,
    /// An array in a document.
    Document,
    Nothing,
}

/// Splits one array, block by block.
#[derive(Clone, Debug)]
pub(crate) struct ArrayCutter {
    state: ArrayState,
    context: ArrayContext,
}

/// What was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ArrayCut {
    /// An element from here to there.
    Element(usize, usize),
    /// Text that is not an element, and why.
    Refused(usize, usize, &'static str),
    /// Nothing more before this place; an element that begins there does not end in this block.
    Nothing(usize),
    /// The text ends at this place before its time, and why that is known.
    Short(usize, &'static str),
}

impl ArrayCutter {
    pub(crate) fn new() -> Self {
        Self { state: ArrayState::Before, context: ArrayContext::Array }
    }

    /// For an array within a document, from its bracket on.
    pub(crate) fn inside_document() -> Self {
        Self { state: ArrayState::Before, context: ArrayContext::Document }
    }

    /// For objects that follow each other over several lines.
    pub(crate) fn sequence() -> Self {
        Self { state: ArrayState::Between, context: ArrayContext::Nothing }
    }

    pub(crate) fn is_sequence(&self) -> bool {
        self.context == ArrayContext::Nothing
    }

    /// Whether text is an array.
    pub(crate) fn fits(text: &[u8]) -> bool {
        text.trim_ascii_start().starts_with(b"[")
    }

    /// What comes next in `bytes` from `at`; `at_end` tells that nothing follows these bytes.
    pub(crate) fn next(&mut self, bytes: &[u8], mut at: usize, at_end: bool) -> ArrayCut {
        loop {
            at += bytes[at..].iter().take_while(|byte| byte.is_ascii_whitespace()).count();
            let Some(byte) = bytes.get(at) else { return self.at_the_end(at, at_end) };
            self.state = match (self.state, byte) {
                (ArrayState::Before, b'[') => ArrayState::FirstElement,
                // `[]` is an array, `[1,]` is none: so the first element has a state of its own.
                (ArrayState::FirstElement | ArrayState::BehindElement, b']') => ArrayState::Behind,
                (ArrayState::BehindElement, b',') => ArrayState::Element,
                (ArrayState::Before, _) => {
                    return self.rest(bytes, at, at_end, "the text is not a JSON array");
                }
                (ArrayState::Behind, _) if self.context == ArrayContext::Document => {
                    return ArrayCut::Nothing(bytes.len());
                }
                (ArrayState::Between, b'{') => {
                    return self.element(bytes, at, at_end, ArrayState::Between);
                }
                (ArrayState::Between, _) => {
                    return self.rest(bytes, at, at_end, "the record is not a JSON object");
                }
                (ArrayState::Behind, _) => {
                    return self.rest(bytes, at, at_end, "text follows the array");
                }
                // The bracket stays unread: the next call ends the array with it.
                (ArrayState::Element, b']') => {
                    self.state = ArrayState::BehindElement;
                    return ArrayCut::Refused(at, at, "an element is missing after a comma");
                }
                (before, _) => return self.element(bytes, at, at_end, before),
            };
            at += 1;
        }
    }

    fn at_the_end(&mut self, at: usize, at_end: bool) -> ArrayCut {
        match self.state {
            ArrayState::Before | ArrayState::Behind | ArrayState::Between => ArrayCut::Nothing(at),
            _ if at_end => ArrayCut::Short(at, "the array is not closed"),
            _ => ArrayCut::Nothing(at),
        }
    }

    fn element(
        &mut self,
        bytes: &[u8],
        start: usize,
        at_end: bool,
        before: ArrayState,
    ) -> ArrayCut {
        let end = match element_end(bytes, start) {
            Some(end) => end,
            None if at_end => return ArrayCut::Short(start, "its last record is not closed"),
            None => return ArrayCut::Nothing(start),
        };
        self.state =
            if self.is_sequence() { ArrayState::Between } else { ArrayState::BehindElement };
        let end = start + bytes[start..end].trim_ascii_end().len();
        match before {
            ArrayState::BehindElement => {
                ArrayCut::Refused(start, end, "a comma is missing before the element")
            }
            _ => ArrayCut::Element(start, end),
        }
    }

    /// Everything up to the end of the line.
    fn rest(&self, bytes: &[u8], start: usize, at_end: bool, reason: &'static str) -> ArrayCut {
        match memchr::memchr(b'\n', &bytes[start..]) {
            Some(length) => ArrayCut::Refused(start, start + length, reason),
            None if at_end => ArrayCut::Refused(start, bytes.len(), reason),
            None => ArrayCut::Nothing(start),
        }
    }
}

/// Where the element at `start` ends.
pub(crate) fn element_end(bytes: &[u8], start: usize) -> Option<usize> {
    let (mut at, mut depth) = (start, 0_usize);
    while let Some(byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at + 1)?,
            b'{' | b'[' => depth += 1,
            b',' | b']' if depth == 0 => return Some(at),
            b'}' | b']' if depth == 1 => return Some(at + 1),
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    None
}

/// The quote that ends a string.
pub(crate) fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at += memchr2(b'"', b'\\', bytes.get(at..)?)?;
        if bytes[at] == b'"' {
            return Some(at);
        }
        at += 2;
    }
}

/// The line ends in a stretch of text.
pub(crate) fn line_ends(bytes: &[u8]) -> u32 {
    memchr_iter(b'\n', bytes).count() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The elements as texts, those refused with their reasons, of text that comes in blocks of
    /// this many bytes.
    fn cut(text: &str, block: usize) -> Vec<String> {
        cut_by(ArrayCutter::new(), text, block)
    }

    fn cut_by(mut cutter: ArrayCutter, text: &str, block: usize) -> Vec<String> {
        let bytes = text.as_bytes();
        let (mut found, mut start, mut end) = (Vec::new(), 0, block.min(bytes.len()));
        loop {
            let of =
                |start: usize, end: usize| String::from_utf8_lossy(&bytes[start..end]).into_owned();
            match cutter.next(&bytes[..end], start, end == bytes.len()) {
                ArrayCut::Element(from, to) => (found.push(of(from, to)), start = to).1,
                ArrayCut::Refused(from, to, reason) => {
                    (found.push(format!("{}: {reason}", of(from, to))), start = to).1
                }
                ArrayCut::Short(at, reason) => {
                    found.push(format!("cut short at {at}: {reason}"));
                    return found;
                }
                ArrayCut::Nothing(_) if end == bytes.len() => return found,
                ArrayCut::Nothing(at) => (start, end) = (at, (end + block).min(bytes.len())),
            }
        }
    }

    #[test]
    fn elements_are_the_same_however_the_text_comes() {
        let text = " [ {\"a\": [1, {\"b\": \"]}\\\"\"}]} ,{\n \"c\" : 2 }\n,3, \"x,y\" ] \n";
        for block in 1..=text.len() {
            assert_eq!(
                cut(text, block),
                ["{\"a\": [1, {\"b\": \"]}\\\"\"}]}", "{\n \"c\" : 2 }", "3", "\"x,y\""],
                "{block}"
            );
        }
        assert!(cut("[]", 1).is_empty() && cut("", 1).is_empty());
    }

    #[test]
    fn what_is_no_element_is_told() {
        assert_eq!(cut("[1,]", 9), ["1", ": an element is missing after a comma"]);
        assert_eq!(
            cut("[1 2]", 9),
            ["1 2"],
            "a value that is none is for the reader of values to tell"
        );
        assert_eq!(cut("[1", 9), ["cut short at 1: its last record is not closed"]);
        assert_eq!(cut("[1,", 9), ["1", "cut short at 3: the array is not closed"]);
        assert_eq!(cut("[{}", 9), ["{}", "cut short at 3: the array is not closed"]);
        assert_eq!(
            cut("[{} {}}, 2]", 9),
            [
                "{}",
                "{}: a comma is missing before the element",
                "}: a comma is missing before the element",
                "2"
            ]
        );
        assert_eq!(cut("[1] {}\n", 9), ["1", "{}: text follows the array"]);
    }
    #[test]
    fn objects_follow_each_other_over_several_lines() {
        let text = "{\n \"a\": {}\n}\n{\"b\": 2} x\n{}";
        for block in 1..=text.len() {
            let found = cut_by(ArrayCutter::sequence(), text, block);
            assert_eq!(
                found,
                ["{\n \"a\": {}\n}", "{\"b\": 2}", "x: the record is not a JSON object", "{}"],
                "{block}"
            );
        }
        assert_eq!(
            cut_by(ArrayCutter::sequence(), "{} {\"a\": [", 20),
            ["{}", "cut short at 3: its last record is not closed"]
        );
    }

    #[test]
    fn what_follows_an_array_in_a_document_is_passed_over() {
        assert_eq!(
            cut_by(ArrayCutter::inside_document(), "[{}, {}], \"more\": [1]}", 5),
            ["{}", "{}"]
        );
    }
}
