//! TLS. The client always checks the server's certificate.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tonnage::{Error, Result};

use crate::options::ClientOptions;

/// Where systems keep the certificates that they trust.
const SYSTEM_CERTIFICATES: [&str; 4] = [
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/tls/certs/ca-bundle.crt",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
];

/// Reads the certificates that the options name.
///
/// # Errors
/// `Invalid` for a file that cannot be read, or holds no certificate or key.
pub(crate) fn connector(options: &ClientOptions) -> Result<TlsConnector> {
    let mut roots = RootCertStore::empty();
    match &options.tls_ca {
        Some(file) => {
            for certificate in certificates(file)? {
                roots.add(certificate).map_err(|error| invalid(file, &error))?;
            }
        }
        // A system's list may hold certificates that rustls refuses; the others count.
        None => {
            roots.add_parsable_certificates(certificates(&system_certificates()?)?);
        }
    }
    // Named, since rustls cannot choose: the driver for Cassandra brings a second provider along.
    let builder = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::internal(format!("TLS: {error}")))?
        .with_root_certificates(roots);
    let mut config = match &options.tls_certificate {
        None => builder.with_no_client_auth(),
        Some((certificate, key)) => {
            let private =
                PrivateKeyDer::from_pem_file(key).map_err(|error| invalid(key, &error))?;
            builder
                .with_client_auth_cert(certificates(certificate)?, private)
                .map_err(|error| invalid(certificate, &error))?
        }
    };
    // gRPC needs HTTP/2, which peers agree on within TLS.
    config.alpn_protocols = vec![b"h2".to_vec()];
    Ok(TlsConnector::from(Arc::new(config)))
}

fn system_certificates() -> Result<PathBuf> {
    let named = std::env::var_os("SSL_CERT_FILE").map(PathBuf::from);
    let known = SYSTEM_CERTIFICATES.iter().map(PathBuf::from);
    named.into_iter().chain(known).find(|file| file.is_file()).ok_or_else(|| {
        Error::invalid(
            "the system's certificates are in none of the usual places: name a file with tls_ca, \
             or with SSL_CERT_FILE",
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
    Error::invalid(format!("{}: {what}", file.display()))
}
