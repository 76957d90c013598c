//! Listeners on Unix sockets.

use std::io::{Read, Write};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::task::{Context, Poll};

use arrow_flight::flight_service_client::FlightServiceClient;
use hyper_util::rt::TokioIo;
use tonic::codegen::http::Uri;
use tonic::transport::Endpoint;
use tonnage::{Result, Store};
use tonnage_server::{Server, Settings, ShutdownHandle};

fn bind(directory: &Path) -> Result<Server> {
    let at = |name| Some(format!("unix:{}", directory.join(name).display()));
    let settings = Settings { http: at("http"), flight: at("flight"), ..Settings::default() };
    Server::open(Store::open("memory:").unwrap(), settings.resolve()?)
}

/// Runs a server while something is done with it.
fn with_server(directory: &Path, act: impl FnOnce()) {
    let server = bind(directory).unwrap();
    let stop = ShutdownHandle::default();
    let stopped = stop.clone();
    let running = std::thread::spawn(move || server.run(&stopped));
    act();
    stop.stop();
    running.join().unwrap().unwrap();
}

fn status(socket: &Path) -> String {
    let mut stream = UnixStream::connect(socket).unwrap();
    stream.write_all(b"GET /v1/tables HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer.lines().next().unwrap_or_default().to_owned()
}

#[test]
fn both_listeners_answer_on_sockets_that_go_with_the_server() {
    let place = tempfile::tempdir().unwrap();
    let http = place.path().join("http");
    with_server(place.path(), || {
        assert_eq!(status(&http), "HTTP/1.1 200 OK");
        let mode = std::fs::metadata(&http).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o660);
        let flight = place.path().join("flight");
        tokio::runtime::Runtime::new().unwrap().block_on(async {
            let connect = Connector(flight);
            let channel = Endpoint::from_static("http://x").connect_with_connector(connect).await;
            let mut client = FlightServiceClient::new(channel.unwrap());
            client.list_flights(arrow_flight::Criteria::default()).await.unwrap();
        });
    });
    assert!(!http.exists());
}

/// Connects to a path, whatever the address says.
struct Connector(PathBuf);

impl tower_service::Service<Uri> for Connector {
    type Response = TokioIo<tokio::net::UnixStream>;
    type Error = std::io::Error;
    type Future = futures::future::BoxFuture<'static, std::io::Result<Self::Response>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<std::io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Uri) -> Self::Future {
        let path = self.0.clone();
        Box::pin(async move { tokio::net::UnixStream::connect(path).await.map(TokioIo::new) })
    }
}

/// A server that was killed leaves its file.
#[test]
fn a_file_that_nobody_listens_on_is_replaced() {
    let place = tempfile::tempdir().unwrap();
    let http = place.path().join("http");
    drop(UnixListener::bind(&http).unwrap());
    assert!(std::fs::metadata(&http).unwrap().file_type().is_socket());
    with_server(place.path(), || assert_eq!(status(&http), "HTTP/1.1 200 OK"));
}

#[test]
fn a_socket_that_somebody_listens_on_and_other_files_are_left_alone() {
    let place = tempfile::tempdir().unwrap();
    let http = place.path().join("http");
    let living = UnixListener::bind(&http).unwrap();
    let refused = bind(place.path()).unwrap_err();
    assert!(refused.message().contains("a server listens there"), "{refused}");
    assert!(UnixStream::connect(&http).is_ok(), "the other still listens");
    drop(living);
    std::fs::remove_file(&http).unwrap();
    std::fs::write(&http, "precious").unwrap();
    let refused = bind(place.path()).unwrap_err();
    assert!(refused.message().contains("not a socket"), "{refused}");
    assert_eq!(std::fs::read(&http).unwrap(), b"precious");
}
