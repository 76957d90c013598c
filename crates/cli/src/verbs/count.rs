//! `tonnage count`: how many rows a table has.

use clap::Args;

use crate::args::{Globals, TimeoutArgs};
use crate::exit::{CliResult, Exit};
use crate::output::println;

/// Count the rows of a table by reading its keys
#[derive(Args)]
pub(crate) struct CountArgs {
    /// The table
    table: String,
    #[command(flatten)]
    time: TimeoutArgs,
}

impl CountArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        self.time.start();
        println(globals.connection()?.table(&self.table)?.count()?)?;
        Ok(Exit::Success)
    }
}
