//! Stops a wait for bytes that may never come.

use std::fmt;
use std::sync::Arc;

/// Tells a reader to stop waiting for a pipe. The default never does.
///
/// A stopped reader gives what came until then, and then an error.
///
/// ```
/// use std::sync::Arc;
/// use std::sync::atomic::{AtomicBool, Ordering};
/// use tonnage_files::{ReadOptions, StopToken};
///
/// let interrupted = Arc::new(AtomicBool::new(false));
/// let stop = StopToken::when({
///     let interrupted = interrupted.clone();
///     move || interrupted.load(Ordering::Relaxed)
/// });
/// let options = ReadOptions { stop, ..ReadOptions::default() };
/// # let _ = options;
/// ```
#[derive(Clone, Default)]
pub struct StopToken(Option<Arc<dyn Fn() -> bool + Send + Sync>>);

impl StopToken {
    /// Stop as soon as `stopped` returns true. It is called about ten times a second.
    pub fn when(stopped: impl Fn() -> bool + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(stopped)))
    }

    /// Whether to stop now.
    pub fn is_asked(&self) -> bool {
        self.0.as_ref().is_some_and(|stopped| stopped())
    }
}

impl fmt::Debug for StopToken {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "StopToken(when asked)" } else { "StopToken(never)" })
    }
}
