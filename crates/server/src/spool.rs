//! The disk space for bodies of requests, reports of loads and keys of bulk gets, which all share
//! one limit.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::http::StatusCode;
use tonnage::{Error, Result};

use crate::error::Problem;

/// The bytes of all that waits on the disk.
#[derive(Debug)]
pub(crate) struct Spool {
    taken: AtomicU64,
    bytes_max: u64,
}

/// What one file has of it; dropping it gives that back.
#[derive(Debug)]
pub(crate) struct SpoolReservation {
    spool: Arc<Spool>,
    bytes: u64,
}

impl Spool {
    pub(crate) fn new(bytes_max: u64) -> Self {
        Self { taken: AtomicU64::new(0), bytes_max }
    }

    /// Begins a file that is empty.
    pub(crate) fn reservation(self: &Arc<Self>) -> SpoolReservation {
        SpoolReservation { spool: self.clone(), bytes: 0 }
    }

    /// Refuses a body of so many bytes.
    ///
    /// # Errors
    /// 413 when it would be too large for the spool alone.
    pub(crate) fn check(&self, bytes: u64) -> std::result::Result<(), Problem> {
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

impl SpoolReservation {
    /// Takes more bytes of a body.
    ///
    /// # Errors
    /// As [`Spool::check`] and [`SpoolReservation::reserve`].
    pub(crate) fn reserve_body(&mut self, bytes: u64) -> std::result::Result<(), Problem> {
        self.spool.check(self.bytes.saturating_add(bytes))?;
        Ok(self.reserve(bytes)?)
    }

    /// Takes more bytes.
    ///
    /// # Errors
    /// `Exhausted` when the spool is full.
    pub(crate) fn reserve(&mut self, bytes: u64) -> Result<()> {
        let before = self.spool.taken.fetch_add(bytes, Ordering::Relaxed);
        self.bytes = self.bytes.saturating_add(bytes);
        if before.saturating_add(bytes) <= self.spool.bytes_max {
            return Ok(());
        }
        Err(Error::exhausted(format!(
            "bodies of requests, reports of loads and keys of bulk gets have all of the {} bytes that \
             they may have on the disk (spool_bytes_max): try again later, or have it raised",
            self.spool.bytes_max
        )))
    }

    /// Gives all back: the file is empty again.
    pub(crate) fn clear(&mut self) {
        self.spool.taken.fetch_sub(self.bytes, Ordering::Relaxed);
        self.bytes = 0;
    }
}

impl Drop for SpoolReservation {
    fn drop(&mut self) {
        self.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_one_body_gives_back_another_may_take() {
        let spool = Arc::new(Spool::new(10));
        let mut first = spool.reservation();
        first.reserve_body(8).unwrap();
        assert!(spool.reservation().reserve_body(3).is_err(), "the other has the rest");
        let mut second = spool.reservation();
        second.reserve_body(2).unwrap();
        drop(first);
        second.reserve_body(8).unwrap();
        assert!(second.reserve_body(1).is_err(), "it is too large by itself");
        drop(second);
        assert_eq!(spool.taken.load(Ordering::Relaxed), 0);
    }
}
