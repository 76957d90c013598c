//! How JSON records follow each other: one a line, one after another over several lines, or as
//! elements of an array, which may stand inside a larger document.

use memchr::memchr;

use super::block::CellKind;
use super::json_array::{ArrayCut, ArrayCutter, element_end};
use super::json_scan::{JsonSyntaxError, scan_object};

/// How the records follow each other.
#[derive(Clone, Debug)]
pub(crate) enum JsonShape {
    /// Each is a line.
    Lines,
    /// Brackets tell where each of them ends.
    Elements(ArrayCutter),
}

impl JsonShape {
    /// The shape of what begins like this; none if the first record does not end in it.
    pub(super) fn of_head(text: &[u8]) -> Option<Self> {
        if ArrayCutter::fits(text) {
            return Some(JsonShape::Elements(ArrayCutter::new()));
        }
        let start = text.len() - text.trim_ascii_start().len();
        if start == text.len() {
            return None;
        }
        let line_end = memchr(b'\n', &text[start..]).map_or(text.len(), |length| start + length);
        if text.get(start) != Some(&b'{') || is_object(text, start, line_end) {
            return Some(JsonShape::Lines);
        }
        let end = element_end(text, start)?;
        let has_lines = end <= line_end || !is_object(text, start, end);
        Some(if has_lines {
            JsonShape::Lines
        } else {
            JsonShape::Elements(ArrayCutter::sequence())
        })
    }

    /// Whether each line is a record.
    pub(crate) fn has_lines(&self) -> bool {
        matches!(self, JsonShape::Lines)
    }

    /// Whether records of several lines follow each other.
    pub(crate) fn is_sequence(&self) -> bool {
        matches!(self, JsonShape::Elements(cutter) if cutter.is_sequence())
    }

    /// The start and end of the record at or after `start`, and the position to search for the
    /// next.
    pub(crate) fn next_record(
        &mut self,
        bytes: &[u8],
        start: usize,
        at_end: bool,
    ) -> Option<(usize, usize, usize)> {
        match self {
            _ if start >= bytes.len() => None,
            JsonShape::Lines => match memchr(b'\n', &bytes[start..]) {
                Some(length) => Some((start, start + length, start + length + 1)),
                None => at_end.then_some((start, bytes.len(), bytes.len())),
            },
            JsonShape::Elements(cutter) => match cutter.next(bytes, start, at_end) {
                ArrayCut::Element(from, to) | ArrayCut::Refused(from, to, _) => {
                    Some((from, to, to))
                }
                ArrayCut::Nothing(_) | ArrayCut::Short(..) => None,
            },
        }
    }
}

fn is_object(text: &[u8], start: usize, end: usize) -> bool {
    scan_object(text, start, end, |_| Ok::<(), JsonSyntaxError>(())).is_ok()
}

/// The name that [`records_inside`] finds in a text that is one object.
pub(crate) fn records_alone(text: &[u8]) -> Option<String> {
    let start = text.len() - text.trim_ascii_start().len();
    let end = element_end(text, start)?;
    let is_alone = text[start] == b'{' && text[end..].trim_ascii().is_empty();
    is_alone.then(|| records_inside(&text[start..end])).flatten()
}

/// The name of a member of the object that `text` is which is an array of objects.
pub(crate) fn records_inside(text: &[u8]) -> Option<String> {
    let mut found = None;
    let _ = scan_object(text, 0, text.len(), |member| {
        let value = member.value.bytes(text);
        let holds_objects =
            value.strip_prefix(b"[").is_some_and(|rest| rest.trim_ascii_start().starts_with(b"{"));
        if found.is_none() && member.value.kind() == CellKind::Nested && holds_objects {
            found = Some(String::from_utf8_lossy(member.name).into_owned());
        }
        Ok::<(), JsonSyntaxError>(())
    });
    found
}
