//! The server, and the connection to it.

use std::thread::JoinHandle;

use tonnage::{Error, Result};
use tonnage_client::{Client, ClientOptions};
use tonnage_server::{Server, Settings, Stop};

use crate::system::embedded::Embedded;
use crate::system::{SystemKind, SystemSpec};

/// Calls and loads that a server of a benchmark takes at a time: what waits is not measured.
const CALLS_MAX: usize = 1_024;

/// Tonnage behind a server on loopback.
pub(in crate::system) struct Remote {
    pub(super) embedded: Embedded,
    pub(super) client: Client,
    stop: Stop,
    thread: Option<JoinHandle<Result<()>>>,
}

impl Remote {
    pub(in crate::system) fn open(spec: &SystemSpec) -> Result<Self> {
        let spec = SystemSpec { kind: SystemKind::TonnageRocksDb, ..spec.clone() };
        let embedded = Embedded::open(&spec)?;
        let settings = Settings {
            http: Some("off".to_owned()),
            flight: Some("127.0.0.1:0".to_owned()),
            calls_max: Some(CALLS_MAX),
            ..Settings::default()
        };
        let server = Server::open(embedded.store.clone(), settings.resolve()?)?;
        let address = server.addresses().flight;
        let address =
            address.ok_or_else(|| Error::internal("the server has no Flight listener"))?;
        let stop = Stop::default();
        let stopped = stop.clone();
        let thread = Some(std::thread::spawn(move || server.run(&stopped)));
        let address = format!("grpc://{address}");
        let client = Client::connect(&address, ClientOptions::default())?;
        Ok(Self { embedded, client, stop, thread })
    }
}

impl Drop for Remote {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // How the server ended is of no interest to a measurement that is over.
            let _ = thread.join();
        }
    }
}
