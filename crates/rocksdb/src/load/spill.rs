//! Sorted runs on disk, for what does not fit into memory.
//!
//! A spill file is a sequence of frames: `u32 length, u32 CRC-32, records`. A frame is what is read
//! at once, and its checksum is verified before a record of it is believed. The first keys of
//! frames are kept in memory as a sparse index.
//!
//! A file is unlinked as soon as it is created, so nothing is left of it whatever happens to the
//! process.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use tonnage_engine::{Error, Result, Slices};

use super::lane::Lane;
use super::record::{LoadRecord, RecordSpan};

const FRAME_HEAD_LEN: usize = 8;
/// The most memory for the index of one file; past it every second key is forgotten.
const INDEX_BYTES_MAX: usize = 1 << 20;

/// Distinguishes the files of a process.
static NEXT_FILE: AtomicU64 = AtomicU64::new(0);

/// A number that no other file of this process has in its name.
pub(super) fn next_file_number() -> u64 {
    NEXT_FILE.fetch_add(1, Ordering::Relaxed)
}

/// Where spill files go, and how large their frames are.
#[derive(Clone, Debug)]
pub(super) struct SpillSettings {
    pub(super) directory: PathBuf,
    pub(super) frame_bytes: usize,
}

/// Writes records, which come in order, to a spill file.
pub(super) struct SpillWriter {
    file: File,
    path: PathBuf,
    frame_bytes: usize,
    frame: Vec<u8>,
    offset: u64,
    index: SparseIndex,
}

impl SpillWriter {
    /// Makes a file.
    pub(super) fn create(settings: &SpillSettings) -> Result<Self> {
        let path =
            settings.directory.join(format!("spill-{}-{}", std::process::id(), next_file_number()));
        let file =
            create_unlinked(&settings.directory, &path).map_err(|error| failed(&path, error))?;
        let mut writer = Self {
            file,
            path,
            frame_bytes: settings.frame_bytes,
            frame: Vec::with_capacity(settings.frame_bytes + FRAME_HEAD_LEN),
            offset: 0,
            index: SparseIndex::default(),
        };
        writer.start_frame();
        Ok(writer)
    }

    fn start_frame(&mut self) {
        self.frame.clear();
        self.frame.resize(FRAME_HEAD_LEN, 0);
    }

    /// Appends a record.
    #[inline]
    pub(super) fn push(&mut self, record: LoadRecord<'_>) -> Result<()> {
        if self.frame.len() > FRAME_HEAD_LEN
            && self.frame.len() + record.encoded.len() > self.frame_bytes
        {
            self.write_frame()?;
        }
        if self.frame.len() == FRAME_HEAD_LEN {
            self.index.push(record.key, self.offset);
        }
        self.frame.extend_from_slice(record.encoded);
        Ok(())
    }

    fn write_frame(&mut self) -> Result<()> {
        let records = &self.frame[FRAME_HEAD_LEN..];
        let (len, checksum) = (records.len() as u32, crc32fast::hash(records));
        self.frame[..4].copy_from_slice(&len.to_le_bytes());
        self.frame[4..FRAME_HEAD_LEN].copy_from_slice(&checksum.to_le_bytes());
        self.file.write_all(&self.frame).map_err(|error| failed(&self.path, error))?;
        self.offset += self.frame.len() as u64;
        self.start_frame();
        Ok(())
    }

    /// Writes what is left and hands over the file.
    pub(super) fn finish(mut self, lane: Lane) -> Result<SpillFile> {
        if self.frame.len() > FRAME_HEAD_LEN {
            self.write_frame()?;
        }
        Ok(SpillFile {
            lane,
            file: self.file,
            path: self.path,
            len: self.offset,
            index: self.index,
        })
    }
}

fn create_unlinked(directory: &Path, path: &Path) -> io::Result<File> {
    std::fs::create_dir_all(directory)?;
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    std::fs::remove_file(path)?;
    Ok(file)
}

#[cold]
fn failed(path: &Path, error: io::Error) -> Error {
    let text = format!(
        "{}: {error} (the load needs room there for what does not fit into its memory)",
        path.display()
    );
    Error::unavailable(text).with_source(error)
}

#[cold]
fn damaged(path: &Path, offset: u64) -> Error {
    let text = format!(
        "{}: what was written at byte {offset} reads back differently: load again, and check the disk",
        path.display()
    );
    Error::corruption(text)
}

/// A finished run on disk.
#[derive(Debug)]
pub(super) struct SpillFile {
    pub(super) lane: Lane,
    file: File,
    path: PathBuf,
    len: u64,
    index: SparseIndex,
}

impl SpillFile {
    /// Bytes on disk.
    pub(super) fn bytes(&self) -> u64 {
        self.len
    }

    /// Keys at about even distances, each with the bytes from it to the next.
    pub(super) fn index(&self) -> impl Iterator<Item = (&[u8], u64)> {
        let ends = self.index.offsets.iter().skip(1).copied().chain([self.len]);
        self.index
            .keys
            .iter()
            .zip(self.index.offsets.iter().zip(ends))
            .map(|(key, (start, end))| (key, end - start))
    }

    /// Reads from a place at or before the first entry whose key is not less than `lower`.
    pub(super) fn reader(&self, lower: Option<&[u8]>) -> SpillReader<'_> {
        let next_frame = lower.map_or(0, |lower| self.index.offset_before(lower));
        SpillReader { file: self, next_frame, frame: Vec::new(), next_record: 0 }
    }
}

/// Reads a spill file frame by frame.
#[derive(Debug)]
pub(super) struct SpillReader<'a> {
    file: &'a SpillFile,
    next_frame: u64,
    frame: Vec<u8>,
    next_record: usize,
}

impl SpillReader<'_> {
    /// The frame of the last span.
    #[inline]
    pub(super) fn frame(&self) -> &[u8] {
        &self.frame
    }

    /// The position of the next record in [`SpillReader::frame`], which is another one than before
    /// at times.
    #[inline]
    pub(super) fn next_span(&mut self) -> Result<Option<RecordSpan>> {
        if self.next_record == self.frame.len() && !self.read_frame()? {
            return Ok(None);
        }
        let span = RecordSpan::read(&self.frame, self.next_record)
            .ok_or_else(|| damaged(&self.file.path, self.next_frame))?;
        self.next_record = span.end();
        Ok(Some(span))
    }

    fn read_frame(&mut self) -> Result<bool> {
        let SpillFile { file, path, len, .. } = self.file;
        if self.next_frame >= *len {
            return Ok(false);
        }
        let mut head = [0; FRAME_HEAD_LEN];
        file.read_exact_at(&mut head, self.next_frame).map_err(|error| failed(path, error))?;
        let [l0, l1, l2, l3, c0, c1, c2, c3] = head;
        let frame_len = u64::from(u32::from_le_bytes([l0, l1, l2, l3]));
        let records_start = self.next_frame + FRAME_HEAD_LEN as u64;
        if frame_len == 0 || records_start + frame_len > *len {
            return Err(damaged(path, self.next_frame));
        }
        self.frame.resize(frame_len as usize, 0);
        file.read_exact_at(&mut self.frame, records_start).map_err(|error| failed(path, error))?;
        if crc32fast::hash(&self.frame) != u32::from_le_bytes([c0, c1, c2, c3]) {
            return Err(damaged(path, self.next_frame));
        }
        self.next_frame = records_start + frame_len;
        self.next_record = 0;
        Ok(true)
    }
}

/// The first keys of some frames, and where those start.
#[derive(Debug, Default)]
struct SparseIndex {
    keys: Slices,
    offsets: Vec<u64>,
    /// Every how many frames one is kept.
    stride: u64,
    frames: u64,
}

impl SparseIndex {
    fn push(&mut self, key: &[u8], offset: u64) {
        if self.frames.is_multiple_of(self.stride.max(1)) {
            self.keys.push(key);
            self.offsets.push(offset);
            if self.keys.memory_bytes() > INDEX_BYTES_MAX && self.keys.len() > 2 {
                self.thin();
            }
        }
        self.frames += 1;
    }

    fn thin(&mut self) {
        self.keys = self.keys.iter().step_by(2).collect();
        self.offsets = self.offsets.iter().step_by(2).copied().collect();
        self.stride = 2 * self.stride.max(1);
    }

    /// Where to start reading for `key`: a frame that starts before it, since equal keys may begin
    /// in the frame before.
    fn offset_before(&self, key: &[u8]) -> u64 {
        let (mut low, mut high) = (0, self.keys.len());
        while low < high {
            let middle = (low + high) / 2;
            if self.keys.get(middle) < key {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        self.offsets.get(low.saturating_sub(1)).copied().unwrap_or_default()
    }
}

#[cfg(test)]
impl SpillFile {
    /// Damages the file.
    pub(super) fn flip_bit(&self, offset: u64) {
        let mut byte = [0];
        self.file.read_exact_at(&mut byte, offset).unwrap();
        self.file.write_all_at(&[byte[0] ^ 1], offset).unwrap();
    }
}
