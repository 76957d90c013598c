//! Turns statuses of the server, and failures of the connection, into errors of the store.

use std::error::Error as _;

use arrow_flight::error::FlightError;
use tonic::{Code, Status};
use tonnage::{Error, ErrorKind, TooManyErrors};
use tonnage_wire::CallFailure;

/// The trailer that tells the kind of an error.
const KIND_HEADER: &str = "tonnage-kind";

/// The trailer that says which error of its kind it is, of those that programs tell apart.
const CODE_HEADER: &str = "tonnage-code";

const KINDS: [ErrorKind; 10] = [
    ErrorKind::Invalid,
    ErrorKind::NotFound,
    ErrorKind::Conflict,
    ErrorKind::Unavailable,
    ErrorKind::Cancelled,
    ErrorKind::TimedOut,
    ErrorKind::Exhausted,
    ErrorKind::Corruption,
    ErrorKind::Unsupported,
    ErrorKind::Internal,
];

/// A status as an error. What the server itself said keeps its message; for what broke below the
/// calls the server's address leads the message.
pub(crate) fn of_status(server: &str, status: &Status) -> Error {
    let told = |header| status.metadata().get(header).and_then(|value| value.to_str().ok());
    // The server's header comes first: gRPC's codes are coarser, and proxies have nothing else.
    if let Some(kind) = told(KIND_HEADER).and_then(of_label) {
        return with_code(Error::new(kind, status.message()), told(CODE_HEADER));
    }
    match status.code() {
        Code::Unauthenticated => Error::invalid(format!(
            "{server}: {}: give a user and password, or a token, that the server knows",
            status.message()
        )),
        Code::PermissionDenied => Error::unsupported(status.message()),
        Code::InvalidArgument => Error::invalid(status.message()),
        Code::NotFound => Error::not_found(status.message()),
        Code::AlreadyExists | Code::Aborted => Error::conflict(status.message()),
        Code::ResourceExhausted | Code::OutOfRange => Error::exhausted(status.message()),
        Code::DeadlineExceeded => Error::timed_out(status.message()),
        Code::Unimplemented => Error::unsupported(format!(
            "{server}: {}: is this the Flight listener of a tonnage serve?",
            status.message()
        )),
        // The usual mistake is the port of HTTP, and a lost connection would not tell it.
        _ if is_http(status) => Error::invalid(format!(
            "{server}: the answer is not gRPC: give the address of the Flight listener, which \
             `tonnage serve` prints, not that of HTTP"
        )),
        _ => lost(server, status),
    }
}

/// An error that an answer of a stream of calls says.
pub(crate) fn of_answer(server: &str, told: &CallFailure) -> Error {
    match of_label(&told.kind) {
        Some(kind) => Error::new(kind, told.message.as_str()),
        None => of_status(server, &Status::new(Code::from_i32(told.code), told.message.as_str())),
    }
}

/// Whether HTTP without gRPC was answered: what is taken for a message begins with text.
fn is_http(status: &Status) -> bool {
    status.code() == Code::Internal && status.message().contains("invalid compression flag")
}

/// The kind that a label names.
pub(crate) fn of_label(label: &str) -> Option<ErrorKind> {
    match label {
        // A missing right is none of the store's kinds: the server tells one where it has users.
        "not allowed" => Some(ErrorKind::Unsupported),
        _ => KINDS.into_iter().find(|kind| kind.label() == label),
    }
}

/// The same error, with the cause of its code.
pub(crate) fn with_code(error: Error, code: Option<&str>) -> Error {
    match code {
        Some("too-many-errors") => error.with_source(TooManyErrors),
        _ => error,
    }
}

/// A failure of reading a stream.
pub(crate) fn of_flight(server: &str, error: FlightError) -> Error {
    match error {
        FlightError::Tonic(status) => of_status(server, &status),
        other => Error::internal(format!("{server}: an answer cannot be read: {other}")),
    }
}

/// A connection that could not be established.
pub(crate) fn of_connecting(server: &str, error: &tonic::transport::Error) -> Error {
    let causes = causes(error);
    let remedy = match &causes {
        causes if causes.contains("InvalidContentType") => {
            ": the server speaks no TLS: write grpc:// for one without"
        }
        causes if causes.contains("refused") => ": does `tonnage serve` run there?",
        _ => "",
    };
    Error::unavailable(format!("{server}: no connection: {causes}{remedy}"))
}

/// An error of the first call: a peer that says nothing may be no server at all.
pub(crate) fn of_silence(server: &str, error: Error) -> Error {
    match error.kind() {
        ErrorKind::TimedOut => Error::timed_out(format!(
            "{server}: there was no answer in time: is this the Flight listener of a tonnage serve?"
        )),
        _ => error,
    }
}

fn lost(server: &str, status: &Status) -> Error {
    let cause = status.source().map(|source| format!(": {}", causes(source))).unwrap_or_default();
    Error::unavailable(format!("{server}: the connection was lost: {}{cause}", status.message()))
}

/// The innermost causes say most.
fn causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        let said = cause.to_string();
        if !text.contains(&said) {
            text = format!("{text}: {said}");
        }
        source = cause.source();
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_comes_back_as_the_server_told_it() {
        for kind in KINDS {
            let mut status = Status::unknown("what happened");
            status.metadata_mut().insert(KIND_HEADER, kind.label().parse().unwrap());
            let error = of_status("grpc://a:1", &status);
            assert_eq!((error.kind(), error.message()), (kind, "what happened"));
        }
    }

    /// An answer of a fetch-all has no status, so its label alone tells.
    #[test]
    fn a_missing_right_is_of_the_same_kind_by_status_and_by_label() {
        let status = Status::permission_denied("ask for a grant");
        let by_status = of_status("grpc://a:1", &status).kind();
        assert_eq!(of_label("not allowed"), Some(by_status));
    }

    #[test]
    fn a_lost_connection_names_the_server() {
        let error = of_status("grpc://a:1", &Status::unknown("h2 protocol error"));
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        assert!(error.message().starts_with("grpc://a:1: the connection was lost"), "{error}");
    }
}
