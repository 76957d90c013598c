//! Where a store is: `cassandra://host,host:9043/keyspace?dc=dc1&create=3`.

use tonnage_engine::{Error, Result};

/// What begins an address.
const SCHEMES: [&str; 2] = ["cassandra://", "scylla://"];

/// How many buckets a new store spreads its rows over.
const BUCKETS: u32 = 1 << 16;

/// The address of a store: a keyspace of a cluster.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Address {
    /// Some nodes of the cluster, each a name or an address, with or without a port.
    pub hosts: Vec<String>,
    /// The keyspace.
    pub keyspace: String,
    /// The data centre whose nodes are asked (`dc`); the nearest without it.
    pub data_center: Option<String>,
    /// The replication factor with which the keyspace is made if it is missing (`create`).
    pub replication: Option<u32>,
    /// How many buckets a new store spreads its rows over (`buckets`). A store that exists keeps
    /// its own number.
    pub buckets: u32,
    /// Whether a store is made where the keyspace holds none. No part of the URL.
    pub create_if_missing: bool,
}

impl Address {
    /// Whether a URL is an address of this engine.
    pub fn is_one(url: &str) -> bool {
        SCHEMES.iter().any(|scheme| url.starts_with(scheme))
    }

    /// Reads an address.
    ///
    /// # Errors
    /// `Invalid`, naming what is wrong and how an address looks.
    pub fn parse(url: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::invalid(format!(
                "'{url}': {what}; an address is cassandra://HOST,HOST:PORT/KEYSPACE?dc=NAME&create=FACTOR"
            ))
        };
        let rest = SCHEMES
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))
            .ok_or_else(|| wrong("the scheme is neither cassandra:// nor scylla://"))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        let (hosts, keyspace) = place.split_once('/').unwrap_or((place, ""));
        let hosts: Vec<String> = hosts.split(',').map(str::to_owned).collect();
        if hosts.iter().any(String::is_empty) {
            return Err(wrong("a host is missing"));
        }
        if !is_keyspace(keyspace) {
            return Err(wrong(
                "the keyspace must be of 1 to 48 lower-case letters, digits and underscores, a letter first",
            ));
        }
        let mut address = Self {
            hosts,
            keyspace: keyspace.to_owned(),
            data_center: None,
            replication: None,
            buckets: BUCKETS,
            create_if_missing: true,
        };
        for option in query.split('&').filter(|option| !option.is_empty()) {
            let (name, value) = option.split_once('=').unwrap_or((option, ""));
            match name {
                "dc" if !value.is_empty() => address.data_center = Some(value.to_owned()),
                "create" => {
                    let factor = value.parse().ok().filter(|factor| (1..=100).contains(factor));
                    address.replication = Some(
                        factor
                            .ok_or_else(|| wrong("create needs a replication factor, 1 to 100"))?,
                    );
                }
                "buckets" => {
                    let buckets = value.parse().ok().filter(|count| (1..=1 << 20).contains(count));
                    address.buckets =
                        buckets.ok_or_else(|| wrong("buckets needs a number, 1 to 1048576"))?;
                }
                _ => return Err(wrong(&format!("there is no option '{option}'"))),
            }
        }
        Ok(address)
    }
}

/// Whether a name needs no quotes in CQL.
fn is_keyspace(name: &str) -> bool {
    name.len() <= 48
        && name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_hosts_a_keyspace_and_options() {
        let address = Address::parse("cassandra://a,b:9043/shop?dc=dc1&create=3&buckets=64");
        let expected = Address {
            hosts: vec!["a".into(), "b:9043".into()],
            keyspace: "shop".into(),
            data_center: Some("dc1".into()),
            replication: Some(3),
            buckets: 64,
            create_if_missing: true,
        };
        assert_eq!(address.unwrap(), expected);
        assert_eq!(Address::parse("scylla://a/k").unwrap().buckets, BUCKETS);
    }

    #[test]
    fn a_wrong_address_says_what_is_wrong() {
        for (url, part) in [
            ("rocksdb:x", "scheme"),
            ("cassandra:///k", "host"),
            ("cassandra://a,/k", "host"),
            ("cassandra://a", "keyspace"),
            ("cassandra://a/Shop", "keyspace"),
            ("cassandra://a/k?create=0", "factor"),
            ("cassandra://a/k?buckets=x", "buckets"),
            ("cassandra://a/k?dc=", "'dc='"),
            ("cassandra://a/k?user=me", "'user=me'"),
        ] {
            let error = Address::parse(url).unwrap_err();
            assert!(error.message().contains(part), "{url}: {error}");
        }
    }
}
