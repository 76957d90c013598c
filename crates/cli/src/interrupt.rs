//! Ctrl-C, and the time that a run may take.
//!
//! A verb that can stop in good order asks for [`cancel`] first and then looks at it; the signal
//! only sets it. Without that, or at the second signal, the program ends at once with the exit code
//! for interrupted runs. In a shell the signal stops the statement that runs ([`statement`]), and
//! the shell goes on. A server drains at the first signal ([`drain_with`]).
//!
//! Once the time of a run is over ([`stop_after`]) the same happens as at the first signal, and the
//! run ends as one that was stopped.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tonnage::Cancel;

use crate::exit::{CliResult, Exit, Failure};
use crate::stderr;
use crate::time_limit;

static LISTENER: Mutex<Listener> = Mutex::new(Listener::Nobody);

/// Who is told of a signal.
enum Listener {
    Nobody,
    /// A verb that stops in good order.
    Verb(Cancel),
    /// A statement of a shell, and when it was told to stop.
    Statement {
        cancel: Cancel,
        told: Option<Instant>,
    },
    /// A server, until it was told to drain.
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
    if let Err(error) = ctrlc::set_handler(|| listener().hear()) {
        stderr::line(format_args!(
            "tonnage: signals cannot be caught ({error}): an interrupt ends the program without a report"
        ));
    }
}

fn listener() -> MutexGuard<'static, Listener> {
    LISTENER.lock().unwrap_or_else(PoisonError::into_inner)
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
                Exit::Stopped.leave();
            }
        }
    });
}

impl Listener {
    /// Tells a verb to stop that can do so in good order. False where there is none.
    fn stop(&mut self) -> bool {
        let Listener::Verb(cancel) = self else { return false };
        cancel.cancel();
        true
    }

    fn hear(&mut self) {
        match self {
            Listener::Verb(cancel) if !cancel.is_cancelled() => {
                stderr::line(
                    "tonnage: interrupted: stopping in good order (once more to end at once)",
                );
                cancel.cancel();
            }
            Listener::Statement { cancel, told } => match told {
                None => {
                    // The terminal shows ^C where the cursor stands.
                    stderr::line("");
                    cancel.cancel();
                    *told = Some(Instant::now());
                }
                Some(told) if told.elapsed() < STOPPING_MAX => {}
                Some(_) => Exit::Interrupted.leave(),
            },
            Listener::Server(drain) if drain.is_some() => {
                stderr::line("tonnage: draining; a second signal ends at once");
                if let Some(drain) = drain.take() {
                    drain();
                }
            }
            Listener::Nobody => {
                stderr::line("tonnage: interrupted");
                Exit::Interrupted.leave()
            }
            Listener::Prompt { since } if since.elapsed() < BELATED_MAX => {}
            _ => Exit::Interrupted.leave(),
        }
    }
}

/// What the signal sets; whoever asks promises to look at it.
pub(crate) fn cancel() -> Cancel {
    let mut listener = listener();
    if let Listener::Verb(cancel) = &*listener {
        return cancel.clone();
    }
    let cancel = Cancel::new();
    if time_limit::over().is_some() {
        cancel.cancel();
    }
    *listener = Listener::Verb(cancel.clone());
    cancel
}

/// The first signal calls this; the second ends the program.
pub(crate) fn drain_with(drain: impl FnOnce() + Send + 'static) {
    *listener() = Listener::Server(Some(Box::new(drain)));
}

/// Whether the signal came.
pub(crate) fn is_interrupted() -> bool {
    matches!(&*listener(), Listener::Verb(cancel) if cancel.is_cancelled())
}

/// Ends a loop that only reads.
pub(crate) fn check(cancel: &Cancel) -> CliResult<()> {
    if cancel.is_cancelled() { Err(Failure::interrupted()) } else { Ok(()) }
}

/// A statement of a shell, which the signal stops as long as this is there.
pub(crate) struct Statement(Cancel);

/// The signal stops this statement alone from now on.
pub(crate) fn statement() -> Statement {
    let cancel = Cancel::new();
    *listener() = Listener::Statement { cancel: cancel.clone(), told: None };
    Statement(cancel)
}

impl Statement {
    pub(crate) fn cancel(&self) -> &Cancel {
        &self.0
    }
}

impl Drop for Statement {
    fn drop(&mut self) {
        *listener() = Listener::Prompt { since: Instant::now() };
    }
}
