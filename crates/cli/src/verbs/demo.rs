//! `tonnage demo`: the story of a fleet, end to end, on data that it makes itself.
//!
//! 1. Ships report their positions; all of them are loaded in bulk.
//! 2. Where is every ship now? Once by reading the whole table, once by asking for all ships.
//! 3. The track of one ship over some hours.
//! 4. A phone shop: four makers, a price range, and pictures from a child table.
//! 5. The same work one record at a time, on a sample, and a table of the rates.

mod fleet;
mod rates;
mod shop;
mod singles;

use std::path::PathBuf;
use std::time::Instant;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type, TimestampSecondType};
use arrow::util::pretty::pretty_format_batches;
use clap::Args;
use tonnage::{
    BulkGetOptions, BulkPutOptions, Direction, Error, FieldRange, KeySource, Progress, Row, Store, Table, TableScanOptions,
    Value, record_batch_stream,
};

use crate::args::Globals;
use crate::display::{Console, Glimpse};
use crate::exit::{Exit, Failure, Outcome};
use crate::interrupt;
use crate::output::say;
use crate::values::grouped;
use fleet::Fleet;
use rates::Rates;

/// Streams of positions that are read side by side.
const STREAMS: usize = 4;

/// Runs the story of a fleet end to end, on data that it makes itself (under a minute on two cores)
#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Where the store of the demo goes, and stays [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// How many ships there are
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    ships: u32,
    /// How many positions each ship reports
    #[arg(long, default_value_t = 220, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    positions_per_ship: u32,
    /// Another seed makes another fleet
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl DemoArgs {
    pub(crate) fn run(&self, globals: &Globals) -> Outcome {
        let started = Instant::now();
        let temporary = match self.dir {
            Some(_) => None,
            None => Some(tempfile::tempdir().map_err(|error| {
                Failure::new(Exit::SetUp, Error::unavailable(format!("no temporary directory: {error}: give --dir")))
            })?),
        };
        let directory = self.dir.clone().or_else(|| temporary.as_ref().map(|made| made.path().join("store"))).unwrap_or_default();
        let store = Store::open(directory.to_string_lossy())?;
        if !store.tables().is_empty() {
            return Err(Failure::usage(format!("--dir {}: there are tables already: give a new directory", directory.display())));
        }
        let fleet = Fleet { ships: self.ships, positions_per_ship: self.positions_per_ship, seed: self.seed };
        let mut rates = Rates::default();
        let positions = load(globals, &store, &fleet, &mut rates)?;
        latest(&positions, &fleet, &mut rates)?;
        track(&positions, &fleet)?;
        shop::run(&store, self.seed)?;
        singles::run(&store, &positions, &fleet, &mut rates)?;
        say("\nHow fast that was\n")?;
        say(rates)?;
        say(format_args!("\nAll in {:.1} seconds.", started.elapsed().as_secs_f64()))?;
        if let Some(directory) = &self.dir {
            say(format_args!("The store stays: tonnage scan --store {} positions --limit 5", directory.display()))?;
        }
        Ok(Exit::Well)
    }
}

fn load(globals: &Globals, store: &Store, fleet: &Fleet, rates: &mut Rates) -> Outcome<Table> {
    say(format_args!(
        "{} ships report {} positions in {STREAMS} streams; all are loaded in bulk.",
        grouped(fleet.ships.into()),
        grouped(fleet.positions())
    ))?;
    store.execute(fleet::TABLE)?;
    let streams =
        (0..STREAMS).map(|stream| record_batch_stream(format!("stream {stream}"), "positions", fleet.stream(stream, STREAMS)));
    let (progress, total) = (Progress::default(), fleet.positions());
    let options = BulkPutOptions { cancel: interrupt::cancel(), progress: Some(progress.clone()), ..BulkPutOptions::default() };
    let watch = Console::new(globals).watch(move || {
        let read = progress.total().read;
        Glimpse { done: read, total: Some(total), text: format!("{} positions", grouped(read)) }
    });
    let put = store.bulk_put(streams.collect(), &options);
    drop(watch);
    let report = put.map_err(|stopped| match interrupt::is_interrupted() {
        true => Failure::new(Exit::Interrupted, stopped.error),
        false => Failure::new(Exit::Stopped, stopped.error),
    })?;
    if report.total.inserted != fleet.positions() {
        let message = format!("{} of {} positions were stored", report.total.inserted, fleet.positions());
        return Err(Failure::new(Exit::Internal, Error::internal(message)));
    }
    say(format_args!(
        "  {} stored in {:.1} s: {} a second, durable when the load returns.",
        grouped(report.total.inserted),
        report.seconds,
        grouped(report.rows_per_second() as u64)
    ))?;
    rates.bulk("store positions", report.total.inserted, report.seconds);
    Ok(store.table("positions")?)
}

/// The latest position of every ship, found in two ways that must agree.
fn latest(positions: &Table, fleet: &Fleet, rates: &mut Rates) -> Outcome<()> {
    say("\nWhere is every ship now? Its latest position, read from the end of its track:")?;
    let scan = TableScanOptions { direction: Direction::Reverse, limit_per_shard_key: Some(1), ..TableScanOptions::default() };
    let (scanned, seconds) = gather(|| positions.scan(&scan))?;
    say(format_args!(
        "  by one scan of the table that jumps from ship to ship: {} ships in {seconds:.2} s",
        grouped(rows(&scanned))
    ))?;

    let one_each = BulkGetOptions { direction: Direction::Reverse, limit_per_key: Some(1), ..BulkGetOptions::default() };
    let (got, seconds) = gather(|| positions.bulk_get(KeySource::batches(fleet.ship_keys()), &one_each))?;
    say(format_args!(
        "  by one bulk get of {} ship numbers: {} positions in {seconds:.2} s",
        grouped(fleet.ships.into()),
        grouped(rows(&got))
    ))?;
    rates.bulk("latest position of each ship", rows(&got), seconds);

    if summary_of(&scanned) != summary_of(&got) || rows(&got) != u64::from(fleet.ships) {
        return Err(Failure::new(Exit::Internal, Error::internal("the two ways to the latest positions do not agree")));
    }
    say("  Both agree.")
}

/// Ship, time and place of each row, sorted by ship.
fn summary_of(batches: &[RecordBatch]) -> Vec<(i64, i64, u64)> {
    let mut all = Vec::new();
    for batch in batches {
        let ships = batch.column(0).as_primitive::<Int64Type>();
        let times = batch.column(1).as_primitive::<TimestampSecondType>();
        let lats = batch.column(2).as_primitive::<Float64Type>();
        all.extend((0..batch.num_rows()).map(|row| (ships.value(row), times.value(row), lats.value(row).to_bits())));
    }
    all.sort_unstable();
    all
}

/// One ship from the second hour to the fourth.
fn track(positions: &Table, fleet: &Fleet) -> Outcome<()> {
    let ship = fleet.ship_number(fleet.ships / 2);
    let at = |hours: i64| Value::Timestamp { value: fleet::START + hours * 3_600, precision: 0 };
    let options = BulkGetOptions {
        direction: Direction::Forward,
        range: Some(FieldRange::of("at").from(at(2)).to(at(4))),
        ..BulkGetOptions::default()
    };
    let key = Row::new().with("ship", Value::Long(ship));
    let (track, seconds) = gather(|| positions.bulk_get(KeySource::keys([key]), &options))?;
    say(format_args!(
        "\nThe track of ship {ship} from {} to {}: {} positions in {:.1} ms, the first of them",
        at(2),
        at(4),
        rows(&track),
        seconds * 1e3
    ))?;
    show(&track, 4)
}

/// Runs a read to its end. Tells the batches and the seconds.
fn gather(read: impl FnOnce() -> tonnage::Result<tonnage::BulkGet>) -> Outcome<(Vec<RecordBatch>, f64)> {
    let started = Instant::now();
    let mut batches = Vec::new();
    for batch in read()? {
        batches.push(batch?.rows);
    }
    Ok((batches, started.elapsed().as_secs_f64()))
}

fn rows(batches: &[RecordBatch]) -> u64 {
    batches.iter().map(|batch| batch.num_rows() as u64).sum()
}

/// The first rows as a table.
fn show(batches: &[RecordBatch], count: usize) -> Outcome<()> {
    let Some(first) = batches.iter().find(|batch| batch.num_rows() > 0) else { return say("  (no rows)") };
    let head = first.slice(0, count.min(first.num_rows()));
    let table =
        pretty_format_batches(&[head]).map_err(|error| Error::internal(format!("a table cannot be put together: {error}")))?;
    say(table)
}
