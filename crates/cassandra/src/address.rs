//! The address of a store: `cassandra://user:password@host,host:9043/keyspace?dc=dc1&create=3`.

use std::path::PathBuf;

use tonnage_engine::{Error, Result};

use crate::login::{Login, percent_decoded};
use crate::replication::Replication;
use crate::tls::TlsFiles;

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
    /// The user (`USER:PASSWORD@`, `password_file`); anonymous without it.
    pub login: Option<Login>,
    /// How connections are encrypted (`tls`, `ca`, `cert`, `key`); not at all without it.
    pub tls: Option<TlsFiles>,
    /// The data centre whose nodes are asked (`dc`); the nearest without it.
    pub data_center: Option<String>,
    /// The data centre whose majority decides (`home`), fixed when the store is created. Without it
    /// that of all data centres does.
    pub home: Option<String>,
    /// How a missing keyspace is created (`create`).
    pub replication: Option<Replication>,
    /// How many buckets a new store spreads its rows over (`buckets`). A store that exists keeps
    /// its own number.
    pub buckets: u32,
    /// Whether a store is created where the keyspace holds none. No part of the URL.
    pub create_if_missing: bool,
}

impl Address {
    /// Whether a URL is an address of this engine.
    pub fn is_one(url: &str) -> bool {
        SCHEMES.iter().any(|scheme| url.starts_with(scheme))
    }

    /// A URL as messages may show it: without a password.
    pub fn without_password(url: &str) -> String {
        match Self::is_one(url) {
            true => Login::hidden_in(url),
            false => url.to_owned(),
        }
    }

    /// Reads an address.
    ///
    /// # Errors
    /// `Invalid`, naming what is wrong and how an address looks. A password is not repeated.
    pub fn parse(url: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::invalid(format!(
                "'{}': {what}; an address is cassandra://USER:PASSWORD@HOST,HOST:PORT/KEYSPACE?dc=NAME&create=FACTOR",
                Login::hidden_in(url)
            ))
        };
        let rest = SCHEMES
            .iter()
            .find_map(|scheme| url.strip_prefix(scheme))
            .ok_or_else(|| wrong("the scheme is neither cassandra:// nor scylla://"))?;
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        // Before any error that shows a part of the address: after such a '?' there is a password.
        if Login::is_cut(place, query) {
            return Err(wrong("a '?' in a password is written '%3F'"));
        }
        // The last '@' ends the password, in which there may be others.
        let (who, place) = match place.rsplit_once('@') {
            Some((who, place)) => (Some(who), place),
            None => (None, place),
        };
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
            login: who.map(Login::parse).transpose().map_err(|what| wrong(&what))?,
            tls: None,
            data_center: None,
            home: None,
            replication: None,
            buckets: BUCKETS,
            create_if_missing: true,
        };
        for option in query.split('&').filter(|option| !option.is_empty()) {
            address.set(option).map_err(|what| wrong(&what))?;
        }
        address.check().map_err(|what| wrong(&what))?;
        Ok(address)
    }

    /// Takes an option, `NAME=VALUE`.
    fn set(&mut self, option: &str) -> std::result::Result<(), String> {
        let (name, value) = option.split_once('=').unwrap_or((option, ""));
        let value = percent_decoded(value)?;
        if value.is_empty() {
            return Err(format!("option '{option}' has no value, or there is none of that name"));
        }
        // No option may hold a password: errors repeat options as they are.
        let path = || PathBuf::from(&value);
        match name {
            "dc" => self.data_center = Some(value),
            "home" => self.home = Some(value),
            "create" => self.replication = Some(Replication::parse(&value)?),
            "buckets" => {
                let buckets = value.parse().ok().filter(|count| (1..=1 << 20).contains(count));
                self.buckets = buckets.ok_or("buckets needs a number, 1 to 1048576")?;
            }
            "password_file" => match &mut self.login {
                Some(login) => login.password_file = Some(path()),
                None => return Err("password_file needs a user: write USER@HOST".to_owned()),
            },
            "tls" if value == "1" => {
                self.tls.get_or_insert_default();
            }
            // Each of these files asks for TLS by itself: `tls=1` is for those who need none.
            "ca" => self.tls.get_or_insert_default().ca = Some(path()),
            "cert" => self.tls.get_or_insert_default().certificate = Some(path()),
            "key" => self.tls.get_or_insert_default().key = Some(path()),
            _ => return Err(format!("there is no option '{option}'")),
        }
        Ok(())
    }

    /// Refuses options that do not go together.
    fn check(&self) -> std::result::Result<(), String> {
        if let Some(tls) = &self.tls
            && tls.certificate.is_some() != tls.key.is_some()
        {
            return Err("cert and key go together: give both files".to_owned());
        }
        match (&self.home, &self.data_center) {
            (Some(home), Some(asked)) if home != asked => Err(format!(
                "dc is '{asked}' and home '{home}': the nodes of the home are asked, so leave out dc"
            )),
            _ => Ok(()),
        }
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
        let address = Address::parse(
            "cassandra://me:a%40b@a,b:9043/shop?dc=dc1&create=3&buckets=64&ca=/etc/ca.pem&cert=c&key=k",
        );
        let expected = Address {
            hosts: vec!["a".into(), "b:9043".into()],
            keyspace: "shop".into(),
            login: Some(Login {
                user: "me".into(),
                password: Some("a@b".into()),
                password_file: None,
            }),
            tls: Some(TlsFiles {
                ca: Some("/etc/ca.pem".into()),
                certificate: Some("c".into()),
                key: Some("k".into()),
            }),
            data_center: Some("dc1".into()),
            home: None,
            replication: Some(Replication::Everywhere(3)),
            buckets: 64,
            create_if_missing: true,
        };
        assert_eq!(address.unwrap(), expected);
        assert_eq!(Address::parse("scylla://a/k").unwrap().buckets, BUCKETS);
        assert_eq!(Address::parse("cassandra://a/k?tls=1").unwrap().tls, Some(TlsFiles::default()));
    }

    #[test]
    fn a_wrong_address_says_what_is_wrong_and_keeps_the_password() {
        for (url, part) in [
            ("rocksdb:x", "scheme"),
            ("cassandra:///k", "host"),
            ("cassandra://a,/k", "host"),
            ("cassandra://a", "keyspace"),
            ("cassandra://a/Shop", "keyspace"),
            ("cassandra://a/k?create=0", "factor"),
            ("cassandra://a/k?create=dc1:3,dc1:2", "twice"),
            ("cassandra://a/k?buckets=x", "buckets"),
            ("cassandra://a/k?dc=", "'dc='"),
            ("cassandra://a/k?user=me", "'user=me'"),
            ("cassandra://a/k?password_file=f", "needs a user"),
            ("cassandra://a/k?cert=f", "go together"),
            ("cassandra://a/k?dc=one&home=two", "leave out dc"),
            ("cassandra://me:secret%zz@a/k", "%"),
            ("cassandra://me:secret@a/k?no=1", "'no=1'"),
            ("cassandra://:secret@a/k", "user"),
            ("cassandra://me:?secret@a/k", "%3F"),
            ("cassandra://me:x/k?secret@a/k", "%3F"),
        ] {
            let error = Address::parse(url).unwrap_err();
            assert!(error.message().contains(part), "{url}: {error}");
            assert!(!error.message().contains("secret"), "{error}");
        }
    }
}
