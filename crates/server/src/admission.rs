//! Admission control: limits how many loads, streams and calls run at a time. Those that wait are
//! admitted in order.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tonnage::{Error, Result};

/// A place that is taken; dropping it gives it back.
pub(crate) type Permit = OwnedSemaphorePermit;

/// A number of places.
#[derive(Debug)]
pub(crate) struct ConcurrencyLimit {
    free: Arc<Semaphore>,
    count: usize,
    what: &'static str,
    option: &'static str,
    wait: Duration,
}

impl ConcurrencyLimit {
    pub(crate) fn new(
        count: usize,
        what: &'static str,
        option: &'static str,
        wait: Duration,
    ) -> Self {
        Self { free: Arc::new(Semaphore::new(count)), count, what, option, wait }
    }

    /// Waits for a place, first come first served.
    ///
    /// # Errors
    /// `Exhausted` when none was free in time.
    pub(crate) async fn acquire(&self) -> Result<Permit> {
        let place = tokio::time::timeout(self.wait, self.free.clone().acquire_owned()).await;
        match place {
            Ok(Ok(place)) => Ok(place),
            _ => Err(Error::exhausted(format!(
                "all {} {} are taken, and none was free within {:?}: try again later, or raise {}",
                self.count, self.what, self.wait, self.option
            ))),
        }
    }

    /// A slot, if one is free and no call waits for it.
    pub(crate) fn try_acquire(&self) -> Option<Permit> {
        self.free.clone().try_acquire_owned().ok()
    }

    /// How many are taken.
    pub(crate) fn in_use(&self) -> usize {
        self.count - self.free.available_permits()
    }
}
