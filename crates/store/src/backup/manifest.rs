//! The manifest of a backup. A backup exists once its manifest is stored.
//!
//! ```text
//! tonnage backup
//! format 1
//! number 7
//! made_ms 1763786406000
//! shards 2
//! file 67108864 0a1b2c3d4e5f6071 CHECKSUM shard-0/db/000012.sst
//! check CHECKSUM OF THE LINES ABOVE
//! ```

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use tonnage_engine::{Error, Result};

use super::copy::file_error;
use super::entry::FileEntry;

/// The newest format that this library writes and reads.
pub(super) const FORMAT: u32 = 1;

/// What a repository reports about a backup.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct BackupInfo {
    /// Its number, from 1; later backups have greater ones.
    pub number: u64,
    /// The time of the backup, in milliseconds since 1970, by the clock of the store.
    pub made_ms: u64,
    /// How many data directories the store had.
    pub shards: usize,
    /// How many files it has.
    pub files: u64,
    /// How many bytes these have, shared with other backups or not.
    pub bytes: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct BackupManifest {
    pub(super) number: u64,
    pub(super) made_ms: u64,
    pub(super) shards: usize,
    pub(super) files: Vec<FileEntry>,
}

impl BackupManifest {
    pub(super) fn info(&self) -> BackupInfo {
        BackupInfo {
            number: self.number,
            made_ms: self.made_ms,
            shards: self.shards,
            files: self.files.len() as u64,
            bytes: self.files.iter().map(|file| file.bytes).sum(),
        }
    }

    pub(super) fn to_text(&self) -> String {
        let Self { number, made_ms, shards, .. } = self;
        let mut text = format!(
            "tonnage backup\nformat {FORMAT}\nnumber {number}\nmade_ms {made_ms}\nshards {shards}\n"
        );
        self.files.iter().for_each(|file| text.push_str(&file.to_line()));
        let check = blake3::hash(text.as_bytes()).to_hex();
        text + &format!("check {check}\n")
    }

    /// Reads the manifest in a file.
    pub(super) fn read(path: &Path) -> Result<Self> {
        let bytes = fs::read(path).map_err(|error| file_error(path, error))?;
        Self::parse(&bytes).map_err(|error| error.at(path.display()))
    }

    fn parse(bytes: &[u8]) -> Result<Self> {
        let text = std::str::from_utf8(bytes).map_err(|_| damaged("it is not text"))?;
        let mut lines = text.lines();
        if lines.next() != Some("tonnage backup") {
            return Err(damaged("its first line is not 'tonnage backup'"));
        }
        // Checked first: a newer format may have other lines.
        let format: u32 = field(lines.next(), "format")?;
        if format > FORMAT {
            return Err(Error::unsupported(format!(
                "the backup has format {format}, this Tonnage reads formats up to {FORMAT}: use a newer Tonnage"
            )));
        }
        let (said, check) = text.rsplit_once("check ").ok_or_else(|| damaged("it is cut short"))?;
        if check != format!("{}\n", blake3::hash(said.as_bytes()).to_hex()) {
            return Err(damaged("its checksum differs"));
        }
        let manifest = Self {
            number: field(lines.next(), "number")?,
            made_ms: field(lines.next(), "made_ms")?,
            shards: field(lines.next(), "shards")?,
            files: lines
                .take_while(|line| !line.starts_with("check "))
                .map(|line| FileEntry::parse(line).ok_or_else(|| damaged("a line is not known")))
                .collect::<Result<_>>()?,
        };
        // A restore writes where these names say: none may lead out of a shard that the backup has.
        for file in &manifest.files {
            if file.shard_path()?.0 >= manifest.shards {
                return Err(damaged("it has a file of a shard that it does not have"));
            }
        }
        Ok(manifest)
    }
}

fn field<T: std::str::FromStr>(line: Option<&str>, name: &str) -> Result<T> {
    let value = line.and_then(|line| line.strip_prefix(name)?.strip_prefix(' ')?.parse().ok());
    value.ok_or_else(|| damaged(&format!("it lacks '{name}'")))
}

fn damaged(what: &str) -> Error {
    Error::corruption(format!(
        "the manifest of the backup is damaged, {what}: restore another backup, and remove this one"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use tonnage_engine::ErrorKind;

    fn manifest(sizes: &[u64]) -> BackupManifest {
        let file = |(at, bytes): (usize, &u64)| FileEntry {
            name: format!("shard-{}/db/{at:06}.sst", at % 2),
            bytes: *bytes,
            tail: super::super::entry::WHOLE.into(),
            checksum: blake3::hash(&bytes.to_be_bytes()).to_hex().to_string(),
        };
        let files = sizes.iter().enumerate().map(file).collect();
        BackupManifest { number: 7, made_ms: 1_763_786_406_000, shards: 2, files }
    }

    proptest! {
        #[test]
        fn a_manifest_is_read_back(sizes in proptest::collection::vec(any::<u64>(), 0..9)) {
            let manifest = manifest(&sizes);
            prop_assert_eq!(BackupManifest::parse(manifest.to_text().as_bytes()).unwrap(), manifest);
        }

        #[test]
        fn a_manifest_with_any_byte_changed_or_cut_is_refused(at in 0_usize..500, flip in 1_u8..) {
            let mut bytes = manifest(&[1, 2, 3]).to_text().into_bytes();
            let at = at % bytes.len();
            prop_assert!(BackupManifest::parse(&bytes[..at]).is_err());
            bytes[at] ^= flip;
            prop_assert!(BackupManifest::parse(&bytes).is_err());
        }
    }

    #[test]
    fn a_newer_format_is_unsupported() {
        let text = manifest(&[]).to_text().replace("format 1", "format 2");
        let error = BackupManifest::parse(text.as_bytes()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    }
}
