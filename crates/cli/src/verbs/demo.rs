//! `tonnage demo`: the story of a fleet, on data that it makes itself.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::Duration;

use clap::Args;
use tonnage::{Error, ErrorKind, Store};
use tonnage_demo::{DemoOptions, MovingFleet};
use tonnage_server::{Server, Settings, ShutdownHandle};

use crate::args::Globals;
use crate::exit::{CliResult, Exit, Failure};
use crate::{interrupt, stderr};

/// How often the ships of a map report: three minutes of theirs take so long.
const REPORT_EVERY: Duration = Duration::from_secs(2);

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
    /// Then serve the store over HTTP, and let the ships sail on: a browser shows them on a map
    #[arg(long, value_name = "ADDRESS", num_args = 0..=1, default_missing_value = "127.0.0.1:7410")]
    serve: Option<SocketAddr>,
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
        // Before the store goes: a temporary one is deleted behind the story.
        let serve = |store: &Store| match self.serve {
            Some(address) => serve(store, address, &options),
            None => Ok(()),
        };
        match tonnage_demo::run_then(&options, &mut io::stdout(), serve) {
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

/// Serves the store until the program is stopped. Meanwhile the ships sail on.
fn serve(store: &Store, address: SocketAddr, options: &DemoOptions) -> tonnage::Result<()> {
    let settings = Settings {
        http: Some(address.to_string()),
        flight: Some("off".to_owned()),
        ..Settings::default()
    };
    let mut fleet = MovingFleet::new(store, options)?;
    fleet.advance()?;
    let server = Server::open(store.clone(), settings.resolve()?)?;
    let stop = ShutdownHandle::default();
    let stopped = stop.clone();
    interrupt::drain_with(move || stopped.stop());
    if let Some(address) = server.addresses().http {
        let page = format!("http://{address}/console/#/map?table=ships_now");
        writeln!(io::stdout(), "\nThe ships sail on: {page}\nCtrl-C ends it.")
            .map_err(|error| Error::unavailable(format!("nobody reads: {error}")))?;
    }
    // Dropped when the server has ended: then the fleet stops.
    let (ended, end) = channel();
    let sailing = thread::spawn(move || sail(fleet, &end));
    let served = server.run(&stop);
    drop::<std::sync::mpsc::Sender<()>>(ended);
    // A fleet that panicked has said so, and what was served counts.
    let _ = sailing.join();
    served
}

fn sail(mut fleet: MovingFleet, end: &Receiver<()>) {
    while end.recv_timeout(REPORT_EVERY) == Err(RecvTimeoutError::Timeout) {
        if let Err(error) = fleet.advance() {
            stderr::line(format_args!("tonnage: the ships stay where they are: {error}"));
            return;
        }
    }
}
