//! What bodies of requests may have on the disk while they wait for their loads.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;
use tonnage::Error;

use crate::error::Problem;

/// The bytes of all bodies that are on the disk.
#[derive(Debug)]
pub(crate) struct Spool {
    taken: AtomicU64,
    bytes_max: u64,
}

/// What one body has of it; dropping it gives that back.
#[derive(Debug)]
pub(crate) struct Spooled<'a> {
    spool: &'a Spool,
    bytes: u64,
}

impl Spool {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self { taken: AtomicU64::new(0), bytes_max }
    }

    /// Begins a body, of which nothing came yet.
    pub(crate) fn begin(&self) -> Spooled<'_> {
        Spooled { spool: self, bytes: 0 }
    }

    /// Refuses a body of so many bytes.
    ///
    /// # Errors
    /// 413 when it would be too large for the spool alone.
    pub(crate) fn check(&self, bytes: u64) -> Result<(), Problem> {
        if bytes <= self.bytes_max {
            return Ok(());
        }
        let error = Error::exhausted(format!(
            "the body has more than {} bytes (spool_bytes_max): send it in parts, put the rows over \
             Flight, which needs no spool, or have spool_bytes_max raised",
            self.bytes_max
        ));
        Err(Problem::new(StatusCode::PAYLOAD_TOO_LARGE, error))
    }
}

impl Spooled<'_> {
    /// Takes more bytes.
    ///
    /// # Errors
    /// As [`Spool::check`]; `Exhausted` when the spool is full of other bodies.
    pub(crate) fn take(&mut self, bytes: u64) -> Result<(), Problem> {
        let whole = self.bytes.saturating_add(bytes);
        self.spool.check(whole)?;
        let others = self.spool.taken.fetch_add(bytes, Ordering::Relaxed);
        self.bytes = whole;
        if others.saturating_add(bytes) <= self.spool.bytes_max {
            return Ok(());
        }
        Err(Problem::from(Error::exhausted(format!(
            "bodies of requests have all of the {} bytes that they may have on the disk \
             (spool_bytes_max): try again later, or have it raised",
            self.spool.bytes_max
        ))))
    }
}

impl Drop for Spooled<'_> {
    fn drop(&mut self) {
        self.spool.taken.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_body_gives_back_another_may_take() {
        let spool = Spool::new(10);
        let mut first = spool.begin();
        first.take(8).unwrap();
        assert!(spool.begin().take(3).is_err(), "the other has the rest");
        let mut second = spool.begin();
        second.take(2).unwrap();
        drop(first);
        second.take(8).unwrap();
        assert!(second.take(1).is_err(), "it is too large by itself");
        drop(second);
        assert_eq!(spool.taken.load(Ordering::Relaxed), 0);
    }
}
