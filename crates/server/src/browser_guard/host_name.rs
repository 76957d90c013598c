//! The host that a request, an origin or a setting names.

use std::net::Ipv6Addr;
use std::str::FromStr;

use tonnage::{Error, Result};

/// A host and its port, such as `data.example:8443`. All spellings of one name are equal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostName {
    /// In lower case, without a dot at its end; an IPv6 address has its brackets.
    name: String,
    port: Option<u16>,
}

impl HostName {
    pub(super) fn has_name_of(&self, other: &HostName) -> bool {
        self.name == other.name
    }

    /// The port, and the default one of a scheme where none is written.
    pub(super) fn port_or(&self, default: u16) -> u16 {
        self.port.unwrap_or(default)
    }

    /// Whether this is a setting's name for a host: one without a port means all ports.
    pub(super) fn names(&self, host: &HostName) -> bool {
        let has_port = |port: u16| match host.port {
            Some(given) => given == port,
            // Clients leave out the ports of http and https.
            None => port == 80 || port == 443,
        };
        self.has_name_of(host) && self.port.is_none_or(has_port)
    }

    /// Whether it leads to the same machine whatever a name server says: an IP address,
    /// `localhost`, and names below that.
    pub(super) fn is_fixed(&self) -> bool {
        let last = self.name.rsplit('.').next().unwrap_or_default();
        // Browsers read a name that ends in a number as an address: `127.1`, `0x7f.1`.
        let is_number =
            |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let is_hexadecimal = |text: &str| text.bytes().all(|byte| byte.is_ascii_hexdigit());
        self.name.starts_with('[')
            || last == "localhost"
            || is_number(last)
            || last.strip_prefix("0x").is_some_and(is_hexadecimal)
    }
}

impl std::fmt::Display for HostName {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.name),
            None => f.write_str(&self.name),
        }
    }
}

impl FromStr for HostName {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        parse(text).ok_or_else(|| {
            let shown: String = text.chars().take(100).collect();
            Error::invalid(format!(
                "invalid host `{}`; expected e.g. `data.example` or `data.example:8443`",
                shown.escape_debug()
            ))
        })
    }
}

fn parse(text: &str) -> Option<HostName> {
    let (name, behind) = match text.strip_prefix('[') {
        Some(address) => {
            let (address, behind) = address.split_once(']')?;
            // The zone of a link-local address means something on the client's machine alone.
            let address = address.split('%').next()?.parse::<Ipv6Addr>().ok()?;
            (format!("[{address}]"), behind)
        }
        None => {
            let (name, behind) = text.split_at(text.find(':').unwrap_or(text.len()));
            let name = name.strip_suffix('.').unwrap_or(name);
            let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
            if name.is_empty() || !name.bytes().all(is_allowed) {
                return None;
            }
            (name.to_ascii_lowercase(), behind)
        }
    };
    let port = match behind.strip_prefix(':') {
        Some("") => None,
        // A number may have a sign, a port has none.
        Some(digits) if digits.bytes().all(|byte| byte.is_ascii_digit()) => {
            Some(digits.parse().ok()?)
        }
        None if behind.is_empty() => None,
        _ => return None,
    };
    Some(HostName { name, port })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn host(text: &str) -> HostName {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn spellings_of_one_host_are_equal() {
        for (text, plain) in [
            ("Data.Example.:8443", "data.example:8443"),
            ("localhost:", "localhost"),
            ("[0:0:0:0:0:0:0:1]:80", "[::1]:80"),
            ("[FE80::1%25eth0]", "[fe80::1]"),
            ("my_service", "my_service"),
        ] {
            assert_eq!(host(text), host(plain), "{text}");
            assert_eq!(host(text).to_string(), plain);
        }
        for wrong in
            ["", ".", ":80", "a b", "a@b", "a/b", "::1", "[::1", "[x]", "[::1]x", "a:+1", "a:70000"]
        {
            assert!(wrong.parse::<HostName>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_name_server_has_no_say_over_addresses_and_localhost() {
        for fixed in [
            "127.0.0.1:7410",
            "127.1",
            "0x7f.1",
            "2130706433",
            "[::1]:7410",
            "10.0.0.5",
            "10.0.0.5.",
        ] {
            assert!(host(fixed).is_fixed(), "{fixed}");
        }
        for fixed in ["localhost", "LOCALHOST.:7410", "a.localhost", "a.b.localhost:1"] {
            assert!(host(fixed).is_fixed(), "{fixed}");
        }
        for name in [
            "rebind.example",
            "rebind.example..",
            "127.0.0.1.example",
            "notlocalhost",
            "localhost.example",
            "0xg",
        ] {
            assert!(!host(name).is_fixed(), "{name}");
        }
    }

    #[test]
    fn a_setting_without_a_port_means_all_ports() {
        for (setting, named, is_named) in [
            ("data.example", "data.example:7410", true),
            ("data.example", "DATA.example", true),
            ("data.example:8443", "data.example:8443", true),
            ("data.example:8443", "data.example:7410", false),
            ("data.example:443", "data.example", true),
            ("data.example:8443", "data.example", false),
            ("data.example", "data.example.evil", false),
            ("data.example", "x.data.example", false),
        ] {
            assert_eq!(host(setting).names(&host(named)), is_named, "{setting} {named}");
        }
    }
}
