//! `tonnage hash-password`

use std::io::{BufRead, IsTerminal};

use clap::Args;
use tonnage_server::hash_password;

use crate::args::Globals;
use crate::exit::{CliResult, Exit, Failure};
use crate::output::println;

/// Hash a password for the file of users
///
/// Reads one line from standard input, and prints what `password` in the file holds.
#[derive(Args)]
pub(crate) struct HashPasswordArgs {}

impl HashPasswordArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let input = std::io::stdin();
        if input.is_terminal() {
            globals.info("the password, then Enter (it is shown; a pipe hides it):");
        }
        let mut line = String::new();
        input
            .lock()
            .read_line(&mut line)
            .map_err(|error| Failure::usage(format!("standard input: {error}")))?;
        println(hash_password(line.trim_end_matches(['\r', '\n']))?)?;
        Ok(Exit::Success)
    }
}
