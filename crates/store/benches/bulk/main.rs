//! The store's bulk paths beside raw RocksDB doing the same work in the same run.
//!
//! `cargo bench -p tonnage --bench bulk -- --pairs 20000000 --positions 10000000`
//!
//! | part | what |
//! |---|---|
//! | pairs | pairs of 16-byte random keys and 100-byte values, put from two streams, until durable and until compaction has settled; beside it write batches of 1,000 rows from two threads |
//! | get | a million random keys of them, warm; beside it batched multi-get from two threads |
//! | positions | rows of 8 columns as record batches; the same from a Parquet file and from a CSV file |
//! | single | one put without sync, one warm get: medians |
//!
//! Values are half compressible, like those of RocksDB's `db_bench`. Files go to
//! `TONNAGE_BENCH_DIR`, or to the directory for temporary files, and are removed. `--only PART`
//! runs one part, `--no-raw` leaves the yardstick out.

mod data;
mod measure;
mod pairs;
mod positions;
mod raw;
mod single;

use std::error::Error;
use std::path::PathBuf;

/// What a benchmark gives: nothing, or why it stopped.
type Outcome<T = ()> = Result<T, Box<dyn Error + Send + Sync>>;

/// What to run.
struct Plan {
    pairs: u64,
    gets: u64,
    positions: u64,
    singles: u64,
    memory_mib: usize,
    only: Option<String>,
    raw: bool,
    root: PathBuf,
}

impl Plan {
    fn from_arguments() -> Outcome<Self> {
        let root =
            std::env::var_os("TONNAGE_BENCH_DIR").map_or_else(std::env::temp_dir, PathBuf::from);
        let mut plan = Plan {
            pairs: 1_000_000,
            gets: 200_000,
            positions: 1_000_000,
            singles: 100_000,
            memory_mib: 1_024,
            only: None,
            raw: true,
            root: root.join(format!("tonnage-bulk-{}", std::process::id())),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(argument) = arguments.next() {
            let mut next = || arguments.next().ok_or(format!("{argument} wants a value"));
            match argument.as_str() {
                "--pairs" => plan.pairs = next()?.parse()?,
                "--gets" => plan.gets = next()?.parse()?,
                "--positions" => plan.positions = next()?.parse()?,
                "--singles" => plan.singles = next()?.parse()?,
                "--memory-mib" => plan.memory_mib = next()?.parse()?,
                "--only" => plan.only = Some(next()?),
                "--no-raw" => plan.raw = false,
                // Cargo passes this to every benchmark.
                "--bench" => {}
                _ => {
                    return Err(format!(
                        "unknown argument {argument}: see the first lines of benches/bulk/main.rs"
                    )
                    .into());
                }
            }
        }
        Ok(plan)
    }

    fn wants(&self, part: &str) -> bool {
        self.only.as_deref().is_none_or(|only| only == part)
    }
}

fn main() -> Outcome {
    let plan = Plan::from_arguments()?;
    std::fs::create_dir_all(&plan.root)?;
    let outcome = run(&plan);
    std::fs::remove_dir_all(&plan.root)?;
    outcome
}

fn run(plan: &Plan) -> Outcome {
    if plan.wants("pairs") || plan.wants("get") {
        pairs::run(plan)?;
    }
    if plan.wants("positions") {
        positions::run(plan)?;
    }
    if plan.wants("single") {
        single::run(plan)?;
    }
    Ok(())
}
