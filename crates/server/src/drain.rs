//! The phases in which a server shuts down.
//!
//! 1. **Running.** The first signal ends it.
//! 2. **Closing.** `/health/ready` answers 503, so that load balancers stop sending. The server
//!    still accepts calls for `drain_wait`.
//! 3. **Draining.** The server accepts no connection and no call. Running calls may continue for
//!    `drain_timeout`.
//! 4. **Stopping.** The server stops what still runs: loads store what they have and say so.
//!
//! A second signal ends the process at once.

use tokio::sync::watch;

/// Where a server is on its way to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DrainPhase {
    Running,
    Closing,
    Draining,
    Stopping,
}

/// The phase, for those that depend on it.
#[derive(Clone, Debug)]
pub(crate) struct Phases(watch::Receiver<DrainPhase>);

/// Moves a server from phase to phase.
#[derive(Debug)]
pub(crate) struct PhaseSetter(watch::Sender<DrainPhase>);

/// A running server's phase, and what changes it.
pub(crate) fn phases() -> (PhaseSetter, Phases) {
    let (setter, phase) = watch::channel(DrainPhase::Running);
    (PhaseSetter(setter), Phases(phase))
}

impl PhaseSetter {
    pub(crate) fn set(&self, phase: DrainPhase) {
        self.0.send_replace(phase);
    }
}

impl Phases {
    pub(crate) fn current(&self) -> DrainPhase {
        *self.0.borrow()
    }

    /// Waits until the server is in this phase or a later one.
    pub(crate) async fn wait_for(&self, phase: DrainPhase) {
        let mut phases = self.0.clone();
        // An error says that the server is gone, which is later than any phase.
        let _ = phases.wait_for(|now| *now >= phase).await;
    }
}
