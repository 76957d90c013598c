//! `tonnage bench matrix`: YCSB's workloads on data inside and beyond memory, on one or more disks.

use std::time::Duration;

use clap::Args;
use tonnage_bench::workload::matrix::{self, MatrixOptions};
use tonnage_bench::workload::ycsb::{Requests, Workload};

use super::common::{CommonArgs, choice};
use super::room::Room;
use super::session::BenchSession;
use crate::args::Globals;
use crate::exit::CliResult;

const EXAMPLES: &str = "\
Each cell is one of YCSB's workloads (a: half reads, half updates; b: 95 % reads; c: reads), \
with one distribution of requests on data of one size on one disk. Records have 1 KB. The \
memory budget is enforced on cache and memtables. Files are read and written past the operating \
system's cache, so data of 1.3 times the budget really comes from the disk.

Data is loaded once for each size and directory, and the targets take turns within a cell. Of \
several counts of threads the best one for each target counts; the report has all. The report \
is written after each cell; --resume goes on after an interruption.

Examples:
  tonnage bench matrix --dir /mnt/ssd           12 cells on two targets, about 42 minutes
  tonnage bench matrix --memory 64M --cell-seconds 2 --warm-up 1 --repeats 1    a first look
  tonnage bench matrix --memory 8G --dir ssd=/mnt/ssd --dir hdd=/mnt/hdd --threads 4,16,64
  tonnage bench matrix --memory 8G --dir /mnt/ssd --report first
  tonnage bench matrix --memory 8G --dir /mnt/ssd --report first --resume";

/// Measure YCSB's A, B, C x uniform, zipfian x data inside and beyond memory x disks, side by side
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("memory", |arg| arg.default_value("1G").help("Memory of each target for its block cache and memtables together, enforced")))]
#[command(mut_arg("places", |arg| arg.help("Where the data goes, deleted at the end: directories that exist, to be compared, with labels for the report")))]
#[command(mut_arg("direct_io", |arg| arg.default_value("true")))]
#[command(mut_arg("repeats", |arg| arg.default_value("3")))]
#[command(mut_arg("warm_up", |arg| arg.default_value("5")))]
#[command(mut_arg("seconds_max", |arg| arg.long("cell-seconds").default_value("30").help("How long each cell is measured, after its warm-up")))]
pub(crate) struct MatrixArgs {
    /// YCSB's workloads: a, b, c or f
    #[arg(long = "workload", value_name = "LETTER", value_delimiter = ',', default_value = "a,b,c", value_parser = workload)]
    workloads: Vec<Workload>,
    /// Which records are requested: all alike, few very often (0.99), or the newest most often
    #[arg(
        long = "distribution",
        value_parser = choice(&DISTRIBUTIONS),
        value_delimiter = ',',
        default_value = "uniform,zipfian"
    )]
    distributions: Vec<Requests>,
    /// Sizes of the data, as multiples of --memory
    #[arg(long = "size", value_name = "TIMES", value_delimiter = ',', default_value = "0.33,1.3", value_parser = size)]
    sizes: Vec<f64>,
    /// Number of threads [default: the number of cores]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    threads: Vec<usize>,
    /// Go on with the run whose report is in --report: keep its cells, make its data again
    #[arg(long, requires = "report")]
    resume: bool,
    #[command(flatten)]
    common: CommonArgs,
}

/// Those that a matrix has; the others are a matter of bench ycsb.
const DISTRIBUTIONS: [Requests; 3] = [Requests::Uniform, Requests::Zipfian, Requests::Latest];

impl MatrixArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let mut options = self.options(globals)?;
        let room = Room { data_bytes: options.data_bytes_max(), targets_at_once: true };
        let start = if self.resume { BenchSession::resume } else { BenchSession::start };
        let session = start("matrix", &self.common, globals, room)?;
        options.report_directory = Some(session.report_directory().to_owned());
        globals.info(format_args!(
            "about {} of measuring in all, loading not counted",
            span(options.seconds())
        ));
        let report = matrix::run(&options, session.watcher())?;
        session.finish(&report)
    }

    fn options(&self, globals: &Globals) -> CliResult<MatrixOptions> {
        let default = MatrixOptions::default();
        let options = MatrixOptions {
            run: self.common.run_options(globals)?,
            sizes: self.sizes.clone(),
            workloads: self.workloads.clone(),
            distributions: self.distributions.clone(),
            threads: if self.threads.is_empty() { default.threads } else { self.threads.clone() },
            cell: self.common.seconds_max.unwrap_or(Duration::ZERO),
            report_directory: None,
            resume: self.resume,
        };
        options.check()?;
        Ok(options)
    }
}

/// Seconds for people.
fn span(seconds: f64) -> String {
    match seconds {
        ..120.0 => format!("{seconds:.0} seconds"),
        120.0..7_200.0 => format!("{:.0} minutes", seconds / 60.0),
        _ => format!("{:.1} hours", seconds / 3_600.0),
    }
}

/// Workloads that insert would let the data grow from cell to cell.
fn workload(text: &str) -> Result<Workload, String> {
    match Workload::builtin(text) {
        Some(workload) if workload.core.mix.insert == 0.0 => Ok(workload),
        Some(_) => Err(format!(
            "workload {text} inserts records, so the data would grow from cell to cell: measure it with bench ycsb"
        )),
        None => Err(format!("'{text}' is none of YCSB's workloads: there are a, b, c and f")),
    }
}

fn size(text: &str) -> Result<f64, String> {
    let size = text.parse().ok().filter(|size: &f64| size.is_finite() && *size > 0.0);
    size.ok_or_else(|| {
        format!("'{text}' is not a multiple of the memory: give a number such as 0.33 or 1.3")
    })
}
