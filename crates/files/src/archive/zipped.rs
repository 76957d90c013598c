//! Zip archives.

use std::fs::File;
use std::io::{self, BufReader};

use zip::ZipArchive;
use zip::result::ZipError;

use super::member::{ArchiveMember, choose_member, spawn_member};

/// What macOS puts beside each file.
const RESOURCE_FORKS: &str = "__MACOSX/";

pub(super) type Zip = ZipArchive<BufReader<File>>;

/// Opens an archive. Of two members of one name only the last could be read.
pub(super) fn open(file: BufReader<File>) -> io::Result<Zip> {
    let archive = ZipArchive::new(file).map_err(zip_error)?;
    match archive.has_duplicate_names() {
        true => Err(io::Error::new(
            io::ErrorKind::Unsupported,
            "it holds several files of one name, of which only the last could be read: unpack it",
        )),
        false => Ok(archive),
    }
}

/// The files in it, in the order in which they were put there.
pub(super) fn names(archive: &Zip) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for name in archive.file_names() {
        let name = name.map_err(zip_error)?;
        if !name.ends_with('/') && !name.starts_with(RESOURCE_FORKS) {
            names.push(name.into_owned());
        }
    }
    Ok(names)
}

pub(super) fn open_member(mut archive: Zip, name: Option<&str>) -> io::Result<ArchiveMember> {
    let name = choose_member(names(&archive)?, name, "file")?;
    // Errors of the member are reported at once.
    let bytes = archive.by_name(&name).map_err(zip_error)?.size();
    let own = name.clone();
    spawn_member(name, Some(bytes), false, move |out| {
        let mut member = archive.by_name(&own).map_err(zip_error)?;
        io::copy(&mut member, out).map(drop)
    })
}

pub(super) fn zip_error(error: ZipError) -> io::Error {
    let kind = match &error {
        ZipError::Io(_) => return error.into(),
        ZipError::UnsupportedArchive(_)
        | ZipError::InvalidPassword
        | ZipError::CompressionMethodNotSupported(_) => io::ErrorKind::Unsupported,
        ZipError::FileNotFound => io::ErrorKind::NotFound,
        _ => io::ErrorKind::InvalidData,
    };
    io::Error::new(kind, format!("as a zip archive: {error}"))
}
