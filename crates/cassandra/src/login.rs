//! The user and the password of a store. No message repeats the password.

use std::fmt;
use std::fs;
use std::path::PathBuf;

use tonnage_engine::{Error, Result};

const USER: &str = "TONNAGE_CASSANDRA_USER";
const PASSWORD: &str = "TONNAGE_CASSANDRA_PASSWORD";

/// A user of the cluster.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// The name.
    pub user: String,
    /// The password, if the address has it.
    pub password: Option<String>,
    /// The file whose first line is the password (`password_file`).
    pub password_file: Option<PathBuf>,
}

impl Login {
    /// Reads `USER` or `USER:PASSWORD`, in which `%40` means `@`.
    pub(crate) fn parse(text: &str) -> std::result::Result<Self, String> {
        let (user, password) = match text.split_once(':') {
            Some((user, password)) => (user, Some(percent_decoded(password)?)),
            None => (text, None),
        };
        let user = percent_decoded(user)?;
        if user.is_empty() {
            return Err("a user is missing before '@'".to_owned());
        }
        Ok(Self { user, password, password_file: None })
    }

    /// The user that the environment names.
    pub(crate) fn from_environment() -> Option<Self> {
        let user = std::env::var(USER).ok()?;
        Some(Self { user, password: None, password_file: None })
    }

    /// The password: that of the address, of the file, or of the environment.
    ///
    /// # Errors
    /// `Invalid` for a file that cannot be read, or where there is no password.
    pub(crate) fn find_password(&self) -> Result<String> {
        if let Some(file) = &self.password_file {
            let text = fs::read_to_string(file).map_err(|error| {
                Error::invalid(format!("{}: the password cannot be read: {error}", file.display()))
            })?;
            return Ok(text.lines().next().unwrap_or_default().to_owned());
        }
        self.password.clone().or_else(|| std::env::var(PASSWORD).ok()).ok_or_else(|| {
            Error::invalid(format!(
                "user {} has no password: set {PASSWORD}, or add password_file=FILE to the address",
                self.user
            ))
        })
    }

    /// Whether a '?' in a password cuts an address: the text before it has no '@', and no port
    /// after its ':'.
    pub(crate) fn is_cut(place: &str, query: &str) -> bool {
        let Some((user, rest)) = place.split_once(':') else { return false };
        let port = &rest[..rest.find([',', '/']).unwrap_or(rest.len())];
        let is_port = user.contains('[') || port.bytes().all(|byte| byte.is_ascii_digit());
        let is_place = place.contains('/') && is_port;
        !place.contains('@') && query.contains('@') && !is_place
    }

    /// An address without its password.
    pub(crate) fn hidden_in(url: &str) -> String {
        let start = url.find("://").map_or(0, |place| place + 3);
        let (place, query) = url[start..].split_once('?').unwrap_or((&url[start..], ""));
        let end = if Self::is_cut(place, query) { url.len() } else { start + place.len() };
        let Some(at) = url[start..end].rfind('@').map(|place| start + place) else {
            return url.to_owned();
        };
        match url[start..at].find(':') {
            Some(colon) => format!("{}:***{}", &url[..start + colon], &url[at..]),
            None => url.to_owned(),
        }
    }
}

impl fmt::Debug for Login {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A text in which `%41` means the byte 0x41.
pub(crate) fn percent_decoded(text: &str) -> std::result::Result<String, String> {
    let wrong = || "a '%' needs two hexadecimal digits after it, '%25' for itself".to_owned();
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        if byte != b'%' {
            bytes.push(byte);
            continue;
        }
        let mut digit = || rest.next().and_then(|digit| char::from(digit).to_digit(16));
        let (Some(high), Some(low)) = (digit(), digit()) else { return Err(wrong()) };
        bytes.push((high * 16 + low) as u8);
    }
    String::from_utf8(bytes).map_err(|_| wrong())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_password_comes_from_the_first_line_of_its_file() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), "top secret\n").unwrap();
        let mut login = Login::parse("me").unwrap();
        login.password_file = Some(file.path().to_owned());
        assert_eq!(login.find_password().unwrap(), "top secret");
        login.password_file = Some("/no/such/file".into());
        let error = login.find_password().unwrap_err();
        assert!(error.message().contains("/no/such/file"), "{error}");
    }

    /// The story of a bug: the '?' was taken for the end of the place, which had no '@'. So errors
    /// showed the password of such an address.
    #[test]
    fn a_password_with_a_question_mark_is_not_shown_either() {
        for password in ["se?cret", "?secret", "se/k?cret", "12?se?cr@et"] {
            let shown = Login::hidden_in(&format!("cassandra://me:{password}@a,b/k?x=1"));
            assert_eq!(shown, "cassandra://me:***@a,b/k?x=1");
        }
    }

    #[test]
    fn no_password_is_shown() {
        let login = Login::parse("me:secret").unwrap();
        assert!(!format!("{login:?}").contains("secret"));
        let shown = Login::hidden_in("cassandra://me:sec@ret@a,b/k?x=a@b");
        assert_eq!(shown, "cassandra://me:***@a,b/k?x=a@b");
        assert_eq!(Login::hidden_in("cassandra://a,b/k"), "cassandra://a,b/k");
        let places = ["a,b/k", "a:9043,b/k", "[::1]:9043/k"];
        for url in places.map(|place| format!("cassandra://{place}?x=a@b")) {
            assert_eq!(Login::hidden_in(&url), url);
        }
    }
}
