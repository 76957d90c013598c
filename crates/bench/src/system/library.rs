//! Calls of Tonnage's library, wherever the store is: what bulk calls are fed, and how far they are.

use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use parking_lot::Mutex;
use tonnage::arrow::array::{ArrayRef, BinaryBuilder, RecordBatch, StringBuilder};
use tonnage::{
    BulkGetOptions, BulkPutOptions, Counts, Durability, EntryStream, Error, Key, KeySource,
    OnExisting, PairGetOptions, Pairs, Progress, Result, Row, Statistics, WriteOptions,
    pair_stream, record_batch_stream,
};
use tonnage_client::{AnyKeyValue, AnyTable, Connection};

use super::{
    BulkDone, BulkOptions, Gauges, GetKeys, PairSource, PutInput, RecordShape, RecordSource,
};

/// How often the caller is told how far a put is.
const PROGRESS_EVERY: Duration = Duration::from_millis(100);

/// The key of a pair, which benchmarks write as text.
fn text_key(key: &[u8]) -> Result<Key> {
    Ok(Key::of_major([text(key)?]))
}

/// The table of YCSB's records: a text key and a BINARY column for each field. Text columns would
/// have each value checked for being text.
pub(super) fn records_definition(shape: &RecordShape) -> String {
    let fields: String =
        (0..shape.fields).map(|number| format!("{} BINARY, ", field_name(number))).collect();
    format!("CREATE TABLE {} (id STRING, {fields}PRIMARY KEY (id))", shape.table)
}

/// A reading of a store's inner state.
pub(super) fn gauges_of(statistics: &Statistics) -> Gauges {
    let holds_up = |(name, value): &(String, u64)| {
        *value > 0 && ["is_write_stopped", "actual_delayed_write_rate"].contains(&name.as_str())
    };
    Gauges {
        disk_bytes: statistics.disk_bytes(),
        compaction_pending_bytes: statistics.compaction_pending_bytes(),
        stalled: statistics.shards.iter().flat_map(|shard| &shard.details).any(holds_up),
    }
}

fn text(key: &[u8]) -> Result<&str> {
    let wrong = |error| Error::invalid("the key is not text").with_source(error);
    std::str::from_utf8(key).map_err(wrong)
}

/// YCSB's records are asked for before there is a table for them.
pub(super) fn no_records() -> Error {
    Error::invalid("there are no records yet: call create_records first")
}

/// The name of a field of YCSB's records.
pub(super) fn field_name(number: usize) -> String {
    format!("field{number}")
}

pub(super) fn write_options(durability: Durability) -> WriteOptions {
    WriteOptions { durability, ..WriteOptions::default() }
}

/// Puts what the input gives, and tells the caller meanwhile, from a thread beside it, how far it
/// is.
pub(super) fn bulk_put(
    store: &Connection,
    input: PutInput,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let progress = Progress::default();
    // Memory and threads of a server are its own.
    let is_embedded = matches!(store, Connection::Embedded(_));
    let put_options = BulkPutOptions {
        stream_parallelism: options.parallelism,
        per_shard_parallelism: options.parallelism.filter(|_| is_embedded),
        memory_bytes_max: options.memory_bytes_max.filter(|_| is_embedded),
        durability: options.durability,
        on_existing: if options.overwrite { OnExisting::BlindReplace } else { OnExisting::Keep },
        progress: Some(progress.clone()),
        ..BulkPutOptions::default()
    };
    let counts = thread::scope(|scope| {
        // Dropped however the put ends, even in a panic: that ends the teller.
        let (_running, is_running) = mpsc::channel();
        scope.spawn(move || tell(&progress, options, &is_running));
        Ok::<_, Error>(match input {
            PutInput::Tables(rows) => store.multi_put(rows, &put_options)?.report.total,
            input => store.bulk_put(streams(input), &put_options)?.total,
        })
    })?;
    // Where entries are overwritten, all of them count as inserted.
    let existed = if options.overwrite { 0 } else { counts.existed };
    let Counts { inserted: rows, failed, bytes, .. } = counts;
    Ok(BulkDone { rows, existed, failed, bytes })
}

/// Gets what the keys ask for, and tells the caller meanwhile how far it is.
pub(super) fn bulk_get(
    store: &Connection,
    keys: GetKeys,
    options: &BulkOptions<'_>,
) -> Result<BulkDone> {
    let mut done = BulkDone::default();
    match keys {
        GetKeys::Pairs(source, batches_left) => {
            // The call takes keys, not results: what fails in the source is told when it ended.
            let failure = Arc::<Mutex<_>>::default();
            let keys = SourceKeys { source, batches_left, failure: failure.clone() };
            let get = PairGetOptions {
                max_concurrent_requests: options.parallelism,
                memory_bytes_max: options.memory_bytes_max,
                ..PairGetOptions::default()
            };
            // Keys go in as contiguous memory: making a value of each would be measured, too.
            for batch in store.kv().bulk_get_batches(keys, &get)? {
                let batch = batch?;
                done.count(batch.len() as u64, batch.bytes() as u64, options);
            }
            failure.lock().take().map_or(Ok(()), Err)?;
        }
        GetKeys::Rows(table, keys, children) => {
            let get = get_options(children, options);
            let table = store.table(table)?;
            for batch in table.bulk_get(KeySource::batches(keys), &get)? {
                done.count_batch(&batch?.rows, options);
            }
        }
        GetKeys::Tables(keys) => {
            for (_, batch) in store.multi_get(keys, &get_options(&[], options))? {
                done.count_batch(&batch?.rows, options);
            }
        }
    }
    Ok(done)
}

fn get_options(children: &[&str], options: &BulkOptions<'_>) -> BulkGetOptions {
    let defaults = BulkGetOptions::default();
    BulkGetOptions {
        max_concurrent_requests: options.parallelism,
        relatives: children.iter().map(|child| (*child).to_owned()).collect(),
        memory_bytes_max: options.memory_bytes_max.unwrap_or(defaults.memory_bytes_max),
        ..defaults
    }
}

/// Single rows and pairs of one thread.
pub(super) struct SingleCalls {
    store: Connection,
    pairs: AnyKeyValue,
    /// Tables that were used, with their names: few.
    tables: Vec<(String, AnyTable)>,
}

impl SingleCalls {
    pub(super) fn new(store: impl Into<Connection>) -> Self {
        let store = store.into();
        Self { pairs: store.kv(), store, tables: Vec::new() }
    }

    pub(super) fn table(&mut self, name: &str) -> Result<&AnyTable> {
        let known = self.tables.iter().position(|(known, _)| known == name);
        if known.is_none() {
            self.tables.push((name.to_owned(), self.store.table(name)?));
        }
        Ok(&self.tables[known.unwrap_or(self.tables.len() - 1)].1)
    }

    pub(super) fn put_pair(&self, key: &[u8], value: &[u8], durability: Durability) -> Result<()> {
        self.pairs.put(&text_key(key)?, value, &write_options(durability)).map(drop)
    }

    pub(super) fn get_pair(&self, key: &[u8]) -> Result<Option<usize>> {
        Ok(self.pairs.get(&text_key(key)?)?.map(|pair| pair.value.len()))
    }

    pub(super) fn put_row(&mut self, table: &str, row: &Row, durability: Durability) -> Result<()> {
        self.table(table)?.put(row, &write_options(durability)).map(drop)
    }

    /// A whole key without children is one lookup; anything else is the rows of one partial key.
    pub(super) fn get_rows(&mut self, table: &str, key: &Row, children: &[&str]) -> Result<u64> {
        let table = self.table(table)?;
        if children.is_empty() && key.len() == table.schema().key.len() {
            return Ok(table.get(key)?.is_some().into());
        }
        let options = get_options(children, &BulkOptions::quiet(Durability::None));
        let batches = table.bulk_get(KeySource::keys([key.clone()]), &options)?;
        batches.into_iter().try_fold(0, |rows, batch| Ok(rows + batch?.rows.num_rows() as u64))
    }
}

/// Tells the caller until the other end of `running` is dropped, and once more after that.
fn tell(progress: &Progress, options: &BulkOptions<'_>, running: &Receiver<()>) {
    let (mut told, mut is_running) = (Counts::default(), true);
    while is_running {
        is_running = running.recv_timeout(PROGRESS_EVERY) == Err(RecvTimeoutError::Timeout);
        let now = progress.total();
        (options.progress)(now.read - told.read, now.bytes - told.bytes);
        told = now;
    }
}

fn streams(input: PutInput) -> Vec<Box<dyn EntryStream>> {
    match input {
        PutInput::Pairs(sources) => {
            let stream = |mut source: PairSource| {
                pair_stream("", std::iter::from_fn(move || next_pairs(&mut source).transpose()))
            };
            sources.into_iter().map(stream).collect()
        }
        PutInput::Records(shape, sources) => {
            let stream = |mut source: RecordSource| {
                let (shape, table) = (shape.clone(), shape.table.as_str());
                let next = move || next_records(&mut source, &shape).transpose();
                record_batch_stream("", table, std::iter::from_fn(next))
            };
            sources.into_iter().map(stream).collect()
        }
        PutInput::Rows(table, sources) => {
            sources.into_iter().map(|rows| record_batch_stream("", table, rows)).collect()
        }
        PutInput::Tables(_) => Vec::new(),
    }
}

fn next_pairs(source: &mut PairSource) -> Result<Option<Pairs>> {
    let mut pairs = Pairs::new();
    let more = source(&mut |key, value| pairs.push_parts(&[key], &[], value))?;
    Ok(more.then_some(pairs))
}

/// YCSB's records as a batch of their table's columns.
fn next_records(source: &mut RecordSource, shape: &RecordShape) -> Result<Option<RecordBatch>> {
    let mut keys = StringBuilder::new();
    let mut fields: Vec<_> = (0..shape.fields).map(|_| BinaryBuilder::new()).collect();
    let more = source(&mut |key, record| {
        if record.len() != shape.fields {
            let (fields, RecordShape { table, fields: right, .. }) = (record.len(), shape);
            let message = format!("a record has {fields} fields, those of {table} have {right}");
            return Err(Error::invalid(message));
        }
        keys.append_value(text(key)?);
        let cells = fields.iter_mut().zip(record.iter());
        cells.for_each(|(column, field)| column.append_value(field));
        Ok(())
    })?;
    let fields = fields
        .iter_mut()
        .enumerate()
        .map(|(number, column)| (field_name(number), Arc::new(column.finish()) as ArrayRef));
    let columns = std::iter::once(("id".to_owned(), Arc::new(keys.finish()) as ArrayRef));
    let batch = RecordBatch::try_from_iter(columns.chain(fields))
        .map_err(|error| Error::internal(format!("a batch of records: {error}")))?;
    Ok(more.then_some(batch))
}

/// Keys of pairs as an iterator that ends at a failure, which it leaves behind: its reader takes
/// none.
struct SourceKeys {
    source: PairSource,
    batches_left: Option<usize>,
    failure: Arc<Mutex<Option<Error>>>,
}

impl Iterator for SourceKeys {
    type Item = Pairs;

    fn next(&mut self) -> Option<Self::Item> {
        self.batches_left = self.batches_left.map(|left| left.saturating_sub(1));
        next_pairs(&mut self.source).unwrap_or_else(|error| {
            *self.failure.lock() = Some(error);
            None
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.batches_left.unwrap_or(0), self.batches_left)
    }
}
