//! Reads one file as a stream of entries.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use arrow::array::{Array, AsArray};
use arrow::datatypes::DataType;
use tonnage::internal::sync::lock;
use tonnage::{EntryBatch, EntryStream, Error, Key, Pairs, Result, UnreadEntry};
use tonnage_files::{
    Format, Progress, ReadBatch, ReadOptions, RecordReader, RejectedRecord, Source, column_folders,
};

use super::FileInput;
use super::fingerprint::Fingerprint;

/// What the records of the files become.
#[derive(Clone)]
pub(crate) enum LoadTarget {
    /// Rows of a table.
    Table { path: Arc<str>, ttl: Option<Duration> },
    /// Key/value pairs out of the columns `key` and `value`.
    Pairs { ttl: Option<Duration> },
}

impl LoadTarget {
    /// What to call it.
    pub(super) fn name(&self) -> &str {
        match self {
            LoadTarget::Table { path, .. } => path,
            LoadTarget::Pairs { .. } => "key/value pairs",
        }
    }
}

/// What others may know of a stream while it is read.
pub(crate) struct StreamState {
    pub(super) name: String,
    pub(super) format: Format,
    /// The header of the file in its own words, where it has one.
    pub(super) header: Option<String>,
    /// The number of the record up to which everything was handed on and taken; the batch under way
    /// is not in it.
    pub(super) taken: AtomicU64,
    /// The number of the record up to which everything is durable, or was reported.
    pub(super) durable: AtomicU64,
    /// Records that the condition of the load left out.
    pub(super) left_out: AtomicU64,
    /// The batch under way.
    current: Mutex<Option<Arc<ReadBatch>>>,
    progress: Mutex<Option<Progress>>,
    pub(super) bytes: Option<u64>,
    pub(super) fingerprint: Option<Fingerprint>,
    source: Source,
    options: ReadOptions,
}

/// Reads one file.
pub(crate) struct FileStream {
    input: FileInput,
    target: LoadTarget,
    reader: Option<RecordReader>,
    /// The number of the first record that was not yet read.
    next_record: u64,
    /// The position that the bulk put expects next.
    next_position: u64,
    state: Arc<StreamState>,
}

impl StreamState {
    fn current(&self) -> MutexGuard<'_, Option<Arc<ReadBatch>>> {
        lock(&self.current)
    }

    /// The bytes of the file that were read.
    pub(super) fn bytes_read(&self) -> u64 {
        let progress = lock(&self.progress);
        progress.as_ref().map_or(0, Progress::bytes_read)
    }

    /// The original of a record, as long as its batch is under way.
    pub(super) fn original(
        &self,
        record: u64,
        column: Option<&str>,
        reason: &str,
    ) -> RejectedRecord {
        let current = self.current().clone();
        let found = current.and_then(|batch| {
            match batch.rejected.binary_search_by_key(&record, |rejected| rejected.record) {
                Ok(place) => batch.rejected.get(place).cloned(),
                Err(_) => batch.reject(row_of(&batch, record)?, column, reason),
            }
        });
        found.unwrap_or_else(|| RejectedRecord {
            source: self.name.clone(),
            record,
            line: None,
            column: column.map(str::to_owned),
            reason: reason.to_owned(),
            original: Vec::new(),
        })
    }

    /// Whether its records stand on lines.
    pub(super) fn has_lines(&self) -> bool {
        self.format.is_text()
    }

    /// The line of a record. If its batch is gone the file is read again as far as there; a pipe
    /// cannot be.
    pub(super) fn line_of(&self, record: u64) -> Option<u64> {
        if !self.has_lines() {
            return None;
        }
        let current = self.current().clone();
        let held = current.and_then(|batch| {
            let row = row_of(&batch, record)?;
            batch.original(row)?.line
        });
        if held.is_some() || self.source.reads_once() {
            return held;
        }
        let options = ReadOptions { start_record: record, batch_rows: 1, ..self.options.clone() };
        let read = RecordReader::open(&self.source, &options).ok()?.next()?.ok()?;
        (read.record(0)? == record).then(|| read.original(0)?.line).flatten()
    }

    /// A path-like name of the file without its directories and the ending of its compression.
    pub(super) fn file_name(&self) -> PathBuf {
        let path = PathBuf::from(&self.name);
        let name = path
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_else(|| "input".into());
        let name = [".gz", ".zst", ".zstd", ".xz"]
            .iter()
            .find_map(|ending| name.strip_suffix(ending))
            .unwrap_or(&name);
        PathBuf::from(if name == "-" { "stdin" } else { name })
    }

    /// The same without its ending.
    pub(super) fn file_stem(&self) -> OsString {
        self.file_name().file_stem().unwrap_or_default().to_owned()
    }

    /// The folders of the file that tell columns: without them its records would lack those.
    pub(super) fn column_folders(&self) -> PathBuf {
        column_folders(&self.source, &self.options)
    }

    /// Whether an earlier run read some of it.
    pub(super) fn is_resumed(&self) -> bool {
        self.options.start_record > 0
    }
}

/// The row that a record became: records ascend, so it is found by halving.
fn row_of(batch: &ReadBatch, record: u64) -> Option<usize> {
    let (mut low, mut high) = (0, batch.batch.num_rows());
    while low < high {
        let middle = (low + high) / 2;
        if batch.record(middle)? < record { low = middle + 1 } else { high = middle }
    }
    (batch.record(low)? == record).then_some(low)
}

impl FileStream {
    pub(crate) fn new(mut input: FileInput, target: &LoadTarget) -> Self {
        // Kept in the words of the file: rejected records go below it and must load again as they
        // are.
        let header =
            (input.format == Format::Csv && input.options.csv.has_header).then(|| header(&input));
        let state = StreamState {
            name: input.name().to_owned(),
            format: input.format,
            header,
            taken: AtomicU64::new(input.options.start_record),
            durable: AtomicU64::new(input.options.start_record),
            left_out: AtomicU64::new(0),
            current: Mutex::new(None),
            progress: Mutex::new(None),
            bytes: input.bytes,
            fingerprint: input.fingerprint.clone(),
            source: input.source.clone(),
            options: input.options.clone(),
        };
        Self {
            // Only a pipe brings an open reader. Files are opened when their turn comes, not all at
            // once.
            reader: input.reader.take(),
            next_record: input.options.start_record,
            next_position: 0,
            target: target.clone(),
            state: Arc::new(state),
            input,
        }
    }

    /// What others may know of it.
    pub(crate) fn state(&self) -> Arc<StreamState> {
        self.state.clone()
    }

    fn read(&mut self) -> Result<Option<ReadBatch>> {
        let reader = match self.reader.take() {
            Some(reader) => self.reader.insert(reader),
            None => {
                self.reader.insert(RecordReader::open(&self.input.source, &self.input.options)?)
            }
        };
        *lock(&self.state.progress) = Some(reader.progress());
        reader.next().transpose()
    }

    /// The rows that a batch of records becomes.
    fn rows_of(&self, path: &Arc<str>, read: &ReadBatch) -> Result<EntryBatch> {
        let Some(mapping) = &self.input.mapping else {
            return Ok(EntryBatch::rows(path.clone(), read.batch.clone()));
        };
        let mapped = mapping.apply(read).map_err(|error| error.at(&self.state.name))?;
        self.state.left_out.fetch_add(mapped.left_out, Relaxed);
        Ok(EntryBatch {
            positions: Some(mapped.positions),
            unread: mapped.unread,
            is_computed: true,
            ..EntryBatch::rows(path.clone(), mapped.rows)
        })
    }
}

/// The names of the columns as a line of CSV, in the quotes of the file.
fn header(input: &FileInput) -> String {
    let delimiter = char::from(input.delimiter.unwrap_or(b','));
    let quote = input.quote.map(char::from);
    let quoted = |name: &String| match quote {
        Some(quote) if name.contains([delimiter, quote, '\n', '\r']) => {
            let doubled = String::from_iter([quote, quote]);
            format!("{quote}{}{quote}", name.replace(quote, &doubled))
        }
        _ => name.clone(),
    };
    let names: Vec<_> = input.columns.fields().iter().map(|field| quoted(field.name())).collect();
    names.join(&delimiter.to_string())
}

impl EntryStream for FileStream {
    fn name(&self) -> String {
        self.state.name.clone()
    }

    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        // Being asked again means that everything handed on before was taken.
        self.state.taken.store(self.next_record, Relaxed);
        self.state.current().take();
        let Some(read) = self.read()? else { return Ok(None) };
        let mut batch = match &self.target {
            LoadTarget::Table { path, ttl } => {
                EntryBatch { ttl: *ttl, ..self.rows_of(path, &read)? }
            }
            LoadTarget::Pairs { ttl } => EntryBatch { ttl: *ttl, ..pairs_of(&read)? },
        };
        let rejected = read.rejected.iter();
        batch.unread.extend(rejected.map(|rejected| UnreadEntry {
            position: rejected.record,
            column: rejected.column.clone(),
            reason: rejected.reason.clone(),
        }));
        // Two lists became one, each in its order: faults are reported in that of the file.
        batch.unread.sort_by_key(|unread| unread.position);
        // Without positions the put counts on by itself, which holds while no record is missing.
        if batch.positions.is_none()
            && (!batch.unread.is_empty() || read.first_record != self.next_position)
        {
            batch.positions =
                Some((0..read.batch.num_rows()).filter_map(|row| read.record(row)).collect());
        }
        self.next_record = read.first_record + read.records;
        self.next_position = self.next_record;
        *self.state.current() = Some(Arc::new(read));
        Ok(Some(batch))
    }
}

/// Pairs out of the columns `key` and `value`; keys that cannot be read are set apart.
fn pairs_of(read: &ReadBatch) -> Result<EntryBatch> {
    let column = |name: &str| {
        read.batch.column_by_name(name).ok_or_else(|| {
            Error::invalid(format!("there is no column {name}: pairs need key and value"))
        })
    };
    let (keys, values) = (column("key")?.as_string::<i32>(), column("value")?);
    let mut pairs =
        Pairs::with_capacity(keys.len(), keys.value_data().len(), values.get_buffer_memory_size());
    let (mut positions, mut unread) = (Vec::with_capacity(keys.len()), Vec::new());
    for row in 0..keys.len() {
        let position = read.record(row).unwrap_or_default();
        let key = if keys.is_valid(row) {
            keys.value(row).parse::<Key>()
        } else {
            Err(Error::invalid("the key is missing"))
        };
        let pushed = key.and_then(|key| match values.data_type() {
            DataType::Binary if values.is_valid(row) => {
                pairs.push(&key, values.as_binary::<i32>().value(row))
            }
            DataType::Utf8 if values.is_valid(row) => {
                pairs.push(&key, values.as_string::<i32>().value(row).as_bytes())
            }
            // A missing value is an empty one. A missing key is a fault.
            _ => pairs.push(&key, &[]),
        });
        match pushed {
            Ok(()) => positions.push(position),
            // A bad key costs its own pair: the load continues and reports it like any record at
            // fault.
            Err(error) => unread.push(UnreadEntry {
                position,
                column: Some("key".into()),
                reason: error.message().to_owned(),
            }),
        }
    }
    Ok(EntryBatch { positions: Some(positions), unread, ..EntryBatch::pairs(pairs) })
}
