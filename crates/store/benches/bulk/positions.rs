//! Positions: rows of 8 columns, as record batches and from files.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tonnage::arrow::array::RecordBatch;
use tonnage::{
    BulkPutOptions, Durability, EntryBatch, EntryStream, Result, Store, record_batch_stream,
};
use tonnage_files::{Compression, Format, ReadOptions, RecordReader, RecordWriter, Source};

use crate::data::{POSITIONS_DDL, positions};
use crate::measure::{memory_mib, report, reset_peak_memory, timed};
use crate::{Outcome, Plan};

const STREAMS: u64 = 2;
const BATCH_ROWS: u64 = 8_192;

pub(crate) fn run(plan: &Plan) -> Outcome {
    println!(
        "positions: {} rows of 8 columns, memory limit {} MiB",
        plan.positions, plan.memory_mib
    );
    put(plan, "bulk put of record batches, two streams", batch_streams(plan))?;
    for (format, name) in [(Format::Parquet, "from Parquet"), (Format::Csv, "from CSV")] {
        let files = write_files(plan, format)?;
        let streams = files.iter().map(|file| FileStream::open(file)).collect::<Result<_>>()?;
        put(plan, &format!("bulk put {name}, two files"), streams)?;
        files.iter().try_for_each(std::fs::remove_file)?;
    }
    Ok(())
}

fn part(plan: &Plan, number: u64) -> impl Iterator<Item = RecordBatch> + use<> {
    let (start, end) = (plan.positions * number / STREAMS, plan.positions * (number + 1) / STREAMS);
    (start..end)
        .step_by(BATCH_ROWS as usize)
        .map(move |first| positions(first..end.min(first + BATCH_ROWS)))
}

fn batch_streams(plan: &Plan) -> Vec<Box<dyn EntryStream>> {
    (0..STREAMS)
        .map(|number| {
            record_batch_stream(format!("stream {number}"), "positions", part(plan, number).map(Ok))
        })
        .collect()
}

fn put(plan: &Plan, name: &str, streams: Vec<Box<dyn EntryStream>>) -> Outcome {
    let path = plan.root.join("positions");
    let store = Store::open(path.to_str().ok_or("the path is not text")?)?;
    store.execute(POSITIONS_DDL)?;
    reset_peak_memory();
    let before = memory_mib().1;
    let options = BulkPutOptions {
        durability: Durability::Fsync,
        memory_bytes_max: Some(plan.memory_mib << 20),
        ..BulkPutOptions::default()
    };
    let (put, seconds) = timed(|| store.bulk_put(streams, &options));
    let counts = put?.total;
    assert_eq!((counts.inserted, counts.failed), (plan.positions, 0), "every position is stored");
    report(name, plan.positions, seconds);
    println!("{:<58} {:8} MiB, {before} MiB before", "  highest memory", memory_mib().0);
    drop(store);
    std::fs::remove_dir_all(path)?;
    Ok(())
}

fn write_files(plan: &Plan, format: Format) -> Outcome<Vec<PathBuf>> {
    (0..STREAMS).map(|number| write_file(plan, format, number)).collect()
}

fn write_file(plan: &Plan, format: Format, number: u64) -> Outcome<PathBuf> {
    let path = plan.root.join(format!("positions-{number}.{}", format.label()));
    let schema = positions(0..1).schema();
    let mut writer = RecordWriter::new(format, File::create(&path)?, schema, Compression::None)?;
    part(plan, number).try_for_each(|batch| writer.write(&batch))?;
    writer.finish()?;
    Ok(path)
}

/// A file as a stream of a bulk put.
struct FileStream {
    table: Arc<str>,
    reader: RecordReader,
}

impl FileStream {
    fn open(path: &Path) -> Result<Box<dyn EntryStream>> {
        let schema = Some(positions(0..1).schema());
        let reader = RecordReader::open(
            &Source::file(path),
            &ReadOptions { schema, ..ReadOptions::default() },
        )?;
        Ok(Box::new(FileStream { table: "positions".into(), reader }))
    }
}

impl EntryStream for FileStream {
    fn next_batch(&mut self) -> Result<Option<EntryBatch>> {
        let batch = self.reader.next().transpose()?;
        Ok(batch.map(|batch| EntryBatch::rows(self.table.clone(), batch.batch)))
    }
}
