//! Where a server is.

use std::fmt;

use tonnage::{Error, Result};

const PLAIN: [&str; 2] = ["grpc://", "grpc+tcp://"];
const TLS: &str = "grpc+tls://";

/// The address of a Flight listener.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ServerAddress {
    /// Name or number, IPv6 without its brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) is_tls: bool,
}

impl ServerAddress {
    /// Whether a text is the address of a server, right or wrong.
    pub(crate) fn is_one(text: &str) -> bool {
        PLAIN.iter().any(|lead| text.starts_with(lead)) || text.starts_with(TLS)
    }

    /// Reads `grpc://HOST:PORT` or `grpc+tls://HOST:PORT`.
    ///
    /// # Errors
    /// `Invalid` for anything else.
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let wrong = |what: &str| {
            Error::invalid(format!(
                "{text}: {what}: write grpc://HOST:PORT, or grpc+tls://HOST:PORT for a server with TLS"
            ))
        };
        let plain = PLAIN.iter().find_map(|lead| text.strip_prefix(lead));
        let (place, is_tls) = match (plain, text.strip_prefix(TLS)) {
            (Some(place), _) => (place, false),
            (None, Some(place)) => (place, true),
            (None, None) => return Err(wrong("this is not an address of a server")),
        };
        let place = place.trim_end_matches('/');
        if place.contains('@') {
            return Err(wrong("an address holds no user or password: give them apart"));
        }
        let (host, port) = place.rsplit_once(':').ok_or_else(|| wrong("the port is missing"))?;
        let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
        if host.is_empty() || bare.is_none() && host.contains([':', '/', ' ']) {
            return Err(wrong("the host is not right"));
        }
        let port = port.parse().map_err(|_| wrong("the port is not a number up to 65535"))?;
        Ok(Self { host: bare.unwrap_or(host).to_owned(), port, is_tls })
    }

    /// `HOST:PORT`, as URLs have it.
    pub(crate) fn authority(&self) -> String {
        match self.host.contains(':') {
            true => format!("[{}]:{}", self.host, self.port),
            false => format!("{}:{}", self.host, self.port),
        }
    }
}

impl fmt::Display for ServerAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.is_tls { TLS } else { PLAIN[0] })?;
        f.write_str(&self.authority())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_has_a_scheme_a_host_and_a_port() {
        for (text, host, port, is_tls) in [
            ("grpc://localhost:7411", "localhost", 7411, false),
            ("grpc+tcp://10.0.0.1:1/", "10.0.0.1", 1, false),
            ("grpc+tls://[::1]:7411", "::1", 7411, true),
        ] {
            let address = ServerAddress::parse(text).unwrap();
            assert_eq!((address.host.as_str(), address.port, address.is_tls), (host, port, is_tls));
        }
    }

    #[test]
    fn what_is_no_address_is_told_with_the_form_of_one() {
        for text in ["grpc://localhost", "grpc://:1", "grpc://a:b", "grpc://::1:7", "http://a:1"] {
            let error = ServerAddress::parse(text).unwrap_err();
            assert!(error.message().contains("grpc://HOST:PORT"), "{text}: {error}");
        }
    }

    #[test]
    fn a_password_in_an_address_is_refused() {
        let error = ServerAddress::parse("grpc://ann:secret@localhost:7411").unwrap_err();
        assert!(error.message().contains("no user or password"), "{error}");
    }
}
