//! Ctrl-C.
//!
//! A verb that can stop in good order asks for [`cancel`] first and then looks at it; the signal only sets it. Without that,
//! or at the second signal, the program ends at once with the exit code for interrupted runs.

use std::sync::OnceLock;

use tonnage::Cancel;

use crate::exit::{Exit, Failure, Outcome};

static CANCEL: OnceLock<Cancel> = OnceLock::new();

/// Listens to SIGINT, SIGTERM and SIGHUP from now on.
pub(crate) fn install() {
    let listening = ctrlc::set_handler(|| match CANCEL.get() {
        Some(cancel) if !cancel.is_cancelled() => {
            eprintln!("tonnage: interrupted: stopping in good order (once more to end at once)");
            cancel.cancel();
        }
        _ => std::process::exit(Exit::Interrupted as i32),
    });
    if let Err(error) = listening {
        eprintln!("tonnage: signals cannot be caught ({error}): an interrupt ends the program without a report");
    }
}

/// What the signal sets; whoever asks promises to look at it.
pub(crate) fn cancel() -> Cancel {
    CANCEL.get_or_init(Cancel::new).clone()
}

/// Whether the signal came.
pub(crate) fn is_interrupted() -> bool {
    CANCEL.get().is_some_and(Cancel::is_cancelled)
}

/// Ends a loop that only reads.
pub(crate) fn check(cancel: &Cancel) -> Outcome<()> {
    if cancel.is_cancelled() { Err(Failure::interrupted()) } else { Ok(()) }
}
