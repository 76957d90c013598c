//! Excel workbooks: .xlsx and .xlsm, read row by row, and .xls, whose sheets are small.

use std::fmt;
use std::fs::File;
use std::io::{self, BufReader};

use calamine::{Data, DataRef, Range, Reader, Sheet, SheetType, SheetVisible, Style, Xls, Xlsx};

use super::member::{ArchiveMember, choose_member, spawn_member};
use super::sheet::{DateTimeDisplay, SheetPart, SheetWriter};
use super::workbook_parts::measure;
use super::zipped::Zip;

/// The part that makes a zip archive a workbook.
const WORKBOOK: &str = "xl/workbook.xml";
/// Parts of other kinds of documents that are zip archives.
const OTHERS: [(&str, &str); 4] = [
    ("xl/workbook.bin", "a binary workbook (.xlsb)"),
    ("content.xml", "an OpenDocument file"),
    ("word/document.xml", "a Word document"),
    ("ppt/presentation.xml", "a presentation"),
];
/// The most formulas without a value of which the places are held.
const UNKEPT_MAX: usize = 4 << 20;
const WHAT: &str = "sheet";

type Workbook = Xlsx<BufReader<File>>;

/// Whether an archive is a workbook.
pub(super) fn is_workbook(archive: &Zip) -> io::Result<bool> {
    let other = OTHERS.iter().find(|(part, _)| archive.index_for_name(part).is_some());
    match other {
        Some((_, what)) => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            format!("it is {what}, which is not read: save it as CSV or .xlsx"),
        )),
        None => Ok(archive.index_for_name(WORKBOOK).is_some()),
    }
}

/// Opens a workbook. Tells also whether it has formulas.
fn workbook(mut archive: Zip) -> io::Result<(Workbook, bool)> {
    let has_formulas = measure(&mut archive)?;
    Ok((Xlsx::new(archive.into_inner()).map_err(broken)?, has_formulas))
}

/// The sheets with cells that a user sees.
pub(super) fn names(archive: Zip) -> io::Result<Vec<String>> {
    filled_sheet_names(&mut workbook(archive)?.0)
}

fn filled_sheet_names(book: &mut Workbook) -> io::Result<Vec<String>> {
    filled_of(seen(book.sheets_metadata()), |name| has_cells(book, name))
}

/// The sheets that have cells, or what is wrong with the first one that cannot be read.
fn filled_of(
    names: Vec<String>,
    mut has_cells: impl FnMut(&str) -> io::Result<bool>,
) -> io::Result<Vec<String>> {
    let filled = |name: String| match has_cells(&name) {
        Ok(has_cells) => has_cells.then_some(Ok(name)),
        Err(error) => Some(Err(error)),
    };
    names.into_iter().filter_map(filled).collect()
}

fn seen(sheets: &[Sheet]) -> Vec<String> {
    let is_seen = |sheet: &&Sheet| {
        sheet.typ == SheetType::WorkSheet && sheet.visible == SheetVisible::Visible
    };
    sheets.iter().filter(is_seen).map(|sheet| sheet.name.clone()).collect()
}

fn has_cells(book: &mut Workbook, name: &str) -> io::Result<bool> {
    let mut cells = book.worksheet_cells_reader(name).map_err(broken)?;
    while let Some(cell) = cells.next_cell().map_err(broken)? {
        if !matches!(cell.get_value(), DataRef::Empty) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Opens a sheet as CSV, with blank lines for the rows that are skipped.
pub(super) fn open(
    archive: Zip,
    name: Option<&str>,
    skipped_rows: u32,
) -> io::Result<ArchiveMember> {
    let (mut book, has_formulas) = workbook(archive)?;
    let name = match name {
        // Hidden sheets, too, may be asked for.
        Some(_) => choose_member(book.sheet_names(), name, WHAT)?,
        None => choose_member(filled_sheet_names(&mut book)?, None, WHAT)?,
    };
    let own = name.clone();
    spawn_member(name, None, true, move |out| {
        let unkept = if has_formulas { unkept(&mut book, &own)? } else { Vec::new() };
        // Where a row begins and ends, later ones may tell.
        let part = part_of(&mut book, &own, skipped_rows, &unkept)?;
        let mut unkept = unkept.into_iter().peekable();
        let mut cells = book.worksheet_cells_reader(&own).map_err(broken)?;
        let shows: Vec<_> = cells.styles().iter().map(shows).collect();
        let mut rows = SheetWriter::new(out, part);
        while let Some((cell, style)) = cells.next_cell_with_style_id().map_err(broken)? {
            let shows = shows.get(style).copied().unwrap_or(DateTimeDisplay::Both);
            match unkept.next_if_eq(&cell.get_position()) {
                Some(place) => rows.put_uncached(place)?,
                None => rows.put(cell.get_position(), cell.get_value(), shows)?,
            }
        }
        rows.finish()
    })
}

/// The places of formulas of which the workbook keeps no value, in the order of the sheet: programs
/// that cannot calculate write such. To read them as NULL would lose them without a word.
fn unkept(book: &mut Workbook, sheet: &str) -> io::Result<Vec<(u32, u32)>> {
    let mut cells = book.worksheet_cells_reader(sheet).map_err(broken)?;
    let mut places = Vec::new();
    while let Some(cell) = cells.next_cell_with_formula_metadata().map_err(broken)? {
        if cell.formula.is_some() && matches!(cell.value, DataRef::Empty) {
            places.push(cell.pos);
        }
        if places.len() > UNKEPT_MAX {
            return Err(io::Error::new(
                io::ErrorKind::Unsupported,
                format!(
                    "it has more than {UNKEPT_MAX} formulas without a value: open it in Excel or LibreOffice and save it"
                ),
            ));
        }
    }
    Ok(places)
}

/// The part of a sheet that has the records. Most sheets say up to which column they have cells:
/// where the header reaches from the first column to that one, the rows after it are not read.
fn part_of(
    book: &mut Workbook,
    sheet: &str,
    skipped_rows: u32,
    unkept: &[(u32, u32)],
) -> io::Result<SheetPart> {
    let mut part = SheetPart::of(skipped_rows, unkept.iter().copied());
    let mut cells = book.worksheet_cells_reader(sheet).map_err(broken)?;
    // A sheet of one column looks like one that says nothing.
    let told = Some(cells.dimensions().end.1).filter(|last| *last > 0);
    let mut header = None;
    // The writer reports damage after the records before it.
    while let Ok(Some(cell)) = cells.next_cell() {
        let place @ (row, _) = cell.get_position();
        if row < skipped_rows || matches!(cell.get_value(), DataRef::Empty) {
            continue;
        }
        let is_behind_header = row > *header.get_or_insert(row);
        if is_behind_header && told.is_some_and(|last| part.is_from_first_to(last)) {
            break;
        }
        part.add(place);
    }
    Ok(part)
}

fn shows(style: &Style) -> DateTimeDisplay {
    let Some(format) = &style.number_format else { return DateTimeDisplay::Both };
    let known = format.format_id.and_then(DateTimeDisplay::of_id);
    known.unwrap_or_else(|| DateTimeDisplay::of_code(&format.format_code))
}

/// The sheets of a workbook of old that have cells.
pub(super) fn names_of_old(file: BufReader<File>) -> io::Result<Vec<String>> {
    filled_of_old(&mut Xls::new(file).map_err(broken)?)
}

fn filled_of_old(book: &mut Xls<BufReader<File>>) -> io::Result<Vec<String>> {
    filled_of(seen(book.sheets_metadata()), |name| {
        Ok(!book.worksheet_range(name).map_err(broken)?.is_empty())
    })
}

/// The same as [`open`] for a workbook of old.
pub(super) fn open_old(
    file: BufReader<File>,
    name: Option<&str>,
    skipped_rows: u32,
) -> io::Result<ArchiveMember> {
    let mut book = Xls::new(file).map_err(broken)?;
    let name = match name {
        Some(_) => choose_member(book.sheet_names(), name, WHAT)?,
        None => choose_member(filled_of_old(&mut book)?, None, WHAT)?,
    };
    let cells = book.worksheet_range(&name).map_err(broken)?;
    spawn_member(name, None, true, move |out| write_range(&cells, skipped_rows, out))
}

fn write_range(cells: &Range<Data>, skipped_rows: u32, out: &mut dyn io::Write) -> io::Result<()> {
    let (first_row, first_column) = cells.start().unwrap_or_default();
    let place = |row: usize, column: usize| (first_row + row as u32, first_column + column as u32);
    // Formats are not known here: a column of whole days is one of dates.
    let has_time = |column: usize| {
        cells
            .rows()
            .filter_map(|row| row.get(column))
            .any(|cell| matches!(cell, Data::DateTime(at) if at.as_f64().fract() != 0.0))
    };
    let shows: Vec<_> = (0..cells.width())
        .map(|column| if has_time(column) { DateTimeDisplay::Both } else { DateTimeDisplay::Date })
        .collect();
    let places = cells.used_cells().map(|(row, column, _)| place(row, column));
    let mut rows = SheetWriter::new(out, SheetPart::of(skipped_rows, places));
    for (row, column, value) in cells.used_cells() {
        rows.put(place(row, column), &as_data_ref(value), shows[column])?;
    }
    rows.finish()
}

fn as_data_ref(value: &Data) -> DataRef<'_> {
    match value {
        Data::Int(number) => DataRef::Int(*number),
        Data::Float(number) => DataRef::Float(*number),
        Data::Bool(value) => DataRef::Bool(*value),
        Data::DateTime(at) => DataRef::DateTime(*at),
        Data::Error(error) => DataRef::Error(error.clone()),
        Data::String(text) | Data::DateTimeIso(text) | Data::DurationIso(text) => {
            DataRef::SharedString(text)
        }
        Data::Empty => DataRef::Empty,
    }
}

fn broken(error: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("as a workbook: {error}"))
}
