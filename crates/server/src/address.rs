//! The address of a listener.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

use tonnage::{Error, Result};

/// What leads the path of a Unix socket.
const UNIX: &str = "unix:";

/// An address that a listener has.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// `IP:PORT`.
    Tcp(SocketAddr),
    /// A Unix socket, `unix:PATH`: who may write to its file may connect.
    Unix(PathBuf),
}

impl Address {
    /// The IP address and port; nothing for a Unix socket.
    pub fn tcp(&self) -> Option<SocketAddr> {
        match self {
            Address::Tcp(address) => Some(*address),
            Address::Unix(_) => None,
        }
    }

    /// Whether only this machine reaches it.
    pub(crate) fn is_local(&self) -> bool {
        self.tcp().is_none_or(|address| address.ip().is_loopback())
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Address::Tcp(address) => address.fmt(f),
            Address::Unix(path) => write!(f, "{UNIX}{}", path.display()),
        }
    }
}

impl FromStr for Address {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let path = text.strip_prefix(UNIX).filter(|path| !path.is_empty());
        match path {
            Some(path) => Ok(Address::Unix(path.into())),
            None => text.parse().map(Address::Tcp).map_err(|_| {
                Error::invalid(format!("`{text}`: give IP:PORT, or unix:PATH for a Unix socket"))
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_reads_back_as_its_text() {
        for text in ["127.0.0.1:7410", "[::1]:0", "unix:/run/tonnage/http.sock", "unix:a"] {
            let address: Address = text.parse().unwrap();
            assert_eq!(address.to_string(), text);
        }
        assert!("unix:/a".parse::<Address>().unwrap().is_local());
        assert!(!"0.0.0.0:1".parse::<Address>().unwrap().is_local());
        for wrong in ["unix:", "/run/a", "here", "127.0.0.1"] {
            assert!(wrong.parse::<Address>().is_err(), "{wrong}");
        }
    }
}
