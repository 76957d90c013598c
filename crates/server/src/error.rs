//! Errors as gRPC statuses and HTTP problems.

use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::{Map, Value as Json};
use tonic::metadata::MetadataValue;
use tonic::{Code, Status};
use tonnage::{AlreadyExists, Error, ErrorKind, TooManyErrors};

use crate::auth::AccessDenied;
use crate::error_position::position_members;
use crate::request_id::{REQUEST_ID_HEADER, RequestId};

/// gRPC messages travel in headers, of which grpc-java takes 8 KiB by default.
const STATUS_BYTES_MAX: usize = 4 << 10;

/// The type of an error over HTTP.
pub(crate) const PROBLEM_TYPE: &str = "application/problem+json";

/// The header that tells the kind of an error.
const KIND_HEADER: &str = "tonnage-kind";

/// The header that says which error of its kind it is, of those that programs tell apart.
const CODE_HEADER: &str = "tonnage-code";

/// Which error of its kind it is, of those that programs tell apart.
pub(crate) fn error_code(error: &Error) -> Option<&'static str> {
    TooManyErrors::caused(error).then_some("too-many-errors")
}

/// The kind of an error, as clients see it: a missing right is none of the store's kinds.
pub(crate) fn kind_label(error: &Error) -> &'static str {
    match is_denied(error) {
        true => "not allowed",
        false => error.kind().label(),
    }
}

/// An error as a gRPC status.
pub(crate) fn status(error: &Error) -> Status {
    let code = match is_denied(error) {
        true => Code::PermissionDenied,
        // Drivers tell this code from others; of ABORTED they make an unknown error.
        false if AlreadyExists::caused(error) => Code::AlreadyExists,
        false => code(error.kind()),
    };
    let mut status = Status::new(code, cut(error.message()));
    if let Ok(kind) = kind_label(error).parse() {
        status.metadata_mut().insert(KIND_HEADER, kind);
    }
    if let Some(code) = error_code(error) {
        status.metadata_mut().insert(CODE_HEADER, MetadataValue::from_static(code));
    }
    if let Some(id) = RequestId::current().and_then(|id| id.as_str().parse().ok()) {
        status.metadata_mut().insert(REQUEST_ID_HEADER, id);
    }
    status
}

/// A gRPC status as JSON, for clients of HTTP whose answer has begun.
pub(crate) fn status_json(status: &Status) -> Json {
    let header = |name| status.metadata().get(name).and_then(|value| value.to_str().ok());
    let kind = header(KIND_HEADER).unwrap_or_else(|| ErrorKind::Internal.label());
    serde_json::json!({"error": {
        "kind": kind, "code": header(CODE_HEADER), "message": status.message(),
    }})
}

/// Whether the caller may not do what they asked for.
pub(crate) fn is_denied(error: &Error) -> bool {
    std::error::Error::source(error).is_some_and(|source| source.is::<AccessDenied>())
}

fn code(kind: ErrorKind) -> Code {
    match kind {
        ErrorKind::Invalid => Code::InvalidArgument,
        ErrorKind::NotFound => Code::NotFound,
        ErrorKind::Conflict => Code::Aborted,
        ErrorKind::Unavailable => Code::Unavailable,
        ErrorKind::Cancelled => Code::Cancelled,
        ErrorKind::TimedOut => Code::DeadlineExceeded,
        ErrorKind::Exhausted => Code::ResourceExhausted,
        ErrorKind::Corruption => Code::DataLoss,
        ErrorKind::Unsupported => Code::Unimplemented,
        ErrorKind::Internal => Code::Internal,
        _ => Code::Unknown,
    }
}

fn cut(message: &str) -> &str {
    if message.len() <= STATUS_BYTES_MAX {
        return message;
    }
    let mut end = STATUS_BYTES_MAX;
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    &message[..end]
}

/// An error of a handler, in the form of RFC 9457 for HTTP clients.
#[derive(Debug)]
pub(crate) struct Problem {
    status: StatusCode,
    error: Error,
    /// What else there is to tell.
    members: Map<String, Json>,
}

impl Problem {
    /// The same error under another status.
    pub(crate) fn new(status: StatusCode, error: Error) -> Self {
        Self { status, error, members: Map::new() }
    }

    /// The same problem, with members of its own.
    pub(crate) fn with(mut self, members: Map<String, Json>) -> Self {
        self.members = members;
        self
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        if is_denied(&error) {
            return Self::new(StatusCode::FORBIDDEN, error);
        }
        let status = match error.kind() {
            ErrorKind::Invalid => StatusCode::BAD_REQUEST,
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Conflict => StatusCode::CONFLICT,
            ErrorKind::Unavailable => StatusCode::SERVICE_UNAVAILABLE,
            // nginx' number for a request that its client called off.
            ErrorKind::Cancelled => StatusCode::from_u16(499).unwrap_or(StatusCode::CONFLICT),
            ErrorKind::TimedOut => StatusCode::GATEWAY_TIMEOUT,
            ErrorKind::Exhausted => StatusCode::TOO_MANY_REQUESTS,
            ErrorKind::Corruption | ErrorKind::Internal => StatusCode::INTERNAL_SERVER_ERROR,
            ErrorKind::Unsupported => StatusCode::NOT_IMPLEMENTED,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        Self::new(status, error)
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let title = match (self.status, error_code(&self.error)) {
            (StatusCode::FORBIDDEN, _) => "not allowed".to_owned(),
            (StatusCode::MISDIRECTED_REQUEST, _) => "unknown host".to_owned(),
            (StatusCode::UNAUTHORIZED, _) => "not logged in".to_owned(),
            (StatusCode::PAYLOAD_TOO_LARGE, _) => "too large".to_owned(),
            (_, Some(code)) => code.replace('-', " "),
            _ => self.error.kind().label().to_owned(),
        };
        // The members of RFC 9457, beside those of the call.
        let mut body = self.members;
        body.insert("type".to_owned(), format!("/problems/{}", title.replace(' ', "-")).into());
        body.insert("title".to_owned(), title.into());
        body.insert("status".to_owned(), self.status.as_u16().into());
        body.insert("detail".to_owned(), self.error.message().into());
        body.extend(position_members(self.error.message()));
        if let Some(id) = RequestId::current() {
            body.insert("request_id".to_owned(), id.as_str().into());
        }
        let body = Json::Object(body);
        let kind = [(header::CONTENT_TYPE, PROBLEM_TYPE)];
        let mut response = (self.status, kind, body.to_string()).into_response();
        // Clients that read no problem know this header.
        if self.status == StatusCode::SERVICE_UNAVAILABLE {
            let seconds = axum::http::HeaderValue::from_static("1");
            response.headers_mut().insert(header::RETRY_AFTER, seconds);
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_a_code_of_its_own() {
        let kinds = [
            (ErrorKind::Invalid, Code::InvalidArgument, 400),
            (ErrorKind::NotFound, Code::NotFound, 404),
            (ErrorKind::Conflict, Code::Aborted, 409),
            (ErrorKind::Unavailable, Code::Unavailable, 503),
            (ErrorKind::Cancelled, Code::Cancelled, 499),
            (ErrorKind::TimedOut, Code::DeadlineExceeded, 504),
            (ErrorKind::Exhausted, Code::ResourceExhausted, 429),
            (ErrorKind::Corruption, Code::DataLoss, 500),
            (ErrorKind::Unsupported, Code::Unimplemented, 501),
            (ErrorKind::Internal, Code::Internal, 500),
        ];
        for (kind, code, http) in kinds {
            let status = status(&Error::new(kind, "what happened"));
            assert_eq!((status.code(), status.message()), (code, "what happened"));
            assert_eq!(status.metadata().get(KIND_HEADER).unwrap(), kind.label());
            assert_eq!(Problem::from(Error::new(kind, "")).status.as_u16(), http, "{kind:?}");
        }
    }

    #[test]
    fn what_exists_has_a_code_of_its_own_and_the_kind_of_a_conflict() {
        let error = AlreadyExists::error("table t exists already").at("line 1");
        let status = status(&error);
        assert_eq!(status.code(), Code::AlreadyExists);
        assert_eq!(status.metadata().get(KIND_HEADER).unwrap(), "conflict");
        assert_eq!(Problem::from(error).status.as_u16(), 409);
    }

    /// Longer headers kill the call with another error than the one they tell.
    #[test]
    fn a_long_message_is_cut_between_characters() {
        let status = status(&Error::invalid("ä".repeat(STATUS_BYTES_MAX)));
        assert_eq!(status.message(), "ä".repeat(STATUS_BYTES_MAX / 2));
    }
}
