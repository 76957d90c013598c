//! What a benchmark measures, as the command line names it.

use std::fmt;
use std::str::FromStr;

use tonnage::{Error, Result};

use super::kind::SystemKind;

/// A system that the benchmark makes itself, or a server that runs already.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Target {
    /// A system of this process, on an empty directory.
    System(SystemKind),
    /// Tonnage behind its Flight listener: `grpc://HOST:PORT`, or `grpc+tls://HOST:PORT`.
    Flight(String),
    /// A server that speaks Redis' protocol: `redis://HOST:PORT`.
    Redis(String),
}

impl Target {
    /// Its name in reports: that of the system, or the address of the server.
    pub fn name(&self) -> &str {
        match self {
            Target::System(kind) => kind.name(),
            Target::Flight(address) | Target::Redis(address) => address,
        }
    }

    /// Whether its data lies on disks of this machine, in the directory of the benchmark.
    pub fn is_on_disk(&self) -> bool {
        matches!(self, Target::System(kind) if *kind != SystemKind::TonnageMemory)
    }

    /// Whether it loses everything with its process, so that all durabilities mean the same.
    pub fn is_volatile(&self) -> bool {
        *self == Target::System(SystemKind::TonnageMemory)
    }
}

impl From<SystemKind> for Target {
    fn from(kind: SystemKind) -> Self {
        Target::System(kind)
    }
}

impl From<&Target> for Target {
    fn from(target: &Target) -> Self {
        target.clone()
    }
}

impl fmt::Display for Target {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        to.write_str(self.name())
    }
}

impl FromStr for Target {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        if tonnage_client::RemoteStore::is_address(text) {
            return Ok(Target::Flight(text.trim_end_matches('/').to_owned()));
        }
        if let Some(place) = text.strip_prefix("redis://") {
            // Credentials would stand in every report.
            if place.contains('@') {
                return Err(Error::invalid(format!(
                    "redis://{}: an address holds no user or password: give them with --user",
                    place.rsplit('@').next().unwrap_or_default()
                )));
            }
            let place = place.trim_end_matches('/');
            let is_right = place
                .rsplit_once(':')
                .is_some_and(|(host, port)| !host.is_empty() && port.parse::<u16>().is_ok());
            return match is_right {
                true => Ok(Target::Redis(format!("redis://{place}"))),
                false => Err(Error::invalid(format!("{text}: write redis://HOST:PORT"))),
            };
        }
        text.parse().map(Target::System)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_is_a_system_or_an_address() {
        let parse = |text: &str| text.parse::<Target>().map_err(|error| error.to_string());
        assert_eq!(parse("tonnage"), Ok(SystemKind::TonnageRocksDb.into()));
        assert_eq!(parse("grpc://a:7420/"), Ok(Target::Flight("grpc://a:7420".to_owned())));
        assert_eq!(parse("redis://[::1]:6379"), Ok(Target::Redis("redis://[::1]:6379".to_owned())));
        for wrong in ["redis://a", "redis://:6379", "redis://a:port", "redis://a:70000"] {
            assert!(parse(wrong).unwrap_err().contains("redis://HOST:PORT"), "{wrong}");
        }
        assert!(parse("cassandra").unwrap_err().contains("tonnage-rocksdb"));
    }

    #[test]
    fn a_password_in_an_address_is_refused_and_not_repeated() {
        let error = "redis://u:secret@a:6379".parse::<Target>().unwrap_err().to_string();
        assert!(error.contains("redis://a:6379") && !error.contains("secret"), "{error}");
    }
}
