//! `tonnage bench tables`: rows of many small tables in one call, against one by one.

use std::time::Duration;

use clap::{Args, ValueEnum};
use tonnage_bench::workload::tables::{self, Subject, TableKey, TablesOptions};

use super::common::CommonArgs;
use super::room::Room;
use super::session::BenchSession;
use crate::args::Globals;
use crate::exit::CliResult;
use crate::values;

const EXAMPLES: &str = "\
Each of the small tables has rows with a name, a status, a count and ten bytes of data. What is measured (--measure):
  put         a loop of single puts, the tables in turn, against one multi put: one table, and --tables
  get         the same rows by their keys: a loop of single gets against one multi get
  one-row     --queries queries of one row each: one by one against one call, over --tables and --tables-many
  select      all rows of each table: likewise, and of large tables (--rows-large)
  aggregates  count, sum, avg, min and max of each table, each a query: likewise
  list        --list-keys keys of a table of --table-rows rows: a bulk get, and a list in a query, planned or not
  scan        aggregates over all rows of that table, and of one of two numbers
  index       a condition that one row of a hundred meets, before there is an index and after
All answers are checked. Each repeat of put and get has tables of its own.

Examples:
  tonnage bench tables                          everything, with 10,000 and 100,000 rows in each table
  tonnage bench tables --tables 100 --rows 1000 --key id --repeats 9 --measure put,get
  tonnage bench tables --table-rows 10M --measure list,scan,index";

/// Measure puts, gets and queries over many tables in one call against single ones
#[derive(Args)]
#[command(after_help = EXAMPLES)]
#[command(mut_arg("targets", |arg| arg.default_value("tonnage-rocksdb")))]
#[command(mut_arg("repeats", |arg| arg.default_value("5")))]
#[command(mut_arg("durability", |arg| arg.help("What an acknowledged put survives, single or multi")))]
#[command(mut_arg("seconds_max", |arg| arg.hide(true)))]
#[command(mut_arg("warm_up", |arg| arg.hide(true)))]
pub(crate) struct TablesArgs {
    /// What is measured
    #[arg(
        long = "measure",
        value_name = "WHAT",
        value_delimiter = ',',
        default_value = "put,get,one-row,select,aggregates,list,scan,index"
    )]
    subjects: Vec<Subject>,
    /// Tables of the larger case of puts and gets, and the fewer ones of queries
    #[arg(long, alias = "containers", value_name = "N", default_value_t = 10)]
    tables: usize,
    /// The more tables of queries
    #[arg(long, alias = "containers-many", value_name = "N", default_value_t = 100)]
    tables_many: usize,
    /// Rows of each table: a number, also as 10k or 1M
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "10k")]
    rows: u64,
    /// Rows of each large table, put and selected
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "100k")]
    rows_large: u64,
    /// Queries of one row each that make one call
    #[arg(long, value_name = "N", default_value_t = 100)]
    queries: usize,
    /// Rows of the large tables beside the tables
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "1M")]
    table_rows: u64,
    /// Keys of the large table that are asked for at once
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "100k")]
    list_keys: u64,
    /// How long the same queries are asked again and again in each repeat
    #[arg(long, value_name = "DURATION", default_value = "0.5s", value_parser = values::duration_or_zero)]
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

impl TablesArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let options = self.options()?;
        let room = Room { data_bytes: options.data_bytes(), targets_at_once: false };
        let session = BenchSession::start("tables", &self.common, globals, room)?;
        let report = tables::run(&options, session.watcher())?;
        session.finish(&report)
    }

    fn options(&self) -> CliResult<TablesOptions> {
        let options = TablesOptions {
            run: self.common.run_options_of_one_directory()?,
            subjects: self.subjects.clone(),
            tables: self.tables,
            tables_many: self.tables_many,
            rows: self.rows,
            rows_large: self.rows_large,
            queries: self.queries,
            table_rows: self.table_rows,
            list_keys: self.list_keys,
            key: match self.key {
                KeyName::Id => TableKey::Id,
                KeyName::Name => TableKey::Name,
            },
            window: self.window,
        };
        options.check()?;
        Ok(options)
    }
}
