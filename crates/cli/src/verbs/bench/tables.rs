//! `tonnage bench tables`: rows of many small tables in one call, against one by one.

use std::time::Duration;

use clap::Args;
use tonnage_bench::workload::tables::{self, Subject, TableKey, TablesOptions};

use super::common::{CommonArgs, choice};
use super::room::Room;
use super::session::BenchSession;
use crate::args::Globals;
use crate::exit::CliResult;
use crate::values;

const EXAMPLES: &str = "\
Each of the small tables has rows with a name, a status, a count and ten bytes of data. What is \
measured (--measure), one by one against one call:
  put         single puts, the tables in turn, against one multi put: one table, and --tables
  get         the same rows by their keys: single gets against one multi get
  one-row     --queries queries of one row each, over --tables and over --tables-many
  select      all rows of each table, and of large tables (--rows-large)
  aggregates  count, sum, avg, min and max of each table, a query for each
And over a table of --table-rows rows:
  list        --list-keys keys: a bulk get, and a list in a query, planned or not
  scan        aggregates over all rows, and of one of two numbers
  index       a condition that one row of a hundred meets, without an index and with one

All answers are checked. Each repeat of put and get has tables of its own.

Examples:
  tonnage bench tables
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
    /// What to measure
    #[arg(
        long = "measure",
        value_name = "WHAT",
        value_parser = choice(&Subject::ALL),
        value_delimiter = ',',
        default_value = "put,get,one-row,select,aggregates,list,scan,index"
    )]
    subjects: Vec<Subject>,
    /// Number of tables, for puts, gets and queries
    #[arg(long, alias = "containers", value_name = "N", default_value_t = 10)]
    tables: usize,
    /// Number of tables in the larger case of queries
    #[arg(long, alias = "containers-many", value_name = "N", default_value_t = 100)]
    tables_many: usize,
    /// Number of rows of each table, such as 10k or 1M
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "10k")]
    rows: u64,
    /// Number of rows of each large table, for put and select
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "100k")]
    rows_large: u64,
    /// Number of one-row queries in one call
    #[arg(long, value_name = "N", default_value_t = 100)]
    queries: usize,
    /// Number of rows of each table for list, scan and index
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "1M")]
    table_rows: u64,
    /// Number of keys that list requests in one call
    #[arg(long, value_name = "N", value_parser = values::count, default_value = "100k")]
    list_keys: u64,
    /// How long each repeat asks the same queries again and again
    #[arg(long, value_name = "DURATION", default_value = "0.5s", value_parser = values::duration_or_zero)]
    window: Duration,
    /// Primary key of the rows
    #[arg(long, value_parser = choice(&TableKey::ALL), default_value_t = TableKey::Name)]
    key: TableKey,
    #[command(flatten)]
    common: CommonArgs,
}

impl TablesArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let options = self.options(globals)?;
        let room = Room { data_bytes: options.data_bytes(), targets_at_once: false };
        let session = BenchSession::start("tables", &self.common, globals, room)?;
        let report = tables::run(&options, session.watcher())?;
        session.finish(&report)
    }

    fn options(&self, globals: &Globals) -> CliResult<TablesOptions> {
        let options = TablesOptions {
            run: self.common.run_options_of_one_directory(globals)?,
            subjects: self.subjects.clone(),
            tables: self.tables,
            tables_many: self.tables_many,
            rows: self.rows,
            rows_large: self.rows_large,
            queries: self.queries,
            table_rows: self.table_rows,
            list_keys: self.list_keys,
            key: self.key,
            window: self.window,
        };
        options.check()?;
        Ok(options)
    }
}
