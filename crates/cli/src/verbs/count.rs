//! `tonnage count`: how many rows a table has.

use clap::Args;

use crate::args::Globals;
use crate::exit::{CliResult, Exit};
use crate::output::println;

/// Count the rows of tables by reading their keys
#[derive(Args)]
pub(crate) struct CountArgs {
    /// The table
    table: String,
}

impl CountArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        println(globals.open()?.table(&self.table)?.count()?)?;
        Ok(Exit::Success)
    }
}
