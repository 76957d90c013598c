//! Writes many files in a directory in parallel.
//!
//! 1. The calling thread reads batches and sends them to writers through a bounded queue.
//! 2. Each writer has its own files. It begins the next file when one has reached its size.
//! 3. With columns to split by, a batch is split into the rows of each folder. A writer has at most
//!    32 files open. It closes the least recently used one, and that folder gets another file.
//! 4. All files get their names together, when every one is complete: a part of a table must not
//!    look like all of it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use arrow::array::RecordBatch;
use arrow::datatypes::SchemaRef;
use clap::ValueEnum;
use tonnage::internal::sync::lock;
use tonnage::{Cancel, Error};

use super::partition_folders::PartitionFolders;
use crate::exit::{CliResult, Failure};
use crate::interrupt;
use crate::output::{CompletedFile, OutputArgs, RowFormat, RowOutput};

/// Files that a writer has open at once.
const OPEN_MAX: usize = 32;
/// Batches that wait for each writer.
const BATCHES_WAITING: usize = 2;

/// `--compress`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(super) enum CompressAs {
    /// Not at all
    #[default]
    None,
    /// gzip: .gz
    Gzip,
    /// Zstandard: .zst
    Zstd,
}

/// How the files are to be.
pub(super) struct PartFileOptions {
    pub(super) directory: PathBuf,
    pub(super) format: RowFormat,
    pub(super) compress: CompressAs,
    pub(super) split_bytes: Option<usize>,
    pub(super) split_by: Vec<String>,
}

/// The files to be.
pub(super) struct PartFiles {
    directory: PathBuf,
    format: RowFormat,
    ending: String,
    bytes_max: u64,
    folders: Option<PartitionFolders>,
    schema: SchemaRef,
    /// The number of the next file.
    next: AtomicU64,
    rows: Arc<AtomicU64>,
    is_stopped: AtomicBool,
    /// The files that are whole.
    whole: Mutex<Vec<CompletedFile>>,
}

type RowBatches = Box<dyn Iterator<Item = CliResult<RecordBatch>>>;

impl PartFiles {
    pub(super) fn new(
        args: &PartFileOptions,
        schema: &SchemaRef,
        rows: Arc<AtomicU64>,
    ) -> CliResult<Self> {
        let packed = match args.compress {
            CompressAs::None => "",
            CompressAs::Gzip => ".gz",
            CompressAs::Zstd => ".zst",
        };
        // The first file would refuse it, too, but only when its directory has been created.
        if args.format == RowFormat::Json && args.compress != CompressAs::None {
            return Err(Failure::usage(
                "a JSON array is not written compressed: use --format jsonl",
            ));
        }
        let folders = match args.split_by.is_empty() {
            true => None,
            false => Some(PartitionFolders::of(schema, &args.split_by)?),
        };
        let left = folders
            .as_ref()
            .map_or_else(|| Ok(schema.clone()), |folders| folders.file_schema(schema))?;
        Ok(Self {
            directory: args.directory.clone(),
            format: args.format,
            ending: format!("{}{packed}", args.format.ending()),
            bytes_max: args.split_bytes.map_or(u64::MAX, |bytes| bytes as u64),
            folders,
            schema: left,
            // One count for all writers and folders: no two of them make a file of one name.
            next: AtomicU64::new(0),
            rows,
            is_stopped: AtomicBool::new(false),
            whole: Mutex::default(),
        })
    }

    /// Writes all batches. Returns how many files there are.
    pub(super) fn write(
        &self,
        batches: RowBatches,
        threads: usize,
        cancel: &Cancel,
    ) -> CliResult<u64> {
        self.check_directory()?;
        let written = self.write_all_parts(batches, threads, cancel);
        let whole = std::mem::take(&mut *lock(&self.whole));
        match written {
            Ok(()) => whole.into_iter().try_for_each(CompletedFile::publish)?,
            Err(failure) => {
                drop(whole);
                remove_empty(&self.directory);
                return Err(failure);
            }
        }
        Ok(self.next.load(Relaxed))
    }

    fn write_all_parts(
        &self,
        batches: RowBatches,
        threads: usize,
        cancel: &Cancel,
    ) -> CliResult<()> {
        let (sender, receiver) = sync_channel(threads * BATCHES_WAITING);
        let receiver = Arc::new(Mutex::new(receiver));
        std::thread::scope(|scope| {
            let writers: Vec<_> = (0..threads)
                .map(|_| Arc::clone(&receiver))
                .map(|receiver| scope.spawn(move || self.run_writer(&receiver)))
                .collect();
            // The writers alone hold it: where all have failed, nothing waits for them.
            drop(receiver);
            let drawn = self.send_batches(batches, &sender, cancel);
            drop(sender);
            let written: Vec<CliResult<()>> = writers
                .into_iter()
                .map(|writer| {
                    let lost = |_| Err(Error::internal("a thread that writes has stopped").into());
                    writer.join().unwrap_or_else(lost)
                })
                .collect();
            // A failed writer takes no batches, and reports why.
            written.into_iter().collect::<CliResult<Vec<()>>>()?;
            drawn
        })
    }

    /// Files of an earlier unload would be taken for parts of this one.
    fn check_directory(&self) -> CliResult<()> {
        let shown = self.directory.display();
        if self.directory.exists() && !self.directory.is_dir() {
            return Err(Failure::usage(format!(
                "--output-dir {shown}: it is a file: name a directory"
            )));
        }
        let failed = |error: std::io::Error| {
            let message = format!("--output-dir {shown}: cannot be written: {error}");
            Failure::from(Error::unavailable(message).with_source(error))
        };
        std::fs::create_dir_all(&self.directory).map_err(failed)?;
        match std::fs::read_dir(&self.directory).map_err(failed)?.next() {
            None => Ok(()),
            Some(_) => Err(Failure::usage(format!(
                "--output-dir {shown}: it is not empty: name another directory, or empty this one"
            ))),
        }
    }

    fn send_batches(
        &self,
        batches: RowBatches,
        sender: &SyncSender<RecordBatch>,
        cancel: &Cancel,
    ) -> CliResult<()> {
        for batch in batches {
            let drawn = interrupt::check(cancel).and(batch);
            let batch = drawn.inspect_err(|_| self.is_stopped.store(true, Relaxed))?;
            if sender.send(batch).is_err() {
                break;
            }
        }
        Ok(())
    }

    /// What a writer does: it takes batches until there are no more.
    fn run_writer(&self, batches: &Mutex<Receiver<RecordBatch>>) -> CliResult<()> {
        let mut open = OpenPartFiles { parts: self, files: HashMap::new(), clock: 0 };
        loop {
            let next = lock(batches).recv();
            if self.is_stopped.load(Relaxed) {
                // What is not whole gets no name.
                return Ok(());
            }
            let Ok(batch) = next else { break };
            let written = open.write(&batch);
            written.inspect_err(|_| self.is_stopped.store(true, Relaxed))?;
            self.rows.fetch_add(batch.num_rows() as u64, Relaxed);
        }
        open.finish()
    }

    /// Makes a file whole. It gets its name with all others.
    fn close(&self, output: RowOutput) -> CliResult<()> {
        let whole = output.close()?;
        lock(&self.whole).extend(whole);
        Ok(())
    }

    fn open_part(&self, folder: &str) -> CliResult<RowOutput> {
        let number = self.next.fetch_add(1, Relaxed);
        let directory = self.directory.join(folder);
        std::fs::create_dir_all(&directory).map_err(|error| {
            let message = format!("{}: cannot be made: {error}", directory.display());
            Failure::stopped(Error::unavailable(message).with_source(error))
        })?;
        let file = directory.join(format!("part-{number:05}.{}", self.ending));
        let args = OutputArgs { format: Some(self.format), output: Some(file) };
        args.open(self.schema.clone())
    }
}

/// The files that a writer has open, by their folders.
struct OpenPartFiles<'a> {
    parts: &'a PartFiles,
    files: HashMap<String, OpenPartFile>,
    clock: u64,
}

struct OpenPartFile {
    output: RowOutput,
    used: u64,
}

impl OpenPartFiles<'_> {
    fn write(&mut self, batch: &RecordBatch) -> CliResult<()> {
        match &self.parts.folders {
            None => self.write_to(String::new(), batch),
            Some(folders) => {
                for (folder, rows) in folders.split_by_folder(batch)? {
                    self.write_to(folder, &rows)?;
                }
                Ok(())
            }
        }
    }

    fn write_to(&mut self, folder: String, rows: &RecordBatch) -> CliResult<()> {
        self.clock += 1;
        if !self.files.contains_key(&folder) {
            self.make_room()?;
            let output = self.parts.open_part(&folder)?;
            self.files.insert(folder.clone(), OpenPartFile { output, used: 0 });
        }
        let Some(file) = self.files.get_mut(&folder) else { return Ok(()) };
        file.used = self.clock;
        file.output.write(rows)?;
        if file.output.bytes() >= self.parts.bytes_max
            && let Some(full) = self.files.remove(&folder)
        {
            self.parts.close(full.output)?;
        }
        Ok(())
    }

    fn make_room(&mut self) -> CliResult<()> {
        if self.files.len() < OPEN_MAX {
            return Ok(());
        }
        let oldest = self.files.iter().min_by_key(|(_, file)| file.used);
        let oldest = oldest.map(|(folder, _)| folder.clone());
        match oldest.and_then(|folder| self.files.remove(&folder)) {
            Some(file) => self.parts.close(file.output),
            None => Ok(()),
        }
    }

    fn finish(self) -> CliResult<()> {
        self.files.into_values().try_for_each(|file| self.parts.close(file.output))
    }
}

/// Removes the folders below a directory that hold nothing.
fn remove_empty(directory: &Path) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.filter_map(Result::ok).map(|entry| entry.path()) {
        if path.is_dir() {
            remove_empty(&path);
            // One that holds something stays.
            let _ = std::fs::remove_dir(&path);
        }
    }
}
