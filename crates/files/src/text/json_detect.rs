//! Detects how the JSON records of a source follow each other, and skips to the first of them.

use tonnage_engine::{Error, Result};

use super::block_reader::BlockReader;
use super::json_array::{ArrayCutter, element_end, line_ends, string_end};
use super::json_shape::JsonShape;
use crate::options::ReadOptions;
use crate::source::Source;

/// How much is looked at to find the shape, if the first record is no longer.
const HEAD_BYTES: usize = 1 << 20;

/// Finds out how the records of a source follow each other, and moves to the array that
/// [`ReadOptions::records`] names.
pub(crate) fn find_shape(
    source: &Source,
    blocks: &mut BlockReader,
    options: &ReadOptions,
) -> Result<JsonShape> {
    if !options.records.is_empty() {
        go_to_records(source, blocks, options)?;
        return Ok(JsonShape::Elements(ArrayCutter::inside_document()));
    }
    let mut wanted = HEAD_BYTES;
    loop {
        blocks.look_ahead(wanted);
        let at_end = blocks.has_ended();
        match JsonShape::of_head(blocks.look_ahead(0)) {
            Some(shape) => return Ok(shape),
            None if at_end || wanted > options.record_bytes_max => return Ok(JsonShape::Lines),
            None if blocks.came_early() => {}
            None => wanted *= 2,
        }
    }
}

/// Takes everything before the array of records out of the blocks.
fn go_to_records(source: &Source, blocks: &mut BlockReader, options: &ReadOptions) -> Result<()> {
    let mut wanted = HEAD_BYTES;
    let wrong = |what: &str| {
        Error::invalid(format!(
            "{}: --records {}: {what}",
            source.name(),
            options.records.join(".")
        ))
    };
    loop {
        blocks.look_ahead(wanted);
        let at_end = blocks.has_ended();
        let bytes = blocks.look_ahead(0);
        match find_array(bytes, 0, &options.records) {
            Ok(Some(at)) => {
                let lines = line_ends(&bytes[..at]);
                blocks.skip_header(at, lines);
                return Ok(());
            }
            Err(what) => return Err(wrong(what)),
            Ok(None) if at_end => return Err(wrong("the document ends before such an array")),
            Ok(None) if wanted > options.record_bytes_max * 2 => {
                return Err(wrong("too much comes before it in the document"));
            }
            // A slow source gave less than was asked for: more of it is no reason to ask for more.
            Ok(None) if blocks.came_early() => {}
            // The search begins anew each time: doubling keeps it linear.
            Ok(None) => wanted *= 2,
        }
    }
}

/// Where the array at a path begins; nothing if more of the document is needed to tell.
fn find_array(
    text: &[u8],
    at: usize,
    path: &[String],
) -> std::result::Result<Option<usize>, &'static str> {
    let Some(mut at) = next_token(text, at) else { return Ok(None) };
    let Some((name, rest)) = path.split_first() else {
        return if text[at] == b'[' { Ok(Some(at)) } else { Err("what is there is not an array") };
    };
    if text[at] != b'{' {
        return Err("there is no object to look for it in");
    }
    // Text that ends is never an error here: more of it may come.
    loop {
        let Some(quote) = next_token(text, at + 1) else { return Ok(None) };
        match text[quote] {
            b'}' => return Err("there is no such member"),
            b'"' => {}
            _ => return Err("the document is not JSON"),
        }
        let Some(end) = string_end(text, quote + 1) else { return Ok(None) };
        let Some(colon) = next_token(text, end + 1) else { return Ok(None) };
        if text[colon] != b':' {
            return Err("the document is not JSON");
        }
        if &text[quote + 1..end] == name.as_bytes() {
            // The first of two members counts: a look for the second would read the whole document.
            return find_array(text, colon + 1, rest);
        }
        let Some(behind) = value_end(text, colon + 1).and_then(|end| next_token(text, end)) else {
            return Ok(None);
        };
        match text[behind] {
            b',' => at = behind,
            b'}' => return Err("there is no such member"),
            _ => return Err("the document is not JSON"),
        }
    }
}

fn next_token(text: &[u8], at: usize) -> Option<usize> {
    let rest = text.get(at..)?;
    rest.iter().position(|byte| !byte.is_ascii_whitespace()).map(|offset| at + offset)
}

/// The end of the value after `at`.
fn value_end(text: &[u8], at: usize) -> Option<usize> {
    let start = next_token(text, at)?;
    match text[start] {
        b'"' => string_end(text, start + 1).map(|end| end + 1),
        b'{' | b'[' => element_end(text, start),
        _ => text[start..]
            .iter()
            .position(|byte| matches!(byte, b',' | b'}' | b']'))
            .map(|offset| start + offset),
    }
}
