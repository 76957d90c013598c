//! `tonnage serve`

use std::path::PathBuf;

use clap::Args;
use tonnage_server::{Address, BoundListeners, Settings, ShutdownHandle};

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
        // Which listeners speak TLS is one setting for all of them.
        let schemes = match config.tls.is_some() {
            true => ["https", "grpc+tls", "rediss", "https"],
            false => ["http", "grpc", "redis", "http"],
        };
        // Errors of the configuration show before a store is created.
        let listeners = BoundListeners::bind(config)?;
        let server = listeners.over(globals.open_or_create(self.create)?)?;
        let stop = ShutdownHandle::default();
        let stopped = stop.clone();
        interrupt::drain_with(move || stopped.stop());
        // Bound before anything is printed: a port of 0 is the one that was free.
        let addresses = server.addresses();
        let listeners = [
            ("HTTP", &addresses.http),
            ("Flight", &addresses.flight),
            ("Redis", &addresses.redis),
            ("NoSQL", &addresses.nosql),
        ];
        let mut lines = LineOutput::stdout();
        for ((name, address), scheme) in listeners.iter().zip(schemes) {
            match address {
                None => {}
                Some(Address::Tcp(address)) => {
                    lines.line(format_args!("{name:<7} {scheme}://{address}"))?;
                }
                // Such an address is known to clients of Flight alone.
                Some(Address::Unix(path)) if *name == "Flight" => {
                    lines.line(format_args!("{name:<7} grpc+unix://{}", path.display()))?;
                }
                Some(unix) => lines.line(format_args!("{name:<7} {unix}"))?,
            }
        }
        if let Some(Address::Unix(path)) = &addresses.http {
            let path = shell_word(&path.display().to_string());
            lines.line(format_args!(
                "        curl --unix-socket {path} http://localhost/health/ready"
            ))?;
        }
        lines.line("ready")?;
        lines.finish()?;
        server.run(&stop)?;
        Ok(Exit::Success)
    }
}

/// A text as one word of a command, in quotes where it needs them.
fn shell_word(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    match text.chars().all(is_plain) {
        true => text.to_owned(),
        false => format!("'{}'", text.replace('\'', r"'\''")),
    }
}
