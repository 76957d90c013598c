//! One file for each verb: its options and what it does.

mod backup;
mod bench;
mod check;
mod completions;
mod count;
mod demo;
mod get;
mod hash_password;
mod kv;
mod load;
mod put;
mod restore;
mod scan;
mod serve;
mod sql;
mod stats;
mod unload;

use clap::{Command, Subcommand};

use crate::args::Globals;
use crate::exit::CliResult;

/// What the program can do.
#[derive(Subcommand)]
pub(crate) enum Verb {
    Load(load::LoadArgs),
    Unload(unload::UnloadArgs),
    Get(get::GetArgs),
    Put(put::PutArgs),
    Scan(scan::ScanArgs),
    Count(count::CountArgs),
    Kv(kv::KvArgs),
    Sql(sql::SqlArgs),
    // Its options take twice the room of any other.
    Serve(Box<serve::ServeArgs>),
    HashPassword(hash_password::HashPasswordArgs),
    Stats(stats::StatsArgs),
    Check(check::CheckArgs),
    Backup(backup::BackupArgs),
    Restore(restore::RestoreArgs),
    Bench(bench::BenchArgs),
    Demo(demo::DemoArgs),
    Completions(completions::CompletionsArgs),
    Man(completions::ManArgs),
}

impl Verb {
    /// `program` is the command line as a whole.
    pub(crate) fn run(&self, globals: &Globals, program: fn() -> Command) -> CliResult {
        match self {
            Verb::Load(args) => args.run(globals),
            Verb::Unload(args) => args.run(globals),
            Verb::Get(args) => args.run(globals),
            Verb::Put(args) => args.run(globals),
            Verb::Scan(args) => args.run(globals),
            Verb::Count(args) => args.run(globals),
            Verb::Kv(args) => args.run(globals),
            Verb::Sql(args) => args.run(globals),
            Verb::Serve(args) => args.run(globals),
            Verb::HashPassword(args) => args.run(globals),
            Verb::Stats(args) => args.run(globals),
            Verb::Check(args) => args.run(globals),
            Verb::Backup(args) => args.run(globals),
            Verb::Restore(args) => args.run(globals),
            Verb::Bench(args) => args.run(globals),
            Verb::Demo(args) => args.run(globals),
            Verb::Completions(args) => args.run(program()),
            Verb::Man(args) => args.run(globals, program()),
        }
    }
}
