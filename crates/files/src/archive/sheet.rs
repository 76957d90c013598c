//! Writes the cells of a sheet as CSV.
//!
//! - A row of the sheet is a line, and a blank row a blank line. So line numbers are row numbers,
//!   as long as no cell has several lines.
//! - The columns go from the leftmost to the rightmost one that has a cell in any row. The names of
//!   columns may begin further right, as where the first column is an index without a name, and end
//!   sooner. Rows are filled up.
//! - Rows that the caller skips are blank lines. They decide neither.
//! - Numbers have all the digits of a DOUBLE, which is how Excel keeps them.
//! - Dates are ISO 8601, without a time of day where the format of the cell shows none.

use std::io::{self, Write};
use std::ops::Range;

use calamine::{DataRef, ExcelDateTime};

use crate::text::block::UNCACHED_FORMULA;

/// The rows and columns of a sheet of Excel. The position of a damaged cell may be far outside the
/// sheet.
const ROWS_MAX: u32 = 1 << 20;
const COLUMNS_MAX: u32 = 1 << 14;
/// What is held of a row before it is handed on.
const HELD_BYTES_MAX: usize = 1 << 20;
/// The first serial day after the year 9999.
const SERIAL_END: f64 = 2_958_466.0;
const SECONDS_PER_DAY: f64 = 86_400.0;
/// The numbers that fit a LONG.
const LONG: Range<f64> = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;

/// What the format of a cell shows of a point in time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum DateTimeDisplay {
    Date,
    Time,
    Both,
}

impl DateTimeDisplay {
    /// Reads the code of a number format, such as `dd/mm/yyyy hh:mm`.
    pub(super) fn of_code(code: &str) -> Self {
        let (mut quoted, mut in_brackets, mut escaped) = (false, false, false);
        let (mut date, mut time) = (false, false);
        for character in code.chars() {
            match character {
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => quoted = !quoted,
                '[' if !quoted => in_brackets = true,
                ']' if !quoted => in_brackets = false,
                _ if quoted || in_brackets => {}
                'd' | 'D' | 'y' | 'Y' => date = true,
                'h' | 'H' | 's' | 'S' => time = true,
                _ => {}
            }
        }
        match (date, time) {
            (true, false) => DateTimeDisplay::Date,
            (false, true) => DateTimeDisplay::Time,
            _ => DateTimeDisplay::Both,
        }
    }

    /// The same for the formats that every workbook has.
    pub(super) fn of_id(id: u32) -> Option<Self> {
        match id {
            14..=17 => Some(DateTimeDisplay::Date),
            18..=21 | 45..=47 => Some(DateTimeDisplay::Time),
            22 => Some(DateTimeDisplay::Both),
            _ => None,
        }
    }
}

/// Where the records of a sheet are, header included.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SheetPart {
    /// The rows above, which are written as blank lines.
    skipped_rows: u32,
    /// The leftmost and the rightmost column that have a cell below them.
    columns: Option<(u32, u32)>,
}

impl SheetPart {
    pub(super) fn below(skipped_rows: u32) -> Self {
        Self { skipped_rows, columns: None }
    }

    /// The part below the rows that are skipped, where these cells are.
    pub(super) fn of(skipped_rows: u32, cells: impl Iterator<Item = (u32, u32)>) -> Self {
        let mut part = Self::below(skipped_rows);
        cells.for_each(|place| part.add(place));
        part
    }

    pub(super) fn add(&mut self, (row, column): (u32, u32)) {
        // A damaged place is refused when its cell is written.
        if row < self.skipped_rows || column >= COLUMNS_MAX {
            return;
        }
        let (first, last) = self.columns.unwrap_or((column, column));
        self.columns = Some((first.min(column), last.max(column)));
    }

    /// Whether the columns go from the first one of the sheet to this one.
    pub(super) fn is_from_first_to(&self, last: u32) -> bool {
        self.columns == Some((0, last))
    }

    fn first_column(&self) -> u32 {
        self.columns.map_or(0, |(first, _)| first)
    }

    fn last_column(&self) -> u32 {
        self.columns.map_or(0, |(_, last)| last)
    }
}

/// Writes rows as CSV.
pub(super) struct SheetWriter<'a> {
    out: &'a mut dyn Write,
    /// The row that is being filled, with its cells so far, and the column of the last one.
    row: Option<u32>,
    cells: Vec<u8>,
    column: u32,
    /// Lines written.
    lines: u32,
    part: SheetPart,
    /// The column up to which rows are filled, once the first one is whole.
    last: Option<u32>,
}

impl<'a> SheetWriter<'a> {
    pub(super) fn new(out: &'a mut dyn Write, part: SheetPart) -> Self {
        Self { out, row: None, cells: Vec::new(), column: 0, lines: 0, part, last: None }
    }

    /// Adds a cell. Cells come row by row, from left to right.
    pub(super) fn put(
        &mut self,
        (row, column): (u32, u32),
        value: &DataRef<'_>,
        shows: DateTimeDisplay,
    ) -> io::Result<()> {
        if matches!(value, DataRef::Empty) || row < self.part.skipped_rows {
            return Ok(());
        }
        self.go_to((row, column))?;
        put_value(value, shows, &mut self.cells);
        self.hand_on_much()
    }

    /// Adds a cell whose value is not known, which rejects its record.
    pub(super) fn put_uncached(&mut self, place: (u32, u32)) -> io::Result<()> {
        if place.0 < self.part.skipped_rows {
            return Ok(());
        }
        self.go_to(place)?;
        self.cells.extend_from_slice(UNCACHED_FORMULA);
        self.hand_on_much()
    }

    fn go_to(&mut self, (row, column): (u32, u32)) -> io::Result<()> {
        if row >= ROWS_MAX || column >= COLUMNS_MAX {
            return Err(broken(format!(
                "a cell is in row {} and column {}, a sheet has {ROWS_MAX} rows and {COLUMNS_MAX} columns",
                u64::from(row) + 1,
                u64::from(column) + 1
            )));
        }
        if self.row != Some(row) {
            self.end_row()?;
            if row < self.lines {
                return Err(broken(format!("row {} comes twice", row + 1)));
            }
            (self.row, self.column) = (Some(row), self.part.first_column());
        }
        if column < self.column {
            let row = row + 1;
            return Err(broken(format!("row {row} has a cell twice, or out of order")));
        }
        self.cells.extend((self.column..column).map(|_| b','));
        self.column = column;
        Ok(())
    }

    /// Hands on a row before its end, if it has come to much: cells may share a text of any length.
    fn hand_on_much(&mut self) -> io::Result<()> {
        match self.row {
            Some(row) if self.cells.len() >= HELD_BYTES_MAX => self.hand_on(row),
            _ => Ok(()),
        }
    }

    /// Passes on the cells of a row, after the lines before it.
    fn hand_on(&mut self, row: u32) -> io::Result<()> {
        while self.lines < row {
            self.out.write_all(b"\n")?;
            self.lines += 1;
        }
        self.out.write_all(&self.cells)?;
        self.cells.clear();
        Ok(())
    }

    fn end_row(&mut self) -> io::Result<()> {
        let Some(row) = self.row.take() else { return Ok(()) };
        let last = *self.last.get_or_insert(self.column.max(self.part.last_column()));
        self.cells.extend((self.column..last).map(|_| b','));
        self.cells.push(b'\n');
        self.hand_on(row)?;
        self.lines += 1;
        Ok(())
    }

    pub(super) fn finish(mut self) -> io::Result<()> {
        self.end_row()
    }
}

fn broken(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

fn put_value(value: &DataRef<'_>, shows: DateTimeDisplay, out: &mut Vec<u8>) {
    let text = match value {
        DataRef::Empty => return,
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => number_text(*number),
        DataRef::Bool(value) => value.to_string(),
        DataRef::DateTime(at) => time_text(at, shows),
        DataRef::Error(error) => error.to_string(),
        DataRef::String(text) | DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => {
            return put_text(text, out);
        }
        DataRef::SharedString(text) => return put_text(text, out),
    };
    out.extend_from_slice(text.as_bytes());
}

/// Whole numbers that fit a LONG with all their digits, others with an exponent where that is
/// short. Rust's own text pads large numbers with noughts that are not theirs.
fn number_text(number: f64) -> String {
    match number.fract() == 0.0 && LONG.contains(&number) {
        true => format!("{number:.0}"),
        false => format!("{number:?}"),
    }
}

fn put_text(text: &str, out: &mut Vec<u8>) {
    let is_plain = !text.is_empty()
        && text.trim().len() == text.len()
        && !text.contains([',', '"', '\n', '\r']);
    if is_plain {
        return out.extend_from_slice(text.as_bytes());
    }
    out.push(b'"');
    out.extend_from_slice(text.replace('"', "\"\"").as_bytes());
    out.push(b'"');
}

fn time_text(at: &ExcelDateTime, shows: DateTimeDisplay) -> String {
    let days = at.as_f64();
    if at.is_duration() {
        let millis = (days * SECONDS_PER_DAY * 1_000.0).round() as i64;
        let (sign, millis) = (if millis < 0 { "-" } else { "" }, millis.unsigned_abs());
        let (hours, minutes, seconds) =
            (millis / 3_600_000, millis / 60_000 % 60, millis / 1_000 % 60);
        return format!("{sign}{hours:02}:{minutes:02}:{seconds:02}{}", fraction(millis % 1_000));
    }
    if !(0.0..SERIAL_END).contains(&days) {
        return days.to_string();
    }
    let (year, month, day, hour, minute, second, milli) = at.to_ymd_hms_milli();
    let date = format!("{year:04}-{month:02}-{day:02}");
    let time = format!("{hour:02}:{minute:02}:{second:02}{}", fraction(u64::from(milli)));
    match shows {
        DateTimeDisplay::Date if (hour, minute, second, milli) == (0, 0, 0, 0) => date,
        DateTimeDisplay::Time if days < 1.0 => time,
        _ => format!("{date}T{time}"),
    }
}

fn fraction(millis: u64) -> String {
    if millis == 0 { String::new() } else { format!(".{millis:03}") }
}

#[cfg(test)]
mod tests {
    use calamine::ExcelDateTimeType;

    use super::*;

    fn csv(cells: &[((u32, u32), DataRef<'_>)]) -> io::Result<String> {
        csv_below(0, cells)
    }

    fn csv_below(skipped_rows: u32, cells: &[((u32, u32), DataRef<'_>)]) -> io::Result<String> {
        let mut out = Vec::new();
        let filled = cells.iter().filter(|(_, value)| !matches!(value, DataRef::Empty));
        let part = SheetPart::of(skipped_rows, filled.map(|(place, _)| *place));
        let mut rows = SheetWriter::new(&mut out, part);
        for (place, value) in cells {
            rows.put(*place, value, DateTimeDisplay::Both)?;
        }
        rows.finish()?;
        Ok(String::from_utf8(out).unwrap())
    }

    fn text(text: &str) -> DataRef<'_> {
        DataRef::SharedString(text)
    }

    #[test]
    fn rows_are_lines_and_gaps_are_nothing() {
        let cells = [
            ((1, 1), text("id")),
            ((1, 2), text("a \"name\"")),
            ((1, 3), text("x")),
            ((2, 1), DataRef::Float(1.0)),
            ((4, 2), text("two\nlines")),
            ((4, 4), DataRef::Bool(true)),
        ];
        let lines = "\nid,\"a \"\"name\"\"\",x,\n1,,,\n\n,\"two\nlines\",,true\n";
        assert_eq!(csv(&cells).unwrap(), lines);
        assert_eq!(csv(&[((0, 0), text("")), ((0, 1), DataRef::Empty)]).unwrap(), "\"\"\n");
    }

    #[test]
    fn cells_out_of_order_are_refused() {
        assert!(csv(&[((1, 0), text("a")), ((0, 0), text("b"))]).is_err());
        assert!(csv(&[((0, 1), text("a")), ((0, 0), text("b"))]).is_err());
        assert!(csv(&[((0, 0), text("a")), ((1, 1), text("b")), ((1, 0), text("c"))]).is_err());
    }

    /// An index has no name, and was refused.
    #[test]
    fn a_row_may_begin_left_of_the_first_one() {
        let cells = [((0, 2), text("a")), ((1, 1), text("x")), ((1, 2), text("y"))];
        assert_eq!(csv(&cells).unwrap(), ",a\nx,y\n");
        let gap = [((0, 1), text("a")), ((0, 3), text("b")), ((1, 0), text("x"))];
        assert_eq!(csv(&gap).unwrap(), ",a,,b\nx,,,\n");
    }

    /// The values after the last name had no column, and their records were rejected.
    #[test]
    fn a_row_may_end_right_of_the_first_one() {
        let cells = [((0, 0), text("a")), ((1, 0), text("x")), ((1, 2), text("y"))];
        assert_eq!(csv(&cells).unwrap(), "a,,\nx,,y\n");
        let skipped = [((0, 3), text("title")), ((1, 0), text("a")), ((2, 1), text("x"))];
        assert_eq!(csv_below(1, &skipped).unwrap(), "\na,\n,x\n");
    }

    #[test]
    fn rows_that_are_skipped_decide_nothing() {
        let cells = [
            ((0, 0), text("a title\nof two lines")),
            ((2, 1), text("id")),
            ((2, 2), text("v")),
            ((3, 1), DataRef::Int(1)),
        ];
        assert_eq!(csv_below(1, &cells).unwrap(), "\n\nid,v\n1,\n");
        assert_eq!(csv_below(9, &cells).unwrap(), "");
    }

    /// Billions of empty lines or columns were written up to the position that a damaged file
    /// named.
    #[test]
    fn cells_outside_a_sheet_are_refused() {
        for place in [(1 << 20, 0), (u32::MAX, 0), (0, 1 << 14), (0, u32::MAX)] {
            let error = csv(&[((0, 0), text("a")), (place, text("b"))]).unwrap_err();
            assert!(error.to_string().contains("a cell is in row"), "{error}");
        }
        let last = csv(&[((0, 0), text("a")), (((1 << 20) - 1, (1 << 14) - 1), text("b"))]);
        assert_eq!(last.unwrap().len(), 2 * ((1 << 14) - 1 + 2) + (1 << 20) - 2);
    }

    /// 2^60 came as 1152921504606847000, and 1e300 as a text of 301 digits, which turned a column
    /// of numbers into text.
    #[test]
    fn large_numbers_have_their_own_digits() {
        assert_eq!(number_text(1_152_921_504_606_846_976.0), "1152921504606846976");
        assert_eq!(number_text(-9_223_372_036_854_775_808.0), "-9223372036854775808");
        assert_eq!(number_text(9_223_372_036_854_775_808.0), "9.223372036854776e18");
        assert_eq!(number_text(1e300), "1e300");
        assert_eq!(number_text(1e-300), "1e-300");
        assert_eq!(number_text(-2.5), "-2.5");
        assert_eq!(number_text(120.0), "120");
    }

    #[test]
    fn times_show_what_their_format_shows() {
        let shown = |days: f64, shows| {
            time_text(&ExcelDateTime::new(days, ExcelDateTimeType::DateTime, false), shows)
        };
        assert_eq!(shown(45_943.0, DateTimeDisplay::Date), "2025-10-13");
        assert_eq!(shown(45_943.0, DateTimeDisplay::Both), "2025-10-13T00:00:00");
        assert_eq!(shown(45_943.5, DateTimeDisplay::Date), "2025-10-13T12:00:00");
        assert_eq!(shown(0.5, DateTimeDisplay::Time), "12:00:00");
        assert_eq!(shown(45_943.541, DateTimeDisplay::Both), "2025-10-13T12:59:02.400");
        assert_eq!(shown(-1.0, DateTimeDisplay::Both), "-1");
        let long = ExcelDateTime::new(1.25, ExcelDateTimeType::TimeDelta, false);
        assert_eq!(time_text(&long, DateTimeDisplay::Time), "30:00:00");
    }

    #[test]
    fn formats_tell_dates_from_times() {
        assert_eq!(DateTimeDisplay::of_code("dd/mm/yyyy"), DateTimeDisplay::Date);
        assert_eq!(DateTimeDisplay::of_code("[$-409]h:mm AM/PM"), DateTimeDisplay::Time);
        assert_eq!(DateTimeDisplay::of_code("yyyy-mm-dd\\ hh:mm"), DateTimeDisplay::Both);
        assert_eq!(DateTimeDisplay::of_code("yyyy\"h\""), DateTimeDisplay::Date);
    }
}
