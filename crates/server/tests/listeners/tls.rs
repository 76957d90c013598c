//! TLS. The certificate in `tls/` is for localhost, signs itself, and is used by nothing else.

use std::io::{Read, Write};
use std::path::Path;
use std::sync::Arc;

use rustls_pki_types::pem::PemObject;
use rustls_pki_types::{CertificateDer, ServerName};
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use tonnage_server::Settings;

use crate::support::Running;

fn settings() -> Settings {
    let folder = Path::new("tests/listeners/tls");
    Settings {
        tls_cert: Some(folder.join("cert.pem")),
        tls_key: Some(folder.join("key.pem")),
        ..Settings::default()
    }
}

#[test]
fn with_a_certificate_a_listener_speaks_tls() {
    let server = Running::with(settings());
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(settings().tls_cert.unwrap()).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let client = ClientConnection::new(Arc::new(config), name).unwrap();
    let socket = std::net::TcpStream::connect(server.addresses.http.unwrap()).unwrap();
    let mut stream = StreamOwned::new(client, socket);
    let request = b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    stream.write_all(request).unwrap();
    let mut answer = [0; 15];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(&answer, b"HTTP/1.1 200 OK");
}

#[test]
fn with_a_certificate_a_listener_speaks_nothing_else() {
    let server = Running::with(settings());
    let mut socket = std::net::TcpStream::connect(server.addresses.http.unwrap()).unwrap();
    socket.write_all(b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n").unwrap();
    let mut answer = Vec::new();
    // The end may come as a reset.
    let _ = socket.read_to_end(&mut answer);
    assert!(!answer.starts_with(b"HTTP"), "{answer:?}");
}

#[test]
fn a_certificate_that_is_none_is_named() {
    let key = settings().tls_key;
    let settings = Settings { tls_cert: key.clone(), tls_key: key, ..Settings::default() };
    let store = tonnage::Store::open("memory:").unwrap();
    let error = tonnage_server::Server::open(store, settings.resolve().unwrap()).unwrap_err();
    // Which of the two files it was, a reader had to guess.
    let told = error.message();
    assert!(
        told.starts_with("--tls-cert ") && told.contains("key.pem: it holds no certificate"),
        "{told}"
    );
    let settings = Settings { tls_key: self::settings().tls_cert, ..self::settings() };
    let store = tonnage::Store::open("memory:").unwrap();
    let error = tonnage_server::Server::open(store, settings.resolve().unwrap()).unwrap_err();
    let told = error.message();
    assert!(told.starts_with("--tls-key ") && told.contains("it holds no private key"), "{told}");
}
