//! The demo: the story of a fleet and a phone shop, end to end, on data that it makes itself.
//!
//! 1. Ships report their positions. One bulk put loads them all.
//! 2. Where is every ship now? One scan and one bulk get answer, and must agree.
//! 3. One ship's track over two hours.
//! 4. A phone shop: four makers, a price range, and pictures from a child table.
//! 5. The same work one record at a time, on a sample, and a table of the rates. Reads are compared
//!    on keys that were read before.
//!
//! It is a crate of its own so that `make demo` builds the store and nothing else. `tonnage demo`
//! runs the same story.

mod fleet;
mod moving;
mod rates;
mod shop;
mod single_rows;
mod text;

use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Instant;

use arrow::array::{AsArray, RecordBatch};
use arrow::datatypes::{Float64Type, Int64Type, TimestampSecondType};
use arrow::util::pretty::pretty_format_batches;
use tonnage::{
    BulkGet, BulkGetOptions, BulkPutOptions, Cancel, Direction, Error, FieldRange, KeySource,
    Result, Row, Store, Table, TableScanOptions, Value, record_batch_stream,
};

use fleet::Fleet;
pub use moving::MovingFleet;
use rates::RateTable;
use text::{DemoOutput, grouped};

/// Streams of positions that are read side by side.
pub(crate) const STREAMS: usize = 4;

/// What the story is about.
#[derive(Clone)]
pub struct DemoOptions {
    /// The directory of the store, which is kept. A temporary directory when absent.
    pub directory: Option<PathBuf>,
    /// An open store to tell the story in, by its name for people, instead of a directory.
    pub store: Option<(String, Store)>,
    /// Number of ships.
    pub ships: u32,
    /// Positions that each ship reports.
    pub positions_per_ship: u32,
    /// Another seed makes another fleet.
    pub seed: u64,
    /// Stops the load of the positions.
    pub cancel: Cancel,
}

impl Default for DemoOptions {
    fn default() -> Self {
        Self {
            directory: None,
            store: None,
            ships: 10_000,
            positions_per_ship: 220,
            seed: 1,
            cancel: Cancel::new(),
        }
    }
}

impl DemoOptions {
    fn fleet(&self) -> Fleet {
        Fleet { ships: self.ships, positions_per_ship: self.positions_per_ship, seed: self.seed }
    }
}

/// Run the story and write it to `output`.
///
/// # Errors
/// `Invalid` when the directory holds tables already; `Internal` when two ways to the same answer
/// disagree; what the store answers otherwise.
pub fn run(options: &DemoOptions, output: &mut dyn Write) -> Result<()> {
    run_then(options, output, |_| Ok(()))
}

/// The same, and does something with the store before it goes.
///
/// # Errors
/// As [`run`], and what is answered there.
pub fn run_then(
    options: &DemoOptions,
    output: &mut dyn Write,
    then: impl FnOnce(&Store) -> Result<()>,
) -> Result<()> {
    let started = Instant::now();
    let mut story = DemoOutput::new(output);
    // Dropped last: the store must be closed before its directory is removed.
    let mut temporary = None;
    let (name, store) = match (&options.store, &options.directory) {
        (Some(store), _) => store.clone(),
        (None, Some(directory)) => open(directory)?,
        (None, None) => open(&temporary.insert(temporary_directory()?).path().join("store"))?,
    };
    if !store.tables().is_empty() {
        let remedy = if options.store.is_some() { "keyspace" } else { "directory" };
        return Err(Error::invalid(format!("{name} holds tables already: give a new {remedy}")));
    }
    let (fleet, mut rates) = (options.fleet(), RateTable::default());
    let positions = load(&store, options, &mut rates, &mut story)?;
    latest(&positions, &fleet, &mut story)?;
    track(&positions, &fleet, &mut story)?;
    shop::run(&store, options.seed, &mut story)?;
    single_rows::run(&store, &positions, &fleet, &mut rates, &mut story)?;
    story.print_line(
        "\nHow fast that was. Reads are warm, in bulk and one by one: all keys were read before.\n",
    )?;
    story.print_line(rates)?;
    story.print_line(format_args!("\nAll in {:.1} seconds.", started.elapsed().as_secs_f64()))?;
    // A temporary store is gone when this returns, so it cannot be inspected.
    if options.store.is_some() || options.directory.is_some() {
        let next = format_args!("tonnage scan --store {name} positions --limit 5");
        story.print_line(format_args!("The store stays: {next}"))?;
    }
    then(&store)
}

/// Opens a store, and answers its name too.
fn open(directory: &Path) -> Result<(String, Store)> {
    let name = directory.to_string_lossy().into_owned();
    let store = Store::open(&name)?;
    Ok((name, store))
}

fn temporary_directory() -> Result<tempfile::TempDir> {
    tempfile::tempdir().map_err(|error| {
        Error::unavailable(format!("no temporary directory: {error}: give a directory"))
    })
}

fn load(
    store: &Store,
    options: &DemoOptions,
    rates: &mut RateTable,
    story: &mut DemoOutput<'_>,
) -> Result<Table> {
    let fleet = options.fleet();
    story.print_line(format_args!(
        "{} ships report {} positions in {STREAMS} streams; one bulk put loads them all.",
        grouped(fleet.ships.into()),
        grouped(fleet.positions())
    ))?;
    store.execute(fleet::TABLE)?;
    // A stream makes its positions while they are read: memory does not grow with the fleet.
    let stream = |number| {
        let positions = fleet.stream(number, STREAMS);
        record_batch_stream(format!("stream {number}"), "positions", positions)
    };
    let put_options =
        BulkPutOptions { cancel: options.cancel.clone(), ..BulkPutOptions::default() };
    let report = store.bulk_put((0..STREAMS).map(stream).collect(), &put_options)?;
    // A rate is worth nothing if rows were lost.
    if report.total.inserted != fleet.positions() {
        let (stored, all) = (report.total.inserted, fleet.positions());
        return Err(Error::internal(format!("{stored} of {all} positions were stored")));
    }
    story.print_line(format_args!(
        "  {} stored in {:.1} s: {} a second, durable when the load returns.",
        grouped(report.total.inserted),
        report.seconds,
        grouped(report.rows_per_second() as u64)
    ))?;
    rates.bulk("store positions", report.total.inserted, report.seconds);
    store.table("positions")
}

/// The latest position of every ship, found in two ways that must agree.
fn latest(positions: &Table, fleet: &Fleet, story: &mut DemoOutput<'_>) -> Result<()> {
    story.print_line(
        "\nWhere is every ship now? Its latest position, read from the end of its track:",
    )?;
    let backwards = Direction::Reverse;
    let scan = TableScanOptions {
        direction: backwards,
        limit_per_shard_key: Some(1),
        ..TableScanOptions::default()
    };
    let (scanned, seconds) = collect_batches(|| positions.scan(&scan))?;
    story.print_line(format_args!(
        "  by one scan of the table that jumps from ship to ship: {} ships in {seconds:.2} s",
        grouped(rows(&scanned))
    ))?;

    let one_each = BulkGetOptions {
        direction: backwards,
        limit_per_key: Some(1),
        ..BulkGetOptions::default()
    };
    let keys = KeySource::batches(fleet::ship_keys(&fleet.ship_numbers(fleet.ships)));
    // This read is cold. The rates compare warm reads, so `single_rows` measures it again.
    let (got, seconds) = collect_batches(|| positions.bulk_get(keys, &one_each))?;
    story.print_line(format_args!(
        "  by one bulk get of {} ship numbers: {} positions in {seconds:.2} s",
        grouped(fleet.ships.into()),
        grouped(rows(&got))
    ))?;

    // Compared sorted: neither way promises an order among ships.
    if summary_of(&scanned) != summary_of(&got) || rows(&got) != u64::from(fleet.ships) {
        return Err(Error::internal("the two ways to the latest positions do not agree"));
    }
    story.print_line("  Both agree.")
}

/// Ship, time and latitude of each row, sorted by ship.
fn summary_of(batches: &[RecordBatch]) -> Vec<(i64, i64, u64)> {
    let mut all = Vec::new();
    for batch in batches {
        let ships = batch.column(0).as_primitive::<Int64Type>();
        let times = batch.column(1).as_primitive::<TimestampSecondType>();
        let lats = batch.column(2).as_primitive::<Float64Type>();
        let of = |row| (ships.value(row), times.value(row), lats.value(row).to_bits());
        all.extend((0..batch.num_rows()).map(of));
    }
    all.sort_unstable();
    all
}

/// One ship from the second hour to the fourth.
fn track(positions: &Table, fleet: &Fleet, story: &mut DemoOutput<'_>) -> Result<()> {
    let ship = fleet.ship_number(fleet.ships / 2);
    let at = |hours: i64| Value::Timestamp { value: fleet::START + hours * 3_600, precision: 0 };
    let options = BulkGetOptions {
        direction: Direction::Forward,
        range: Some(FieldRange::of("at").from(at(2)).to(at(4))),
        ..BulkGetOptions::default()
    };
    let key = Row::new().with("ship", Value::Long(ship));
    let (track, seconds) =
        collect_batches(|| positions.bulk_get(KeySource::keys([key]), &options))?;
    story.print_line(format_args!(
        "\nThe track of ship {ship} from {} to {}: {} positions in {:.1} ms, the first of them",
        at(2),
        at(4),
        rows(&track),
        seconds * 1e3
    ))?;
    match track.iter().find(|batch| batch.num_rows() > 0) {
        Some(first) => story.print_line(first_rows(first, 4)?),
        None => story.print_line("  (no rows)"),
    }
}

/// Run a read to its end. Answers the batches and the seconds.
pub(crate) fn collect_batches(
    read: impl FnOnce() -> Result<BulkGet>,
) -> Result<(Vec<RecordBatch>, f64)> {
    let started = Instant::now();
    let batches = read()?.map(|batch| Ok(batch?.rows)).collect::<Result<Vec<_>>>()?;
    Ok((batches, started.elapsed().as_secs_f64()))
}

pub(crate) fn rows(batches: &[RecordBatch]) -> u64 {
    batches.iter().map(|batch| batch.num_rows() as u64).sum()
}

/// The first rows as a table of text.
fn first_rows(batch: &RecordBatch, count: usize) -> Result<impl std::fmt::Display> {
    let head = batch.slice(0, count.min(batch.num_rows()));
    pretty_format_batches(&[head])
        .map_err(|error| Error::internal(format!("a table cannot be formatted: {error}")))
}
