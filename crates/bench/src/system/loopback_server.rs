//! A server of this process, on a free port of loopback.

use std::thread::JoinHandle;

use tonnage::{Error, Result};
use tonnage_server::{Server, Settings, ShutdownHandle};

use super::embedded::Embedded;
use super::kind::SystemKind;
use super::spec::SystemSpec;

/// Calls and loads that a server of a benchmark takes at a time: what waits is not measured.
const CALLS_MAX: usize = 1_024;

/// A store and the server before it. The server ends when this is dropped.
pub(super) struct LoopbackServer {
    pub(super) embedded: Embedded,
    /// The address of its Flight listener.
    pub(super) address: String,
    stop: ShutdownHandle,
    thread: Option<JoinHandle<Result<()>>>,
}

impl LoopbackServer {
    pub(super) fn start(spec: &SystemSpec) -> Result<Self> {
        let target = SystemKind::TonnageRocksDb.into();
        let embedded = Embedded::open(&SystemSpec { target, ..spec.clone() })?;
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
        let stop = ShutdownHandle::default();
        let stopped = stop.clone();
        let thread = Some(std::thread::spawn(move || server.run(&stopped)));
        Ok(Self { embedded, address: format!("grpc://{address}"), stop, thread })
    }
}

impl Drop for LoopbackServer {
    fn drop(&mut self) {
        self.stop.stop();
        if let Some(thread) = self.thread.take() {
            // How the server ended is of no interest to a measurement that is over.
            let _ = thread.join();
        }
    }
}
