//! The health service of gRPC, as a probe calls it.

use bytes::Bytes;
use tonic::codegen::http;
use tonnage_server::Settings;
use tonnage_testkit::wait_until;

use crate::support::Running;

/// The body of an answer, and the status in its headers or trailers.
fn check(server: &Running, service: &str) -> (Vec<u8>, String) {
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let socket = tokio::net::TcpStream::connect(server.flight_address()).await.unwrap();
        let (mut client, connection) = h2::client::handshake(socket).await.unwrap();
        tokio::spawn(connection);
        let request = http::Request::post("http://x/grpc.health.v1.Health/Check")
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(())
            .unwrap();
        let (answer, mut stream) = client.send_request(request, false).unwrap();
        let mut message = Vec::new();
        if !service.is_empty() {
            message = [&[10, service.len() as u8], service.as_bytes()].concat();
        }
        let frame = [&[0, 0, 0, 0, message.len() as u8], message.as_slice()].concat();
        stream.send_data(Bytes::from(frame), true).unwrap();
        let answer = answer.await.unwrap();
        let head = answer.headers().get("grpc-status").cloned();
        let mut body = answer.into_body();
        let mut bytes = Vec::new();
        while let Some(data) = body.data().await {
            bytes.extend_from_slice(&data.unwrap());
        }
        let trailers = body.trailers().await.unwrap();
        let tail = trailers.and_then(|trailers| trailers.get("grpc-status").cloned());
        let status = head.or(tail).expect("a status");
        (bytes, status.to_str().unwrap().to_owned())
    })
}

#[test]
fn a_server_that_takes_calls_is_serving() {
    let server = Running::new();
    let serving = (vec![0, 0, 0, 0, 2, 8, 1], "0".to_owned());
    assert_eq!(check(&server, ""), serving);
    assert_eq!(check(&server, "arrow.flight.protocol.FlightService"), serving);
    assert_eq!(check(&server, "another.Service"), (Vec::new(), "5".to_owned()));
}

#[test]
fn a_server_that_shuts_down_is_not_serving_while_it_still_takes_calls() {
    let settings = Settings { drain_wait: Some("12s".into()), ..Settings::default() };
    let server = Running::with(settings);
    server.stop();
    wait_until("it is not serving", || check(&server, "").0 == [0, 0, 0, 0, 2, 8, 2]);
}
