//! TLS for all listeners: rustls with ring, TLS 1.2 and 1.3, with client certificates if
//! configured.

use std::path::Path;
use std::sync::Arc;

use rustls_pki_types::pem::{self, PemObject};
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::server::WebPkiClientVerifier;
use tokio_rustls::rustls::{RootCertStore, ServerConfig};
use tonnage::{Error, Result};

/// The option with the authorities of clients.
const CLIENT_CA: &str = "--tls-client-ca";

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
    let chain = certificates("--tls-cert", cert)?;
    let provider = Arc::new(ring::default_provider());
    let verifier = match clients {
        None => WebPkiClientVerifier::no_client_auth(),
        Some((authority, is_required)) => {
            let mut roots = RootCertStore::empty();
            for certificate in certificates(CLIENT_CA, authority)? {
                roots.add(certificate).map_err(|error| invalid(CLIENT_CA, authority, &error))?;
            }
            let builder =
                WebPkiClientVerifier::builder_with_provider(roots.into(), provider.clone());
            // Optional means that a client may show none. One that is shown is verified either way.
            let builder = if is_required { builder } else { builder.allow_unauthenticated() };
            builder.build().map_err(|error| invalid(CLIENT_CA, authority, &error))?
        }
    };
    let private = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| invalid("--tls-key", key, &pem_words(&error)))?;
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| {
            builder.with_client_cert_verifier(verifier).with_single_cert(chain, private)
        })
        .map_err(|error| {
            let key = key.display();
            let remedy = format!("{error}: give the certificate of the key in --tls-key, {key}");
            invalid("--tls-cert", cert, &remedy)
        })?;
    // Clients of gRPC insist on h2 here; without ALPN they hang up.
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}

fn certificates(option: &str, file: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let chain = CertificateDer::pem_file_iter(file)
        .and_then(|chain| chain.collect::<std::result::Result<Vec<_>, _>>())
        .map_err(|error| invalid(option, file, &pem_words(&error)))?;
    if chain.is_empty() {
        let remedy = "it holds no certificate: give a PEM file with -----BEGIN CERTIFICATE-----";
        return Err(invalid(option, file, &remedy));
    }
    Ok(chain)
}

/// What the reader of PEM files found, without its own words for what it looked for.
fn pem_words(error: &pem::Error) -> String {
    match error {
        pem::Error::NoItemsFound => {
            "it holds no private key: give a PEM file with -----BEGIN PRIVATE KEY-----".to_owned()
        }
        pem::Error::Io(error) => format!("cannot be read: {error}"),
        pem::Error::MissingSectionEnd { .. } => {
            "it is cut off: a section has no END line".to_owned()
        }
        pem::Error::IllegalSectionStart { .. } => "it is not a PEM file".to_owned(),
        error => format!("it is not a PEM file: {error}"),
    }
}

fn invalid(option: &str, file: &Path, what: &dyn std::fmt::Display) -> Error {
    Error::invalid(format!("{option} {}: {what}", file.display()))
}
