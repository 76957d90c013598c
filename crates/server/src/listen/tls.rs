//! TLS for all listeners: rustls with ring, TLS 1.2 and 1.3, with client certificates if
//! configured.

use std::path::Path;
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tonnage::{Error, Result};

/// Reads certificate and key.
///
/// # Errors
/// `Invalid` for a file that cannot be read, holds no certificate or key, or when the two do not
/// belong together.
pub(crate) fn acceptor(
    cert: &Path,
    key: &Path,
    clients: Option<(&Path, bool)>,
) -> Result<TlsAcceptor> {
    let chain = certificates(cert)?;
    let provider = Arc::new(ring::default_provider());
    let verifier = match clients {
        None => WebPkiClientVerifier::no_client_auth(),
        Some((authority, is_required)) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(authority)? {
                roots.add(certificate).map_err(|error| invalid(authority, &error))?;
            }
            let builder =
                WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone());
            // Optional means that a client may show none. One that is shown is verified either way.
            let builder = if is_required { builder } else { builder.allow_unauthenticated() };
            builder.build().map_err(|error| invalid(authority, &error))?
        }
    };
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| invalid(key, &error))?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder.with_client_cert_verifier(verifier).with_single_cert(chain, private)
        })
        .map_err(|error| invalid(cert, &error))?;
    // Clients of gRPC insist on h2 here; without ALPN they hang up.
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let chain = CertificateDer::pem_file_iter(file)
        .and_then(|chain| chain.collect::<std::result::Result<Vec<_>, _>>())
        .map_err(|error| invalid(file, &error))?;
    if chain.is_empty() {
        return Err(invalid(file, &"it holds no certificate"));
    }
    Ok(chain)
}

fn invalid(file: &Path, what: &dyn std::fmt::Display) -> Error {
    Error::invalid(format!("{}: {what}", file.display()))
}
