//! Flags, file and environment, merged into one [`Config`].

use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use tonnage::{Error, Result, cores, memory_bytes};
use tonnage_resp::SyncPolicy;

use crate::address::Address;
use crate::browser_guard::HostName;

/// The settings as they are given: `--idle-timeout 60s` on the command line is
/// `TONNAGE_IDLE_TIMEOUT=60s` in the environment and `idle_timeout = "60s"` in the file. The
/// command line comes first, then the environment, then the file.
#[derive(clap::Args, Clone, Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Settings {
    /// Address of the HTTP listener, unix:PATH, or off [default: 127.0.0.1:7410]
    #[arg(long, env = "TONNAGE_HTTP", value_name = "ADDRESS")]
    pub http: Option<String>,
    /// Address of the Arrow Flight listener, unix:PATH, or off [default: 127.0.0.1:7411]
    #[arg(long, env = "TONNAGE_FLIGHT", value_name = "ADDRESS")]
    pub flight: Option<String>,
    /// Address of the Redis listener, unix:PATH, or off [default: off]
    #[arg(long, env = "TONNAGE_REDIS", value_name = "ADDRESS")]
    pub redis: Option<String>,
    /// When writes of Redis clients are acknowledged and synced: always, everysec or no [default:
    /// everysec]
    #[arg(long, env = "TONNAGE_REDIS_DURABILITY", value_name = "WHEN")]
    pub redis_durability: Option<String>,
    /// Connections of the Redis listener at a time [default: 10000]
    #[arg(long, env = "TONNAGE_REDIS_CONNECTIONS_MAX", value_name = "N")]
    pub redis_connections_max: Option<usize>,
    /// Memory for what all Redis clients sent and have not read [default: an eighth of the
    /// machine's]
    #[arg(long, env = "TONNAGE_REDIS_MEMORY", value_name = "SIZE")]
    pub redis_memory: Option<String>,
    /// Address of the listener for SDKs of Oracle NoSQL Database, unix:PATH, or off [default: off]
    #[arg(long, env = "TONNAGE_NOSQL", value_name = "ADDRESS")]
    pub nosql: Option<String>,
    /// Names that the server has for browsers and, without users, for all callers over HTTP:
    /// data.example, data.example:8443
    #[arg(long, env = "TONNAGE_HTTP_HOSTS", value_name = "NAMES", value_delimiter = ',')]
    pub http_hosts: Option<Vec<String>>,
    /// Whether browsers get the console at /console/: on or off [default: on]
    #[arg(long, env = "TONNAGE_CONSOLE", value_name = "WHETHER")]
    pub console: Option<String>,
    /// Listen beyond loopback although everybody may then do everything
    #[arg(long, env = "TONNAGE_INSECURE", num_args = 0..=1, default_missing_value = "true")]
    pub insecure: Option<bool>,
    /// Certificate chain, PEM: all listeners then accept TLS only
    #[arg(long, env = "TONNAGE_TLS_CERT", value_name = "FILE")]
    pub tls_cert: Option<PathBuf>,
    /// Private key of the certificate, PEM
    #[arg(long, env = "TONNAGE_TLS_KEY", value_name = "FILE")]
    pub tls_key: Option<PathBuf>,
    /// Certificates of the authorities that sign client certificates, PEM
    #[arg(long, env = "TONNAGE_TLS_CLIENT_CA", value_name = "FILE")]
    pub tls_client_ca: Option<PathBuf>,
    /// Whether clients must show a certificate: optional or required [default: optional]
    #[arg(long, env = "TONNAGE_TLS_CLIENT_AUTH", value_name = "HOW")]
    pub tls_client_auth: Option<String>,
    /// Users and what they may do, TOML; without it everybody may do everything
    #[arg(long, env = "TONNAGE_USERS", value_name = "FILE")]
    pub users: Option<PathBuf>,
    /// Log of logins and of who did what: JSON lines are added to it
    #[arg(long, env = "TONNAGE_AUDIT", value_name = "FILE")]
    pub audit: Option<PathBuf>,
    /// Directory for the backups that administrators make through the server; none without it
    #[arg(long, env = "TONNAGE_BACKUPS", value_name = "DIR")]
    pub backups: Option<PathBuf>,
    /// Connections at a time, of all listeners together [default: 1000]
    #[arg(long, env = "TONNAGE_CONNECTIONS_MAX", value_name = "N")]
    pub connections_max: Option<usize>,
    /// Connections at a time from one address, to all listeners together [default: 500]
    #[arg(long, env = "TONNAGE_CONNECTIONS_PER_ADDRESS_MAX", value_name = "N")]
    pub connections_per_address_max: Option<usize>,
    /// Largest Flight message taken [default: 128MiB]
    #[arg(long, env = "TONNAGE_MESSAGE_BYTES_MAX", value_name = "SIZE")]
    pub message_bytes_max: Option<String>,
    /// Largest body of an HTTP request that is held in memory [default: 16MiB]
    #[arg(long, env = "TONNAGE_BODY_BYTES_MAX", value_name = "SIZE")]
    pub body_bytes_max: Option<String>,
    /// Disk space for bodies of loads, reports of loads and keys, of all together [default: 8GiB]
    #[arg(long, env = "TONNAGE_SPOOL_BYTES_MAX", value_name = "SIZE")]
    pub spool_bytes_max: Option<String>,
    /// Streams of server-sent events at a time [default: 100]
    #[arg(long, env = "TONNAGE_EVENT_STREAMS_MAX", value_name = "N")]
    pub event_streams_max: Option<usize>,
    /// Loads at a time; they share the memory for loads [default: twice the cores]
    #[arg(long, env = "TONNAGE_LOADS_MAX", value_name = "N")]
    pub loads_max: Option<usize>,
    /// Streams of all loads at a time [default: 16 times the cores]
    #[arg(long, env = "TONNAGE_STREAMS_MAX", value_name = "N")]
    pub streams_max: Option<usize>,
    /// Reads and other calls of the store at a time [default: 8 times the cores]
    #[arg(long, env = "TONNAGE_CALLS_MAX", value_name = "N")]
    pub calls_max: Option<usize>,
    /// Memory for all loads together [default: an eighth of the machine's]
    #[arg(long, env = "TONNAGE_LOAD_MEMORY", value_name = "SIZE")]
    pub load_memory: Option<String>,
    /// Memory for the keys of one bulk get; further keys wait in a file [default: 64MiB]
    #[arg(long, env = "TONNAGE_KEY_MEMORY", value_name = "SIZE")]
    pub key_memory: Option<String>,
    /// Memory for sorts, joins and groupings of all statements together [default: 1GiB]
    #[arg(long, env = "TONNAGE_SQL_MEMORY", value_name = "SIZE")]
    pub sql_memory: Option<String>,
    /// Memory for columns of tables that are scanned again and again without writes in between; 0
    /// for none [default: an eighth of the machine's]
    #[arg(long, env = "TONNAGE_COLUMN_CACHE", value_name = "SIZE")]
    pub column_cache: Option<String>,
    /// Longest time that a statement may take [default: none]
    #[arg(long, env = "TONNAGE_STATEMENT_TIMEOUT", value_name = "TIME")]
    pub statement_timeout: Option<String>,
    /// Longest wait for a place among loads, streams or calls [default: 30s]
    #[arg(long, env = "TONNAGE_ADMISSION_WAIT", value_name = "TIME")]
    pub admission_wait: Option<String>,
    /// A stream that brings nothing for so long is stopped [default: 60s]
    #[arg(long, env = "TONNAGE_IDLE_TIMEOUT", value_name = "TIME")]
    pub idle_timeout: Option<String>,
    /// A reader that takes nothing for so long is cut off [default: 5m]
    #[arg(long, env = "TONNAGE_READER_TIMEOUT", value_name = "TIME")]
    pub reader_timeout: Option<String>,
    /// How long calls are still taken after the first signal [default: 0s]
    #[arg(long, env = "TONNAGE_DRAIN_WAIT", value_name = "TIME")]
    pub drain_wait: Option<String>,
    /// How long running calls may continue after that [default: 30s]
    #[arg(long, env = "TONNAGE_DRAIN_TIMEOUT", value_name = "TIME")]
    pub drain_timeout: Option<String>,
}

/// How a server runs.
#[derive(Clone, Debug)]
pub struct Config {
    /// Where HTTP is spoken; nowhere without it.
    pub http: Option<Address>,
    /// Where Arrow Flight is spoken; nowhere without it.
    pub flight: Option<Address>,
    /// Where the protocol of Redis is spoken; nowhere without it.
    pub redis: Option<Address>,
    /// When writes of Redis clients are acknowledged and synced.
    pub redis_durability: SyncPolicy,
    /// Connections of the Redis listener at a time.
    pub redis_connections_max: usize,
    /// Memory for what Redis clients sent and have not read.
    pub redis_memory_bytes: usize,
    /// Address of the listener for the SDKs of Oracle NoSQL Database, if it is on.
    pub nosql: Option<Address>,
    /// The names of the HTTP listener, beside IP addresses and localhost.
    pub http_hosts: Vec<HostName>,
    /// Whether browsers get the console.
    pub console: bool,
    /// Whether to listen beyond loopback without users.
    pub insecure: bool,
    /// Certificate chain and private key, both PEM files.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Who signs client certificates, a PEM file, and whether clients must show one.
    pub client_certificates: Option<(PathBuf, bool)>,
    /// The file of users.
    pub users: Option<PathBuf>,
    /// The audit log.
    pub audit: Option<PathBuf>,
    /// The directory that backups lie in.
    pub backups: Option<PathBuf>,
    /// Connections at a time.
    pub connections_max: usize,
    /// Connections at a time from one address.
    pub connections_per_address_max: usize,
    /// The largest Flight message taken.
    pub message_bytes_max: usize,
    /// The largest HTTP body held in memory.
    pub body_bytes_max: usize,
    /// What bodies of bulk loads may have on the disk.
    pub spool_bytes_max: u64,
    /// Streams of events at a time.
    pub event_streams_max: usize,
    /// Loads at a time.
    pub loads_max: usize,
    /// Streams of loads at a time.
    pub streams_max: usize,
    /// Other calls at a time.
    pub calls_max: usize,
    /// Memory of all loads together.
    pub load_memory_bytes: usize,
    /// Memory for the keys of one bulk get.
    pub key_memory_bytes: usize,
    /// Memory for sorts, joins and groupings of all statements.
    pub sql_memory_bytes: usize,
    /// Memory for columns of tables that rest.
    pub column_cache_bytes: usize,
    /// The longest time that a statement may take.
    pub statement_timeout: Option<Duration>,
    /// The longest wait for a place.
    pub admission_wait: Duration,
    /// The longest silence of a stream.
    pub idle_timeout: Duration,
    /// The longest time that a reader takes nothing.
    pub reader_timeout: Duration,
    /// How long calls are taken after the first signal.
    pub drain_wait: Duration,
    /// How long running calls may continue after that.
    pub drain_timeout: Duration,
}

/// What bodies of bulk loads may have on the disk, unless it is given.
const SPOOL_MIB: usize = 8 << 10;
/// The least memory that a load works well with.
const LOAD_BYTES_MIN: usize = 64 << 20;

impl Settings {
    /// Reads a file of settings.
    ///
    /// # Errors
    /// `Invalid` for a file that cannot be read or names something that there is not.
    pub fn read(path: &Path) -> Result<Settings> {
        let place = path.display();
        let text = std::fs::read_to_string(path)
            .map_err(|error| Error::invalid(format!("{place}: cannot be read: {error}")))?;
        toml::from_str(&text).map_err(|error| Error::invalid(format!("{place}: {error}")))
    }

    /// These settings, and those of `other` where these are silent.
    #[must_use]
    pub fn or(self, other: Settings) -> Settings {
        // Each field is listed, without `..other`: one that is forgotten does not compile.
        Settings {
            http: self.http.or(other.http),
            flight: self.flight.or(other.flight),
            redis: self.redis.or(other.redis),
            redis_durability: self.redis_durability.or(other.redis_durability),
            redis_connections_max: self.redis_connections_max.or(other.redis_connections_max),
            redis_memory: self.redis_memory.or(other.redis_memory),
            nosql: self.nosql.or(other.nosql),
            http_hosts: self.http_hosts.or(other.http_hosts),
            console: self.console.or(other.console),
            // A given `false` counts over a later `true`: only silence is None.
            insecure: self.insecure.or(other.insecure),
            tls_cert: self.tls_cert.or(other.tls_cert),
            tls_key: self.tls_key.or(other.tls_key),
            tls_client_ca: self.tls_client_ca.or(other.tls_client_ca),
            tls_client_auth: self.tls_client_auth.or(other.tls_client_auth),
            users: self.users.or(other.users),
            audit: self.audit.or(other.audit),
            backups: self.backups.or(other.backups),
            connections_max: self.connections_max.or(other.connections_max),
            connections_per_address_max: self
                .connections_per_address_max
                .or(other.connections_per_address_max),
            message_bytes_max: self.message_bytes_max.or(other.message_bytes_max),
            body_bytes_max: self.body_bytes_max.or(other.body_bytes_max),
            spool_bytes_max: self.spool_bytes_max.or(other.spool_bytes_max),
            event_streams_max: self.event_streams_max.or(other.event_streams_max),
            loads_max: self.loads_max.or(other.loads_max),
            streams_max: self.streams_max.or(other.streams_max),
            calls_max: self.calls_max.or(other.calls_max),
            load_memory: self.load_memory.or(other.load_memory),
            key_memory: self.key_memory.or(other.key_memory),
            sql_memory: self.sql_memory.or(other.sql_memory),
            column_cache: self.column_cache.or(other.column_cache),
            statement_timeout: self.statement_timeout.or(other.statement_timeout),
            admission_wait: self.admission_wait.or(other.admission_wait),
            idle_timeout: self.idle_timeout.or(other.idle_timeout),
            reader_timeout: self.reader_timeout.or(other.reader_timeout),
            drain_wait: self.drain_wait.or(other.drain_wait),
            drain_timeout: self.drain_timeout.or(other.drain_timeout),
        }
    }

    fn client_certificates(&self, has_tls: bool) -> Result<Option<(PathBuf, bool)>> {
        let is_required = match self.tls_client_auth.as_deref() {
            None | Some("optional") => false,
            Some("required") => true,
            Some(other) => {
                return Err(Error::invalid(format!(
                    "tls_client_auth is `{other}`: give optional or required"
                )));
            }
        };
        match &self.tls_client_ca {
            Some(_) if !has_tls => {
                Err(Error::invalid("tls_client_ca needs tls_cert and tls_key: give all three"))
            }
            Some(file) => Ok(Some((file.clone(), is_required))),
            None if is_required => Err(Error::invalid("tls_client_auth needs tls_client_ca")),
            None => Ok(None),
        }
    }

    /// Checks every setting and fills in what is not given.
    ///
    /// # Errors
    /// `Invalid`, with the name of the setting and what it may be.
    pub fn resolve(&self) -> Result<Config> {
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(cert), Some(key)) => Some((cert.clone(), key.clone())),
            (None, None) => None,
            _ => return Err(Error::invalid("tls_cert and tls_key go together: give both")),
        };
        let config = Config {
            http: address("http", self.http.as_deref(), 7410)?,
            flight: address("flight", self.flight.as_deref(), 7411)?,
            // Off unless it is asked for: a port more is a way in more.
            redis: address("redis", self.redis.as_deref().or(Some("off")), 6379)?,
            redis_durability: match self.redis_durability.as_deref() {
                None => SyncPolicy::default(),
                Some(given) => SyncPolicy::named(given).ok_or_else(|| {
                    Error::invalid(format!(
                        "redis_durability is `{given}`: give always, everysec or no"
                    ))
                })?,
            },
            redis_connections_max: count(
                "redis_connections_max",
                self.redis_connections_max,
                10_000,
            )?,
            redis_memory_bytes: bytes(
                "redis_memory",
                self.redis_memory.as_deref(),
                (memory_bytes() >> 20) / 8,
            )?,
            nosql: address("nosql", self.nosql.as_deref().or(Some("off")), 8080)?,
            http_hosts: hosts("http_hosts", self.http_hosts.as_deref().unwrap_or_default())?,
            console: match self.console.as_deref() {
                None | Some("on") => true,
                Some("off") => false,
                Some(other) => {
                    return Err(Error::invalid(format!("console is `{other}`: give on or off")));
                }
            },
            insecure: self.insecure.unwrap_or(false),
            client_certificates: self.client_certificates(tls.is_some())?,
            tls,
            users: self.users.clone(),
            audit: self.audit.clone(),
            backups: self.backups.clone(),
            connections_max: count("connections_max", self.connections_max, 1_000)?,
            connections_per_address_max: count(
                "connections_per_address_max",
                self.connections_per_address_max,
                500,
            )?,
            message_bytes_max: bytes("message_bytes_max", self.message_bytes_max.as_deref(), 128)?,
            body_bytes_max: bytes("body_bytes_max", self.body_bytes_max.as_deref(), 16)?,
            spool_bytes_max: bytes("spool_bytes_max", self.spool_bytes_max.as_deref(), SPOOL_MIB)?
                as u64,
            event_streams_max: count("event_streams_max", self.event_streams_max, 100)?,
            loads_max: count("loads_max", self.loads_max, 2 * cores())?,
            streams_max: count("streams_max", self.streams_max, 16 * cores())?,
            calls_max: count("calls_max", self.calls_max, 8 * cores())?,
            load_memory_bytes: bytes(
                "load_memory",
                self.load_memory.as_deref(),
                (memory_bytes() >> 20) / 8,
            )?,
            key_memory_bytes: bytes("key_memory", self.key_memory.as_deref(), 64)?,
            sql_memory_bytes: bytes("sql_memory", self.sql_memory.as_deref(), 1 << 10)?,
            // `bytes` refuses 0 as a slip. Here it is a choice: no columns are kept.
            column_cache_bytes: match self.column_cache.as_deref() {
                Some("0") => 0,
                given => bytes("column_cache", given, (memory_bytes() >> 20) / 8)?,
            },
            statement_timeout: match self.statement_timeout.as_deref() {
                None => None,
                given => Some(time("statement_timeout", given, 0)?),
            },
            admission_wait: time("admission_wait", self.admission_wait.as_deref(), 30)?,
            idle_timeout: time("idle_timeout", self.idle_timeout.as_deref(), 60)?,
            reader_timeout: time("reader_timeout", self.reader_timeout.as_deref(), 300)?,
            drain_wait: time("drain_wait", self.drain_wait.as_deref(), 0)?,
            drain_timeout: time("drain_timeout", self.drain_timeout.as_deref(), 30)?,
        };
        // Rules that tie settings together are checked last, when their defaults are known.
        config.check()?;
        Ok(config)
    }
}

impl Config {
    /// The memory of one load.
    pub(crate) fn memory_bytes_per_load(&self) -> usize {
        (self.load_memory_bytes / self.loads_max).max(LOAD_BYTES_MIN)
    }

    /// The memory of all bodies over HTTP together: one for each call that may run.
    pub(crate) fn bodies_bytes_max(&self) -> usize {
        self.body_bytes_max.saturating_mul(self.calls_max)
    }

    /// The memory of all messages over Flight whose calls have not begun.
    pub(crate) fn messages_bytes_max(&self) -> usize {
        self.message_bytes_max.saturating_mul(self.calls_max)
    }

    pub(crate) fn check(&self) -> Result<()> {
        let listeners = [
            ("http", &self.http),
            ("flight", &self.flight),
            ("redis", &self.redis),
            ("nosql", &self.nosql),
        ];
        if listeners.iter().all(|(_, address)| address.is_none()) {
            return Err(Error::invalid(
                "all listeners are off: give http, flight, redis or nosql an address",
            ));
        }
        for (name, address) in listeners {
            let Some(address) = address else { continue };
            if !address.is_local() && self.users.is_none() && !self.insecure {
                return Err(Error::invalid(format!(
                    "{name} would listen on {address}, where everybody who reaches it may do \
                     everything: name users, listen on 127.0.0.1, or say insecure if the network \
                     is trusted"
                )));
            }
        }
        Ok(())
    }
}

fn address(name: &str, given: Option<&str>, port: u16) -> Result<Option<Address>> {
    match given {
        None => Ok(Some(Address::Tcp(([127, 0, 0, 1], port).into()))),
        Some("off") => Ok(None),
        Some(text) => text.parse().map(Some).map_err(|_| {
            Error::invalid(format!(
                "{name} is `{text}`: give IP:PORT, such as 127.0.0.1:7410, unix:PATH, or off"
            ))
        }),
    }
}

fn hosts(name: &str, given: &[String]) -> Result<Vec<HostName>> {
    // A variable of the environment may be there and empty.
    let given = given.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    given.map(|text| text.parse::<HostName>().map_err(|error| error.at(name))).collect()
}

fn count(name: &str, given: Option<usize>, default: usize) -> Result<usize> {
    match given {
        Some(0) => Err(Error::invalid(format!("{name} is 0: allow at least one"))),
        given => Ok(given.unwrap_or(default)),
    }
}

fn bytes(name: &str, given: Option<&str>, default_mib: usize) -> Result<usize> {
    let Some(text) = given else { return Ok(default_mib << 20) };
    parse_bytes(text).filter(|bytes| *bytes > 0).ok_or_else(|| {
        Error::invalid(format!("{name} is `{text}`: give a size, such as 64MiB or 2GiB"))
    })
}

fn time(name: &str, given: Option<&str>, default_seconds: u64) -> Result<Duration> {
    let Some(text) = given else { return Ok(Duration::from_secs(default_seconds)) };
    parse_time(text).ok_or_else(|| {
        Error::invalid(format!("{name} is `{text}`: give a time, such as 500ms, 30s, 5m or 2h"))
    })
}

fn parse_bytes(text: &str) -> Option<usize> {
    let (number, unit) = split_unit(text)?;
    let factor: usize = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1,
        "kib" | "k" => 1 << 10,
        "mib" | "m" => 1 << 20,
        "gib" | "g" => 1 << 30,
        _ => return None,
    };
    usize::try_from(number).ok()?.checked_mul(factor)
}

/// A time with its unit.
pub(crate) fn parse_time(text: &str) -> Option<Duration> {
    let (number, unit) = split_unit(text)?;
    let factor_ms = match unit {
        "ms" => 1,
        "s" => 1_000,
        "m" => 60_000,
        "h" => 3_600_000,
        "d" => 86_400_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.checked_mul(factor_ms)?))
}

fn split_unit(text: &str) -> Option<(u64, &str)> {
    let digits = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    Some((text[..digits].parse().ok()?, text[digits..].trim()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(settings: &Settings) -> String {
        settings.resolve().expect_err("it is refused").message().to_owned()
    }

    #[test]
    fn the_defaults_listen_on_loopback() {
        let config = Settings::default().resolve().unwrap();
        assert_eq!(config.http, Some("127.0.0.1:7410".parse().unwrap()));
        assert_eq!(config.flight, Some("127.0.0.1:7411".parse().unwrap()));
        assert_eq!((config.redis, config.nosql), (None, None));
    }

    #[test]
    fn an_address_beyond_loopback_is_refused_unless_insecure() {
        let open = Settings { flight: Some("0.0.0.0:7411".into()), ..Settings::default() };
        assert!(refusal(&open).contains("0.0.0.0:7411"), "{}", refusal(&open));
        let allowed = Settings { insecure: Some(true), ..open };
        assert!(allowed.resolve().is_ok());
        let redis = Settings { redis: Some("0.0.0.0:6379".into()), ..Settings::default() };
        assert!(refusal(&redis).contains("0.0.0.0:6379"), "{}", refusal(&redis));
        let nosql = Settings { nosql: Some("0.0.0.0:8080".into()), ..Settings::default() };
        assert!(refusal(&nosql).contains("0.0.0.0:8080"), "{}", refusal(&nosql));
    }

    #[test]
    fn a_setting_out_of_its_range_is_named() {
        let hosts = Some(vec!["https://data.example/".into()]);
        let wrong: [(Settings, &str); 10] = [
            (Settings { console: Some("yes".into()), ..Settings::default() }, "console"),
            (Settings { http_hosts: hosts, ..Settings::default() }, "http_hosts"),
            (Settings { http: Some("here".into()), ..Settings::default() }, "http"),
            (Settings { redis: Some("6379".into()), ..Settings::default() }, "redis"),
            (Settings { nosql: Some("8080".into()), ..Settings::default() }, "nosql"),
            (
                Settings { redis_durability: Some("now".into()), ..Settings::default() },
                "redis_durability",
            ),
            (Settings { loads_max: Some(0), ..Settings::default() }, "loads_max"),
            (Settings { load_memory: Some("much".into()), ..Settings::default() }, "load_memory"),
            (Settings { drain_wait: Some("5".into()), ..Settings::default() }, "drain_wait"),
            (Settings { tls_key: Some("key.pem".into()), ..Settings::default() }, "tls_cert"),
        ];
        for (settings, name) in wrong {
            assert!(refusal(&settings).contains(name), "{name}: {}", refusal(&settings));
        }
    }

    #[test]
    fn what_is_given_first_counts() {
        let file = "idle_timeout = \"5s\"\nloads_max = 3\nhttp_hosts = [\"a.example\"]";
        let file: Settings = toml::from_str(file).unwrap();
        let flags = Settings { loads_max: Some(7), ..Settings::default() };
        let config = flags.or(file).resolve().unwrap();
        assert_eq!(config.http_hosts, ["a.example".parse::<HostName>().unwrap()]);
        assert_eq!((config.loads_max, config.idle_timeout), (7, Duration::from_secs(5)));
    }

    #[test]
    fn a_name_that_there_is_not_is_an_error_of_the_file() {
        let error = toml::from_str::<Settings>("idle_time = \"5s\"").unwrap_err();
        assert!(error.to_string().contains("idle_time"), "{error}");
    }

    #[test]
    fn sizes_and_times_have_units() {
        assert_eq!(parse_bytes("64MiB"), Some(64 << 20));
        assert_eq!(parse_bytes("12"), Some(12));
        assert_eq!(parse_bytes("99999999999GiB"), None);
        assert_eq!(parse_time("1500ms"), Some(Duration::from_millis(1_500)));
        assert_eq!(parse_time("2h"), Some(Duration::from_secs(7_200)));
        assert_eq!(parse_time("h"), None);
    }
}
