//! Authentication of each call. A call without a known caller does not reach its handler.

use std::sync::Arc;

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tonic::Status;
use tonnage::Error;

use super::login::PeerCertificate;
use crate::context::ServerContext;
use crate::error::Problem;
use crate::metrics::ListenerKind;

/// Finds out who calls, and lets them in.
pub(crate) async fn authenticate(
    State((context, listener)): State<(Arc<ServerContext>, ListenerKind)>,
    mut request: Request,
    next: Next,
) -> Response {
    let certificate = request.extensions().get::<PeerCertificate>().cloned();
    let caller = context.logins.caller(request.headers(), certificate.as_ref()).await;
    match caller {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            next.run(request).await
        }
        Err(error) => {
            context.metrics.count_failed_login(listener);
            unauthorized(listener, request.headers(), error)
        }
    }
}

/// Answers a caller that is not logged in. A browser shows a dialog of its own where the answer
/// asks for Basic: a page has a better one.
pub(crate) fn unauthorized(listener: ListenerKind, asked: &HeaderMap, error: Error) -> Response {
    match listener {
        ListenerKind::flight => Status::unauthenticated(error.message()).into_http(),
        ListenerKind::http | ListenerKind::redis | ListenerKind::nosql => {
            let mut response = Problem::new(StatusCode::UNAUTHORIZED, error).into_response();
            if !asked.contains_key("sec-fetch-mode") {
                let basic = HeaderValue::from_static("Basic realm=\"tonnage\"");
                response.headers_mut().insert(header::WWW_AUTHENTICATE, basic);
            }
            response
        }
    }
}
