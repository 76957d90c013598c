//! Archives: zip files and Excel workbooks.
//!
//! - A member of a zip archive is read as a file of its own ([`zipped`]).
//! - A sheet of a workbook is read as CSV ([`workbook`]), row by row ([`sheet`]). The parts of a
//!   workbook that are held in memory are measured before they are read ([`workbook_parts`],
//!   [`xml_tokens`]).
//!
//! A thread unpacks the bytes, so readers see a plain stream.

mod member;
mod sheet;
mod workbook;
mod workbook_parts;
mod xml_tokens;
mod zipped;

use std::fs::File;
use std::io::{self, BufReader, Read, Seek};
use std::path::Path;

use crate::catch_panic::{DecoderPanic, catch_panic};
pub(crate) use member::{ArchiveMember, list_names};

/// How much of a file says whether it is an archive: what a slow pipe is waited for.
pub(crate) const MAGIC_BYTES: usize = 4;
const ZIP: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// What Excel before 2007 wrote, and writes around workbooks with a password.
const COMPOUND_FILE: &[u8] = b"\xd0\xcf\x11\xe0";

/// Whether a file begins as an archive or a workbook does.
pub(crate) fn is_archive(head: &[u8]) -> bool {
    head.starts_with(COMPOUND_FILE) || ZIP.iter().any(|magic| head.starts_with(magic))
}

/// What a file is that holds others.
pub(crate) enum Archive {
    /// A zip archive with these files.
    Zip(Vec<String>),
    Workbook,
}

/// What a file is, if it holds others.
pub(crate) fn detect(path: &Path) -> io::Result<Option<Archive>> {
    catch_panic(|| detect_archive(path), damaged)
}

/// The sheets of a workbook that a user sees, those with cells.
pub(crate) fn sheets(path: &Path) -> io::Result<Vec<String>> {
    catch_panic(|| filled_sheets(path), damaged)
}

/// Opens the member of a name, or the only one. The skipped rows of a sheet come as blank lines.
pub(crate) fn open(file: File, name: Option<&str>, skipped_rows: u32) -> io::Result<ArchiveMember> {
    catch_panic(|| open_member(file, name, skipped_rows), damaged)
}

fn damaged(panic: DecoderPanic) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, panic)
}

fn detect_archive(path: &Path) -> io::Result<Option<Archive>> {
    let (file, head) = open_with_head(File::open(path)?)?;
    if head == COMPOUND_FILE {
        return Ok(Some(Archive::Workbook));
    }
    if !is_archive(&head) {
        return Ok(None);
    }
    let archive = zipped::open(file)?;
    Ok(Some(match workbook::is_workbook(&archive)? {
        true => Archive::Workbook,
        false => Archive::Zip(zipped::names(&archive)?),
    }))
}

fn filled_sheets(path: &Path) -> io::Result<Vec<String>> {
    let (file, head) = open_with_head(File::open(path)?)?;
    match head == COMPOUND_FILE {
        true => workbook::names_of_old(file),
        false => workbook::names(zipped::open(file)?),
    }
}

/// A file at its beginning, and how it begins.
fn open_with_head(mut file: File) -> io::Result<(BufReader<File>, Vec<u8>)> {
    let mut head = Vec::with_capacity(MAGIC_BYTES);
    file.by_ref().take(MAGIC_BYTES as u64).read_to_end(&mut head)?;
    file.rewind()?;
    Ok((BufReader::new(file), head))
}

fn open_member(file: File, name: Option<&str>, skipped_rows: u32) -> io::Result<ArchiveMember> {
    let (file, head) = open_with_head(file)?;
    if head == COMPOUND_FILE {
        return workbook::open_old(file, name, skipped_rows);
    }
    let archive = zipped::open(file)?;
    match workbook::is_workbook(&archive)? {
        true => workbook::open(archive, name, skipped_rows),
        false => zipped::open_member(archive, name),
    }
}
