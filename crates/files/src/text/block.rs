//! A block of text cut into records and cells.

use std::borrow::Cow;

use super::dialect::CsvDialect;
use crate::rejected::RejectedRecord;

/// The mark for a formula whose value the workbook lacks. It is not UTF-8, so nothing else that can
/// be loaded is taken for it.
pub(crate) const UNCACHED_FORMULA: &[u8] = b"\xff formula without a value \xff";

/// What a cell holds, which decides how its text is to be taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum CellKind {
    /// Nothing: a member that a JSON object lacks, or a JSON null.
    Missing,
    /// A CSV field without quotes; it may be one of the texts that mean NULL.
    Plain,
    /// The same with escapes in it.
    PlainEscaped,
    /// A quoted CSV field; the cell is the text between the quotes.
    Quoted,
    /// The same with doubled quotes or escapes in it.
    QuotedEscaped,
    /// A JSON string; the cell is the text between its quotes.
    String,
    /// The same with backslashes in it.
    StringEscaped,
    /// A JSON number.
    Number,
    /// JSON true or false.
    Bool,
    /// A JSON object or array.
    Nested,
}

const KINDS: [CellKind; 10] = {
    use CellKind::*;
    [
        Missing,
        Plain,
        PlainEscaped,
        Quoted,
        QuotedEscaped,
        String,
        StringEscaped,
        Number,
        Bool,
        Nested,
    ]
};

impl CellKind {
    /// Whether it is a field of CSV.
    pub(crate) fn is_csv(self) -> bool {
        use CellKind::{Plain, PlainEscaped, Quoted, QuotedEscaped};
        matches!(self, Plain | PlainEscaped | Quoted | QuotedEscaped)
    }
}

/// A place in a block: eight bytes, because there is one for every value of a file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cell {
    start: u32,
    /// The length, and in the lowest four bits the kind.
    length_and_kind: u32,
}

impl Cell {
    /// The longest text that a cell can tell.
    pub(crate) const LENGTH_MAX: usize = (1 << 28) - 1;

    /// The cell of a member that is not there.
    pub(crate) const MISSING: Cell = Cell { start: 0, length_and_kind: 0 };

    pub(crate) fn new(start: usize, end: usize, kind: CellKind) -> Self {
        debug_assert!(start <= end && end - start <= Self::LENGTH_MAX);
        Self { start: start as u32, length_and_kind: ((end - start) as u32) << 4 | kind as u32 }
    }

    /// Whether it is that of a member which is not there, and not one that is null.
    pub(crate) fn is_absent(self) -> bool {
        self.length_and_kind == Self::MISSING.length_and_kind
    }

    #[inline]
    pub(crate) fn kind(self) -> CellKind {
        KINDS[(self.length_and_kind & 15) as usize]
    }

    #[inline]
    pub(crate) fn bytes(self, block: &[u8]) -> &[u8] {
        let start = self.start as usize;
        &block[start..start + (self.length_and_kind >> 4) as usize]
    }

    /// Where in its block the cell begins and ends.
    pub(crate) fn span(self) -> (usize, usize) {
        let start = self.start as usize;
        (start, start + (self.length_and_kind >> 4) as usize)
    }

    /// The JSON text of a value, strings with their quotes.
    pub(crate) fn json_text(self, block: &[u8]) -> &[u8] {
        let start = self.start as usize;
        let end = start + (self.length_and_kind >> 4) as usize;
        match self.kind() {
            CellKind::String | CellKind::StringEscaped => &block[start - 1..end + 1],
            _ => &block[start..end],
        }
    }
}

/// The position of a record in its block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TextSpan {
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// The line on which it begins, counted from the first line of the block.
    pub(crate) line: u32,
    /// Its number, counted from the first record of the block.
    pub(crate) record: u32,
}

/// A run of whole records.
#[derive(Debug)]
pub(crate) struct Block {
    /// The text; cells and spans are places in it.
    pub(crate) bytes: Vec<u8>,
    /// The number of the first record in its file.
    pub(crate) first_record: u64,
    /// The number of the first line in its file, from 1.
    pub(crate) first_line: u64,
    /// The records met, good or bad.
    pub(crate) records: u32,
    /// The line ends met.
    pub(crate) lines: u32,
    /// How many cells each record has.
    pub(crate) columns: usize,
    /// The cells of the good records, record by record.
    pub(crate) cells: Vec<Cell>,
    /// The good records.
    pub(crate) spans: Vec<TextSpan>,
    /// The bad ones.
    pub(crate) faults: Vec<RecordFault>,
    /// How its fields are quoted, if it is CSV.
    pub(crate) dialect: CsvDialect,
}

/// A record that the splitter could not take.
#[derive(Debug)]
pub(crate) struct RecordFault {
    pub(crate) span: TextSpan,
    pub(crate) column: Option<Cow<'static, str>>,
    pub(crate) reason: String,
}

impl Block {
    pub(crate) fn new(first_record: u64, first_line: u64, columns: usize) -> Self {
        Self {
            bytes: Vec::new(),
            first_record,
            first_line,
            records: 0,
            lines: 0,
            columns,
            cells: Vec::new(),
            spans: Vec::new(),
            faults: Vec::new(),
            dialect: CsvDialect::default(),
        }
    }

    /// Counts a record that reaches from `start` to `end` and begins on the given line of the
    /// block.
    pub(crate) fn count(&mut self, start: usize, end: usize, line: u32) -> TextSpan {
        let span = TextSpan { start: start as u32, end: end as u32, line, record: self.records };
        self.records += 1;
        span
    }

    /// Sets a record apart. Its cells, if any were found, have to be taken back before.
    pub(crate) fn refuse(
        &mut self,
        start: usize,
        end: usize,
        line: u32,
        column: Option<Cow<'static, str>>,
        reason: String,
    ) {
        let span = self.count(start, end, line);
        self.faults.push(RecordFault { span, column, reason });
    }

    /// The text of a record.
    pub(crate) fn text(&self, span: TextSpan) -> &[u8] {
        &self.bytes[span.start as usize..span.end as usize]
    }

    /// A record with what is wrong with it, for the caller.
    pub(crate) fn rejected(
        &self,
        source: &str,
        span: TextSpan,
        column: Option<String>,
        reason: String,
    ) -> RejectedRecord {
        RejectedRecord {
            source: source.to_owned(),
            record: self.first_record + u64::from(span.record),
            line: Some(self.first_line + u64::from(span.line)),
            column,
            reason,
            original: self.text(span).to_vec(),
        }
    }
}
