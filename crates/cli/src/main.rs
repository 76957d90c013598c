//! The `tonnage` program.
//!
//! - `verbs/` has one file for each verb: its options, and what it does with the library.
//! - `load/` is what the loading verbs share: files in, streams of entries out, rejected records, a
//!   resumable state.
//! - `shell/` is the interactive shell of `tonnage sql`.
//! - `args` opens the connection to the rows: a store of this process, or one on a server
//!   (`tonnage_client::Connection`).
//! - `cli` is the command line as a whole, `args` the options of every verb, `config` options in a
//!   file, `unknown_verb` what is said of a verb that there is not.
//! - `output`, `display`, `stderr` and the shell's `screen` print. `exit` ends the program,
//!   `interrupt` listens to signals. `plain` escapes the control characters that a terminal would
//!   obey.
//!
//! Data is written to standard output, everything else to standard error. The exit code says how a
//! run ended, see [`exit`].

mod args;
mod backup_location;
mod broken_pipe;
mod cli;
mod config;
mod display;
mod exit;
mod fetched_rows;
mod interrupt;
mod keys;
mod load;
mod output;
mod plain;
mod server;
mod shell;
mod statements;
mod stderr;
mod time_limit;
mod unknown_verb;
mod values;
mod verbs;

use std::ffi::OsString;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};

use clap::{CommandFactory, Parser};

use crate::cli::Cli;
use crate::exit::Exit;

/// Takes the place of `malloc`, so that RocksDB allocates with it too. With glibc, each block that
/// enters a cold cache cost a system call and page faults: the 99th percentile of gets after a load
/// was 60 times that with this allocator (`docs/benchmarks.md`).
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

fn main() {
    interrupt::install();
    let exit = run();
    // Writers there have checked whether they can.
    let _ = std::io::stdout().flush();
    exit.exit_now();
}

fn run() -> Exit {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    // A store that a file of options names is one that arguments may replace.
    let names_store = arguments.iter().any(|argument| {
        argument == "--store" || argument.as_encoded_bytes().starts_with(b"--store=")
    });
    let arguments = match config::with_file(Cli::command(), arguments) {
        Ok(arguments) => arguments,
        Err(failure) => return failure.report(),
    };
    let mut cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(usage) => {
            // Help and version are written to standard output and are no failure; nor is a missing
            // reader.
            let usage = unknown_verb::with_tip(usage);
            let _ = usage.print();
            return if usage.use_stderr() { Exit::Usage } else { Exit::Success };
        }
    };
    cli.globals.names_store = names_store;
    // Nothing panics on bad input. If something does, the exit code tells it from a wrong argument.
    let run = catch_unwind(AssertUnwindSafe(|| cli.verb.run(&cli.globals, Cli::command)));
    match run {
        Ok(Ok(exit)) => exit,
        Ok(Err(failure)) => failure.report(),
        Err(_) => {
            eprintln!(
                "tonnage: internal error: this is a defect, please report it with the lines above"
            );
            Exit::Internal
        }
    }
}
