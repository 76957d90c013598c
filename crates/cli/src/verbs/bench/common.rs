//! The options that all workloads share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use tonnage_bench::Choice;
use tonnage_bench::measure::DataDirectory;
use tonnage_bench::system::Target;
use tonnage_bench::workload::RunOptions;

use crate::args::Globals;
use crate::exit::{CliResult, Failure};
use crate::output::OutputArgs;
use crate::values;

/// What is measured, where, how often, and the directory of the report. A workload with other
/// defaults says so with `#[command(mut_arg("repeats", |arg| arg.default_value("3")))]`.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every workload")]
pub(crate) struct CommonArgs {
    /// Systems to measure, side by side: tonnage-rocksdb (or tonnage), tonnage-memory,
    /// tonnage-remote (through a server on loopback), rocksdb (by itself, the yardstick),
    /// grpc://HOST:PORT (a server of Tonnage), redis://HOST:PORT (any server that speaks Redis)
    #[arg(long = "target", value_name = "NAME", value_delimiter = ',', default_value = "tonnage-rocksdb,rocksdb", value_parser = target)]
    pub(crate) targets: Vec<Target>,
    /// Connections to a server, shared by the threads [default: 1]
    #[arg(long, value_name = "N", value_parser = connections)]
    pub(crate) connections: Option<usize>,
    /// The directory of the data, deleted at the end: a directory that exists, with a label for the
    /// report
    #[arg(long = "dir", value_name = "[LABEL=]DIR", default_value = "data=.", value_parser = place)]
    pub(crate) places: Vec<DataDirectory>,
    /// Memory of each target for its block cache and memtables together, enforced [default: the
    /// target's own]
    #[arg(long, value_name = "SIZE", value_parser = values::bytes)]
    pub(crate) memory: Option<usize>,
    /// Bypass the page cache of the operating system for data files (direct I/O)
    #[arg(long, value_name = "YES", num_args = 0..=1, require_equals = true, default_missing_value = "true", default_value_t = false)]
    pub(crate) direct_io: bool,
    /// Durability of a single write: what it survives
    #[arg(long, value_enum, default_value_t)]
    pub(crate) durability: values::Durability,
    /// Repetitions; the report shows the median and the spread
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = repeats)]
    pub(crate) repeats: usize,
    /// Warm-up before each measurement; it counts only for the series
    #[arg(long, value_name = "DURATION", default_value = "0", value_parser = values::duration_or_zero)]
    pub(crate) warm_up: Duration,
    /// End each measurement after this time, done or not; the warm-up does not count
    #[arg(long, value_name = "DURATION", value_parser = values::duration_or_zero)]
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
    /// The options of the library.
    pub(crate) fn run_options(&self, globals: &Globals) -> CliResult<RunOptions> {
        Ok(RunOptions {
            systems: self.targets.clone(),
            directories: self.places.clone(),
            memory_bytes: self.memory,
            direct_io: self.direct_io,
            durability: self.durability.into(),
            repeats: self.repeats,
            warm_up: self.warm_up,
            seconds_max: self.seconds_max,
            connections: self.connections,
            client: globals.server.options()?,
            command: command_line(),
        })
    }

    /// The same for a workload that has no use for several directories.
    pub(crate) fn run_options_of_one_directory(&self, globals: &Globals) -> CliResult<RunOptions> {
        match self.places.as_slice() {
            [_] => self.run_options(globals),
            _ => Err(Failure::usage(
                "--dir: this workload takes one directory: run it once for each of them",
            )),
        }
    }

    /// What the types of the options cannot tell.
    pub(super) fn check(&self) -> CliResult<()> {
        if let Some(twice) = repeated(&self.targets) {
            return Err(Failure::usage(format!("--target {}: it is named twice", twice.name())));
        }
        let labels: Vec<_> = self.places.iter().map(|place| &place.label).collect();
        if let Some(twice) = repeated(&labels) {
            return Err(Failure::usage(format!(
                "--dir: two directories are labelled {twice}: give LABEL=DIR to tell them apart"
            )));
        }
        // A mount point that is mistyped would measure another disk: nothing is created here.
        if let Some(place) = self.places.iter().find(|place| !place.path.is_dir()) {
            let directory = place.path.display();
            return Err(Failure::usage(format!(
                "--dir {directory}: there is no such directory: make it first, or correct its name"
            )));
        }
        Ok(())
    }
}

/// Parses the names of some choices.
pub(super) fn choice<T: Choice>(all: &'static [T]) -> impl TypedValueParser<Value = T> {
    let value =
        |choice: &T| PossibleValue::new(choice.name()).help(choice.about().trim_end_matches('.'));
    PossibleValuesParser::new(all.iter().map(value)).map(move |name| {
        let chosen = all.iter().find(|choice| choice.name() == name);
        *chosen.expect("clap lets these names through and no others")
    })
}

/// The command line as one could type it again.
fn command_line() -> String {
    let words = std::env::args().enumerate().map(|(place, word)| match place {
        0 => "tonnage".to_owned(),
        _ if word.is_empty() || word.contains(|character: char| !is_plain(character)) => {
            format!("'{}'", word.replace('\'', r"'\''"))
        }
        _ => word,
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Whether a shell takes the character for itself.
fn is_plain(character: char) -> bool {
    character.is_alphanumeric() || "-_=./,:%+@".contains(character)
}

/// The first that is further ahead already.
fn repeated<T: PartialEq>(all: &[T]) -> Option<&T> {
    all.iter().enumerate().find(|(index, one)| all[..*index].contains(one)).map(|(_, one)| one)
}

fn target(text: &str) -> Result<Target, String> {
    text.parse().map_err(|error: tonnage::Error| error.to_string())
}

fn place(text: &str) -> Result<DataDirectory, String> {
    text.parse().map_err(|error: tonnage::Error| error.to_string())
}

fn connections(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=10_000) => Ok(count),
        _ => Err(format!("invalid number of connections '{text}': give one from 1 to 10000")),
    }
}

fn repeats(text: &str) -> Result<usize, String> {
    match text.parse() {
        Ok(count @ 1..=1_000) => Ok(count),
        _ => Err(format!("'{text}' is not a number of repeats: give one from 1 to 1000")),
    }
}
