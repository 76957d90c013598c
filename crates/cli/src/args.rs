//! The options that all verbs share.

use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use tonnage::{Consistency, Error, ErrorKind, Store, StoreBuilder};
use tonnage_client::{Connection, RemoteStore};

use crate::exit::{CliResult, Failure};
use crate::server::ServerArgs;
use crate::stderr;
use crate::{interrupt, plain, values};

/// Options of every verb.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Options of every verb")]
pub(crate) struct Globals {
    /// The store: a path, rocksdb:PATH, memory:, cassandra://HOST,HOST/KEYSPACE, or a server:
    /// grpc://HOST:PORT, grpc+tls://HOST:PORT
    /// [env: TONNAGE_STORE] [default: ./tonnage-data]
    // If clap knew the variable, it would print --store in every usage line.
    #[arg(long, global = true, default_value_t = Globals::default_store(), hide_default_value = true, value_name = "URL")]
    pub(crate) store: String,
    /// Whether the command line names the store by --store.
    #[arg(skip)]
    pub(crate) names_store: bool,
    /// Spread a new store over these directories, one on each disk; an existing store knows its own
    #[arg(long = "data-dir", global = true, value_name = "DIR")]
    pub(crate) data_directories: Vec<PathBuf>,
    /// Copies of a row that a write waits for, on a cluster [default: majority]
    #[arg(long, global = true, value_enum)]
    pub(crate) acks: Option<values::Acks>,
    /// How fresh the rows that are read must be, on a cluster: none, a time such as 30s, version:N,
    /// or absolute [default: absolute]
    #[arg(long, global = true, value_name = "FRESHNESS", value_parser = values::consistency)]
    pub(crate) consistency: Option<Consistency>,
    /// Print errors only
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    #[command(flatten)]
    pub(crate) server: ServerArgs,
}

impl Globals {
    /// The store when none is named.
    pub(crate) const STORE_DEFAULT: &str = "./tonnage-data";

    /// The store that the environment names, or else the one when none is named.
    fn default_store() -> String {
        let named = std::env::var("TONNAGE_STORE").ok().filter(|store| !store.is_empty());
        named.unwrap_or_else(|| Self::STORE_DEFAULT.to_owned())
    }

    /// Opens a store that must be there.
    pub(crate) fn open(&self) -> CliResult<Store> {
        self.open_or_create(false)
    }

    /// Opens the store; the verb decides whether a missing one may be created.
    pub(crate) fn open_or_create(&self, create: bool) -> CliResult<Store> {
        let opened = self.builder()?.create_if_missing(create).open();
        Ok(opened.map_err(|error| with_server_hint(&self.store, error))?)
    }

    /// The same with so much memory for blocks of the store.
    pub(crate) fn open_with_cache(&self, create: bool, cache_bytes: usize) -> CliResult<Store> {
        let builder = self.builder()?.create_if_missing(create).cache_bytes(cache_bytes);
        Ok(builder.open().map_err(|error| with_server_hint(&self.store, error))?)
    }

    /// Opens a store that must be there, up to the damage if its write-ahead log is damaged.
    pub(crate) fn open_to_damage(&self) -> CliResult<Store> {
        Ok(self.builder()?.create_if_missing(false).recover_log_to_damage(true).open()?)
    }

    /// The directory of the store, which may be missing.
    pub(crate) fn path(&self) -> CliResult<PathBuf> {
        Ok(self.builder()?.path()?)
    }

    /// The store as messages and files may name it: without a password.
    pub(crate) fn store_display_name(&self) -> String {
        tonnage_cassandra::Address::without_password(&self.store)
    }

    /// Whether the store is on a cluster.
    pub(crate) fn is_on_cluster(&self) -> bool {
        tonnage_cassandra::Address::is_one(&self.store)
    }

    /// Open the store, or connect to the server.
    pub(crate) fn connection(&self) -> CliResult<Connection> {
        self.connection_or_create(false)
    }

    /// The same; a missing store may be created.
    pub(crate) fn connection_or_create(&self, create: bool) -> CliResult<Connection> {
        match self.is_server() {
            true => Ok(Connection::Remote(self.client()?)),
            false => Ok(Connection::Embedded(self.open_or_create(create)?)),
        }
    }

    /// Connects to the server that is named in place of a store.
    pub(crate) fn client(&self) -> CliResult<RemoteStore> {
        self.connect(None)
    }

    /// Connects to the server.
    pub(crate) fn connect(&self, timeout: Option<Duration>) -> CliResult<RemoteStore> {
        if self.acks.is_some() || self.consistency.is_some() {
            return Err(Failure::usage(
                "--acks and --consistency go with a store on a cluster, not with a server",
            ));
        }
        self.server.connect(&self.store, timeout)
    }

    /// Whether the store is on a server.
    pub(crate) fn is_server(&self) -> bool {
        RemoteStore::is_address(&self.store)
    }

    fn builder(&self) -> CliResult<StoreBuilder> {
        // A server is refused here, not in each verb: every way to open a store itself leads
        // through this.
        if self.is_server() {
            return Err(Failure::usage(format!(
                "{}: this works on a store itself, not through a server: run it where the store is, \
                 with --store DIR while no server runs",
                self.store
            )));
        }
        // An address of the web is the likely mistake: the server prints one beside its Flight
        // listener.
        if self.store.starts_with("http://") || self.store.starts_with("https://") {
            return Err(Failure::usage(format!(
                "{}: a server is named by its Flight listener: write grpc://HOST:PORT, as \
                 `tonnage serve` prints it",
                self.store
            )));
        }
        let mut builder = Store::builder(&self.store).cluster_engine(tonnage_cassandra::open_url);
        if let Some(acks) = self.acks {
            builder = builder.acks(acks.into());
        }
        if let Some(consistency) = self.consistency {
            builder = builder.consistency(consistency);
        }
        Ok(match self.data_directories.is_empty() {
            true => builder,
            false => builder.data_directories(self.data_directories.clone()),
        })
    }

    /// Tells something on standard error.
    pub(crate) fn info(&self, text: impl std::fmt::Display) {
        if !self.quiet {
            stderr::line(plain::lines(&text.to_string()));
        }
    }
}

/// The same error, and how to reach a server where one may be meant.
fn with_server_hint(store: &str, error: Error) -> Error {
    let port = store.rsplit_once(':').and_then(|(_, port)| port.parse::<u16>().ok());
    let hint = match error.kind() {
        ErrorKind::NotFound | ErrorKind::Invalid if port.is_some() && !store.contains('/') => {
            format!("; for a server write grpc://{store}")
        }
        _ if error.message().contains("has it open") => {
            ", or go through it if it is a server: --store grpc://HOST:PORT".to_owned()
        }
        ErrorKind::NotFound if error.message().ends_with("there is no store") => {
            ": name another with --store or TONNAGE_STORE; CREATE TABLE and --create make one"
                .to_owned()
        }
        _ => return error,
    };
    Error::new(error.kind(), format!("{}{hint}", error.message())).with_source(error)
}

/// `--timeout`.
#[derive(Args, Clone, Debug)]
pub(crate) struct TimeoutArgs {
    /// Stop after this time, such as 30s or 5m, in good order and with exit code 2
    #[arg(long, value_name = "DURATION", value_parser = values::duration)]
    timeout: Option<Duration>,
}

impl TimeoutArgs {
    /// The time of the run begins now.
    pub(crate) fn start(&self) {
        if let Some(timeout) = self.timeout {
            interrupt::stop_after(timeout);
        }
    }
}
