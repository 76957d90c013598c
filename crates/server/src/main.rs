//! `tonnage-server`: a store over Arrow Flight and HTTP.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::Parser;
use tonnage::{Result, Store};
use tonnage_server::{Server, Settings, Stop};

/// Serve a store over Arrow Flight and HTTP
#[derive(Parser)]
#[command(name = "tonnage-server", version, max_term_width = 100)]
struct Args {
    /// The store: a path, rocksdb:PATH, or memory:
    #[arg(long, env = "TONNAGE_STORE", default_value = "./tonnage-data", value_name = "URL")]
    store: String,
    /// Make the store if there is none
    #[arg(long)]
    create: bool,
    /// Settings, TOML: `--idle-timeout 5s` is `idle_timeout = "5s"` there
    #[arg(long, env = "TONNAGE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

fn main() -> ExitCode {
    match run(Args::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("tonnage-server: {}: {}", error.kind().label(), error.message());
            ExitCode::from(2)
        }
    }
}

fn run(args: Args) -> Result<()> {
    let file = args.config.as_deref().map(Settings::read).transpose()?.unwrap_or_default();
    let config = args.settings.or(file).resolve()?;
    let store = Store::builder(&args.store).create_if_missing(args.create).open()?;
    let scheme = if config.tls.is_some() { ["https", "grpc+tls"] } else { ["http", "grpc"] };
    let server = Server::open(store, config)?;
    let stop = Stop::default();
    stop_at_signals(stop.clone())?;
    let addresses = server.addresses();
    if let Some(address) = addresses.http {
        println!("HTTP    {}://{address}", scheme[0]);
    }
    if let Some(address) = addresses.flight {
        println!("Flight  {}://{address}", scheme[1]);
    }
    println!("ready");
    server.run(&stop)
}

/// The first signal drains the server, the second ends the process.
fn stop_at_signals(stop: Stop) -> Result<()> {
    let mut is_second = false;
    ctrlc::set_handler(move || {
        if is_second {
            std::process::exit(130);
        }
        is_second = true;
        eprintln!("draining; a second signal ends at once");
        stop.stop();
    })
    .map_err(|error| tonnage::Error::unavailable(format!("signals cannot be caught: {error}")))
}
