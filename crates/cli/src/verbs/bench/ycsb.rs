//! `tonnage bench ycsb`: the core workloads of the Yahoo Cloud Serving Benchmark.

use clap::Args;
use tonnage_bench::workload::ycsb::{self, Phase, Workload, YcsbOptions};

use super::common::{CommonArgs, choice};
use super::room::Room;
use super::session::BenchSession;
use crate::args::Globals;
use crate::exit::CliResult;
use crate::values;

const EXAMPLES: &str = "\
The workloads of YCSB, with its parameters, distributions and operations:
  a   half reads, half updates, zipfian
  b   95 % reads, 5 % updates, zipfian
  c   reads, zipfian
  d   95 % reads of the latest records, 5 % inserts
  e   95 % scans of up to 100 records, 5 % inserts
  f   half reads, half read-modify-writes, zipfian

The defaults are 1 M records of 1 KB and 1 M operations. A property file of YCSB is read as it \
is. One that names no workload class, such as one with sizes alone, adds to the workload before \
it. Properties without a meaning here are ignored, and named.

Each target is loaded afresh for each workload, then runs with each count of threads, all on \
the same data. A record that is not found is a failure. At a fixed rate (-p target=10000) the \
report also has intended latencies: from when an operation was due, waiting in line included.

Examples:
  tonnage bench ycsb                   a to f, about a minute for each on each target
  tonnage bench ycsb -P a -P c --records 10M --operations 5M --threads 1,2,4 --bulk-load
  tonnage bench ycsb -P workloads/workloada -P large.dat -p target=20000
  tonnage bench ycsb -P b --memory 1G --direct-io --seconds-max 60 --operations 1G --repeats 3";

/// Run YCSB's core workloads a to f, or its property files
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct YcsbArgs {
    /// A core workload, a to f, or a property file of YCSB [default: a to f]
    #[arg(short = 'P', long = "workload", value_name = "FILE|a..f")]
    workloads: Vec<String>,
    /// A property of all workloads, such as recordcount=1000000; it wins over the files
    #[arg(short = 'p', long = "property", value_name = "NAME=VALUE")]
    properties: Vec<String>,
    /// Number of records to load, the same as -p recordcount, such as 250k or 10M
    #[arg(long, value_name = "N", value_parser = values::count)]
    records: Option<u64>,
    /// Number of operations of a run, the same as -p operationcount
    #[arg(long, value_name = "N", value_parser = values::count)]
    operations: Option<u64>,
    /// Number of threads, each a run of its own [default: the workload's threadcount, or 1]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    threads: Vec<usize>,
    /// What to measure
    #[arg(long, value_parser = choice(&Phase::ALL), default_value_t = Phase::Both)]
    phase: Phase,
    /// Load the records in bulk instead of one by one
    #[arg(long)]
    bulk_load: bool,
    #[command(flatten)]
    common: CommonArgs,
}

impl YcsbArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let options = self.options(globals)?;
        let room = Room { data_bytes: options.data_bytes_max(), targets_at_once: false };
        let session = BenchSession::start("ycsb", &self.common, globals, room)?;
        let report = ycsb::run(&options, session.watcher())?;
        session.finish(&report)
    }

    fn options(&self, globals: &Globals) -> CliResult<YcsbOptions> {
        let options = YcsbOptions {
            workloads: self.workloads()?,
            phase: self.phase,
            run: self.common.run_options_of_one_directory(globals)?,
            threads: self.threads.clone(),
            bulk_load: self.bulk_load,
        };
        options.check()?;
        Ok(options)
    }

    fn workloads(&self) -> CliResult<Vec<Workload>> {
        let all = ["a", "b", "c", "d", "e", "f"].map(str::to_owned);
        let files = if self.workloads.is_empty() && !self.has_mix() {
            &all
        } else {
            self.workloads.as_slice()
        };
        let sizes = [("recordcount", self.records), ("operationcount", self.operations)];
        let sizes =
            sizes.into_iter().filter_map(|(name, count)| Some(format!("{name}={}", count?)));
        let properties: Vec<String> = self.properties.iter().cloned().chain(sizes).collect();
        Ok(Workload::from_arguments(files, &properties)?)
    }

    /// Whether the properties make a workload of their own.
    fn has_mix(&self) -> bool {
        self.properties.iter().any(|property| property.contains("proportion="))
    }
}
