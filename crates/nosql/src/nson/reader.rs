//! Reads documents. Nothing here panics, whatever the bytes are, and no memory is taken.

use super::cursor::NsonCursor;
use super::fault::{DEPTH_MAX, NsonFault};
use super::view::{NsonFields, NsonItems, NsonView, read_value};

/// The document that bytes begin with. All of it is looked at before any of it is given out.
///
/// # Errors
/// Why the bytes are none.
pub fn read_document(bytes: &[u8]) -> Result<NsonView<'_>, NsonFault> {
    let document = read_value(&mut NsonCursor::new(bytes))?;
    check(document, 0)?;
    Ok(document)
}

/// A text after its packed length, as protocol failures have it.
///
/// # Errors
/// Why there is none.
pub fn read_packed_text(bytes: &[u8]) -> Result<&str, NsonFault> {
    NsonCursor::new(bytes).text()
}

/// Checks everything in a value. The depth is bounded, and so is the recursion.
fn check(value: NsonView<'_>, depth: usize) -> Result<(), NsonFault> {
    let (contents, left, is_map) = match value {
        NsonView::Array(NsonItems { contents, left }) => (contents, left, false),
        NsonView::Map(NsonFields { contents, left }) => (contents, left, true),
        _ => return Ok(()),
    };
    if depth >= DEPTH_MAX {
        return Err(NsonFault::Depth);
    }
    let mut cursor = NsonCursor::new(contents);
    for _ in 0..left {
        if is_map {
            cursor.text()?;
        }
        check(read_value(&mut cursor)?, depth + 1)?;
    }
    match cursor.rest.len() {
        0 => Ok(()),
        behind => Err(NsonFault::Size { behind }),
    }
}
