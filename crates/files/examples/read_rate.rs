//! How fast files are read: rows per second from each file named, or from 2 million generated
//! records of 8 columns.
//!
//! `cargo run --release -p tonnage-files --example read_rate -- [--parallelism N] [FILE...]`
//!
//! The types are inferred first, so that what is measured is what a load does: text to typed
//! columns. For CSV on one thread the same work by `arrow-csv` is measured as well.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::sync::Arc;
use std::time::Instant;

use tonnage_engine::{Error, Result};
use tonnage_files::{Compression, Format, ReadOptions, RecordReader, Source, infer_schema};

/// Records of the generated file.
const GENERATED_RECORDS: u32 = 2_000_000;

fn main() -> Result<()> {
    let mut arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut parallelism = 1;
    if arguments.first().is_some_and(|first| first == "--parallelism") {
        arguments.remove(0);
        let count = (!arguments.is_empty()).then(|| arguments.remove(0));
        parallelism = count
            .and_then(|count| count.parse().ok())
            .ok_or_else(|| Error::invalid("--parallelism wants a number"))?;
    }
    let generated = tempfile::Builder::new().suffix(".csv").tempfile().map_err(io_error)?;
    if arguments.is_empty() {
        generate(generated.as_file()).map_err(io_error)?;
        arguments.push(generated.path().display().to_string());
    }
    for source in Source::expand(&arguments)? {
        measure(&source, parallelism)?;
    }
    Ok(())
}

fn measure(source: &Source, parallelism: usize) -> Result<()> {
    let schema = Arc::new(infer_schema(source, &ReadOptions::default(), 100_000)?);
    let options =
        ReadOptions { schema: Some(Arc::clone(&schema)), parallelism, ..ReadOptions::default() };
    let start = Instant::now();
    let mut reader = RecordReader::open(source, &options)?;
    let (mut rows, mut rejected) = (0, 0);
    for batch in reader.by_ref() {
        let batch = batch?;
        rows += batch.batch.num_rows();
        rejected += batch.rejected.len();
    }
    let what = format!(
        "{} {:?} {} columns, {rejected} rejected",
        reader.format(),
        reader.compression(),
        schema.fields().len()
    );
    report(source.name(), &what, rows, reader.progress().bytes_read(), start);
    if (reader.format(), reader.compression(), parallelism) == (Format::Csv, Compression::None, 1) {
        measure_arrow_csv(source, schema)?;
    }
    Ok(())
}

fn measure_arrow_csv(source: &Source, schema: Arc<arrow::datatypes::Schema>) -> Result<()> {
    let Some(path) = source.path() else { return Ok(()) };
    let start = Instant::now();
    let builder = arrow_csv::ReaderBuilder::new(schema).with_header(true).with_batch_size(16_384);
    let reader = builder
        .build(File::open(path).map_err(io_error)?)
        .map_err(|error| Error::invalid(error.to_string()))?;
    let rows = reader.map_while(|batch| batch.ok()).map(|batch| batch.num_rows()).sum();
    report(
        source.name(),
        "the same with arrow-csv",
        rows,
        std::fs::metadata(path).map_err(io_error)?.len(),
        start,
    );
    Ok(())
}

fn report(name: &str, what: &str, rows: usize, bytes: u64, start: Instant) {
    let seconds = start.elapsed().as_secs_f64();
    let millions = rows as f64 / 1e6;
    let mebibytes = bytes as f64 / f64::from(1 << 20);
    println!(
        "{name}: {what}: {millions:.2} M rows, {mebibytes:.0} MiB in {seconds:.2} s: {:.2} M rows/s, {:.0} MiB/s",
        millions / seconds,
        mebibytes / seconds
    );
}

/// Positions of ships: two numbers, a time, four measures and a name.
fn generate(file: &File) -> std::io::Result<()> {
    let mut out = BufWriter::new(file);
    writeln!(out, "ship,time,latitude,longitude,speed,course,heading,name")?;
    for record in 0..GENERATED_RECORDS {
        let noise = record.wrapping_mul(2_654_435_761);
        let (ship, minute) = (noise % 10_000, record / 2_000);
        writeln!(
            out,
            "{},2022-01-{:02}T{:02}:{:02}:{:02},{}.{:05},-{}.{:05},{}.{},{}.{},{},SHIP {ship}",
            367_000_000 + ship,
            1 + minute / 1440,
            minute / 60 % 24,
            minute % 60,
            noise % 60,
            20 + noise % 30,
            noise % 99_991,
            70 + noise % 50,
            noise % 99_989,
            noise % 30,
            noise % 10,
            noise % 360,
            noise % 7,
            noise % 512,
        )?;
    }
    out.flush()
}

fn io_error(error: std::io::Error) -> Error {
    Error::unavailable(error.to_string()).with_source(error)
}
