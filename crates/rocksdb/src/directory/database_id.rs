//! The identity of a database, which RocksDB draws at random when it makes one.
//!
//! RocksDB writes it at the head of each MANIFEST, and keeps the one that it finds there. So all
//! copies of a database have it: checkpoints, and what is restored of them.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use tonnage_engine::Result;

use super::manifest::unavailable;
use super::version_edits::database_id_in;
use crate::wal::log_format::{BLOCK, Records};

/// The identity of the database that a MANIFEST is of; nothing when there is no such file, or when
/// its head does not tell, because it is damaged.
///
/// # Errors
/// `Unavailable` when the file cannot be read now.
pub fn database_id(manifest: &Path) -> Result<Option<String>> {
    let mut head = Vec::new();
    // The first record that is sound tells, and a MANIFEST may be large.
    let read = File::open(manifest).and_then(|file| file.take(BLOCK as u64).read_to_end(&mut head));
    match read {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        read => read.map_err(|error| unavailable(manifest, error))?,
    };
    let (mut records, mut edit) = (Records::new(&head), Vec::new());
    while records.next(&mut edit, usize::MAX) {
        if let Some(id) = database_id_in(&edit) {
            return Ok(Some(id.to_owned()));
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use crate::wal::log_format::checksum;

    /// A MANIFEST that begins as those of RocksDB 11.8: tag 8193, and the identity after its
    /// length.
    fn manifest(id: &[u8]) -> Vec<u8> {
        let edit = [&[0x81, 0x40, id.len() as u8][..], id].concat();
        let mut manifest = checksum(1, &edit).to_le_bytes().to_vec();
        manifest.extend((edit.len() as u16).to_le_bytes());
        manifest.push(1);
        manifest.extend(edit);
        manifest
    }

    fn told(content: &[u8]) -> Option<String> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("MANIFEST-000005");
        fs::write(&path, content).unwrap();
        database_id(&path).unwrap()
    }

    #[test]
    fn the_head_of_a_manifest_tells_the_identity() {
        let mut manifest = manifest(b"a196dc48");
        assert_eq!(told(&manifest), Some("a196dc48".to_owned()));
        // What a copy cuts off, or a crash tears, follows it.
        manifest.extend(b"torn");
        assert_eq!(told(&manifest), Some("a196dc48".to_owned()));
    }

    #[test]
    fn a_head_that_is_damaged_or_missing_tells_nothing() {
        let sound = manifest(b"a196dc48");
        for at in 0..sound.len() {
            let mut damaged = sound.clone();
            damaged[at] ^= 0x01;
            assert_eq!(told(&damaged), None, "byte {at}");
            assert_eq!(told(&sound[..at]), None, "{at} bytes");
        }
        assert_eq!(database_id(Path::new("no such MANIFEST")).unwrap(), None);
    }
}
