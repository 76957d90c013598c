//! The TLS acceptor. Its certificates can be replaced while the server runs.

use std::sync::RwLock;

use tokio_rustls::TlsAcceptor;
use tonnage::Result;
use tonnage::internal::sync::{read, write};

use crate::config::Config;
use crate::listen::acceptor;

/// What connections are secured with from now on.
pub(crate) struct Tls(RwLock<TlsAcceptor>);

impl Tls {
    /// Reads the certificates; nothing where there are none.
    ///
    /// # Errors
    /// `Invalid` for files that cannot be used.
    pub(crate) fn read(config: &Config) -> Result<Option<Tls>> {
        Ok(read_acceptor(config)?.map(|acceptor| Tls(RwLock::new(acceptor))))
    }

    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        read(&self.0).clone()
    }

    /// Secures connections with this one from now on.
    pub(crate) fn replace(&self, acceptor: TlsAcceptor) {
        *write(&self.0) = acceptor;
    }
}

/// Reads certificate and key, and whose certificates clients may show.
///
/// # Errors
/// As [`Tls::read`].
pub(crate) fn read_acceptor(config: &Config) -> Result<Option<TlsAcceptor>> {
    let clients = config.client_certificates.as_ref();
    let clients = clients.map(|(file, is_required)| (file.as_path(), *is_required));
    config.tls.as_ref().map(|(cert, key)| acceptor(cert, key, clients)).transpose()
}
