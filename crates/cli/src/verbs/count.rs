//! `tonnage count`: how many rows a table has.

use clap::Args;

use crate::args::Globals;
use crate::exit::{Exit, Outcome};
use crate::output::say;

/// Count the rows of tables by reading their keys
#[derive(Args)]
pub(crate) struct CountArgs {
    /// The table
    table: String,
}

impl CountArgs {
    pub(crate) fn run(&self, globals: &Globals) -> Outcome {
        say(globals.open()?.table(&self.table)?.count()?)?;
        Ok(Exit::Well)
    }
}
