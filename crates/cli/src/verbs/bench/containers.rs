//! `tonnage bench containers`: rows of many small tables in one call, against one by one.

use clap::{Args, ValueEnum};
use tonnage_bench::workload::containers::{self, ContainerKey, ContainersOptions};

use super::common::CommonArgs;
use super::room::Room;
use super::session::{Session, command_line};
use crate::args::Globals;
use crate::exit::Outcome;
use crate::values;

const EXAMPLES: &str = "\
A container is a table of rows with a name, a status, a count and ten bytes of data. What is measured, for one container and for --containers:
  put   a loop of single puts, the containers in turn, against one multi put
  get   all of these rows by their keys: a loop of single gets against one multi get
Each repeat has containers of its own. Queries over containers will join when there are queries.

Examples:
  tonnage bench containers                          10,000 rows in one container, and in each of ten
  tonnage bench containers --containers 100 --rows 1000 --key name --repeats 9";

/// Measures multi put and multi get over many tables against single calls
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("targets", |arg| arg.default_value("tonnage-rocksdb")))]
#[command(mut_arg("repeats", |arg| arg.default_value("5")))]
#[command(mut_arg("durability", |arg| arg.help("What an acknowledged put survives, single or multi")))]
#[command(mut_arg("seconds_max", |arg| arg.hide(true)))]
#[command(mut_arg("warm_up", |arg| arg.hide(true)))]
pub(crate) struct ContainersArgs {
    /// Containers of the larger case; the smaller one has one
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    containers: usize,
    /// Rows of each container: a number, also as 10k or 1M
    #[arg(long, value_name = "COUNT", value_parser = values::count, default_value = "10k")]
    rows: u64,
    /// What a row is known by
    #[arg(long, value_enum, default_value_t)]
    key: KeyName,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum KeyName {
    /// A number
    #[default]
    Id,
    /// Its name
    Name,
}

impl ContainersArgs {
    pub(crate) fn run(&self, globals: &Globals) -> Outcome {
        let options = self.options()?;
        let room = Room { data_bytes: options.data_bytes(), targets_at_once: false };
        let session = Session::start("containers", &self.common, globals, room)?;
        let report = containers::run(&options, session.watcher())?;
        session.finish(&report)
    }

    fn options(&self) -> Outcome<ContainersOptions> {
        let options = ContainersOptions {
            targets: self.common.targets.clone(),
            place: self.common.place()?.clone(),
            containers: self.containers,
            rows: self.rows,
            key: match self.key {
                KeyName::Id => ContainerKey::Id,
                KeyName::Name => ContainerKey::Name,
            },
            durability: self.common.durability.into(),
            memory_bytes: self.common.memory,
            direct_io: self.common.direct_io,
            repeats: self.common.repeats,
            command: command_line(),
        };
        options.check()?;
        Ok(options)
    }
}
