//! The Rust library on the positions of `bench/speeds.py`: what Python is held against.
//!
//! `library_speeds STORE POSITIONS KEYS` puts the rows of one Arrow file into a new store, gets those
//! of the keys in the other, and prints the seconds of both as JSON.

use std::error::Error;
use std::fs::File;
use std::io::BufReader;
use std::time::Instant;

use arrow::array::RecordBatch;
use arrow_ipc::reader::FileReader;
use tonnage::{
    BulkGetOptions, BulkPutOptions, Error as StoreError, KeySource, Store, record_batch_stream,
};

type Done<T> = Result<T, Box<dyn Error>>;

fn main() -> Done<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [path, positions, keys] = arguments.as_slice() else {
        return Err("usage: library_speeds STORE POSITIONS KEYS".into());
    };
    let store = Store::open(path)?;
    store.execute(
        "CREATE TABLE positions (ship LONG, at TIMESTAMP(0), lat DOUBLE, lon DOUBLE, speed FLOAT, \
         name STRING, PRIMARY KEY (SHARD(ship), at))",
    )?;
    let (positions, keys) = (read(positions)?, read(keys)?);
    let began = Instant::now();
    let rows = positions.into_iter().map(Ok::<_, StoreError>);
    let stream = record_batch_stream("positions", "positions", rows);
    let put = store.bulk_put(vec![stream], &BulkPutOptions::default())?.total.inserted;
    let put_seconds = began.elapsed().as_secs_f64();
    store.settle()?;
    let began = Instant::now();
    let found = store
        .table("positions")?
        .bulk_get(KeySource::from(keys), &BulkGetOptions::default())?
        .map(|batch| batch.map(|batch| batch.rows.num_rows()))
        .sum::<tonnage::Result<usize>>()?;
    let get_seconds = began.elapsed().as_secs_f64();
    println!(
        "{{\"put\": {put}, \"put_seconds\": {put_seconds}, \"got\": {found}, \
         \"get_seconds\": {get_seconds}}}"
    );
    Ok(())
}

fn read(path: &str) -> Done<Vec<RecordBatch>> {
    let reader = FileReader::try_new(BufReader::new(File::open(path)?), None)?;
    Ok(reader.collect::<Result<Vec<_>, _>>()?)
}
