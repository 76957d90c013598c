//! Clients that die, cancel, or are cut off in the middle of a put: no answer ever says that their
//! stream completed. (tonic reports a cancelled upload as a normal end.)

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::process::Stdio;
use std::time::Duration;

use arrow_flight::FlightData;
use arrow_flight::flight_service_client::FlightServiceClient;
use bytes::Bytes;
use futures::StreamExt;
use h2::Reason;
use prost::Message;
use serde_json::json;
use tonic::codegen::http;
use tonic::transport::Channel;
use tonnage_testkit::again;

use crate::support::{Running, command, messages, path, ships};

/// Tells the test that is run again as a child where the server is.
const CHILD: &str = "TONNAGE_TEST_FLIGHT";

fn assert_abandoned(server: &Running) {
    let jobs = server.ended_jobs(1);
    assert_eq!(jobs[0]["state"], "abandoned", "{jobs:?}");
    assert_eq!(jobs[0]["report"]["streams"][0]["completed"], false);
}

/// Begins a put and tells once the server has taken it.
async fn begin(
    flight: &mut FlightServiceClient<Channel>,
) -> tonic::Streaming<arrow_flight::PutResult> {
    let sent = futures::stream::iter(messages(path(), vec![ships(0..10)]));
    let mut answers =
        flight.do_put(sent.chain(futures::stream::pending())).await.unwrap().into_inner();
    answers.message().await.unwrap().unwrap();
    answers
}

/// A message as gRPC frames it.
fn framed(message: &FlightData) -> Bytes {
    let body = message.encode_to_vec();
    let length = u32::try_from(body.len()).unwrap().to_be_bytes();
    [&[0][..], &length, &body].concat().into()
}

/// A deadline that passes, a cancel and a proxy whose client is gone all end the stream so.
#[test]
fn a_put_whose_stream_is_reset_is_abandoned() {
    for reason in [Reason::CANCEL, Reason::NO_ERROR, Reason::INTERNAL_ERROR] {
        let server = Running::new();
        let runtime = tokio::runtime::Runtime::new().unwrap();
        runtime.block_on(async {
            let socket = tokio::net::TcpStream::connect(server.flight_address()).await.unwrap();
            let (mut client, connection) = h2::client::handshake(socket).await.unwrap();
            tokio::spawn(connection);
            let request = http::Request::post("http://x/arrow.flight.protocol.FlightService/DoPut")
                .header("content-type", "application/grpc")
                .header("te", "trailers")
                .body(())
                .unwrap();
            let (answer, mut stream) = client.send_request(request, false).unwrap();
            for message in messages(path(), vec![ships(0..10)]) {
                stream.send_data(framed(&message), false).unwrap();
            }
            let mut said = answer.await.unwrap().into_body();
            said.data().await.unwrap().unwrap();
            stream.send_reset(reason);
            tokio::time::sleep(Duration::from_millis(200)).await;
        });
        assert_abandoned(&server);
    }
}

/// hyper reports a body whose stream was reset with NO_ERROR like one that ended. Once the half of
/// a value that had come was stored as the value, and the half of a file was loaded and reported as
/// complete.
#[test]
fn a_body_over_http_whose_stream_is_reset_stores_nothing() {
    let server = Running::new();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    let calls = [
        ("PUT", "/v1/pairs/five", "half of the value"),
        ("POST", "/v1/tables/ships/rows", "id,name\n1,a\n2,b\n"),
        ("POST", "/v1/sql", r#"{"sql": "INSERT INTO ships VALUES (3, 'c')"}"#),
    ];
    for reason in [Reason::NO_ERROR, Reason::CANCEL] {
        for (method, path, part) in calls {
            runtime.block_on(async {
                let address = server.addresses.http.unwrap();
                let socket = tokio::net::TcpStream::connect(address).await.unwrap();
                let (mut client, connection) = h2::client::handshake(socket).await.unwrap();
                tokio::spawn(connection);
                let request =
                    http::Request::builder().method(method).uri(format!("http://localhost{path}"));
                let (_answer, mut stream) =
                    client.send_request(request.body(()).unwrap(), false).unwrap();
                stream.send_data(part.into(), false).unwrap();
                tokio::time::sleep(Duration::from_millis(100)).await;
                stream.send_reset(reason);
                tokio::time::sleep(Duration::from_millis(300)).await;
            });
        }
    }
    let stored = server.store.kv().get(&tonnage::Key::of_major([b"five".to_vec()])).unwrap();
    assert_eq!((stored.is_none(), server.rows()), (true, 0));
}

/// The child of the next test: it begins a put and waits to be killed.
#[test]
fn child_that_is_killed() {
    let Ok(address) = std::env::var(CHILD) else { return };
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let channel = Channel::from_shared(address).unwrap().connect().await.unwrap();
        let mut flight = FlightServiceClient::new(channel);
        let _answers = begin(&mut flight).await;
        println!("begun");
        std::io::stdout().flush().unwrap();
        futures::future::pending::<()>().await;
    });
}

#[test]
fn a_put_whose_client_is_killed_is_abandoned() {
    let server = Running::new();
    let mut child = again("torn::child_that_is_killed")
        .env(CHILD, format!("http://{}", server.flight_address()))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut out = child.stdout.take().unwrap();
    let (mut said, mut part) = (String::new(), [0; 256]);
    while !said.contains("begun") {
        let read = out.read(&mut part).unwrap();
        assert_ne!(read, 0, "the child ended: {said}");
        said.push_str(&String::from_utf8_lossy(&part[..read]));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert_abandoned(&server);
}

/// Passes bytes on between a client and the server, until it is cut.
struct Proxy {
    address: SocketAddr,
    sockets: std::sync::mpsc::Receiver<[TcpStream; 2]>,
}

impl Proxy {
    fn to(server: SocketAddr) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let (sender, sockets) = std::sync::mpsc::channel();
        std::thread::spawn(move || {
            let (client, _) = listener.accept().unwrap();
            let server = TcpStream::connect(server).unwrap();
            sender.send([client.try_clone().unwrap(), server.try_clone().unwrap()]).unwrap();
            let pass = |mut from: TcpStream, mut to: TcpStream| {
                std::thread::spawn(move || std::io::copy(&mut from, &mut to))
            };
            pass(client.try_clone().unwrap(), server.try_clone().unwrap());
            pass(server, client);
        });
        Self { address, sockets }
    }

    fn cut(&self, how: Shutdown) {
        let [client, server] = self.sockets.recv().unwrap();
        server.shutdown(how).unwrap();
        client.shutdown(Shutdown::Both).unwrap();
    }
}

#[test]
fn a_put_whose_socket_is_cut_or_half_closed_is_abandoned() {
    for how in [Shutdown::Both, Shutdown::Write] {
        let server = Running::new();
        let proxy = Proxy::to(server.flight_address());
        let client = server.client();
        let _answers = client.runtime.block_on(async {
            let address = format!("http://{}", proxy.address);
            let channel = Channel::from_shared(address).unwrap().connect().await.unwrap();
            begin(&mut FlightServiceClient::new(channel)).await
        });
        proxy.cut(how);
        assert_abandoned(&server);
    }
}

/// pyarrow closes its stream politely when the program dies of an exception.
#[test]
fn a_stream_that_is_closed_politely_without_its_marker_fails() {
    let server = Running::new();
    let put = command(json!({"bulk_put": {"table": "ships"}}));
    let (said, status) = server.client().put(messages(put, vec![ships(0..10)]));
    assert!(status.unwrap().message().contains("end marker"));
    assert_eq!(crate::support::told(&said, "completed"), None);
    let jobs = server.ended_jobs(1);
    assert_eq!(jobs[0]["state"], "stopped");
    assert_eq!(jobs[0]["report"]["streams"][0]["completed"], false);
    assert_eq!(server.rows(), 10, "what came is stored");
}
