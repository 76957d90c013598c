//! Measures the parts of a workbook before they are read.
//!
//! The reader of a workbook holds some parts in memory, and one XML token of a sheet at a time. The
//! sizes in an archive may be wrong, so the parts are unpacked once only to measure them:
//!
//! 1. `_rels/.rels` names the workbook. Parts with known names (texts, styles, lists of parts) have
//!    a limit each, in whatever folder they lie.
//! 2. The list of parts of the workbook names the sheets. Their tokens have a limit.
//! 3. The texts declare their own number, and the reader makes room by it. So it is checked.

use std::io::{self, Read};

use super::xml_tokens::XmlTokenScan;
use super::zipped::{Zip, zip_error};

/// What names the workbook.
const PACKAGE: &str = "_rels/.rels";
/// The endings of lists of parts.
const LIST: &str = ".rels";
/// The texts that cells share.
const TEXTS: &str = "sharedstrings.xml";
const TEXTS_BYTES_MAX: u64 = 512 << 20;
/// How many bytes of XML a text takes at least: `<si/>`.
const TEXT_BYTES_MIN: u64 = 5;
/// How many bytes of the texts are searched for their number.
const TEXTS_HEAD_BYTES: usize = 64 << 10;
/// Other parts that are held in memory.
const HELD: [&str; 2] = ["styles.xml", "theme1.xml"];
const HELD_BYTES_MAX: u64 = 64 << 20;
/// What is unpacked at once.
const CHUNK_BYTES: usize = 64 << 10;

/// A part of a workbook.
struct WorkbookPart {
    at: usize,
    name: String,
    /// Its path as it is looked up: in small letters, with slashes.
    path: String,
}

/// Measures the parts that reading will hold. Returns whether there are formulas.
pub(super) fn measure(archive: &mut Zip) -> io::Result<bool> {
    let parts = parts_of(archive)?;
    let mut package = String::new();
    for part in parts.iter().filter(|part| part.path == PACKAGE) {
        package += &part.list(archive)?;
    }
    // Where escapes are decoded, any part may be meant.
    let is_of_package = |name: &str| package.contains(name) || package.contains('&');
    let mut book = String::new();
    for part in &parts {
        if part.last_name().strip_suffix(LIST).is_some_and(|of| !of.is_empty() && is_of_package(of))
        {
            book += &part.list(archive)?;
        }
    }
    let mut has_formulas = false;
    for part in &parts {
        match part.last_name() {
            // A folder has no last name, and any list contains the empty one.
            "" => {}
            TEXTS => part.measure_texts(archive)?,
            name if HELD.contains(&name) || is_of_package(name) => {
                part.read_within(archive, HELD_BYTES_MAX, |_| {})?;
            }
            name if book.contains(name) => has_formulas |= part.measure_tokens(archive)?,
            _ => {}
        }
    }
    Ok(has_formulas)
}

fn parts_of(archive: &Zip) -> io::Result<Vec<WorkbookPart>> {
    let part = |(at, name): (usize, Result<std::borrow::Cow<'_, str>, _>)| {
        let name = name.map_err(zip_error)?.into_owned();
        Ok(WorkbookPart { at, path: looked_up(&name), name })
    };
    archive.file_names().enumerate().map(part).collect()
}

fn looked_up(path: &str) -> String {
    path.replace('\\', "/").to_ascii_lowercase()
}

impl WorkbookPart {
    fn last_name(&self) -> &str {
        self.path.rsplit_once('/').map_or(&self.path, |(_, name)| name)
    }

    /// A list of parts, as they are looked up.
    fn list(&self, archive: &mut Zip) -> io::Result<String> {
        let mut bytes = Vec::new();
        self.read_within(archive, HELD_BYTES_MAX, |chunk| bytes.extend_from_slice(chunk))?;
        Ok(looked_up(&String::from_utf8_lossy(&bytes)))
    }

    fn measure_texts(&self, archive: &mut Zip) -> io::Result<()> {
        let mut head = Vec::new();
        let bytes = self.read_within(archive, TEXTS_BYTES_MAX, |chunk| {
            head.extend_from_slice(&chunk[..chunk.len().min(TEXTS_HEAD_BYTES - head.len())]);
        })?;
        // The reader reserves room for as many texts as the file claims.
        match declared_texts(&head) {
            Some(texts) if texts <= bytes / TEXT_BYTES_MIN => Ok(()),
            Some(texts) => {
                Err(damaged(format!("{} tells of {texts} texts, but has not as many", self.name)))
            }
            None => Err(damaged(format!("{} does not begin as texts do", self.name))),
        }
    }

    /// Returns whether there are formulas in it.
    fn measure_tokens(&self, archive: &mut Zip) -> io::Result<bool> {
        let mut tokens = XmlTokenScan::default();
        self.unpack(archive, |chunk| tokens.take(chunk).map_err(str::to_owned))?;
        Ok(tokens.has_formulas())
    }

    /// Unpacks the part, if it is not too large. Returns how many bytes it has.
    fn read_within(
        &self,
        archive: &mut Zip,
        bytes_max: u64,
        mut seen: impl FnMut(&[u8]),
    ) -> io::Result<u64> {
        let mut bytes = 0;
        self.unpack(archive, |chunk| {
            seen(chunk);
            bytes += chunk.len() as u64;
            match bytes > bytes_max {
                true => Err(format!("takes more than {} MiB of memory", bytes_max >> 20)),
                false => Ok(()),
            }
        })?;
        Ok(bytes)
    }

    /// Unpacks the part chunk by chunk, until one is refused.
    fn unpack(
        &self,
        archive: &mut Zip,
        mut take: impl FnMut(&[u8]) -> Result<(), String>,
    ) -> io::Result<()> {
        let mut part = archive.by_index(self.at).map_err(zip_error)?;
        let mut chunk = vec![0; CHUNK_BYTES];
        loop {
            let bytes = match part.read(&mut chunk) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                read => read?,
            };
            if bytes == 0 {
                return Ok(());
            }
            take(&chunk[..bytes]).map_err(|what| {
                let message = format!("its part {} {what}: save it as CSV", self.name);
                io::Error::new(io::ErrorKind::Unsupported, message)
            })?;
        }
    }
}

/// How many texts a part says that it has; none if it does not begin as such a part.
fn declared_texts(head: &[u8]) -> Option<u64> {
    let head = String::from_utf8_lossy(head);
    let (_, list) = head.split_once("sst")?;
    let (tag, _) = list.split_once('>')?;
    let Some((_, count)) = tag.split_once("uniqueCount") else { return Some(0) };
    let count = count.trim_start_matches(|char: char| !char.is_ascii_digit());
    let digits = count.chars().take_while(char::is_ascii_digit).collect::<String>();
    Some(digits.parse().unwrap_or(u64::MAX))
}

fn damaged(what: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, format!("as a workbook: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_number_of_texts_is_found() {
        for (head, texts) in [
            ("<?xml?><sst xmlns=\"u\" count=\"9\" uniqueCount=\"5\"><si/>", Some(5)),
            ("<x:sst uniqueCount = '12'>", Some(12)),
            ("<sst count=\"9\">", Some(0)),
            ("<sst/>", Some(0)),
            ("<sst uniqueCount=\"99999999999999999999\">", Some(u64::MAX)),
            ("<sst uniqueCount=\"5\"", None),
            ("<x>", None),
        ] {
            assert_eq!(declared_texts(head.as_bytes()), texts, "{head}");
        }
    }
}
