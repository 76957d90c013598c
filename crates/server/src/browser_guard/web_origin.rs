//! The origin of the page that makes a browser call.

use super::host_name::HostName;

/// Scheme, host and port of a page.
#[derive(Clone, Debug)]
pub(super) struct WebOrigin {
    pub(super) is_secure: bool,
    host: HostName,
}

impl WebOrigin {
    /// Reads the header `Origin`. Nothing for `null` and for what is not a page of a web server,
    /// such as an extension of a browser.
    pub(super) fn parse(text: &str) -> Option<WebOrigin> {
        let (scheme, host) = text.split_once("://")?;
        let is_secure = match scheme.to_ascii_lowercase().as_str() {
            "http" => false,
            "https" => true,
            _ => return None,
        };
        Some(WebOrigin { is_secure, host: host.parse().ok()? })
    }

    /// Whether its pages come from this host. A port that is not written is that of the scheme.
    pub(super) fn is_at(&self, host: &HostName) -> bool {
        let default = if self.is_secure { 443 } else { 80 };
        self.host.has_name_of(host) && self.host.port_or(default) == host.port_or(default)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_at(origin: &str, host: &str) -> bool {
        let origin = WebOrigin::parse(origin);
        origin.is_some_and(|origin| origin.is_at(&host.parse().unwrap()))
    }

    #[test]
    fn host_and_port_are_compared() {
        for (origin, host) in [
            ("http://127.0.0.1:7410", "127.0.0.1:7410"),
            ("HTTP://LocalHost:7410", "localhost.:7410"),
            ("http://[::1]:7410", "[0::1]:7410"),
            ("http://data.example", "data.example"),
            ("http://data.example:80", "data.example"),
            ("https://data.example", "data.example:443"),
        ] {
            assert!(is_at(origin, host), "{origin} {host}");
        }
        for (origin, host) in [
            ("http://127.0.0.1:3000", "127.0.0.1:7410"),
            ("http://localhost:7410", "127.0.0.1:7410"),
            ("https://data.example", "data.example:80"),
            ("http://data.example.evil", "data.example"),
            ("chrome-extension://data.example", "data.example"),
            ("http://data.example/", "data.example"),
            ("http://ann@data.example", "data.example"),
            ("null", "null"),
            ("", "data.example"),
        ] {
            assert!(!is_at(origin, host), "{origin} {host}");
        }
    }
}
