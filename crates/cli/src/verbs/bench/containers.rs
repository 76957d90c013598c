//! `tonnage bench containers`: rows of many small tables in one call, against one by one.

use std::time::Duration;

use clap::{Args, ValueEnum};
use tonnage_bench::workload::containers::{self, ContainerKey, ContainersOptions, Subject};

use super::common::CommonArgs;
use super::room::Room;
use super::session::{Session, command_line};
use crate::args::Globals;
use crate::exit::Outcome;
use crate::values;

const EXAMPLES: &str = "\
A container is a table of rows with a name, a status, a count and ten bytes of data. What is measured (--measure):
  put         a loop of single puts, the containers in turn, against one multi put: one container, and --containers
  get         the same rows by their keys: a loop of single gets against one multi get
  one-row     --queries queries of one row each: one by one against one call, over --containers and --containers-many
  select      all rows of each container: likewise, and of large containers (--rows-large)
  aggregates  count, sum, avg, min and max of each container, each a query: likewise
  list        --list-keys keys of a table of --table-rows rows: a bulk get, and a list in a query, planned or not
  scan        aggregates over all rows of that table, and of one of two numbers
  index       a condition that one row of a hundred meets, before there is an index and after
All answers are checked. Each repeat of put and get has containers of its own.

Examples:
  tonnage bench containers                          everything, with 10,000 and 100,000 rows in each container
  tonnage bench containers --containers 100 --rows 1000 --key id --repeats 9 --measure put,get
  tonnage bench containers --table-rows 10M --measure list,scan,index";

/// Measure puts, gets and queries over many tables in one call against single ones
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("targets", |arg| arg.default_value("tonnage-rocksdb")))]
#[command(mut_arg("repeats", |arg| arg.default_value("5")))]
#[command(mut_arg("durability", |arg| arg.help("What an acknowledged put survives, single or multi")))]
#[command(mut_arg("seconds_max", |arg| arg.hide(true)))]
#[command(mut_arg("warm_up", |arg| arg.hide(true)))]
pub(crate) struct ContainersArgs {
    /// What is measured
    #[arg(
        long = "measure",
        value_name = "WHAT",
        value_delimiter = ',',
        default_value = "put,get,one-row,select,aggregates,list,scan,index"
    )]
    subjects: Vec<Subject>,
    /// Containers of the larger case of puts and gets, and the fewer ones of queries
    #[arg(long, value_name = "COUNT", default_value_t = 10)]
    containers: usize,
    /// The more containers of queries
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    containers_many: usize,
    /// Rows of each container: a number, also as 10k or 1M
    #[arg(long, value_name = "COUNT", value_parser = values::count, default_value = "10k")]
    rows: u64,
    /// Rows of each large container, put and selected
    #[arg(long, value_name = "COUNT", value_parser = values::count, default_value = "100k")]
    rows_large: u64,
    /// Queries of one row each that make one call
    #[arg(long, value_name = "COUNT", default_value_t = 100)]
    queries: usize,
    /// Rows of the large tables beside the containers
    #[arg(long, value_name = "COUNT", value_parser = values::count, default_value = "1M")]
    table_rows: u64,
    /// Keys of the large table that are asked for at once
    #[arg(long, value_name = "COUNT", value_parser = values::count, default_value = "100k")]
    list_keys: u64,
    /// How long the same queries are asked again and again in each repeat
    #[arg(long, value_name = "SECONDS", default_value = "0.5", value_parser = values::seconds)]
    window: Duration,
    /// What a row is known by
    #[arg(long, value_enum, default_value_t)]
    key: KeyName,
    #[command(flatten)]
    common: CommonArgs,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum KeyName {
    /// A number, which joins the other columns
    Id,
    /// Its name
    #[default]
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
            subjects: self.subjects.clone(),
            containers: self.containers,
            containers_many: self.containers_many,
            rows: self.rows,
            rows_large: self.rows_large,
            queries: self.queries,
            table_rows: self.table_rows,
            list_keys: self.list_keys,
            key: match self.key {
                KeyName::Id => ContainerKey::Id,
                KeyName::Name => ContainerKey::Name,
            },
            durability: self.common.durability.into(),
            memory_bytes: self.common.memory,
            direct_io: self.common.direct_io,
            repeats: self.common.repeats,
            window: self.window,
            command: command_line(),
        };
        options.check()?;
        Ok(options)
    }
}
