//! What a browser sends for a page of another origin, or to a name that was rebound to this
//! machine, is refused before anybody is logged in. Programs notice nothing of it.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};

use tonic::codegen::http;
use tonic::{Code, Request};
use tonnage_server::Settings;

use crate::guarded::{BASIC, Guarded};
use crate::support::Running;

/// A target, the headers of a request, and the status of its answer.
type Case<'a> = (&'a str, &'a [(&'a str, &'a str)], u16);

/// A simple request carries such a body without a question before it.
const SELECT: &str = r#"{"sql": "SELECT 1"}"#;

/// The status of a request with these lines after its first, and the whole answer.
fn ask(address: SocketAddr, request: &str, headers: &str, body: &str) -> (u16, String) {
    let mut socket = TcpStream::connect(address).unwrap();
    let length = body.len();
    let text = format!(
        "{request} HTTP/1.1\r\nConnection: close\r\nContent-Length: {length}\r\n{headers}\r\n{body}"
    );
    socket.write_all(text.as_bytes()).unwrap();
    let mut answer = String::new();
    socket.read_to_string(&mut answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default();
    (status, answer)
}

fn named(names: &[&str]) -> Settings {
    let names = names.iter().map(|name| (*name).to_owned()).collect();
    Settings { http_hosts: Some(names), ..Settings::default() }
}

/// What browsers tell of a request that a page of another origin makes.
fn foreign_headers(host: &str) -> Vec<String> {
    let port = host.rsplit(':').next().unwrap();
    let mut told: Vec<String> = [
        "Sec-Fetch-Site: cross-site",
        "Sec-Fetch-Site: same-site",
        "Sec-Fetch-Site: same-origin\r\nSec-Fetch-Site: cross-site",
        "Origin: null",
        "Origin: https://evil.example",
        "Origin: http://127.0.0.1:3000",
        "Origin: chrome-extension://abcdef",
        "Origin: ",
    ]
    .map(str::to_owned)
    .into();
    // The right port of another host, and a right origin beside a wrong one.
    told.push(format!("Origin: http://evil.example:{port}"));
    told.push(format!("Origin: http://{host}.evil.example"));
    told.push(format!("Origin: http://{host}\r\nOrigin: https://evil.example"));
    told.push(format!("Origin: http://{host}\r\nSec-Fetch-Site: cross-site"));
    told
}

/// A statement of such a page was carried out.
#[test]
fn a_page_of_another_origin_may_not_call() {
    let server = Running::new();
    let address = server.addresses.http.unwrap();
    let host = address.to_string();
    let wanted = "GET /v1/tables|POST /v1/sql|GET /metrics|GET /health/live|GET /|OPTIONS /v1/sql|\
                  HEAD /v1/tables|GET /v1/openapi.json|GET /nowhere|DELETE /v1/tables/ships";
    for headers in foreign_headers(&host) {
        for request in wanted.split('|') {
            let headers = format!("Host: {host}\r\n{headers}\r\n");
            let (status, answer) = ask(address, request, &headers, SELECT);
            assert_eq!(status, 403, "{request} {headers}: {answer}");
            assert!(!answer.to_lowercase().contains("access-control"), "{answer}");
        }
    }
    assert_eq!(server.rows(), 0, "the table is still there");
    let headers = format!("Host: {host}\r\nOrigin: https://evil.example\r\n");
    let (_, answer) = ask(address, "POST /v1/sql", &headers, SELECT);
    for said in ["/problems/not-allowed", "https://evil.example", "http_hosts", "request_id"] {
        assert!(answer.contains(said), "{said}: {answer}");
    }
}

#[test]
fn programs_and_pages_of_the_server_itself_may_call() {
    let server = Running::new();
    let address = server.addresses.http.unwrap();
    let port = address.port();
    for headers in [
        format!("Host: 127.0.0.1:{port}\r\n"),
        format!("Host: 127.0.0.1:{port}\r\nOrigin: http://127.0.0.1:{port}\r\n"),
        format!("Host: localhost:{port}\r\nOrigin: http://LOCALHOST:{port}\r\n"),
        format!("Host: LocalHost.:{port}\r\nSec-Fetch-Site: same-origin\r\n"),
        format!("Host: store.localhost:{port}\r\nSec-Fetch-Site: none\r\n"),
        format!("Host: [::1]:{port}\r\nOrigin: http://[0:0::1]:{port}\r\n"),
        "Host: 192.0.2.7\r\nOrigin: http://192.0.2.7\r\n".to_owned(),
        // A proxy that speaks TLS keeps the name, and its port is implied.
        "Host: localhost\r\nOrigin: https://localhost\r\n".to_owned(),
        // Checks of load balancers over HTTP/1.0 name nothing.
        "Host:\r\n".to_owned(),
        String::new(),
    ] {
        let (status, answer) = ask(address, "POST /v1/sql", &headers, SELECT);
        assert_eq!(status, 200, "{headers}: {answer}");
    }
}

/// A page whose own name leads to this machine by now read the answers.
#[test]
fn a_server_without_users_has_only_names_that_no_name_server_gives() {
    let server =
        Running::with(named(&["store.example", "data.example:8443", "proxied.example:443"]));
    let address = server.addresses.http.unwrap();
    for request in ["GET /v1/tables", "POST /v1/sql", "GET /metrics", "GET /health/live", "GET /x"]
    {
        for host in [
            "rebind.example",
            "rebind.example:7410",
            "127.0.0.1.rebind.example",
            "localhost.rebind.example",
            "evil.store.example",
            "store.example.evil",
            "data.example:7410",
        ] {
            let same = format!("Host: {host}\r\nOrigin: http://{host}\r\n");
            for headers in [format!("Host: {host}\r\n"), same] {
                let (status, answer) = ask(address, request, &headers, SELECT);
                assert_eq!(status, 421, "{request} {headers}: {answer}");
                assert!(answer.contains(&format!("--http-hosts {host}")), "{answer}");
                assert!(answer.contains("/problems/unknown-host"), "{answer}");
            }
        }
    }
    for host in
        ["store.example:1", "STORE.example.", "data.example:8443", "proxied.example", "127.1:7410"]
    {
        let (status, answer) = ask(address, "POST /v1/sql", &format!("Host: {host}\r\n"), SELECT);
        assert_eq!(status, 200, "{host}: {answer}");
    }
}

/// A proxy that changes `Host` hides where a page comes from.
#[test]
fn pages_of_named_hosts_may_call_through_a_proxy() {
    let server = Running::with(named(&["data.example", "data.example:8443"]));
    let address = server.addresses.http.unwrap();
    for (origin, wanted) in [
        ("https://data.example", 200),
        ("https://data.example:8443", 200),
        // A server on another port of the same machine has pages of its own.
        ("https://data.example:3000", 403),
        ("https://other.example", 403),
    ] {
        let headers = format!("Host: 127.0.0.1:7410\r\nOrigin: {origin}\r\n");
        let (status, answer) = ask(address, "POST /v1/sql", &headers, SELECT);
        assert_eq!(status, wanted, "{origin}: {answer}");
    }
}

#[test]
fn a_request_with_two_hosts_or_none_that_can_be_read_is_refused() {
    let server = Running::new();
    let address = server.addresses.http.unwrap();
    for (request, headers) in [
        ("GET /v1/tables", "Host: localhost\r\nHost: localhost\r\n"),
        ("GET /v1/tables", "Host: localhost\r\nHost: rebind.example\r\n"),
        ("GET http://rebind.example/v1/tables", "Host: localhost\r\n"),
        ("GET http://localhost/v1/tables", "Host: rebind.example\r\n"),
        ("GET /v1/tables", "Host: ann@localhost\r\n"),
        ("GET /v1/tables", "Host: localhost:port\r\n"),
        ("GET /v1/tables", "Host: [::1\r\n"),
    ] {
        let (status, answer) = ask(address, request, headers, "");
        assert_eq!(status, 400, "{request} {headers}: {answer}");
    }
    let target = "GET http://rebind.example/v1/tables";
    assert_eq!(ask(address, target, "Host: rebind.example\r\n", "").0, 421);
    let target = "GET http://localhost/v1/tables";
    assert_eq!(ask(address, target, "Host: localhost\r\n", "").0, 200);
}

/// Browsers send the credentials that they remember along with such a request.
#[test]
fn users_are_guarded_before_their_login() {
    let guarded = Guarded::new();
    let address = guarded.server.addresses.http.unwrap();
    let host = address.to_string();
    for headers in foreign_headers(&host) {
        let headers = format!("Host: {host}\r\n{headers}\r\n{BASIC}");
        let (status, answer) = ask(address, "POST /v1/sql", &headers, SELECT);
        assert_eq!(status, 403, "{headers}: {answer}");
        assert!(!answer.contains("www-authenticate"), "{answer}");
    }
    // No browser has credentials for a name that was rebound, so any name will do.
    for (headers, wanted) in [
        (format!("Host: store.example:7410\r\n{BASIC}"), 200),
        (format!("Host: store.example\r\nOrigin: http://store.example\r\n{BASIC}"), 200),
        ("Host: store.example:7410\r\n".to_owned(), 401),
    ] {
        let (status, answer) = ask(address, "POST /v1/sql", &headers, SELECT);
        assert_eq!(status, wanted, "{headers}: {answer}");
    }
}

#[test]
fn every_answer_says_that_it_is_for_its_own_origin() {
    let server = Running::new();
    let address = server.addresses.http.unwrap();
    for (request, headers, wanted) in [
        ("GET /v1/tables", "Host: localhost\r\n", 200),
        ("GET /metrics", "Host: localhost\r\n", 200),
        ("GET /health/ready", "Host: localhost\r\n", 200),
        ("GET /v1/openapi.json", "Host: localhost\r\n", 200),
        ("PATCH /v1/tables", "Host: localhost\r\n", 405),
        ("GET /nowhere", "Host: localhost\r\n", 404),
        ("GET /v1/tables", "Host: rebind.example\r\n", 421),
        ("GET /v1/tables", "Host: localhost\r\nOrigin: null\r\n", 403),
    ] {
        let (status, answer) = ask(address, request, headers, "");
        assert_eq!(status, wanted, "{request} {headers}: {answer}");
        for header in
            ["x-content-type-options: nosniff", "cross-origin-resource-policy: same-origin"]
        {
            assert_eq!(answer.matches(header).count(), 1, "{request} {headers}: {answer}");
        }
    }
}

/// The status of a request over HTTP/2 without TLS.
async fn ask_http2(address: SocketAddr, uri: &str, headers: &[(&str, &str)]) -> u16 {
    let socket = tokio::net::TcpStream::connect(address).await.unwrap();
    let (mut client, connection) = h2::client::handshake(socket).await.unwrap();
    tokio::spawn(connection);
    let mut request = http::Request::get(uri);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (answer, _) = client.send_request(request.body(()).unwrap(), true).unwrap();
    answer.await.unwrap().status().as_u16()
}

#[test]
fn http2_names_its_host_in_its_target() {
    let server = Running::new();
    let address = server.addresses.http.unwrap();
    tokio::runtime::Runtime::new().unwrap().block_on(async {
        let cases: [Case; 8] = [
            ("http://localhost:7410/v1/tables", &[], 200),
            ("http://[::1]:7410/v1/tables", &[("origin", "http://[::1]:7410")], 200),
            ("http://rebind.example:7410/v1/tables", &[], 421),
            ("http://rebind.example/v1/tables", &[("origin", "http://rebind.example")], 421),
            ("http://localhost:7410/v1/tables", &[("origin", "http://evil.example")], 403),
            ("http://localhost:7410/v1/tables", &[("sec-fetch-site", "cross-site")], 403),
            ("http://localhost:7410/v1/tables", &[("host", "rebind.example")], 400),
            ("http://rebind.example/v1/tables", &[("host", "localhost")], 400),
        ];
        for (uri, headers, wanted) in cases {
            assert_eq!(ask_http2(address, uri, headers).await, wanted, "{uri} {headers:?}");
        }
    });
}

/// A simple request over HTTP/1.1 was taken for a call of gRPC, whatever type its body had.
#[test]
fn flight_is_spoken_over_http2_alone() {
    let server = Running::new();
    let address = server.flight_address();
    // A message without a byte: list all actions.
    let list = "\0\0\0\0\0";
    for headers in ["Content-Type: text/plain\r\n", "Content-Type: application/grpc\r\n", ""] {
        for method in ["ListActions", "DoAction", "GetFlightInfo"] {
            let request = format!("POST /arrow.flight.protocol.FlightService/{method}");
            let headers = format!("Host: {address}\r\n{headers}");
            let (status, answer) = ask(address, &request, &headers, list);
            assert_eq!(status, 505, "{request} {headers}: {answer}");
            assert!(answer.contains("needs HTTP/2"), "{answer}");
        }
    }
    let (status, _) = ask(address, "POST /grpc.health.v1.Health/Check", "Host: x\r\n", list);
    assert_eq!(status, 505);
}

/// Over TLS browsers speak HTTP/2.
#[test]
fn a_page_of_another_origin_may_not_call_flight() {
    let server = Running::new();
    let mut client = server.client();
    let host = server.flight_address().to_string();
    let mut list = |name: &'static str, value: &str| {
        let mut request = Request::new(arrow_flight::Empty {});
        request.metadata_mut().insert(name, value.parse().unwrap());
        client.runtime.block_on(client.flight.list_actions(request)).map(|_| ())
    };
    for (name, value) in [
        ("origin", "https://evil.example"),
        ("origin", "null"),
        ("sec-fetch-site", "cross-site"),
        ("sec-fetch-site", "same-site"),
    ] {
        let status = list(name, value).unwrap_err();
        assert_eq!(status.code(), Code::PermissionDenied, "{name}: {value}: {status:?}");
        assert_eq!(status.metadata().get("tonnage-kind").unwrap(), "not allowed");
    }
    assert!(list("origin", &format!("http://{host}")).is_ok());
    assert!(list("x-request-id", "7").is_ok());
}
