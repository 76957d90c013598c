//! One file of a backup.

use std::path::{Component, Path};

use tonnage_engine::{Error, Result};

/// Hexadecimal digits of a checksum (BLAKE3), and of that of a file's end.
const CHECKSUM_LEN: usize = 64;
pub(super) const TAIL_LEN: usize = 16;

/// The mark in place of a checksum of the end, for a file that is always read whole.
pub(super) const WHOLE: &str = "whole";

/// A file as the manifest names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct FileEntry {
    /// Its name in the store: `shard-0/db/000012.sst`.
    pub(super) name: String,
    pub(super) bytes: u64,
    /// The checksum of its end, or [`WHOLE`].
    pub(super) tail: String,
    pub(super) checksum: String,
}

impl FileEntry {
    /// What is known of a file without reading all of it: files that agree in this are the same.
    pub(super) fn identity(name: &str, bytes: u64, tail: &str) -> String {
        format!("{}.{bytes}.{tail}", name.replace('/', "_"))
    }

    /// The name of the file in the repository.
    pub(super) fn stored_name(&self) -> String {
        format!("{}.{}", Self::identity(&self.name, self.bytes, &self.tail), self.checksum)
    }

    /// The identity and the checksum that a name in the repository tells.
    pub(super) fn split_stored_name(stored: &str) -> Option<(&str, &str)> {
        let (identity, checksum) = stored.rsplit_once('.')?;
        is_hexadecimal(checksum, CHECKSUM_LEN).then_some((identity, checksum))
    }

    /// Which shard the file belongs to, and its path in the data directory of that shard.
    pub(super) fn shard_path(&self) -> Result<(usize, &Path)> {
        let place = self.name.split_once('/').and_then(|(shard, path)| {
            let path = Path::new(path);
            let is_plain = path.components().all(|part| matches!(part, Component::Normal(_)));
            let shard = shard.strip_prefix("shard-")?.parse().ok()?;
            is_plain.then_some((shard, path))
        });
        place.ok_or_else(|| {
            Error::corruption(format!("it names a file '{}' that no store has", self.name))
        })
    }

    pub(super) fn to_line(&self) -> String {
        format!("file {} {} {} {}\n", self.bytes, self.tail, self.checksum, self.name)
    }

    pub(super) fn parse(line: &str) -> Option<Self> {
        let mut words = line.strip_prefix("file ")?.splitn(4, ' ');
        let bytes = words.next()?.parse().ok()?;
        let tail = words.next().filter(|tail| *tail == WHOLE || is_hexadecimal(tail, TAIL_LEN))?;
        let checksum = words.next().filter(|text| is_hexadecimal(text, CHECKSUM_LEN))?;
        let name = words.next().filter(|name| !name.is_empty())?;
        Some(Self { name: name.into(), bytes, tail: tail.into(), checksum: checksum.into() })
    }
}

fn is_hexadecimal(text: &str, len: usize) -> bool {
    text.len() == len && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str) -> FileEntry {
        let checksum = blake3::hash(b"x").to_hex().to_string();
        FileEntry { name: name.into(), bytes: 17, tail: checksum[..TAIL_LEN].into(), checksum }
    }

    #[test]
    fn a_file_is_read_back_from_its_line_and_its_name() {
        let entry = entry("shard-1/db/000012.sst");
        assert_eq!(FileEntry::parse(entry.to_line().trim_end()), Some(entry.clone()));
        let stored = entry.stored_name();
        let identity = FileEntry::identity(&entry.name, entry.bytes, &entry.tail);
        let told = FileEntry::split_stored_name(&stored);
        assert_eq!(told, Some((identity.as_str(), entry.checksum.as_str())));
        assert_eq!(entry.shard_path().unwrap(), (1, Path::new("db/000012.sst")));
        assert_eq!(FileEntry::split_stored_name(&format!("{stored}.partial")), None);
    }

    #[test]
    fn a_name_that_leads_out_of_the_store_is_refused() {
        for name in ["shard-0/../x", "../shard-0/x", "shard-0//etc/x", "x", "shard-x/db/a"] {
            assert!(entry(name).shard_path().is_err(), "{name}");
        }
    }
}
