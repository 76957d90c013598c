//! Which store to open: `memory:`, `rocksdb:PATH`, a bare path, or that of a cluster.

use std::path::PathBuf;

use tonnage_engine::{Error, Result};

/// A parsed store URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum StoreUrl {
    Memory,
    RocksDb(PathBuf),
    /// The address of a keyspace, which the engine of the cluster reads.
    Cluster(String),
}

impl StoreUrl {
    pub(crate) fn parse(url: &str) -> Result<Self> {
        if url.is_empty() {
            return Err(Error::invalid(
                "the store has no name: give a path, rocksdb:PATH or memory:",
            ));
        }
        let Some((scheme, rest)) = url.split_once(':') else {
            return Ok(StoreUrl::RocksDb(url.into()));
        };
        match scheme {
            "memory" => Ok(StoreUrl::Memory),
            "rocksdb" if rest.is_empty() => {
                Err(Error::invalid("rocksdb: names no path: write rocksdb:PATH"))
            }
            "rocksdb" => Ok(StoreUrl::RocksDb(rest.strip_prefix("//").unwrap_or(rest).into())),
            "cassandra" | "scylla" => Ok(StoreUrl::Cluster(url.to_owned())),
            _ if scheme.contains(['/', '.', '\\']) => Ok(StoreUrl::RocksDb(url.into())),
            _ => Err(Error::invalid(format!(
                "{url}: the scheme {scheme}: is unknown: write a path, rocksdb:PATH, memory: or cassandra://HOST/KEYSPACE, or grpc://HOST:PORT for a server"
            ))),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bare_path_is_a_rocksdb_store() {
        for url in ["data", "./data", "/var/data", "rocksdb:data", "./a:b"] {
            assert!(matches!(StoreUrl::parse(url), Ok(StoreUrl::RocksDb(_))), "{url}");
        }
        assert_eq!(StoreUrl::parse("rocksdb:x/y").unwrap(), StoreUrl::RocksDb("x/y".into()));
        assert_eq!(StoreUrl::parse("memory:").unwrap(), StoreUrl::Memory);
        let cluster = "cassandra://host/keyspace";
        assert_eq!(StoreUrl::parse(cluster).unwrap(), StoreUrl::Cluster(cluster.to_owned()));
    }

    #[test]
    fn what_cannot_be_opened_is_refused_with_the_remedy() {
        for url in ["", "rocksdb:", "redis:here"] {
            assert!(StoreUrl::parse(url).unwrap_err().message().contains("rocksdb:PATH"), "{url}");
        }
    }
}
