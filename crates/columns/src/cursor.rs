//! Reads the fields of a chunk one after another. What is not there is an error.

use tonnage_engine::{Error, ErrorKind, Result};

/// What is left of some bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Cursor<'a>(&'a [u8]);

impl<'a> Cursor<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next `len` bytes.
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(|| damaged("is cut short"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let (taken, rest) = self.0.split_first_chunk().ok_or_else(|| damaged("is cut short"))?;
        self.0 = rest;
        Ok(*taken)
    }

    pub(crate) fn u32(&mut self) -> Result<u32> {
        self.array().map(u32::from_le_bytes)
    }

    /// Nothing may be left.
    pub(crate) fn end(self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(damaged("continues after its end")) }
    }
}

/// The error for a chunk that is not what was written.
#[cold]
pub(crate) fn damaged(what: &str) -> Error {
    Error::new(
        ErrorKind::Corruption,
        format!("a column chunk {what}: remove its segment, the rows are in the store"),
    )
}
