//! What comes to pass soon, though no one knows when.

use std::thread;
use std::time::{Duration, Instant};

/// Long enough for a machine with other things to do.
const MAX_WAIT: Duration = Duration::from_secs(60);

/// Waits until something is so.
///
/// # Panics
/// With these words, when it is not so after a minute.
#[track_caller]
pub fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < MAX_WAIT, "it does not come to pass: {what}");
        thread::sleep(Duration::from_millis(2));
    }
}
