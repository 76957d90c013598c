//! Checks that a text is one JSON value, and decodes escapes of strings.

use serde::de::IgnoredAny;

/// The text of a JSON string whose raw text, without quotes, has backslashes in it.
pub(crate) fn unescape(raw: &[u8]) -> Option<String> {
    let quoted = [b"\"", raw, b"\""].concat();
    serde_json::from_slice(&quoted).ok()
}

/// Whether the text is one JSON value.
pub(crate) fn is_json(text: &[u8]) -> bool {
    serde_json::from_slice::<IgnoredAny>(text).is_ok()
}
