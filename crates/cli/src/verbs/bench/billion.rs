//! `tonnage bench billion`: a great many small records in and out, over many connections.

use clap::Args;
use tonnage_bench::workload::KeyOrder;
use tonnage_bench::workload::billion::{self, Api, BillionOptions, Phase};

use super::common::{CommonArgs, choice};
use super::room::Room;
use super::session::BenchSession;
use crate::args::Globals;
use crate::exit::CliResult;
use crate::values;

const EXAMPLES: &str = "\
What is measured, on each target from an empty store:
  put      put all records; the phase ends when they are on the disk
  get      get each record once, in another order; each must be found
  overlap  put new records and get old ones at the same time: one put in --factor operations

The log, checksums and compaction are on. The report shows the rate against progress. \
fall_off_percent is how much slower the last tenth went than the first. settle_seconds is how \
long the target compacted after the put phase. The program keeps nothing for each record, so \
the disk is the limit: it needs about 2.2 times 16 + --value-bytes for each record.

Examples:
  tonnage bench billion                               10 M records, all cores, in bulk
  tonnage bench billion --connections 16 --records 1M --phase put
  tonnage bench billion --records 1G --memory 2G --dir /mnt/ssd
  tonnage bench billion --records 1M --api single --durability fsync --seconds-max 60";

/// Put and get up to a billion small records: throughput against progress, with everything on
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("seconds_max", |arg| arg.help("Ends each get and overlap phase after so long; all records are put in any case")))]
#[command(mut_arg("warm_up", |arg| arg.help("What is measured in the beginning of a get or overlap phase counts only for the series")))]
pub(crate) struct BillionArgs {
    /// Number of records to put, then to get, such as 250k, 10M or 1G [default: 10M]
    #[arg(long, value_name = "N", value_parser = values::count)]
    records: Option<u64>,
    /// Threads with --api single, streams and requests in flight with --api bulk [default: the
    /// number of cores]
    #[arg(long, value_name = "N")]
    connections: Option<usize>,
    /// Phases to measure; the records are put in any case [default: all]
    #[arg(long = "phase", value_name = "PHASE", value_parser = choice(&Phase::ALL), value_delimiter = ',')]
    phases: Vec<Phase>,
    /// Bulk calls, or a loop of single calls in each connection
    #[arg(long, value_parser = choice(&Api::ALL), default_value_t = Api::Bulk)]
    api: Api,
    /// Number of bulk calls that put the records, one after the other; progress counts acknowledged
    /// records
    #[arg(long, value_name = "N", default_value_t = 10)]
    calls: usize,
    /// Order in which keys are put; they are got in another one
    #[arg(long, value_parser = choice(&KeyOrder::ALL), default_value_t = KeyOrder::Shuffled)]
    order: KeyOrder,
    /// Bytes of a value; a key has 16
    #[arg(long, value_name = "SIZE", value_parser = values::bytes, default_value = "100")]
    value_bytes: usize,
    /// Share of a value that compresses away: 50%, or 0.5
    #[arg(long, value_name = "PERCENT", value_parser = values::share, default_value = "50%")]
    compressible: f64,
    /// Memory limit of a bulk call, in addition to --memory [default: the target's own]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    bulk_memory: Option<usize>,
    /// Make one of this many operations a write, in the overlap phase
    #[arg(long, value_name = "N", default_value_t = 10)]
    factor: u64,
    #[command(flatten)]
    common: CommonArgs,
}

impl BillionArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let options = self.options(globals)?;
        let room = Room { data_bytes: options.data_bytes(), targets_at_once: false };
        let session = BenchSession::start("billion", &self.common, globals, room)?;
        let report = billion::run(&options, session.watcher())?;
        session.finish(&report)
    }

    fn options(&self, globals: &Globals) -> CliResult<BillionOptions> {
        let default = BillionOptions::default();
        let options = BillionOptions {
            run: self.common.run_options_of_one_directory(globals)?,
            records: self.records.unwrap_or(default.records),
            value_bytes: self.value_bytes,
            compressible: self.compressible,
            connections: self.connections.unwrap_or(default.connections),
            phases: self.phases().unwrap_or(default.phases),
            api: self.api,
            bulk_memory_bytes: self.bulk_memory,
            calls: self.calls,
            order: self.order,
            factor: self.factor,
        };
        options.check()?;
        Ok(options)
    }

    fn phases(&self) -> Option<Vec<Phase>> {
        let mut phases = self.phases.clone();
        phases.sort();
        phases.dedup();
        (!phases.is_empty()).then_some(phases)
    }
}
