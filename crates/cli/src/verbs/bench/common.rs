//! The options that all workloads share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tonnage_bench::target::TargetKind;
use tonnage_bench::workload::Place;

use crate::exit::{Failure, Outcome};
use crate::output::OutputArgs;
use crate::values;

/// What is measured, where, how often, and where the report goes. A workload with other defaults
/// says so with `#[command(mut_arg("repeats", |arg| arg.default_value("3")))]`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every workload")]
pub(crate) struct CommonArgs {
    /// Systems to measure, side by side: tonnage-rocksdb (or tonnage), tonnage-memory, rocksdb (by
    /// itself, the yardstick)
    #[arg(long = "target", value_name = "NAME", value_delimiter = ',', default_value = "tonnage-rocksdb,rocksdb", value_parser = target)]
    pub(crate) targets: Vec<TargetKind>,
    /// Where the data goes, deleted at the end: a directory that exists, with a label for the
    /// report
    #[arg(long = "dir", value_name = "[LABEL=]DIR", default_value = "data=.", value_parser = place)]
    pub(crate) places: Vec<Place>,
    /// Memory of each target for its block cache and memtables together, enforced [default: the
    /// target's own]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub(crate) memory: Option<usize>,
    /// Bypass the page cache of the operating system for data files (direct I/O)
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false)]
    pub(crate) direct_io: bool,
    /// What an acknowledged single write survives
    #[arg(long, value_enum, default_value_t)]
    pub(crate) durability: values::Durability,
    /// How often each thing is measured; the median counts, and the spread stands beside it
    #[arg(long, value_name = "COUNT", default_value_t = 1, value_parser = repeats)]
    pub(crate) repeats: usize,
    /// What is measured in the beginning counts only for the series
    #[arg(long, value_name = "SECONDS", default_value = "0", value_parser = values::seconds)]
    pub(crate) warm_up: Duration,
    /// End each measurement after so long, done or not, the warm-up not counted
    #[arg(long, value_name = "SECONDS", value_parser = values::seconds)]
    pub(crate) seconds_max: Option<Duration>,
    /// Directory of the report [default: ./tonnage-bench-reports/WORKLOAD-TIME]
    #[arg(long, value_name = "DIR")]
    pub(crate) report: Option<PathBuf>,
    /// Skip the free-space check and overwrite an existing report
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) output: OutputArgs,
}

impl CommonArgs {
    /// The only place, for a workload that has no use for more.
    pub(crate) fn place(&self) -> Outcome<&Place> {
        match self.places.as_slice() {
            [place] => Ok(place),
            _ => Err(Failure::usage(
                "--dir: this workload takes one directory: run it once for each of them",
            )),
        }
    }

    /// What the types of the options cannot tell.
    pub(super) fn check(&self) -> Outcome<()> {
        if let Some(twice) = repeated(&self.targets) {
            return Err(Failure::usage(format!("--target {}: it is named twice", twice.name())));
        }
        let labels: Vec<_> = self.places.iter().map(|place| &place.label).collect();
        if let Some(twice) = repeated(&labels) {
            return Err(Failure::usage(format!(
                "--dir: two directories are labelled {twice}: give LABEL=DIR to tell them apart"
            )));
        }
        // A mount point that is mistyped would measure another disk: nothing is made here.
        if let Some(place) = self.places.iter().find(|place| !place.directory.is_dir()) {
            let directory = place.directory.display();
            return Err(Failure::usage(format!(
                "--dir {directory}: there is no such directory: make it first, or correct its name"
            )));
        }
        Ok(())
    }
}

/// The first that stands further ahead already.
fn repeated<T: PartialEq>(all: &[T]) -> Option<&T> {
    all.iter().enumerate().find(|(place, one)| all[..*place].contains(one)).map(|(_, one)| one)
}

fn target(text: &str) -> Result<TargetKind, String> {
    text.parse().map_err(|error: tonnage::Error| error.to_string())
}

fn place(text: &str) -> Result<Place, String> {
    text.parse().map_err(|error: tonnage::Error| error.to_string())
}

fn repeats(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=1_000) => Ok(count),
        _ => Err(format!("'{text}' is no number of repeats: give one from 1 to 1000")),
    }
}
