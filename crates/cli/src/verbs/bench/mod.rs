//! `tonnage bench`: the workloads of the white papers, one file each, and two reports compared.
//!
//! - `common` has the options that all workloads share.
//! - `session` is a benchmark under way: checked before it begins, watched, and reported at its
//!   end.
//! - `room` judges whether the disks have room, `terminal` says how far it is.

mod billion;
mod bulk;
mod common;
mod compare;
mod matrix;
mod room;
mod session;
mod tables;
mod terminal;
mod ycsb;

use clap::{Args, Subcommand};

use crate::args::Globals;
use crate::exit::{CliResult, Failure};

const EXAMPLES: &str = "\
Each workload makes its own data, measures Tonnage and raw RocksDB on it side by side, and \
writes a directory of reports: a page to read (report.html), the model that `compare` reads \
(report.json), YCSB's text, CSV series and HDR histograms.

Data goes into new directories tonnage-bench-* below --dir and is deleted at the end. After a \
crash, delete what is left of them. No store is opened: --store has no meaning here. Ctrl-C \
ends a run in good order, and the report has what was measured.

Examples:
  tonnage bench billion --records 1M                        a first look, under a minute
  tonnage bench ycsb -P workloada -p recordcount=1000000    YCSB with its own parameters
  tonnage bench matrix --memory 1G --dir ssd=/mnt/ssd --dir hdd=/mnt/hdd
  tonnage bench compare tonnage-bench-reports/before tonnage-bench-reports/after";

/// Measure this machine: YCSB and other workloads, next to raw RocksDB, with reports
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    verb: BenchVerb,
}

#[derive(Subcommand)]
enum BenchVerb {
    Ycsb(ycsb::YcsbArgs),
    Matrix(matrix::MatrixArgs),
    Bulk(bulk::BulkArgs),
    Billion(billion::BillionArgs),
    #[command(alias = "containers")]
    Tables(tables::TablesArgs),
    Compare(compare::CompareArgs),
}

impl BenchArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        refuse_store(globals)?;
        match &self.verb {
            BenchVerb::Ycsb(args) => args.run(globals),
            BenchVerb::Matrix(args) => args.run(globals),
            BenchVerb::Bulk(args) => args.run(globals),
            BenchVerb::Billion(args) => args.run(globals),
            BenchVerb::Tables(args) => args.run(globals),
            BenchVerb::Compare(args) => args.run(globals),
        }
    }
}

/// Who names a store thinks that it will be measured. One that the environment names is for the
/// other verbs.
fn refuse_store(globals: &Globals) -> CliResult<()> {
    let is_set_elsewhere = globals.store == Globals::STORE_DEFAULT
        || std::env::var_os("TONNAGE_STORE").is_some_and(|store| store == globals.store.as_str());
    if !is_set_elsewhere || !globals.data_directories.is_empty() {
        let message = "a benchmark makes its own data and touches no store: say where it goes with --dir, \
                       and leave out --store and --data-dir";
        return Err(Failure::usage(message));
    }
    Ok(())
}
