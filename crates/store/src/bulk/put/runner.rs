//! Runs bulk puts: of streams, and of batches in memory.

use std::sync::Arc;
use std::time::Instant;

use tonnage_engine::{Error, Result, cores};

use super::executor::LoadExecutor;
use super::load_queue::LoadQueue;
use super::outcomes::LoadOutcomes;
use super::readers::StreamReaders;
use super::resources::LoadResources;
use super::{BulkPutError, BulkPutOptions, BulkPutReport, EntryBatch, EntryStream};
use crate::inner::Inner;

type PutResult = std::result::Result<BulkPutReport, BulkPutError>;

/// Puts the entries of all streams into the store.
pub(crate) fn run(
    store: &Arc<Inner>,
    streams: Vec<Box<dyn EntryStream>>,
    options: &BulkPutOptions,
) -> PutResult {
    let started = Instant::now();
    options.check(store.engine.capability())?;
    if streams.is_empty() {
        return Err(Error::invalid("a bulk put needs at least one stream").into());
    }
    let outcomes =
        LoadOutcomes::new(store, options, streams.iter().map(|stream| stream.name()), started)?;
    let queue = Arc::new(LoadQueue::new(streams.len(), usize::MAX));
    let readers = options.stream_parallelism.unwrap_or_else(cores).min(streams.len());
    // Opened before the first stream is drawn from: what a stream has given cannot be given back.
    let executor = LoadExecutor::open(
        store,
        options,
        &outcomes,
        &queue,
        LoadResources::of(store, options, readers.min(cores())),
    )?;
    let readers = StreamReaders::start(streams, readers, &queue)?;
    let put = executor.run(started);
    readers.drop_unread_streams();
    put
}

/// Rows per worker: fewer are not worth a thread.
const ROWS_PER_WORKER: usize = 4_096;

/// Puts entries that are in memory already: streams by name, each with its batches.
pub(crate) fn run_in_memory(
    store: &Arc<Inner>,
    streams: Vec<(String, Vec<EntryBatch>)>,
    options: &BulkPutOptions,
) -> PutResult {
    let started = Instant::now();
    options.check(store.engine.capability())?;
    let rows: usize =
        streams.iter().flat_map(|(_, batches)| batches).map(|batch| batch.payload.len()).sum();
    let workers = options
        .stream_parallelism
        .unwrap_or(usize::MAX)
        .min(cores())
        .min(1 + rows / ROWS_PER_WORKER);
    let outcomes =
        LoadOutcomes::new(store, options, streams.iter().map(|(name, _)| name.clone()), started)?;
    let queue = LoadQueue::new(streams.len(), usize::MAX);
    add_batches(&queue, streams)?;
    let resources = LoadResources::of(store, options, workers);
    LoadExecutor::open(store, options, &outcomes, &queue, resources)?.run(started)
}

fn add_batches(queue: &LoadQueue, streams: Vec<(String, Vec<EntryBatch>)>) -> Result<()> {
    for (stream, (_, batches)) in streams.into_iter().enumerate() {
        batches.into_iter().try_for_each(|batch| queue.add(stream, batch))?;
        queue.end(stream);
    }
    Ok(())
}
