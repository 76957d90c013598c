//! `tonnage serve`

use std::path::PathBuf;

use clap::Args;
use tonnage_server::{Server, Settings, ShutdownHandle};

use crate::args::Globals;
use crate::exit::{CliResult, Exit};
use crate::interrupt;
use crate::output::LineOutput;

/// Serve the store over Arrow Flight, Flight SQL, HTTP and the protocols of Redis and NoSQL SDKs
///
/// A setting can be given on the command line, in the environment (TONNAGE_IDLE_TIMEOUT=60s) or in
/// the file (idle_timeout = "60s"). The command line wins over the environment, and the environment
/// over the file.
///
/// The first SIGTERM or Ctrl-C drains the server: running calls may end, and what was acknowledged
/// is stored. The second ends it at once.
#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Make the store if there is none
    #[arg(long)]
    create: bool,
    /// TOML file of settings: `--idle-timeout 5s` is `idle_timeout = "5s"` there
    #[arg(long, env = "TONNAGE_CONFIG", value_name = "FILE")]
    config: Option<PathBuf>,
    #[command(flatten)]
    settings: Settings,
}

impl ServeArgs {
    pub(crate) fn run(&self, globals: &Globals) -> CliResult {
        let file = self.config.as_deref().map(Settings::read).transpose()?.unwrap_or_default();
        let config = self.settings.clone().or(file).resolve()?;
        let store = globals.open_or_create(self.create)?;
        // Which listeners speak TLS is one setting for all of them.
        let schemes = match config.tls.is_some() {
            true => ["https", "grpc+tls", "rediss", "https"],
            false => ["http", "grpc", "redis", "http"],
        };
        let server = Server::open(store, config)?;
        let stop = ShutdownHandle::default();
        let stopped = stop.clone();
        interrupt::drain_with(move || stopped.stop());
        // Bound before anything is printed: a port of 0 is the one that was free.
        let addresses = server.addresses();
        let listeners = [
            ("HTTP", addresses.http),
            ("Flight", addresses.flight),
            ("Redis", addresses.redis),
            ("NoSQL", addresses.nosql),
        ];
        let mut lines = LineOutput::stdout();
        for ((name, address), scheme) in listeners.iter().zip(schemes) {
            if let Some(address) = address {
                lines.line(format_args!("{name:<7} {scheme}://{address}"))?;
            }
        }
        lines.line("ready")?;
        lines.finish()?;
        server.run(&stop)?;
        Ok(Exit::Success)
    }
}
