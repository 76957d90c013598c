//! TLS for both doors: rustls with ring, TLS 1.2 and 1.3.

use std::path::Path;
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tonnage::{Error, Result};

/// Reads certificate and key.
///
/// # Errors
/// `Invalid` for a file that cannot be read, holds no certificate or key, or when the two do not
/// belong together.
pub(crate) fn acceptor(cert: &Path, key: &Path) -> Result<TlsAcceptor> {
    let chain = CertificateDer::pem_file_iter(cert)
        .and_then(|chain| chain.collect::<std::result::Result<Vec<_>, _>>())
        .map_err(|error| invalid(cert, &error))?;
    if chain.is_empty() {
        return Err(invalid(cert, &"it holds no certificate"));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| invalid(key, &error))?;
    let mut config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, private))
        .map_err(|error| invalid(cert, &error))?;
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn invalid(file: &Path, what: &dyn std::fmt::Display) -> Error {
    Error::invalid(format!("{}: {what}", file.display()))
}
