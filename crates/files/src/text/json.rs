//! Splits JSON into records and members. A record is an object on a line of its own, or an element
//! of one array.

use std::borrow::Cow;
use std::collections::HashMap;

use memchr::memchr;

use super::block::{Block, Cell};
use super::document::DocumentLayout;
use super::json_array::{ArrayCut, ArrayCutter, line_ends};
use super::json_scan::{JsonMember, RecordRefusal, decoded_name, scan_object};
use super::json_shape::JsonShape;
use crate::rename::Renames;

/// The columns to look for in each record.
#[derive(Clone, Debug)]
pub(crate) struct JsonSplitter {
    shape: JsonShape,
    /// Records that become one column as a whole.
    documents: Option<DocumentLayout>,
    /// From the name in lower case to the column.
    columns: HashMap<Vec<u8>, usize>,
    names: Vec<String>,
    renames: Renames,
    /// For each position in an object, the last name and column there: most lines repeat the line
    /// before, so most names are found by one comparison.
    seen: Vec<(Vec<u8>, Option<usize>)>,
    /// Whether members that are not a column are passed over; else they reject their record.
    pass_over_unknown: bool,
    /// Why the text is known to end before its time.
    short: Option<&'static str>,
}

impl JsonSplitter {
    /// Records whose members are the columns.
    pub(crate) fn new(
        shape: JsonShape,
        names: Vec<String>,
        renames: Renames,
        pass_over_unknown: bool,
    ) -> Self {
        let columns = names
            .iter()
            .enumerate()
            .map(|(column, name)| (name.to_lowercase().into_bytes(), column))
            .collect();
        Self {
            shape,
            documents: None,
            columns,
            names,
            renames,
            seen: Vec::new(),
            pass_over_unknown,
            short: None,
        }
    }

    /// Records that are documents.
    pub(crate) fn of_documents(shape: JsonShape, documents: DocumentLayout) -> Self {
        let members = Self::new(shape, Vec::new(), Renames::default(), true);
        Self { documents: Some(documents), ..members }
    }

    /// Whether each line is a record.
    pub(crate) fn has_lines(&self) -> bool {
        self.shape.has_lines()
    }

    /// Why the text is known to end before its time, once that has come out.
    pub(crate) fn short(&self) -> Option<&'static str> {
        self.short
    }

    /// Cuts `bytes` into at most `rows_max` records, and gives how many bytes were used.
    pub(crate) fn split(
        &mut self,
        bytes: &[u8],
        at_end: bool,
        rows_max: usize,
        block: &mut Block,
    ) -> usize {
        match &mut self.shape {
            JsonShape::Lines => self.split_lines(bytes, at_end, rows_max, block),
            JsonShape::Elements(cutter) => {
                let mut cutter = cutter.clone();
                let used = self.split_elements(&mut cutter, bytes, at_end, rows_max, block);
                self.shape = JsonShape::Elements(cutter);
                used
            }
        }
    }

    fn split_elements(
        &mut self,
        cutter: &mut ArrayCutter,
        bytes: &[u8],
        at_end: bool,
        rows_max: usize,
        block: &mut Block,
    ) -> usize {
        let mut used = 0;
        // Lines before a record are counted before it is taken, for it notes the line on which it
        // begins.
        while block.spans.len() < rows_max {
            let (start, end) = match cutter.next(bytes, used, at_end) {
                ArrayCut::Element(start, end) => {
                    block.lines += line_ends(&bytes[used..start]);
                    self.take_record(bytes, start, end, block);
                    (start, end)
                }
                ArrayCut::Refused(start, end, reason) => {
                    block.lines += line_ends(&bytes[used..start]);
                    block.refuse(start, end, block.lines, None, reason.to_owned());
                    (start, end)
                }
                ArrayCut::Nothing(at) => {
                    block.lines += line_ends(&bytes[used..at]);
                    return at;
                }
                ArrayCut::Short(at, reason) => {
                    block.lines += line_ends(&bytes[used..at]);
                    // Only noted: `BlockReader` reports it after the records before it.
                    self.short = Some(reason);
                    return at;
                }
            };
            block.lines += line_ends(&bytes[start..end]);
            used = end;
        }
        used
    }

    fn split_lines(
        &mut self,
        bytes: &[u8],
        at_end: bool,
        rows_max: usize,
        block: &mut Block,
    ) -> usize {
        let mut start = 0;
        while start < bytes.len() && block.spans.len() < rows_max {
            let (end, next) = match memchr(b'\n', &bytes[start..]) {
                Some(length) => (start + length, start + length + 1),
                None if at_end => (bytes.len(), bytes.len()),
                None => break,
            };
            self.take_record(bytes, start, end, block);
            block.lines += 1;
            start = next;
        }
        start
    }

    fn take_record(&mut self, bytes: &[u8], start: usize, end: usize, block: &mut Block) {
        let text = &bytes[start..end];
        let trimmed = text.trim_ascii_end();
        if trimmed.is_empty() {
            return;
        }
        let end = start + trimmed.len();
        let first_cell = block.cells.len();
        // Cells begin as missing: a member that the object lacks is NULL.
        block.cells.resize(first_cell + block.columns, Cell::MISSING);
        let cells = &mut block.cells[first_cell..];
        let taken = match &self.documents {
            Some(documents) => documents.take(bytes, start, end, cells),
            None => self.take_members(bytes, start, end, cells),
        };
        match taken {
            Ok(()) => {
                let span = block.count(start, end, block.lines);
                block.spans.push(span);
            }
            Err(refusal) => {
                // Some members may have been taken before the object proved broken.
                block.cells.truncate(first_cell);
                block.refuse(
                    start,
                    end,
                    block.lines,
                    refusal.column.map(Cow::Owned),
                    refusal.reason,
                );
            }
        }
    }

    fn take_members(
        &mut self,
        bytes: &[u8],
        start: usize,
        end: usize,
        cells: &mut [Cell],
    ) -> Result<(), RecordRefusal> {
        let mut place = 0;
        let mut filled = ColumnSet::default();
        scan_object(bytes, start, end, |member| {
            let column = self.column(&member, place);
            // Members that are not a column count as well: `seen` is indexed by positions in the
            // object.
            place += 1;
            match column {
                Some(column) if filled.insert(column) => {
                    cells[column] = member.value;
                    Ok(())
                }
                // Neither value may be dropped in silence.
                Some(column) => Err(RecordRefusal {
                    column: Some(self.names[column].clone()),
                    reason: "the member appears twice".into(),
                }),
                None if self.pass_over_unknown => Ok(()),
                None => {
                    let name = String::from_utf8_lossy(member.name).into_owned();
                    let reason = "the member is neither a wanted column nor among the first records of the file".into();
                    Err(RecordRefusal { column: Some(name), reason })
                }
            }
        })
    }

    fn column(&mut self, member: &JsonMember<'_>, index: usize) -> Option<usize> {
        if let Some((name, column)) = self.seen.get(index)
            && name == member.name
        {
            return *column;
        }
        let name = decoded_name(member);
        let name = self.renames.of(&name).to_lowercase();
        let column = self.columns.get(name.as_bytes()).copied();
        if index < self.seen.len() {
            self.seen[index] = (member.name.to_vec(), column);
        } else if index == self.seen.len() && index < self.columns.len() + 64 {
            self.seen.push((member.name.to_vec(), column));
        }
        column
    }
}

/// A set of column numbers; those below 128 need no memory.
#[derive(Default)]
struct ColumnSet {
    low: u128,
    high: Vec<usize>,
}

impl ColumnSet {
    /// Adds a column; false if it was there.
    fn insert(&mut self, column: usize) -> bool {
        if column < 128 {
            let bit = 1 << column;
            let new = self.low & bit == 0;
            self.low |= bit;
            return new;
        }
        let new = !self.high.contains(&column);
        if new {
            self.high.push(column);
        }
        new
    }
}
