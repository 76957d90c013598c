//! Zip archives.

use std::fs::File;
use std::io::{self, BufReader};

use zip::ZipArchive;
use zip::result::ZipError;

use super::member::{Member, chosen, written};

/// What macOS puts beside each file.
const RESOURCE_FORKS: &str = "__MACOSX/";

pub(super) type Zip = ZipArchive<BufReader<File>>;

pub(super) fn open(file: BufReader<File>) -> io::Result<Zip> {
    ZipArchive::new(file).map_err(told)
}

/// The files in it, in the order in which they were put there.
pub(super) fn names(archive: &Zip) -> Vec<String> {
    let names = archive.file_names().filter_map(Result::ok);
    names
        .filter(|name| !name.ends_with('/') && !name.starts_with(RESOURCE_FORKS))
        .map(|name| name.into_owned())
        .collect()
}

pub(super) fn open_member(mut archive: Zip, name: Option<&str>) -> io::Result<Member> {
    let name = chosen(names(&archive), name, "file")?;
    // What is wrong with the member is told at once.
    let bytes = archive.by_name(&name).map_err(told)?.size();
    let own = name.clone();
    written(name, Some(bytes), false, move |out| {
        let mut member = archive.by_name(&own).map_err(told)?;
        io::copy(&mut member, out).map(drop)
    })
}

pub(super) fn told(error: ZipError) -> io::Error {
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
