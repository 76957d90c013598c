//! `tonnage kv`: key/value pairs.

mod lob;
mod read;
mod write;

use std::time::Duration;

use clap::{Args, Subcommand};

use crate::args::Globals;
use crate::exit::{CliResult, Exit};
use crate::output::println;
use crate::{interrupt, values};

/// Put, get and load key/value pairs. A key is /major/-/minor
#[derive(Args)]
pub(crate) struct KvArgs {
    /// Stop after this time, such as 30s or 5m, in good order and with exit code 2
    #[arg(long, global = true, value_name = "DURATION", value_parser = values::duration)]
    timeout: Option<Duration>,
    #[command(subcommand)]
    verb: KvVerb,
}

#[derive(Subcommand)]
enum KvVerb {
    Put(write::KvPutArgs),
    Delete(write::DeleteArgs),
    Load(write::KvLoadArgs),
    Get(read::KvGetArgs),
    MultiGet(read::MultiGetArgs),
    Scan(read::KvScanArgs),
    PutLob(lob::PutLobArgs),
    GetLob(lob::GetLobArgs),
    DeleteLob(lob::DeleteLobArgs),
    LoadLobs(lob::LoadLobsArgs),
    /// Count all pairs
    Count,
}

impl KvArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        if let Some(timeout) = self.timeout {
            interrupt::stop_after(timeout);
        }
        match &self.verb {
            KvVerb::Put(args) => args.run(globals),
            KvVerb::Delete(args) => args.run(globals),
            KvVerb::Load(args) => args.run(globals),
            KvVerb::Get(args) => args.run(globals),
            KvVerb::MultiGet(args) => args.run(globals),
            KvVerb::Scan(args) => args.run(globals),
            KvVerb::PutLob(args) => args.run(globals),
            KvVerb::GetLob(args) => args.run(globals),
            KvVerb::DeleteLob(args) => args.run(globals),
            KvVerb::LoadLobs(args) => args.run(globals),
            KvVerb::Count => {
                println(globals.connection()?.kv().count()?)?;
                Ok(Exit::Success)
            }
        }
    }
}
