//! Encrypted connections to the nodes, whose certificates are always checked.
//!
//! Nodes are connected to by their addresses, so their certificates must name these.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonnage_engine::{Error, Result};

/// Where systems keep the certificates that they trust.
const SYSTEM_CERTIFICATES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// The files that connections are encrypted with, all of them PEM.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TlsFiles {
    /// The certificates that sign those of the nodes (`ca`); those of the system without it.
    pub ca: Option<PathBuf>,
    /// The certificate of this client (`cert`), where the nodes ask for one.
    pub certificate: Option<PathBuf>,
    /// Its private key (`key`).
    pub key: Option<PathBuf>,
}

impl TlsFiles {
    /// Reads the files.
    ///
    /// # Errors
    /// `Invalid` for a file that cannot be read, or holds no certificate or key.
    pub(crate) fn read(&self) -> Result<Arc<ClientConfig>> {
        let mut roots = RootCertStore::empty();
        match &self.ca {
            Some(file) => {
                for certificate in certificates(file)? {
                    roots.add(certificate).map_err(|error| invalid(file, &error))?;
                }
            }
            // A system's list may hold certificates that are refused; the others count.
            None => {
                roots.add_parsable_certificates(certificates(&system_certificates()?)?);
            }
        }
        // The driver brings a second provider of cryptography, so none is the default.
        let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
            .with_safe_default_protocol_versions()
            .map_err(|error| Error::internal(format!("TLS: {error}")))?
            .with_root_certificates(roots);
        let config = match (&self.certificate, &self.key) {
            (Some(certificate), Some(key)) => {
                let private =
                    PrivateKeyDer::from_pem_file(key).map_err(|error| invalid(key, &error))?;
                builder
                    .with_client_auth_cert(certificates(certificate)?, private)
                    .map_err(|error| invalid(certificate, &error))?
            }
            _ => builder.with_no_client_auth(),
        };
        Ok(Arc::new(config))
    }
}

fn system_certificates() -> Result<PathBuf> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let known = SYSTEM_CERTIFICATES.iter().map(PathBuf::from);
    named.into_iter().chain(known).find(|file| file.is_file()).ok_or_else(|| {
        Error::invalid(
            "the system's certificates are in none of the usual places: add ca=FILE to the address, or set SSL_CERT_FILE",
        )
    })
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let chain = CertificateDer::pem_file_iter(file)
        .and_then(|chain| chain.collect::<std::result::Result<Vec<_>, _>>())
        .map_err(|error| invalid(file, &error))?;
    match chain.is_empty() {
        true => Err(invalid(file, &"it holds no certificate")),
        false => Ok(chain),
    }
}

fn invalid(file: &Path, what: &dyn std::fmt::Display) -> Error {
    Error::invalid(format!("{}: {what}: give a PEM file", file.display()))
}
