//! `tonnage demo`: the story of a fleet, on data that it makes itself.

use std::io;
use std::path::PathBuf;

use clap::Args;
use tonnage::ErrorKind;
use tonnage_demo::DemoOptions;

use crate::args::Globals;
use crate::exit::{CliResult, Exit, Failure};
use crate::interrupt;

/// Run the story of a fleet end to end on generated data (under a minute on two cores)
///
/// The demo makes a store of its own. It uses --store only on a cluster; that store must hold no
/// tables.
#[derive(Args)]
pub(crate) struct DemoArgs {
    /// Keep the store in this directory [default: a temporary directory]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Number of ships
    #[arg(long, default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(10..=1_000_000))]
    ships: u32,
    /// Number of positions that each ship reports
    #[arg(long, default_value_t = 220, value_parser = clap::value_parser!(u32).range(10..=100_000))]
    positions_per_ship: u32,
    /// Seed of the random fleet
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl DemoArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        // Other stores are left alone: the story has one of its own.
        let store = match globals.is_on_cluster() {
            true => Some((globals.store_display_name(), globals.open_or_create(true)?)),
            false => None,
        };
        let options = DemoOptions {
            directory: self.dir.clone(),
            store,
            ships: self.ships,
            positions_per_ship: self.positions_per_ship,
            seed: self.seed,
            cancel: interrupt::cancel(),
        };
        match tonnage_demo::run(&options, &mut io::stdout()) {
            Ok(()) => Ok(Exit::Success),
            Err(error) if interrupt::is_interrupted() => {
                Err(Failure::new(Exit::Interrupted, error))
            }
            Err(error) => match error.kind() {
                ErrorKind::Invalid | ErrorKind::Internal => Err(error.into()),
                _ => Err(Failure::new(Exit::Stopped, error)),
            },
        }
    }
}
