//! How a run ends: exit codes, and failures on their way to the user.

use std::error::Error as _;
use std::io;

use tonnage::{Error, ErrorKind};

use crate::stderr;
use crate::{broken_pipe, plain, time_limit};

/// What the exit codes mean, as the help of the program says it.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  all went well
  1  finished, but entries were rejected, a condition did not hold, a key was not found,
     or damage was found
  2  stopped on the way: too many errors, an input that ends too early, a full disk, a timeout,
     a query that failed while it ran, a statement that failed after others were carried out
  3  nothing was done: wrong usage, or something that was needed is not there
  4  interrupted; what was read before is stored
  5  internal error";

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Success = 0,
    Rejected = 1,
    Stopped = 2,
    Usage = 3,
    Interrupted = 4,
    Internal = 5,
}

impl Exit {
    /// Ends the program at once, without the destructors of C++: threads that still end a statement
    /// or close a store would find RocksDB's locks destroyed, and abort the program.
    pub(crate) fn exit_now(self) -> ! {
        // SAFETY: `_exit` takes any number and touches no memory of this program.
        unsafe { libc::_exit(self as i32) }
    }
}

/// An error with the exit code that it leads to.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) exit: Exit,
    pub(crate) error: Error,
}

/// The answer of everything that can end a run early.
pub(crate) type CliResult<T = Exit> = Result<T, Failure>;

impl Failure {
    pub(crate) fn new(exit: Exit, error: Error) -> Self {
        Self { exit, error }
    }

    /// The failure of an impossible request.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Self::new(Exit::Usage, Error::invalid(message))
    }

    /// Something that ends a run that has begun: what was done before it stays.
    pub(crate) fn stopped(error: Error) -> Self {
        let failure = Self::from(error);
        match failure.exit {
            Exit::Usage => Self { exit: Exit::Stopped, ..failure },
            _ => failure,
        }
    }

    /// Ctrl-C, or the end of the time, in a verb that has nothing to report.
    pub(crate) fn interrupted() -> Self {
        Self::interrupted_or_timed_out(Error::cancelled("interrupted"))
    }

    /// What ended because of Ctrl-C, or because the time of the run is over.
    pub(crate) fn interrupted_or_timed_out(error: Error) -> Self {
        match time_limit::over() {
            None => Self::new(Exit::Interrupted, error),
            Some(timeout) => Self::new(
                Exit::Stopped,
                Error::timed_out(format!(
                    "the run took longer than its --timeout of {timeout:?}: give it more time, or ask for less"
                ))
                .with_source(error),
            ),
        }
    }

    /// Prints the error with its causes, and tells the exit code. A reader of standard output that
    /// has seen enough (`tonnage scan ... | head`) is not a failure, and nothing is printed.
    pub(crate) fn report(&self) -> Exit {
        self.report_to(broken_pipe::reader_has_gone())
    }

    fn report_to(&self, reader_is_gone: bool) -> Exit {
        // Files and connections break as well.
        if reader_is_gone && self.is_broken_pipe() {
            return Exit::Success;
        }
        let text = with_causes(&self.error);
        stderr::line(format_args!("tonnage: {}", plain::lines(&text)));
        self.exit
    }

    fn is_broken_pipe(&self) -> bool {
        let mut source = self.error.source();
        while let Some(error) = source {
            if error
                .downcast_ref::<io::Error>()
                .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
            {
                return true;
            }
            // Arrow and Parquet keep the text of the error, but not always the error.
            if error.source().is_none() && error.to_string().contains("Broken pipe") {
                return true;
            }
            source = error.source();
        }
        false
    }
}

/// The message, followed by its cause, unless the message says so already.
pub(crate) fn with_causes(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        if !text.contains(&cause_text) {
            text = format!("{text}: {cause_text}");
        }
        source = cause.source();
    }
    text
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        let exit = match error.kind() {
            ErrorKind::Internal => Exit::Internal,
            ErrorKind::Corruption | ErrorKind::TimedOut | ErrorKind::Exhausted => Exit::Stopped,
            ErrorKind::Cancelled => return Self::interrupted_or_timed_out(error),
            _ => Exit::Usage,
        };
        Self { exit, error }
    }
}

/// Files that the program itself reads or writes, and standard output.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::new(
            Exit::Stopped,
            Error::unavailable(format!("the output cannot be written: {error}")).with_source(error),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn causes_are_told_once() {
        let error = Error::unavailable("a.csv: cannot be opened")
            .with_source(io::Error::other("no such luck"));
        assert_eq!(with_causes(&error), "a.csv: cannot be opened: no such luck");
        let error =
            Error::unavailable("a.csv: no such luck").with_source(io::Error::other("no such luck"));
        assert_eq!(with_causes(&error), "a.csv: no such luck");
    }

    #[test]
    fn what_was_called_off_or_met_a_limit_is_told_from_a_wrong_request() {
        let exit = |error| Failure::from(error).exit;
        assert_eq!(exit(Error::cancelled("the statement was cancelled")), Exit::Interrupted);
        assert_eq!(
            exit(Error::timed_out("the statement took longer than its timeout")),
            Exit::Stopped
        );
        assert_eq!(exit(Error::exhausted("the sort takes more than its memory")), Exit::Stopped);
        assert_eq!(exit(Error::invalid("there is no such column")), Exit::Usage);
    }

    /// A connection that broke was taken for a reader that had seen enough: the load from a server
    /// that went away ended with 0 and without a word.
    #[test]
    fn a_reader_that_has_seen_enough_is_no_failure_but_a_connection_that_breaks_is() {
        let broken = || io::Error::from(io::ErrorKind::BrokenPipe);
        assert_eq!(Failure::from(broken()).report_to(true), Exit::Success);
        let lost = Error::unavailable("https://h/a.csv: cannot be read").with_source(broken());
        assert_eq!(Failure::new(Exit::Stopped, lost).report_to(false), Exit::Stopped);
        let other = Error::corruption("a.csv: cut short").with_source(io::Error::other("short"));
        assert_eq!(Failure::new(Exit::Stopped, other).report_to(true), Exit::Stopped);
    }
}
