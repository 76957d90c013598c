//! Ctrl-C, and the time that a run may take.
//!
//! - A verb that can stop in good order calls [`cancel`] first and then polls it. The first signal
//!   sets it. Without it, or at the second signal, the program ends at once with the exit code for
//!   interrupted runs.
//! - In a shell the signal stops the running statement ([`begin_statement`]), and the shell
//!   continues.
//! - A server drains at the first signal ([`drain_with`]).
//!
//! When the time of a run is over ([`stop_after`]), the program acts as at the first signal, and
//! the exit code says that the run was stopped.

use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

use tonnage::Cancel;
use tonnage::internal::sync::lock;

use crate::exit::{CliResult, Exit, Failure};
use crate::stderr;
use crate::time_limit;

static LISTENER: Mutex<SignalListener> = Mutex::new(SignalListener::Nobody);

/// What a signal acts on.
enum SignalListener {
    Nobody,
    /// A verb that stops in good order.
    Verb(Cancel),
    /// A statement of a shell, and when the signal stopped it.
    Statement {
        cancel: Cancel,
        stopped_at: Option<Instant>,
    },
    /// A server, until it drains.
    Server(Option<Box<dyn FnOnce() + Send>>),
    /// A shell that has been waiting for input since then.
    Prompt {
        since: Instant,
    },
}

/// A statement that has not stopped by then will not: the next signal ends the program.
const STOPPING_MAX: Duration = Duration::from_secs(2);
/// Once the time is over a verb that takes no cancel has so long to end by itself: its calls have
/// the time of the run too.
const ENDING_MAX: Duration = Duration::from_millis(500);
/// A signal that comes so soon after a statement's end was meant for the statement.
const BELATED_MAX: Duration = Duration::from_secs(1);

/// Listens to SIGINT, SIGTERM and SIGHUP from now on.
pub(crate) fn install() {
    if let Err(error) = ctrlc::set_handler(|| listener().handle_signal()) {
        stderr::line(format_args!(
            "tonnage: signals cannot be caught ({error}): an interrupt ends the program without a report"
        ));
    }
}

fn listener() -> MutexGuard<'static, SignalListener> {
    lock(&LISTENER)
}

/// Stops the run after so long.
pub(crate) fn stop_after(timeout: Duration) {
    time_limit::begin(timeout);
    std::thread::spawn(move || {
        std::thread::sleep(timeout);
        time_limit::note_over();
        if !listener().stop() {
            std::thread::sleep(ENDING_MAX);
            if !listener().stop() {
                Failure::interrupted().report();
                Exit::Stopped.exit_now();
            }
        }
    });
}

impl SignalListener {
    /// Tells a verb to stop that can do so in good order. False where there is none.
    fn stop(&mut self) -> bool {
        let SignalListener::Verb(cancel) = self else { return false };
        cancel.cancel();
        true
    }

    fn handle_signal(&mut self) {
        match self {
            SignalListener::Verb(cancel) if !cancel.is_cancelled() => {
                stderr::line(
                    "tonnage: interrupted: stopping in good order (once more to end at once)",
                );
                cancel.cancel();
            }
            SignalListener::Statement { cancel, stopped_at } => match stopped_at {
                None => {
                    // The terminal shows ^C at the cursor.
                    stderr::line("");
                    cancel.cancel();
                    *stopped_at = Some(Instant::now());
                }
                Some(stopped_at) if stopped_at.elapsed() < STOPPING_MAX => {}
                Some(_) => Exit::Interrupted.exit_now(),
            },
            SignalListener::Server(drain) if drain.is_some() => {
                stderr::line("tonnage: draining; a second signal ends at once");
                // Taken out, so that the second signal comes to the last arm.
                if let Some(drain) = drain.take() {
                    drain();
                }
            }
            SignalListener::Nobody => {
                stderr::line("tonnage: interrupted");
                Exit::Interrupted.exit_now()
            }
            SignalListener::Prompt { since } if since.elapsed() < BELATED_MAX => {}
            _ => Exit::Interrupted.exit_now(),
        }
    }
}

/// What the signal sets; a caller that takes it promises to check it.
pub(crate) fn cancel() -> Cancel {
    let mut listener = listener();
    if let SignalListener::Verb(cancel) = &*listener {
        return cancel.clone();
    }
    let cancel = Cancel::new();
    if time_limit::over().is_some() {
        cancel.cancel();
    }
    *listener = SignalListener::Verb(cancel.clone());
    cancel
}

/// The first signal calls this; the second ends the program.
pub(crate) fn drain_with(drain: impl FnOnce() + Send + 'static) {
    *listener() = SignalListener::Server(Some(Box::new(drain)));
}

/// Whether the signal came.
pub(crate) fn is_interrupted() -> bool {
    matches!(&*listener(), SignalListener::Verb(cancel) if cancel.is_cancelled())
}

/// Ends a loop that only reads.
pub(crate) fn check(cancel: &Cancel) -> CliResult<()> {
    if cancel.is_cancelled() { Err(Failure::interrupted()) } else { Ok(()) }
}

/// A statement of a shell, which the signal stops as long as this is there.
pub(crate) struct StatementInterrupt(Cancel);

/// The signal stops this statement alone from now on.
pub(crate) fn begin_statement() -> StatementInterrupt {
    let cancel = Cancel::new();
    *listener() = SignalListener::Statement { cancel: cancel.clone(), stopped_at: None };
    StatementInterrupt(cancel)
}

impl StatementInterrupt {
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.0
    }
}

impl Drop for StatementInterrupt {
    fn drop(&mut self) {
        *listener() = SignalListener::Prompt { since: Instant::now() };
    }
}
