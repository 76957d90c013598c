//! Options of a connection.

use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use tonnage::Cancel;

/// How to connect. The defaults are good without users and TLS.
#[derive(Clone, Debug)]
pub struct ClientOptions {
    /// The caller; anonymous, unless it is given.
    pub credentials: Option<Credentials>,
    /// Certificates that the server's certificate is checked against (PEM). Default: those of the
    /// system.
    pub tls_ca: Option<PathBuf>,
    /// The client's own certificate and its key (PEM), for servers that ask for one.
    pub tls_certificate: Option<(PathBuf, PathBuf)>,
    /// The longest that connecting may take.
    pub connect_timeout: Duration,
    /// The longest that a call may take, from its beginning to its last row. A bulk put has a
    /// time-out of its own beside it.
    pub timeout: Option<Duration>,
    /// Calls off what runs, and what begins later.
    pub cancel: Cancel,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            credentials: None,
            tls_ca: None,
            tls_certificate: None,
            connect_timeout: Duration::from_secs(10),
            timeout: None,
            cancel: Cancel::default(),
        }
    }
}

/// Who the caller is.
#[derive(Clone)]
pub enum Credentials {
    /// A user with a password.
    Password {
        /// The user's name.
        user: String,
        /// The password.
        password: String,
    },
    /// A token.
    Token(String),
}

impl Credentials {
    /// The value of the header `authorization`.
    pub(crate) fn header(&self) -> String {
        match self {
            Credentials::Password { user, password } => {
                format!("Basic {}", BASE64_STANDARD.encode(format!("{user}:{password}")))
            }
            Credentials::Token(token) => format!("Bearer {token}"),
        }
    }
}

/// Secrets are not shown.
impl fmt::Debug for Credentials {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Credentials::Password { user, .. } => write!(f, "Password({user})"),
            Credentials::Token(_) => f.write_str("Token"),
        }
    }
}
