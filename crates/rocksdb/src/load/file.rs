//! Data files of a load: written in key order, then ingested by RocksDB.

use std::cell::Cell;
use std::path::{Path, PathBuf};

use rocksdb::{IngestExternalFileOptions, Options, SstFileWriter};
use tonnage_engine::Result;

use super::spill::next_file_number;
use crate::directory::manifest::{sync_directory, unavailable};
use crate::error::translate;
use crate::shard::Shard;
use crate::tracking::file_keys::FileKeys;

/// How much is written before the disk starts on it: the sync at the end then has little left to
/// wait for.
pub(super) const BYTES_PER_SYNC: u64 = 2 << 20;

/// A file that is removed unless RocksDB took it, or the next opening may need it.
struct OwnedPath {
    path: PathBuf,
    is_kept: Cell<bool>,
}

impl Drop for OwnedPath {
    fn drop(&mut self) {
        // After an ingestion it is gone from here already; what cannot be removed is removed at the
        // next open.
        if !self.is_kept.get() {
            let _ = std::fs::remove_file(&self.path);
        }
    }
}

/// A complete file, on the disk.
pub(super) struct FinishedFile {
    path: OwnedPath,
    keys: FileKeys,
}

/// Has RocksDB take files in, all of them or none. Of rows with one key that of the last file
/// counts. The caller holds the gate exclusively.
pub(super) fn ingest(files: &[&FinishedFile], shard: &Shard) -> Result<()> {
    let mut options = IngestExternalFileOptions::default();
    options.set_move_files(true);
    let paths = files.iter().map(|file| file.path.path.as_path()).collect();
    let notes = FileKeys::notes_of(files.iter().map(|file| &file.keys), &shard.books);
    let _counted = shard.changes.begin(notes.spaces);
    let _noted = shard.books.note(&notes);
    let before = shard.db().latest_sequence_number();
    let ingested = shard.db().ingest_external_file_cf_opts(shard.rows(), &options, paths);
    shard.note_taken_sequences(before);
    match ingested {
        Ok(()) => shard.remove_kept_files(),
        Err(_) => {
            files.iter().for_each(|file| file.path.is_kept.set(shard.keep_file(&file.path.path)))
        }
    }
    ingested.map_err(|error| translate(shard.directory.display(), error))
}

/// Writes the rows of an output file; there is no file before the first row.
pub(super) struct FileWriter<'a> {
    options: &'a Options,
    directory: PathBuf,
    open: Option<(SstFileWriter<'a>, OwnedPath)>,
    keys: FileKeys,
}

impl<'a> FileWriter<'a> {
    /// Will write to a file of the shard.
    pub(super) fn new(options: &'a Options, shard: &Shard) -> Self {
        let keys = FileKeys::new(&shard.books);
        Self { options, directory: shard.load_directory(), open: None, keys }
    }

    /// Appends a row; keys ascend.
    #[inline]
    pub(super) fn put(&mut self, key: &[u8], value: &[u8]) -> Result<()> {
        self.keys.add(key);
        if self.open.is_none() {
            self.open = Some(open_file(self.options, &self.directory)?);
        }
        let Some((writer, path)) = &mut self.open else { return Ok(()) };
        writer.put(key, value).map_err(|error| translate(path.path.display(), error))
    }

    /// Ends the file, if there is one, and has it on the disk, findable ([`crate::ingestion`]).
    pub(super) fn finish(self) -> Result<Option<FinishedFile>> {
        let Some((mut writer, path)) = self.open else { return Ok(None) };
        writer.finish().map_err(|error| translate(path.path.display(), error))?;
        sync_directory(&self.directory).map_err(|error| unavailable(&self.directory, error))?;
        Ok(Some(FinishedFile { path, keys: self.keys }))
    }
}

fn open_file<'a>(options: &'a Options, directory: &Path) -> Result<(SstFileWriter<'a>, OwnedPath)> {
    let path = directory.join(format!("load-{}.sst", next_file_number()));
    let path = OwnedPath { path, is_kept: Cell::new(false) };
    let writer = SstFileWriter::create(options);
    writer.open(&path.path).map_err(|error| translate(path.path.display(), error))?;
    Ok((writer, path))
}
