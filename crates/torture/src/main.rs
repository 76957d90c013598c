//! Tortures a store: power loss, I/O faults, damaged files, kills, and races.
//!
//! docs/torture.md says what is modelled and how to run it. Tests start this program again for
//! whatever may hang or die: to work on a store, to judge it, to read it.

mod child;
mod content;
mod fallible;
mod faults;
mod flips;
mod judge;
mod kills;
mod known_exceptions;
mod ledger;
mod linear;
mod options;
mod power;
mod random;
mod readers;
mod replay;
mod report;
mod sample_store;
mod scratch;
mod trace;
mod work;
mod workload_kind;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fallible::Fallible;
use judge::Loss;
use options::{HELP, TortureOptions};
use report::TortureReport;
use work::WorkPlan;
use workload_kind::WorkloadKind;

/// The harness could not do its work, so nothing was found out.
const UNABLE: u8 = 3;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let (verb, rest) = match words.split_first() {
        Some((verb, rest)) if !["--help", "-h", "help"].contains(&verb.as_str()) => (verb, rest),
        _ => {
            println!("{HELP}");
            return ExitCode::SUCCESS;
        }
    };
    match run(verb, rest) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(child::FOUND_EXIT_CODE as u8),
        Err(error) => {
            eprintln!("torture {verb}: {error}");
            ExitCode::from(UNABLE)
        }
    }
}

/// Returns whether all is well.
fn run(verb: &str, words: &[String]) -> Fallible<bool> {
    match verb {
        "work" => work::work(&plan(words)?).map(|()| true).map_err(Into::into),
        "judge" => print_complaints(run_judge(words)?),
        "feed" => print_complaints(readers::feed(words)?),
        "shelf" => {
            sample_store::make(Path::new(first(words)?))?;
            Ok(true)
        }
        "read" => {
            sample_store::read(Path::new(first(words)?)).iter().for_each(|line| println!("{line}"));
            Ok(true)
        }
        "histories" => print_complaints(linear::histories(words)?),
        "replay" => {
            let options = TortureOptions::parse(words.get(1..).unwrap_or_default())?;
            print_complaints(power::replay(&options, Path::new(first(words)?))?)
        }
        _ => test(verb, &TortureOptions::parse(words)?),
    }
}

fn test(verb: &str, options: &TortureOptions) -> Fallible<bool> {
    let mut report = TortureReport::new(options.bad.clone());
    match verb {
        "power" => power::run(options, &mut report)?,
        "faults" => faults::run(options, &mut report)?,
        "flips" => flips::run(options, &mut report)?,
        "kills" => kills::run(options, &mut report)?,
        "linear" => linear::run(options, &mut report)?,
        "readers" => readers::run(options, &mut report)?,
        "all" => {
            power::run(&options.with_share(40), &mut report)?;
            faults::run(&options.with_share(20), &mut report)?;
            flips::run(&options.with_share(10), &mut report)?;
            kills::run(&options.with_share(12), &mut report)?;
            linear::run(&options.with_share(13), &mut report)?;
            readers::run(&options.with_share(5), &mut report)?;
        }
        _ => return Err("there is no such verb: torture --help".into()),
    }
    print!("{}", report.table());
    Ok(!report.has_bad())
}

fn first(words: &[String]) -> Fallible<&str> {
    words.first().map(String::as_str).ok_or_else(|| "give a path".into())
}

/// Prints what is wrong, a line each.
fn print_complaints(complaints: Vec<String>) -> Fallible<bool> {
    complaints.iter().for_each(|complaint| println!("BAD {complaint}"));
    Ok(complaints.is_empty())
}

fn plan(words: &[String]) -> Fallible<WorkPlan> {
    let [store, ledger, kind, seed, millis, round, ledger_bytes_max] = words else {
        return Err("work STORE LEDGER KIND SEED MILLIS ROUND BYTES".into());
    };
    Ok(WorkPlan {
        store: PathBuf::from(store),
        ledger: PathBuf::from(ledger),
        kind: WorkloadKind::parse(kind)?,
        seed: seed.parse()?,
        millis: millis.parse()?,
        round: round.parse()?,
        ledger_bytes_max: ledger_bytes_max.parse()?,
    })
}

fn run_judge(words: &[String]) -> Fallible<Vec<String>> {
    let (store, ledger, loss, checkpoint) = match words {
        [store, ledger, loss] => (store, ledger, loss, None),
        [store, ledger, loss, number] => (store, ledger, loss, Some(number.parse()?)),
        _ => return Err("judge STORE LEDGER power|process [CHECKPOINT]".into()),
    };
    let loss = Loss::parse(loss).ok_or("the loss is power or process")?;
    Ok(judge::judge(Path::new(store), Path::new(ledger), loss, checkpoint)?)
}
