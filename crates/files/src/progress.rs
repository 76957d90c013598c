//! The progress of a reader, to be watched from another thread.

use std::io::{self, Read};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A handle on the progress of one reader. It counts bytes of the source as stored on disk,
/// compressed or not.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    bytes_read: Arc<AtomicU64>,
    bytes_total: Option<u64>,
}

impl Progress {
    pub(crate) fn new(bytes_total: Option<u64>) -> Self {
        Self { bytes_read: Arc::default(), bytes_total }
    }

    /// The bytes taken from the source so far.
    pub fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// The size of the source; none for standard input and pipes.
    pub fn bytes_total(&self) -> Option<u64> {
        self.bytes_total
    }

    pub(crate) fn add(&self, bytes: u64) {
        self.bytes_read.fetch_add(bytes, Ordering::Relaxed);
    }

    pub(crate) fn set(&self, bytes: u64) {
        self.bytes_read.store(bytes, Ordering::Relaxed);
    }
}

/// A reader that tells a [`Progress`] what passes through it.
pub(crate) struct CountingReader<R> {
    inner: R,
    progress: Progress,
}

impl<R> CountingReader<R> {
    pub(crate) fn new(inner: R, progress: Progress) -> Self {
        Self { inner, progress }
    }
}

impl<R: Read> Read for CountingReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let bytes = self.inner.read(buffer)?;
        self.progress.add(bytes as u64);
        Ok(bytes)
    }
}
