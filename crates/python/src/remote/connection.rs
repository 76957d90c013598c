//! An open connection to a server.

use std::sync::{Arc, RwLock};
use std::time::Duration;

use pyo3::prelude::*;
use tonnage::internal::sync::{read, write};
use tonnage::{Cancel, Error, ErrorKind};
use tonnage_client::Client;

use crate::error::{exception_of, to_exception};
use crate::handle::ProcessBound;

/// A connection to a server, until it is closed. Clones share it.
#[derive(Clone)]
pub(crate) struct RemoteConnection {
    client: Arc<ProcessBound<RwLock<Option<Client>>>>,
    url: Arc<str>,
}

impl RemoteConnection {
    pub(crate) fn new(client: Client, url: String) -> Self {
        let client = Arc::new(ProcessBound::new(RwLock::new(Some(client))));
        Self { client, url: url.into() }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// # Errors
    /// When it was closed, or made before a fork.
    pub(crate) fn client(&self) -> PyResult<Client> {
        let client = read(self.client.get()?);
        client.clone().ok_or_else(|| {
            exception_of(ErrorKind::Unavailable, "this store is closed: connect to it again")
        })
    }

    /// The client for calls with limits of their own.
    ///
    /// # Errors
    /// As [`RemoteConnection::client`].
    pub(crate) fn limited(&self, cancel: &Cancel, timeout: Option<Duration>) -> PyResult<Client> {
        Ok(self.client()?.with_limits(cancel, timeout))
    }

    /// # Errors
    /// In a forked child.
    pub(crate) fn close(&self) -> PyResult<()> {
        let client = self.client.get()?;
        let closed = write(client).take();
        drop(closed);
        Ok(())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client().is_err()
    }

    /// What a server does not offer.
    pub(crate) fn unsupported(&self, what: &str, remedy: &str) -> PyErr {
        let url = self.url();
        to_exception(&Error::unsupported(format!("{url}: a server has no {what}: {remedy}")))
    }
}
