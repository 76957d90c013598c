//! Splits CSV into records and fields (RFC 4180), without copying.
//!
//! The text is searched for its three special bytes: delimiter, line end and quote. Everything
//! happens at one of them:
//!
//! 1. A field that begins with a quote runs to the quote that is not doubled; delimiters and line
//!    ends inside belong to it.
//! 2. A quote anywhere else in an unquoted field is a plain character.
//! 3. A line end outside quotes ends the record. A carriage return before it is dropped. Blank
//!    lines are skipped, but in a file of one column, where they are empty fields.
//! 4. What has an escape before it, if the [`CsvDialect`] has one, means nothing, in quotes or not.
//!
//! A quote that is never closed, or that has text after it, would swallow the records that follow.
//! So only the **first line** of such a record is rejected, and reading continues at the next line.

use memchr::{memchr, memchr3_iter};

use super::block::{Block, Cell, CellKind};
use super::dialect::CsvDialect;

/// How this file is written.
#[derive(Clone, Debug)]
pub(crate) struct CsvSplitter {
    pub(crate) dialect: CsvDialect,
    /// The fields of each record; 0: as many as there are.
    pub(crate) columns: usize,
    /// Whether a blank line of a file of one column is a record.
    pub(crate) blank_is_null: bool,
}

/// Why a run over the text came to a halt.
enum SplitHalt {
    /// The text is used up; the record that begins here is not complete.
    Incomplete { start: usize },
    /// The batch is full.
    Full { start: usize },
    /// The record that begins here has a misplaced quote.
    Malformed { start: usize, reason: &'static str },
}

/// The state of the search within a field.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FieldState {
    Unquoted,
    Quoted { escaped: bool },
    Closed { end: usize, escaped: bool },
}

impl CsvSplitter {
    /// Cuts `bytes` into at most `rows_max` records, and gives how many bytes were used. Without
    /// `at_end`, a record without a line end is left for the next call, which has more of it.
    pub(crate) fn split(
        &self,
        bytes: &[u8],
        at_end: bool,
        rows_max: usize,
        block: &mut Block,
    ) -> usize {
        let mut from = 0;
        block.dialect = self.dialect;
        loop {
            match self.run(bytes, from, at_end, rows_max, block) {
                SplitHalt::Full { start } => return start,
                // Before the end of the file more text may close the quote.
                SplitHalt::Incomplete { start } if !at_end || start >= bytes.len() => return start,
                SplitHalt::Incomplete { start } => {
                    // At the end only an open quote leaves a record incomplete.
                    match self.refuse_line(
                        bytes,
                        start,
                        at_end,
                        "a quote is opened and never closed",
                        block,
                    ) {
                        Some(next) => from = next,
                        None => return start,
                    }
                }
                SplitHalt::Malformed { start, reason } => {
                    match self.refuse_line(bytes, start, at_end, reason, block) {
                        Some(next) => from = next,
                        None => return start,
                    }
                }
            }
        }
    }

    /// Rejects the line that begins at `start`; none if its end is not there yet.
    fn refuse_line(
        &self,
        bytes: &[u8],
        start: usize,
        at_end: bool,
        reason: &str,
        block: &mut Block,
    ) -> Option<usize> {
        let (end, next) = match memchr(b'\n', &bytes[start..]) {
            Some(length) => (start + length, start + length + 1),
            None if at_end => (bytes.len(), bytes.len()),
            None => return None,
        };
        block.refuse(
            start,
            without_return(bytes, start, end),
            block.lines,
            None,
            reason.to_owned(),
        );
        block.lines += 1;
        Some(next)
    }

    fn run(
        &self,
        bytes: &[u8],
        from: usize,
        at_end: bool,
        rows_max: usize,
        block: &mut Block,
    ) -> SplitHalt {
        let mut record = from;
        let mut field = from;
        let mut lines_inside = 0;
        let mut state = FieldState::Unquoted;
        let mut skip_at = usize::MAX;
        if block.spans.len() >= rows_max {
            return SplitHalt::Full { start: record };
        }
        let (delimiter, quote) = (self.dialect.delimiter, self.dialect.quote);
        // Without quotes there are two bytes to look for.
        for offset in memchr3_iter(delimiter, b'\n', quote.unwrap_or(b'\n'), &bytes[from..]) {
            let at = from + offset;
            let byte = bytes[at];
            let is_quote = quote == Some(byte);
            if self.dialect.is_escaped(bytes, field, at) {
                lines_inside += u32::from(byte == b'\n');
                continue;
            }
            match state {
                FieldState::Unquoted if is_quote => {
                    if at == field {
                        state = FieldState::Quoted { escaped: false };
                    }
                    continue;
                }
                FieldState::Quoted { escaped } => {
                    if byte == b'\n' {
                        lines_inside += 1;
                    } else if is_quote && at != skip_at {
                        match bytes.get(at + 1) {
                            Some(next) if quote == Some(*next) => {
                                // The search meets the second quote, too: it must close nothing.
                                skip_at = at + 1;
                                state = FieldState::Quoted { escaped: true };
                            }
                            None if !at_end => break,
                            _ => state = FieldState::Closed { end: at, escaped },
                        }
                    }
                    continue;
                }
                FieldState::Closed { .. } if is_quote => return self.malformed(record, block),
                _ => {}
            }
            if !self.push_field(bytes, field, at, state, byte == b'\n', block) {
                return self.malformed(record, block);
            }
            state = FieldState::Unquoted;
            field = at + 1;
            if byte == b'\n' {
                self.end_record(bytes, record, at, lines_inside + 1, block);
                record = field;
                lines_inside = 0;
                if block.spans.len() >= rows_max {
                    return SplitHalt::Full { start: record };
                }
            }
        }
        if !at_end || record == bytes.len() || matches!(state, FieldState::Quoted { .. }) {
            take_back(block);
            return SplitHalt::Incomplete { start: record };
        }
        // The last record of the file has no line end.
        if !self.push_field(bytes, field, bytes.len(), state, true, block) {
            return self.malformed(record, block);
        }
        self.end_record(bytes, record, bytes.len(), lines_inside, block);
        SplitHalt::Full { start: bytes.len() }
    }

    fn malformed(&self, start: usize, block: &mut Block) -> SplitHalt {
        take_back(block);
        SplitHalt::Malformed {
            start,
            reason: "text follows a closing quote; a quote inside a quoted field has to be doubled",
        }
    }

    /// Takes the cells since the last record as one record, unless there are too few or too many of
    /// them.
    fn end_record(&self, bytes: &[u8], start: usize, end: usize, lines: u32, block: &mut Block) {
        let line = block.lines;
        block.lines += lines;
        let end = without_return(bytes, start, end);
        // A blank line is not a record, but its line end was counted. Where a record is one field,
        // it is how a field without a value is written.
        if start == end && !(self.blank_is_null && self.columns == 1) {
            return take_back(block);
        }
        if self.columns == 0 && block.columns == 0 {
            block.columns = block.cells.len();
        }
        let fields = block.cells.len() - block.spans.len() * block.columns;
        if fields == block.columns {
            let span = block.count(start, end, line);
            block.spans.push(span);
            return;
        }
        // The cells go before the record is refused: cells and spans must match.
        take_back(block);
        let expected = self.columns;
        block.refuse(
            start,
            end,
            line,
            None,
            format!("the record has {} instead of {expected}", describe_field_count(fields)),
        );
    }

    /// Adds the field that ends at `end`; false if text follows its closing quote.
    fn push_field(
        &self,
        bytes: &[u8],
        start: usize,
        end: usize,
        state: FieldState,
        last: bool,
        block: &mut Block,
    ) -> bool {
        let end = if last { without_return(bytes, start, end) } else { end };
        let has_escapes = |start: usize, end: usize| self.dialect.has_escapes(&bytes[start..end]);
        block.cells.push(match state {
            FieldState::Closed { end: quote, .. } if quote + 1 != end => return false,
            FieldState::Closed { end: quote, escaped }
                if escaped || has_escapes(start + 1, quote) =>
            {
                Cell::new(start + 1, quote, CellKind::QuotedEscaped)
            }
            FieldState::Closed { end: quote, .. } => Cell::new(start + 1, quote, CellKind::Quoted),
            _ if has_escapes(start, end) => Cell::new(start, end, CellKind::PlainEscaped),
            _ => Cell::new(start, end, CellKind::Plain),
        });
        true
    }
}

fn describe_field_count(fields: usize) -> String {
    if fields == 1 { "1 field".to_owned() } else { format!("{fields} fields") }
}

/// Drops the cells of a record that is not to be.
fn take_back(block: &mut Block) {
    block.cells.truncate(block.spans.len() * block.columns);
}

/// The end of a line without its carriage return.
fn without_return(bytes: &[u8], start: usize, end: usize) -> usize {
    if end > start && bytes[end - 1] == b'\r' { end - 1 } else { end }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// The records and faults of a text that comes in two parts, as text.
    fn in_two_parts(
        text: &[u8],
        cut: usize,
        rows_max: usize,
        columns: usize,
        dialect: CsvDialect,
    ) -> (Vec<Vec<String>>, Vec<String>, u32) {
        let splitter = CsvSplitter { dialect, columns, blank_is_null: true };
        let (mut records, mut faults, mut lines, mut used) = (Vec::new(), Vec::new(), 0, 0);
        let mut parts = [(cut, false), (text.len(), true)].into_iter().peekable();
        while let Some((end, at_end)) = parts.peek().copied() {
            let mut block = Block::new(0, 1, columns);
            let bytes = &text[used..end];
            let step = splitter.split(bytes, at_end, rows_max, &mut block);
            let show = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            records.extend(
                block
                    .cells
                    .chunks(columns)
                    .map(|cells| cells.iter().map(|cell| show(cell.bytes(bytes))).collect()),
            );
            faults.extend(
                block
                    .faults
                    .iter()
                    .map(|fault| show(&bytes[fault.span.start as usize..fault.span.end as usize])),
            );
            lines += block.lines;
            used += step;
            if step == 0 || used == end {
                parts.next();
            }
        }
        (records, faults, lines)
    }

    proptest! {
        #[test]
        fn where_the_text_is_cut_makes_no_difference(
            text in "[a,\"\n\r\\\\]{0,40}",
            cut in 0..=40_usize,
            rows_max in 1..4_usize,
            columns in 1..3_usize,
            escape in proptest::option::of(Just(b'\\')),
        ) {
            let (text, dialect) = (text.as_bytes(), CsvDialect { escape, ..CsvDialect::default() });
            let whole = in_two_parts(text, text.len(), usize::MAX, columns, dialect);
            let parts = in_two_parts(text, cut.min(text.len()), rows_max, columns, dialect);
            prop_assert_eq!(parts, whole);
        }
    }
}
