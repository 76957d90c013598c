//! Rewords errors of a bulk put for the command line: files, lines, and option names.

use std::sync::Arc;

use tonnage::{Error, ErrorKind};

use super::option_names::in_option_names;
use super::stream::StreamState;

/// Reword an error in terms of files and options.
pub(super) fn reworded(error: Error, states: &[Arc<StreamState>]) -> Error {
    if let Some(message) = of_stream(&error) {
        // What caused it says nothing more.
        return error.restated().with_message(message);
    }
    let message = match error.kind() {
        ErrorKind::Conflict => of_existing(&error, states),
        ErrorKind::Cancelled if error.message().contains("the bulk put was cancelled") => {
            Some("interrupted: what was read before is stored".to_owned())
        }
        ErrorKind::Invalid => Some(in_option_names(error.message())),
        _ => None,
    };
    match message {
        Some(message) => error.restated().with_message(message),
        None => error,
    }
}

/// An error of a file, without the number of its stream: it begins with the name of the file.
fn of_stream(error: &Error) -> Option<String> {
    let stream = error.location().stream?;
    let rest = error.message().strip_prefix(&format!("stream {stream}"))?;
    let (place, rest) = rest.split_once(" entries: ")?;
    let (name, _) = place.split_once(", after ")?;
    let name = name.strip_prefix(" (").and_then(|name| name.strip_suffix(')'));
    Some(name.map_or_else(|| rest.to_owned(), |name| format!("{name}: {rest}")))
}

/// An entry whose key exists: its file and its line.
fn of_existing(error: &Error, states: &[Arc<StreamState>]) -> Option<String> {
    let (stream, position) = (error.location().stream?, error.location().position?);
    let state = states.get(usize::try_from(stream).ok()?)?;
    let before = format!("stream {stream} ({}), entry {position}: ", state.name);
    let rest = error.message().strip_prefix(&before)?;
    let rest =
        rest.replace("or load with keep or replace", "or give --on-existing keep or replace");
    let at = match state.line_of(position) {
        Some(line) => format!("line {line}"),
        None if state.has_lines() => {
            format!("record {position} from 0 (its line is not known: a pipe cannot be read again)")
        }
        None => format!("record {position} from 0"),
    };
    Some(format!("{}, {at}: {rest}", state.name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_have_the_names_of_the_command_line() {
        let error = Error::invalid("memory_bytes_max is 1024: it must be between 1 and 2");
        assert!(reworded(error, &[]).message().starts_with("--memory is 1024"));
        let error = Error::corruption("stream 0, after 5 entries: a.csv: cut short").of_stream(0);
        assert_eq!(reworded(error, &[]).message(), "a.csv: cut short");
        let error = Error::corruption("stream 1 (b.csv), after 5 entries: lost").of_stream(1);
        assert_eq!(reworded(error, &[]).message(), "b.csv: lost");
        let error = Error::cancelled("the bulk put was cancelled: what was read before is stored");
        assert_eq!(reworded(error, &[]).message(), "interrupted: what was read before is stored");
    }
}
