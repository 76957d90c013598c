//! Servers that go away, and sockets that are cut, in the middle of a call.

use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use tonnage::{BulkPutOptions, ErrorKind, TableScanOptions};
use tonnage_client::{ClientOptions, RemoteStore};
use tonnage_server::Settings;

use crate::support::{BulkCalls, Heard, Running, ships};

/// Passes bytes on between a client and the server, until it is cut.
struct Proxy {
    port: u16,
    sockets: Receiver<[TcpStream; 2]>,
}

impl Proxy {
    fn to(server: u16) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let (sender, sockets) = channel();
        std::thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let server = TcpStream::connect(("127.0.0.1", server)).unwrap();
                let pair = [client.try_clone().unwrap(), server.try_clone().unwrap()];
                if sender.send(pair).is_err() {
                    return;
                }
                let pass = |mut from: TcpStream, mut to: TcpStream| {
                    std::thread::spawn(move || std::io::copy(&mut from, &mut to))
                };
                pass(client.try_clone().unwrap(), server.try_clone().unwrap());
                pass(server, client);
            }
        });
        Self { port, sockets }
    }

    fn client(&self) -> RemoteStore {
        let address = format!("grpc://127.0.0.1:{}", self.port);
        RemoteStore::connect(&address, ClientOptions::default()).unwrap()
    }

    fn cut(&self) {
        for socket in self.sockets.recv().unwrap() {
            // The other side may have closed it.
            let _ = socket.shutdown(Shutdown::Both);
        }
    }
}

#[test]
fn a_put_whose_connection_is_cut_is_never_completed() {
    let server = Running::new();
    let proxy = Proxy::to(server.port);
    let client = proxy.client();
    let heard = Arc::new(Heard::default());
    let options = BulkPutOptions { callbacks: heard.clone(), ..BulkPutOptions::default() };
    let batches = (0..).map(move |batch| {
        match batch {
            3 => proxy.cut(),
            _ => std::thread::sleep(Duration::from_millis(20)),
        }
        Ok(ships(batch * 10..batch * 10 + 10))
    });
    let started = Instant::now();
    let stopped = client.put_batches("ships", batches, &options).unwrap_err();
    assert!(started.elapsed() < Duration::from_secs(30), "{:?}", started.elapsed());
    assert_eq!(stopped.error.kind(), ErrorKind::Unavailable, "{stopped}");
    assert!(stopped.error.message().contains("is not known"), "{stopped}");
    assert!(!stopped.report.streams[0].completed && !stopped.flushed);
    assert!(heard.completed.lock().unwrap().is_empty());
}

#[test]
fn rows_whose_connection_is_cut_end_with_an_error() {
    let server = Running::new();
    // More than the windows of a connection hold, so that the end is not yet on its way.
    let batches = (0..100).map(|batch| Ok(ships(batch * 20_000..batch * 20_000 + 20_000)));
    server.client().put_batches("ships", batches, &BulkPutOptions::default()).unwrap();
    let proxy = Proxy::to(server.port);
    let table = proxy.client().table("ships").unwrap();
    let mut rows = table.scan(&TableScanOptions::default()).unwrap();
    rows.next().unwrap().unwrap();
    proxy.cut();
    let error = rows.find_map(Result::err).expect("all rows came from a server that was gone");
    assert_eq!(error.kind(), ErrorKind::Unavailable, "{error}");
}

#[test]
fn a_server_that_shuts_down_stops_a_put_and_tells_what_is_stored() {
    let server = Running::with(Settings {
        drain_wait: Some("0s".into()),
        drain_timeout: Some("200ms".into()),
        ..Settings::default()
    });
    let (client, store) = (server.client(), server.store.clone());
    let mut server = Some(server);
    let batches = (0..3_000).map(move |batch| {
        if batch == 3 {
            let server = server.take();
            std::thread::spawn(move || drop(server));
        }
        std::thread::sleep(Duration::from_millis(20));
        Ok(ships(batch * 10..batch * 10 + 10))
    });
    let stopped = client.put_batches("ships", batches, &BulkPutOptions::default()).unwrap_err();
    assert_eq!(stopped.error.kind(), ErrorKind::Unavailable, "{stopped}");
    assert!(!stopped.report.streams[0].completed);
    let stored = store.table("ships").unwrap().count().unwrap();
    assert_eq!(stopped.report.total.inserted, stored);
    let started = Instant::now();
    while client.table_paths().is_ok() {
        assert!(started.elapsed() < Duration::from_secs(30), "the server never went");
        std::thread::sleep(Duration::from_millis(50));
    }
}
