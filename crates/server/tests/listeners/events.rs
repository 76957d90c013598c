//! Server-sent events, as a client reads them off its socket.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use arrow_flight::FlightData;
use futures::channel::mpsc::{UnboundedSender, unbounded};
use serde_json::{Value as Json, json};
use tonnage_server::Settings;

use crate::support::{Client, Running, command, end, messages, ships};

/// The events of a path.
struct Events {
    lines: BufReader<TcpStream>,
}

impl Events {
    fn of(server: &Running, path: &str) -> Self {
        let mut socket = TcpStream::connect(server.addresses.http.unwrap()).unwrap();
        socket.set_read_timeout(Some(Duration::from_secs(30))).unwrap();
        let head =
            format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n");
        socket.write_all(head.as_bytes()).unwrap();
        let mut events = Events { lines: BufReader::new(socket) };
        assert_eq!(events.line(), "HTTP/1.1 200 OK");
        let head: Vec<String> =
            std::iter::from_fn(|| Some(events.line()).filter(|line| !line.is_empty())).collect();
        assert!(head.iter().any(|line| line == "content-type: text/event-stream"), "{head:?}");
        events
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.lines.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// The next event; nothing at the end of the body.
    fn next(&mut self) -> Option<(String, Json)> {
        loop {
            // Lengths of chunks stand between the events.
            let line = self.line();
            if line == "0" {
                return None;
            }
            if let Some(name) = line.strip_prefix("event: ") {
                let data = self.line();
                let data = data.strip_prefix("data: ").unwrap();
                return Some((name.to_owned(), serde_json::from_str(data).unwrap()));
            }
        }
    }

    fn until(&mut self, wanted: &str) -> Json {
        loop {
            let (name, data) = self.next().expect("there are more events");
            if name == wanted {
                return data;
            }
        }
    }
}

/// A load that is open until its client says more.
fn open_load(server: &Running, name: &str) -> (Client, UnboundedSender<FlightData>) {
    let mut client = server.client();
    let (sender, receiver) = unbounded();
    let put = json!({"bulk_put": {"table": "ships", "job": name, "flush_interval": "200ms"}});
    for message in messages(command(put), vec![ships(0..100)]) {
        sender.unbounded_send(message).unwrap();
    }
    let Client { runtime, flight } = &mut client;
    let answers = runtime.block_on(flight.do_put(receiver)).unwrap().into_inner();
    let mut answers = answers;
    assert!(runtime.block_on(answers.message()).unwrap().is_some(), "the load is ready");
    runtime.spawn(async move { while let Ok(Some(_)) = answers.message().await {} });
    (client, sender)
}

#[test]
fn a_load_is_followed_until_it_has_ended() {
    let server = Running::new();
    let (_client, sender) = open_load(&server, "nightly");
    let (_, described) = server.http("GET /v1/jobs/nightly", "", "");
    let described: Json = serde_json::from_str(&described).unwrap();
    let id = described["job"].as_str().unwrap().to_owned();
    assert_eq!(described["state"], "running");
    for name in ["nightly", &id] {
        assert_eq!(
            Events::of(&server, &format!("/v1/jobs/{name}/events")).until("progress")["job"],
            id.as_str()
        );
    }
    let mut events = Events::of(&server, "/v1/jobs/nightly/events");
    while events.until("progress")["counts"]["inserted"] != 100 {}
    sender.unbounded_send(end(100)).unwrap();
    drop(sender);
    let ended = events.until("ended");
    assert_eq!(
        (&ended["state"], &ended["report"]["total"]["inserted"]),
        (&json!("completed"), &json!(100))
    );
    assert_eq!(events.next(), None, "the body ends with the load");
    // Who comes later hears of the end at once.
    let mut late = Events::of(&server, &format!("/v1/jobs/{id}/events"));
    assert_eq!(late.next().unwrap(), ("ended".to_owned(), ended));
}

#[test]
fn a_load_that_there_is_not_is_not_found() {
    let server = Running::new();
    for path in ["/v1/jobs/b-99", "/v1/jobs/b-99/events"] {
        let (head, body) = server.http(&format!("GET {path}"), "", "");
        assert!(head.starts_with("HTTP/1.1 404") && body.contains("b-99"), "{head}{body}");
    }
}

/// A client that only watches must not hold up a server that ends.
#[test]
fn events_end_when_the_server_does() {
    let mut server =
        Running::with(Settings { drain_timeout: Some("60s".into()), ..Settings::default() });
    let (_client, sender) = open_load(&server, "open");
    let mut events = Events::of(&server, "/v1/jobs/open/events");
    let mut all = Events::of(&server, "/v1/events");
    events.until("progress");
    let started = Instant::now();
    server.stop();
    events.until("closing");
    all.until("closing");
    assert_eq!(all.next(), None);
    drop(sender);
    server.wait();
    assert!(started.elapsed() < Duration::from_secs(40), "{:?}", started.elapsed());
}

#[test]
fn the_server_tells_of_its_loads_counters_and_tables() {
    let server = Running::new();
    let mut events = Events::of(&server, "/v1/events");
    assert_eq!(events.until("jobs")["jobs"], json!([]));
    assert!(events.until("counters")["connections"].as_i64().unwrap() > 0);
    assert_eq!(events.until("catalog")["tables"], json!(["ships"]));
    server.store.execute("CREATE TABLE boats (id LONG, PRIMARY KEY (id))").unwrap();
    assert_eq!(events.until("catalog")["tables"], json!(["boats", "ships"]));
    let (_client, _sender) = open_load(&server, "open");
    assert_eq!(events.until("jobs")["jobs"][0]["name"], "open");
}

#[test]
fn no_more_clients_watch_than_may() {
    let settings = Settings {
        event_streams_max: Some(1),
        admission_wait: Some("100ms".into()),
        ..Settings::default()
    };
    let server = Running::with(settings);
    let mut first = Events::of(&server, "/v1/events");
    first.until("catalog");
    let (head, body) = server.http("GET /v1/events", "", "");
    assert!(head.starts_with("HTTP/1.1 429") && body.contains("event_streams_max"), "{head}{body}");
}
