//! Who calls a server, and how to reach it, out of Python's arguments.

use std::path::PathBuf;
use std::time::Duration;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use tonnage_client::{ClientOptions, Credentials};

use crate::read_options::seconds;

/// What the package's `connect` takes for a server.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub(crate) struct ConnectArguments {
    user: Option<String>,
    password: Option<String>,
    token: Option<String>,
    tls_roots: Option<PathBuf>,
    tls_certificate: Option<PathBuf>,
    tls_key: Option<PathBuf>,
    connect_timeout: Option<f64>,
    timeout: Option<f64>,
}

impl ConnectArguments {
    /// # Errors
    /// `ValueError` for arguments that do not go together.
    pub(crate) fn options(self) -> PyResult<ClientOptions> {
        let credentials = match (self.user, self.password, self.token) {
            (None, None, None) => None,
            (None, None, Some(token)) => Some(Credentials::Token(token)),
            (Some(user), Some(password), None) => Some(Credentials::Password { user, password }),
            _ => {
                return Err(PyValueError::new_err("give a user with a password, or a token"));
            }
        };
        let tls_certificate = match (self.tls_certificate, self.tls_key) {
            (None, None) => None,
            (Some(certificate), Some(key)) => Some((certificate, key)),
            _ => return Err(PyValueError::new_err("tls_certificate and tls_key go together")),
        };
        let defaults = ClientOptions::default();
        Ok(ClientOptions {
            credentials,
            tls_ca: self.tls_roots,
            tls_certificate,
            connect_timeout: seconds(self.connect_timeout)?.unwrap_or(defaults.connect_timeout),
            timeout: seconds(self.timeout)?.filter(|timeout| *timeout > Duration::ZERO),
            ..defaults
        })
    }
}
