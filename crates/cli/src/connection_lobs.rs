//! Large objects, in a store or behind a server.

use std::io::Read;

use tonnage::{
    Cancel, Key, LobInfo, LobOptions, LobSource, LobWriter, LobsReport, Result, WriteOptions,
};

use crate::store_connection::StoreConnection;

/// A writer of a large object.
pub(crate) enum AnyLobWriter {
    Store(LobWriter),
    Server(tonnage_client::LobWriter),
}

impl AnyLobWriter {
    /// How many bytes of the object come before what is written next.
    pub(crate) fn position(&self) -> u64 {
        match self {
            Self::Store(writer) => writer.position(),
            Self::Server(writer) => writer.position(),
        }
    }

    /// Writes some bytes.
    pub(crate) fn append(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Store(writer) => writer.append(bytes),
            Self::Server(writer) => writer.append(bytes),
        }
    }

    /// Makes the object what was written.
    pub(crate) fn finish(self) -> Result<LobInfo> {
        match self {
            Self::Store(writer) => writer.finish(),
            Self::Server(writer) => writer.finish(),
        }
    }
}

impl StoreConnection {
    /// Opens a writer of a large object.
    pub(crate) fn put_lob(&self, key: &Key, options: &LobOptions) -> Result<AnyLobWriter> {
        match self {
            StoreConnection::Store(store) => {
                store.kv().put_lob(key, options).map(AnyLobWriter::Store)
            }
            StoreConnection::Server(client) => {
                client.put_lob(key, options).map(AnyLobWriter::Server)
            }
        }
    }

    /// Opens a writer that appends.
    pub(crate) fn append_lob(&self, key: &Key, options: &LobOptions) -> Result<AnyLobWriter> {
        match self {
            StoreConnection::Store(store) => {
                store.kv().append_lob(key, options).map(AnyLobWriter::Store)
            }
            StoreConnection::Server(client) => {
                client.append_lob(key, options).map(AnyLobWriter::Server)
            }
        }
    }

    /// Goes on with a writer that was cut short, if there is one.
    pub(crate) fn resume_lob(
        &self,
        key: &Key,
        options: &LobOptions,
    ) -> Result<Option<AnyLobWriter>> {
        Ok(match self {
            StoreConnection::Store(store) => {
                store.kv().resume_lob(key, options)?.map(AnyLobWriter::Store)
            }
            StoreConnection::Server(client) => {
                client.resume_lob(key, options)?.map(AnyLobWriter::Server)
            }
        })
    }

    /// Opens a reader of a large object, if there is one.
    pub(crate) fn get_lob(&self, key: &Key) -> Result<Option<Box<dyn Read>>> {
        Ok(match self {
            StoreConnection::Store(store) => {
                store.kv().get_lob(key)?.map(|reader| Box::new(reader) as _)
            }
            StoreConnection::Server(client) => {
                client.get_lob(key)?.map(|reader| Box::new(reader) as _)
            }
        })
    }

    /// Deletes a large object, and tells whether there was one.
    pub(crate) fn delete_lob(&self, key: &Key, options: &WriteOptions) -> Result<bool> {
        match self {
            StoreConnection::Store(store) => store.kv().delete_lob_with(key, options),
            StoreConnection::Server(client) => client.delete_lob(key, options),
        }
    }

    /// Stores many large objects.
    pub(crate) fn put_lobs<I>(
        &self,
        objects: I,
        options: &LobOptions,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<LobsReport>
    where
        I: IntoIterator<Item = Result<LobSource>>,
        I::IntoIter: Send,
    {
        match self {
            StoreConnection::Store(store) => store.kv().put_lobs(objects, options, threads, cancel),
            StoreConnection::Server(client) => client.put_lobs(objects, options, threads, cancel),
        }
    }
}
