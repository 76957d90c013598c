//! `tonnage bench bulk`: bulk put and bulk get against the naive loop.

use clap::Args;
use tonnage_bench::workload::KeyOrder;
use tonnage_bench::workload::bulk::{self, BulkBenchOptions, DataKind, KeyPart};

use super::common::{CommonArgs, choice};
use super::room::Room;
use super::session::BenchSession;
use crate::args::Globals;
use crate::exit::{CliResult, Failure};
use crate::values;

const EXAMPLES: &str = "\
What is measured, for each kind of data on each target:
  put   into an empty store, once for each durability:
          the loop of single puts on one thread, the loop on --threads threads, one bulk put
  get   from a store that holds --records, warm:
          the loop on one thread, the loop on --threads threads, one bulk get,
          and bulk gets with 1, 2, 4 ... requests in flight

Every call must store what it was given and find what is there. The notes say how many times \
faster than the loop a bulk call is.

Examples:
  tonnage bench bulk                                          pairs, positions and phones
  tonnage bench bulk --data phones --keys partial --children  rows by maker, with pictures
  tonnage bench bulk --data pairs --records 10M --existing 50 --parallelism 1,2,4,8,16";

/// Measure bulk put and bulk get against the loop of single calls, for pairs and for tables
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("durability", |arg| arg.hide(true)))]
#[command(mut_arg("seconds_max", |arg| arg.help("Ends each loop after so long, done or not; bulk calls are done to their end")))]
#[command(mut_arg("warm_up", |arg| arg.help("What is measured in the beginning of a loop counts only for the series")))]
pub(crate) struct BulkArgs {
    /// Kinds of data to measure
    #[arg(
        long,
        value_name = "DATA",
        value_parser = choice(&DataKind::ALL),
        value_delimiter = ',',
        default_value = "pairs,positions,phones"
    )]
    data: Vec<DataKind>,
    /// Number of records of a bulk put, such as 250k, 10M or 1G
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "1M")]
    records: u64,
    /// Bytes of a pair's value, and of a picture
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, default_value = "100")]
    value_bytes: usize,
    /// Share of a value that compresses away: 50%, or 0.5
    #[arg(long, value_name = "PERCENT", value_parser = values::share, default_value = "50%")]
    compressible: f64,
    /// Streams of a bulk put [default: the number of cores]
    #[arg(long, value_name = "N")]
    streams: Option<usize>,
    /// Threads of the multi-threaded loop [default: the number of cores]
    #[arg(long, value_name = "N")]
    threads: Option<usize>,
    /// Percentage of records that exist before the put; they are overwritten
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), default_value_t = 0)]
    existing: u8,
    /// Make bulk puts keep and count existing records; raw RocksDB must look up every key for that
    #[arg(long)]
    keep_existing: bool,
    /// Percentage of requested keys that do not exist
    #[arg(long, value_name = "PERCENT", value_parser = clap::value_parser!(u8).range(0..=100), default_value_t = 0)]
    missing: u8,
    /// Order of the records to put, and of the keys to get
    #[arg(long, value_parser = choice(&KeyOrder::ALL), default_value_t = KeyOrder::Shuffled)]
    order: KeyOrder,
    /// Keys to get rows by
    #[arg(long, value_parser = choice(&KeyPart::ALL), default_value_t = KeyPart::Whole)]
    keys: KeyPart,
    /// Put and get the pictures of phones too, as rows of a child table
    #[arg(long)]
    children: bool,
    /// Number of keys of a bulk get, if there are so many
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "500k")]
    gets: u64,
    /// Number of operations of a loop, if there are so many records or keys
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "200k")]
    singles: u64,
    /// Number of operations of a loop in which each waits for the disk
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "2k")]
    singles_fsync: u64,
    /// Numbers of requests in flight for bulk gets, one after another; 0 skips this
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,2,4,8")]
    parallelism: Vec<usize>,
    /// Durabilities to measure puts with; the first one counts for the verdict
    #[arg(
        long,
        value_name = "NAMES",
        value_enum,
        value_delimiter = ',',
        default_value = "write,none,fsync"
    )]
    durabilities: Vec<values::Durability>,
    /// Memory limit of a bulk put [default: the target's own]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    bulk_memory: Option<usize>,
    #[command(flatten)]
    common: CommonArgs,
}

impl BulkArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let options = self.options(globals)?;
        let room = Room { data_bytes: options.data_bytes(), targets_at_once: false };
        let session = BenchSession::start("bulk", &self.common, globals, room)?;
        let report = bulk::run(&options, session.watcher())?;
        session.finish(&report)
    }

    fn options(&self, globals: &Globals) -> CliResult<BulkBenchOptions> {
        let default = BulkBenchOptions::default();
        let options = BulkBenchOptions {
            run: self.common.run_options_of_one_directory(globals)?,
            data: once_each("data", self.data.clone())?,
            records: self.records,
            value_bytes: self.value_bytes,
            compressible: self.compressible,
            streams: self.streams.unwrap_or(default.streams),
            threads: self.threads.unwrap_or(default.threads),
            existing_percent: self.existing,
            keep_existing: self.keep_existing,
            missing_percent: self.missing,
            order: self.order,
            keys: self.keys,
            children: self.children,
            gets: self.gets,
            singles: self.singles,
            singles_fsync: self.singles_fsync,
            parallelism: self.parallelism()?,
            // Kept in the order in which they are given: the first one decides the verdict.
            durabilities: once_each("durabilities", self.durabilities.clone())?
                .into_iter()
                .map(Into::into)
                .collect(),
            bulk_memory_bytes: self.bulk_memory,
        };
        // Checked before a store is created: a wrong option must cost no minutes of loading.
        options.check()?;
        Ok(options)
    }

    fn parallelism(&self) -> CliResult<Vec<usize>> {
        if self.parallelism == [0] {
            Ok(Vec::new())
        } else {
            once_each("parallelism", self.parallelism.clone())
        }
    }
}

/// Refuses a list with something in it twice.
fn once_each<T: PartialEq>(option: &str, all: Vec<T>) -> CliResult<Vec<T>> {
    if all.iter().enumerate().any(|(place, one)| all[..place].contains(one)) {
        return Err(Failure::usage(format!("--{option}: something is named twice")));
    }
    Ok(all)
}
