//! Large objects, in a store or behind a server.

use std::io::Read;

use tonnage::{
    Cancel, Key, LobInfo, LobOptions, LobSource, LobWriter, LobsReport, Result, WriteOptions,
};

use crate::place::Place;

/// A writer of a large object.
pub(crate) enum PlacedLobWriter {
    Store(LobWriter),
    Server(tonnage_client::LobWriter),
}

impl PlacedLobWriter {
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

impl Place {
    /// Opens a writer of a large object.
    pub(crate) fn put_lob(&self, key: &Key, options: &LobOptions) -> Result<PlacedLobWriter> {
        match self {
            Place::Store(store) => store.kv().put_lob(key, options).map(PlacedLobWriter::Store),
            Place::Server(client) => client.put_lob(key, options).map(PlacedLobWriter::Server),
        }
    }

    /// Opens a writer that appends.
    pub(crate) fn append_lob(&self, key: &Key, options: &LobOptions) -> Result<PlacedLobWriter> {
        match self {
            Place::Store(store) => store.kv().append_lob(key, options).map(PlacedLobWriter::Store),
            Place::Server(client) => client.append_lob(key, options).map(PlacedLobWriter::Server),
        }
    }

    /// Goes on with a writer that was cut short, if there is one.
    pub(crate) fn resume_lob(
        &self,
        key: &Key,
        options: &LobOptions,
    ) -> Result<Option<PlacedLobWriter>> {
        Ok(match self {
            Place::Store(store) => store.kv().resume_lob(key, options)?.map(PlacedLobWriter::Store),
            Place::Server(client) => client.resume_lob(key, options)?.map(PlacedLobWriter::Server),
        })
    }

    /// Opens a reader of a large object, if there is one.
    pub(crate) fn get_lob(&self, key: &Key) -> Result<Option<Box<dyn Read>>> {
        Ok(match self {
            Place::Store(store) => store.kv().get_lob(key)?.map(|reader| Box::new(reader) as _),
            Place::Server(client) => client.get_lob(key)?.map(|reader| Box::new(reader) as _),
        })
    }

    /// Deletes a large object, and tells whether there was one.
    pub(crate) fn delete_lob(&self, key: &Key, options: &WriteOptions) -> Result<bool> {
        match self {
            Place::Store(store) => store.kv().delete_lob_with(key, options),
            Place::Server(client) => client.delete_lob(key, options),
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
            Place::Store(store) => store.kv().put_lobs(objects, options, threads, cancel),
            Place::Server(client) => client.put_lobs(objects, options, threads, cancel),
        }
    }
}
