//! The same work one record at a time, for comparison. It runs on samples, because all records
//! would take too long.
//!
//! Reads in bulk are measured here too, of the same keys and when they have been read before, as
//! those one by one are. The first read after a load finds little in memory: it took three times as
//! long.

use std::sync::Arc;
use std::time::Instant;

use arrow::array::{ArrayRef, Int64Array, RecordBatch, TimestampSecondArray};
use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tonnage::{
    BulkGet, BulkGetOptions, Direction, Error, KeySource, Result, Row, Store, Table, Value,
    WriteOptions,
};

use crate::fleet::{self, Fleet};
use crate::rates::RateTable;
use crate::text::{DemoOutput, grouped};
use crate::{STREAMS, collect_batches, rows};

/// Rows put one by one.
const PUTS: usize = 50_000;
/// Ships asked for, in bulk and one by one.
const LATEST: u32 = 10_000;
/// Rows got by their whole keys, in bulk, and the first of them one by one.
const BULK_GETS: usize = 500_000;
const GETS: usize = 20_000;

pub(crate) fn run(
    store: &Store,
    positions: &Table,
    fleet: &Fleet,
    rates: &mut RateTable,
    story: &mut DemoOutput<'_>,
) -> Result<()> {
    story.print_line("\nThe same work one record at a time, on samples:")?;
    puts(store, fleet, rates, story)?;
    latest(positions, fleet, rates, story)?;
    gets(positions, fleet, rates, story)
}

fn puts(
    store: &Store,
    fleet: &Fleet,
    rates: &mut RateTable,
    story: &mut DemoOutput<'_>,
) -> Result<()> {
    // A table of its own: in the loaded one all these keys exist.
    store.execute(&fleet::TABLE.replace("positions", "sample"))?;
    let sample = store.table("sample")?;
    let mut sources = Vec::new();
    for batch in fleet.stream(0, STREAMS) {
        let batch = batch?;
        sources.extend(
            (0..batch.num_rows())
                .map(|row| Row::from_batch(&batch, row))
                .collect::<Result<Vec<_>>>()?,
        );
        if sources.len() >= PUTS {
            sources.truncate(PUTS);
            break;
        }
    }
    // The rows are generated before the clock starts: only the writes are measured.
    let started = Instant::now();
    for row in &sources {
        sample.put(row, &WriteOptions::default())?;
    }
    record_rate(
        "store positions",
        "positions put, one write each",
        sources.len() as u64,
        started,
        rates,
        story,
    )
}

fn latest(
    positions: &Table,
    fleet: &Fleet,
    rates: &mut RateTable,
    story: &mut DemoOutput<'_>,
) -> Result<()> {
    let work = "latest position of each ship";
    let ships = fleet.ship_numbers(LATEST);
    let options = BulkGetOptions {
        direction: Direction::Reverse,
        limit_per_key: Some(1),
        ..BulkGetOptions::default()
    };
    // Both ways read the same ships: other ships could be colder or warmer.
    let keys = || KeySource::batches(fleet::ship_keys(&ships));
    let (found, seconds) = collect_warm(|| positions.bulk_get(keys(), &options))?;
    expect_rows(rows(&found), ships.len() as u64)?;
    rates.bulk(work, rows(&found), seconds);

    // One request at a time, as an application that asks one by one has it.
    let options = BulkGetOptions { max_concurrent_requests: Some(1), ..options };
    let started = Instant::now();
    for ship in &ships {
        let key = Row::new().with("ship", Value::Long(*ship));
        let (found, _) = collect_batches(|| positions.bulk_get(KeySource::keys([key]), &options))?;
        expect_rows(rows(&found), 1)?;
    }
    record_rate(
        work,
        "ships asked for, one bulk get each",
        ships.len() as u64,
        started,
        rates,
        story,
    )
}

fn gets(
    positions: &Table,
    fleet: &Fleet,
    rates: &mut RateTable,
    story: &mut DemoOutput<'_>,
) -> Result<()> {
    let mut chance = SmallRng::seed_from_u64(fleet.seed);
    // Every key that is drawn exists, so a get that finds nothing has lost a row.
    let one = |_| {
        let (ship, step) =
            (chance.random_range(0..fleet.ships), chance.random_range(0..fleet.positions_per_ship));
        (fleet.ship_number(ship), fleet.time(ship, step))
    };
    let keys: Vec<(i64, i64)> = (0..BULK_GETS).map(one).collect();
    let batches = keys.chunks(16_384).map(key_batch).collect::<Result<Vec<_>>>()?;
    let (found, seconds) = collect_warm(|| {
        let batches: Vec<_> = batches.iter().cloned().map(Ok).collect();
        positions.bulk_get(KeySource::batches(batches), &BulkGetOptions::default())
    })?;
    drop(found);
    rates.bulk("get positions by whole key", keys.len() as u64, seconds);

    // A sample is enough for a rate. It is of the same keys: others could be colder.
    let sample = &keys[..GETS];
    let started = Instant::now();
    for (ship, at) in sample {
        let at = Value::Timestamp { value: *at, precision: 0 };
        let found = positions.get(&Row::new().with("ship", Value::Long(*ship)).with("at", at))?;
        expect_rows(u64::from(found.is_some()), 1)?;
    }
    record_rate(
        "get positions by whole key",
        "positions got, one read each",
        sample.len() as u64,
        started,
        rates,
        story,
    )
}

/// Run a read twice and measure the second: it finds in memory what the first brought there, as
/// later reads one by one do.
fn collect_warm(read: impl Fn() -> Result<BulkGet>) -> Result<(Vec<RecordBatch>, f64)> {
    collect_batches(&read)?;
    collect_batches(&read)
}

fn key_batch(keys: &[(i64, i64)]) -> Result<RecordBatch> {
    let ships: Int64Array = keys.iter().map(|(ship, _)| *ship).collect();
    let times: TimestampSecondArray = keys.iter().map(|(_, at)| Some(*at)).collect();
    fleet::batch([("ship", Arc::new(ships) as ArrayRef), ("at", Arc::new(times))])
}

fn expect_rows(found: u64, wanted: u64) -> Result<()> {
    if found == wanted {
        return Ok(());
    }
    Err(Error::internal(format!("{found} rows were found where {wanted} are stored")))
}

fn record_rate(
    work: &'static str,
    what: &str,
    count: u64,
    started: Instant,
    rates: &mut RateTable,
    story: &mut DemoOutput<'_>,
) -> Result<()> {
    let seconds = started.elapsed().as_secs_f64();
    rates.single(work, count, seconds);
    story.print_line(format_args!("  {} {what} in {seconds:.2} s", grouped(count)))
}
