//! Request ids: the name by which a client, the audit log and the server's log refer to one call.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use tokio::task_local;
use tonnage::Result;
use tracing::{Instrument, info_span};

use crate::metrics::ListenerKind;
use crate::random::random_name;

/// The header that names a request.
pub(crate) const REQUEST_ID_HEADER: &str = "x-request-id";
/// A longer name is not taken over from a client.
const BYTES_MAX: usize = 128;

task_local! {
    static CURRENT: RequestId;
}

/// The name of a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RequestId(Arc<str>);

impl RequestId {
    /// The name that a client gave its request, if it is one that may stand in headers and logs.
    fn of_headers(headers: &HeaderMap) -> Option<RequestId> {
        let text = headers.get(REQUEST_ID_HEADER)?.to_str().ok()?;
        let is_sane = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.:/+=@".contains(&byte);
        let fits = !text.is_empty() && text.len() <= BYTES_MAX && text.bytes().all(is_sane);
        fits.then(|| RequestId(text.into()))
    }

    /// The request that this task answers.
    pub(crate) fn current() -> Option<RequestId> {
        CURRENT.try_with(Clone::clone).ok()
    }

    pub(crate) fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for RequestId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Makes names: a random number of the server, and the number of the request.
pub(crate) struct RequestIds {
    lead: String,
    next: AtomicU64,
}

impl RequestIds {
    /// # Errors
    /// `Unavailable` when the system has no random numbers.
    pub(crate) fn new() -> Result<Self> {
        let mut lead = random_name()?;
        lead.truncate(12);
        Ok(Self { lead, next: AtomicU64::new(1) })
    }

    fn make(&self) -> RequestId {
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        RequestId(format!("{}-{number:x}", self.lead).into())
    }
}

/// Gives each request its name, and tells it with the answer.
pub(crate) async fn assign(
    State((ids, listener)): State<(Arc<RequestIds>, ListenerKind)>,
    mut request: Request,
    next: Next,
) -> Response {
    let id = RequestId::of_headers(request.headers()).unwrap_or_else(|| ids.make());
    let span = info_span!(
        "request",
        ?listener,
        id = id.as_str(),
        method = request.method().as_str(),
        path = request.uri().path()
    );
    request.extensions_mut().insert(id.clone());
    let answer = CURRENT.scope(id.clone(), next.run(request)).instrument(span);
    let mut response = answer.await;
    if let Ok(value) = HeaderValue::from_str(id.as_str()) {
        response.headers_mut().insert(REQUEST_ID_HEADER, value);
    }
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    fn given(text: &str) -> Option<String> {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID_HEADER, HeaderValue::from_str(text).unwrap());
        RequestId::of_headers(&headers).map(|id| id.to_string())
    }

    #[test]
    fn a_name_is_taken_over_if_it_may_stand_in_a_log() {
        for sane in ["7", "0191b9f2-6c0a-7c3e-8d1e-0123456789ab", "load/7:ann@here"] {
            assert_eq!(given(sane).as_deref(), Some(sane));
        }
        for strange in ["", "two words", "{\"json\"}", "a;b", &"x".repeat(BYTES_MAX + 1)] {
            assert_eq!(given(strange), None, "{strange}");
        }
    }

    #[test]
    fn names_that_are_made_differ() {
        let (ids, others) = (RequestIds::new().unwrap(), RequestIds::new().unwrap());
        let made = [ids.make(), ids.make(), others.make()];
        assert!(made[0] != made[1] && made[1] != made[2] && made[0] != made[2], "{made:?}");
    }
}
