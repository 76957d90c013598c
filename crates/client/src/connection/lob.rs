//! Large objects of a store of this process, or of one on a server.

use std::io::{self, Read};

use tonnage::{LobInfo, LobReader, LobWriter, Result};

use super::delegate::either;
use crate::lob::{RemoteLobReader, RemoteLobWriter};

either! {
    /// A writer of a large object.
    #[derive(Debug)]
    AnyLobWriter: LobWriter, RemoteLobWriter
}

either! {
    /// A reader of a large object.
    #[derive(Debug)]
    AnyLobReader: LobReader, RemoteLobReader
}

impl AnyLobWriter {
    /// As [`LobWriter::position`].
    pub fn position(&self) -> u64 {
        match self {
            Self::Embedded(writer) => writer.position(),
            Self::Remote(writer) => writer.position(),
        }
    }

    /// As [`LobWriter::append`].
    ///
    /// # Errors
    /// As [`LobWriter::append`] and [`RemoteLobWriter::append`].
    pub fn append(&mut self, bytes: &[u8]) -> Result<()> {
        match self {
            Self::Embedded(writer) => writer.append(bytes),
            Self::Remote(writer) => writer.append(bytes),
        }
    }

    /// As [`LobWriter::finish`].
    ///
    /// # Errors
    /// As [`LobWriter::finish`] and [`RemoteLobWriter::finish`].
    pub fn finish(self) -> Result<LobInfo> {
        match self {
            Self::Embedded(writer) => writer.finish(),
            Self::Remote(writer) => writer.finish(),
        }
    }
}

impl AnyLobReader {
    /// As [`LobReader::info`].
    pub fn info(&self) -> LobInfo {
        match self {
            Self::Embedded(reader) => reader.info(),
            Self::Remote(reader) => reader.info(),
        }
    }
}

impl Read for AnyLobReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Embedded(reader) => reader.read(buffer),
            Self::Remote(reader) => reader.read(buffer),
        }
    }
}
