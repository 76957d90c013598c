//! Connecting: addresses, TLS, and who calls.

use std::io::Write as _;
use std::net::TcpListener;
use std::time::{Duration, Instant};

use tonnage::{ErrorKind, Key, Row, RowOperation, WriteOptions};
use tonnage_client::{ClientOptions, Credentials, RemoteStore};
use tonnage_server::{Settings, hash_password};

use crate::support::{Running, tls_file};

fn with_tls(address: &str) -> Running {
    Running::with(Settings {
        flight: Some(address.to_owned()),
        tls_cert: Some(tls_file("cert.pem")),
        tls_key: Some(tls_file("key.pem")),
        ..Settings::default()
    })
}

fn trusting() -> ClientOptions {
    ClientOptions { tls_ca: Some(tls_file("cert.pem")), ..ClientOptions::default() }
}

fn password(user: &str, password: &str) -> ClientOptions {
    let credentials =
        Credentials::Password { user: user.to_owned(), password: password.to_owned() };
    ClientOptions { credentials: Some(credentials), ..ClientOptions::default() }
}

/// SHA-256 of `token`.
const TOKEN: &str = "3c469e9d6c5875d37a43f353d4f88e61fcf812c66eee3457465a40b0da4153e0";

/// A server with users; the file lives as long as it does.
fn with_users() -> (Running, tempfile::TempPath) {
    let hash = hash_password("pass:word").unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    write!(
        file,
        "[[user]]\nname = \"ann\"\npassword = \"{hash}\"\n\
         grants = [{{ table = \"ships\", allow = [\"read\"] }}]\n\
         [[user]]\nname = \"root\"\ntokens = [\"{TOKEN}\"]\nroles = [\"admin\"]\n"
    )
    .unwrap();
    let path = file.into_temp_path();
    (Running::with(Settings { users: Some(path.to_path_buf()), ..Settings::default() }), path)
}

#[test]
fn a_write_needs_the_rights_of_what_it_does() {
    let (server, _users) = with_users();
    let client = RemoteStore::connect(&server.address(), password("ann", "pass:word")).unwrap();
    let row = || Row::new().with("id", 1_i64);
    for operation in [RowOperation::put("ships", row()), RowOperation::delete("ships", row())] {
        let error = client.atomic_write(&[operation], &WriteOptions::default()).unwrap_err();
        assert!(error.message().contains("may not"), "{error}");
    }
    let key = Key::of_major(["a"]);
    assert!(client.kv().get(&key).is_err());
    assert!(client.kv().put(&key, b"v", &WriteOptions::default()).is_err());
    assert_eq!((server.ships(), server.store.kv().count().unwrap()), (0, 0));
}

#[test]
fn the_tables_of_a_server_are_told() {
    let server = Running::new();
    server.store.execute("CREATE TABLE ships.calls (port LONG, PRIMARY KEY (port))").unwrap();
    let mut tables = server.client().table_paths().unwrap();
    tables.sort();
    assert_eq!(tables, ["ships", "ships.calls"]);
}

#[test]
fn nobody_at_the_address_is_unavailable_and_named() {
    let address = "grpc://127.0.0.1:1";
    let error = RemoteStore::connect(address, ClientOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains(address), "{error}");
}

#[test]
fn a_server_that_takes_the_connection_and_says_nothing_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("grpc://{}", silent.local_addr().unwrap());
    let options =
        ClientOptions { connect_timeout: Duration::from_millis(300), ..ClientOptions::default() };
    let started = Instant::now();
    let error = RemoteStore::connect(&address, options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::TimedOut, "{error}");
    assert!(started.elapsed() < Duration::from_secs(30));
}

#[test]
fn tls_is_checked_against_the_certificates_that_are_named() {
    let server = with_tls("127.0.0.1:0");
    let address = format!("grpc+tls://localhost:{}", server.port);
    let client = RemoteStore::connect(&address, trusting()).unwrap();
    assert_eq!(client.table_paths().unwrap(), ["ships"]);
}

#[test]
fn a_certificate_for_another_address_is_refused() {
    let server = with_tls("127.0.0.2:0");
    let address = format!("grpc+tls://127.0.0.2:{}", server.port);
    let error = RemoteStore::connect(&address, trusting()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains("certificate"), "{error}");
}

#[test]
fn a_client_without_tls_gets_nothing_from_a_server_with_it() {
    let server = with_tls("127.0.0.1:0");
    let error = RemoteStore::connect(&server.address(), ClientOptions::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

#[test]
fn a_server_that_asks_for_a_certificate_gets_the_client_s() {
    let server = Running::with(Settings {
        tls_cert: Some(tls_file("cert.pem")),
        tls_key: Some(tls_file("key.pem")),
        tls_client_ca: Some(tls_file("cert.pem")),
        tls_client_auth: Some("required".into()),
        ..Settings::default()
    });
    let address = format!("grpc+tls://localhost:{}", server.port);
    let error = RemoteStore::connect(&address, trusting()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
    let tls_certificate = Some((tls_file("cert.pem"), tls_file("key.pem")));
    let options = ClientOptions { tls_certificate, ..trusting() };
    let client = RemoteStore::connect(&address, options).unwrap();
    assert_eq!(client.table_paths().unwrap(), ["ships"]);
}

#[test]
fn a_wrong_password_is_heard_of_at_once() {
    let (server, _users) = with_users();
    for options in [password("ann", "word"), password("bob", "pass:word"), ClientOptions::default()]
    {
        let error = RemoteStore::connect(&server.address(), options).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
        assert!(error.message().contains("password"), "{error}");
    }
}

#[test]
fn a_user_may_do_what_is_granted() {
    let (server, _users) = with_users();
    let ann = RemoteStore::connect(&server.address(), password("ann", "pass:word")).unwrap();
    assert_eq!(ann.table("ships").unwrap().count().unwrap(), 0);
    let error = ann.sql("INSERT INTO ships VALUES (1, 'a')").unwrap_err();
    assert!(error.message().contains("may not insert"), "{error}");
}

#[test]
fn a_token_stands_for_its_user() {
    let (server, _users) = with_users();
    let credentials = Some(Credentials::Token("token".into()));
    let options = ClientOptions { credentials, ..ClientOptions::default() };
    let root = RemoteStore::connect(&server.address(), options).unwrap();
    root.execute("CREATE TABLE t (k LONG, PRIMARY KEY (k))").unwrap();
    assert!(server.store.table("t").is_ok());
}
