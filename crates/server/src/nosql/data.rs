//! Requests and their answers.

use std::sync::Arc;
use std::time::Instant;

use axum::body::{Body, Bytes};
use axum::extract::{Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use http_body_util::{BodyExt, LengthLimitError, Limited};
use tonnage_nosql::{
    Failure, FailureCode, NosqlAnswer, NosqlService, early_failure, protocol_failure,
};

use super::access::CallerRights;
use crate::auth::{Caller, PeerCertificate};
use crate::context::ServerContext;
use crate::counted_body::counted;
use crate::metrics::ListenerKind;

/// The name that a client gives its request, which the answer tells again.
const CLIENT_REQUEST_ID: &str = "x-nosql-request-id";
/// The namespace of tables without one.
const DEFAULT_NAMESPACE: &str = "x-nosql-default-ns";
/// The release whose protocol is spoken.
const SPOKEN: HeaderValue = HeaderValue::from_static("proxy=25.3.21  kv=25.3.21");
/// The version of the protocol.
const SERIAL_VERSION: HeaderValue = HeaderValue::from_static("5");
const ATTACHMENT: HeaderValue = HeaderValue::from_static("attachment; filename=api.json");

/// What all requests of the listener share.
#[derive(Clone)]
pub(super) struct NosqlState {
    pub(super) context: Arc<ServerContext>,
    pub(super) service: Arc<NosqlService>,
}

/// Answers a request. What is wrong with it is told in the answer, whose status is 200.
pub(super) async fn data(State(state): State<NosqlState>, request: Request) -> Response {
    let started = Instant::now();
    let (head, body) = request.into_parts();
    let client_id = head.headers.get(CLIENT_REQUEST_ID).cloned();
    let answer = match answer(&state, &head, body, client_id.is_some()).await {
        Ok(answer) => answer,
        Err(failure) => early_failure(failure.code, &failure.message),
    };
    let outcome = match answer.failure {
        None => "ok",
        Some(code) if code.is_refusal() => "refused",
        Some(_) => "failed",
    };
    let metrics = &state.context.metrics;
    metrics.count_call(ListenerKind::nosql, answer.call, outcome, started.elapsed());
    let mut response = answer.body.into_response();
    let headers = response.headers_mut();
    // Bytes are an octet stream already.
    headers.insert(header::CONTENT_DISPOSITION, ATTACHMENT);
    headers.insert("x-nosql-version", SPOKEN);
    headers.insert("x-nosql-serial-version", SERIAL_VERSION);
    if let Some(id) = client_id {
        headers.insert(CLIENT_REQUEST_ID, id);
    }
    response
}

async fn answer(
    state: &NosqlState,
    head: &Parts,
    body: Body,
    has_id: bool,
) -> Result<NosqlAnswer, Failure> {
    let context = &state.context;
    if !has_id {
        let told = "missing requestId in header";
        return Ok(protocol_failure(&Failure::new(FailureCode::BadProtocolMessage, told)));
    }
    // Before the body is read: strangers send none.
    let caller = caller(context, head).await?;
    let namespace = default_namespace(&head.headers)?;
    // What the body takes of the memory is given back when it is answered.
    let (body, memory) = counted(body, &context.bodies);
    let body = read(body, context.config.body_bytes_max).await;
    if let Some(refusal) = memory.take_refusal() {
        return Err(refusal.into());
    }
    let body = body?;
    let service = state.service.clone();
    let answered = context.blocking(move |context| {
        let rights = CallerRights { caller: &caller, sql: &context.sql };
        let longest = context.config.statement_timeout;
        Ok(service.answer(&body, namespace.as_deref(), &rights, longest))
    });
    let answered = answered.await;
    memory.release();
    answered.map_err(Failure::from)
}

/// Who asks. An SDK whose token has ended logs in again where it is told so.
async fn caller(context: &ServerContext, head: &Parts) -> Result<Caller, Failure> {
    let certificate = head.extensions.get::<PeerCertificate>();
    let caller = context.logins.caller(&head.headers, certificate).await;
    caller.map_err(|error| {
        context.metrics.count_failed_login(ListenerKind::nosql);
        let code = match bearer_token(&head.headers) {
            Some(_) => FailureCode::RetryAuthentication,
            None => FailureCode::InvalidAuthorization,
        };
        Failure::new(code, error.message())
    })
}

/// The token that a request has with it.
pub(super) fn bearer_token(headers: &HeaderMap) -> Option<&str> {
    let said = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = said.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then_some(token.trim())
}

/// The namespace of tables that the request names without one.
fn default_namespace(headers: &HeaderMap) -> Result<Option<String>, Failure> {
    let Some(given) = headers.get(DEFAULT_NAMESPACE) else { return Ok(None) };
    let given = given.to_str().map_err(|_| {
        let told = "the default namespace is not plain text: name one that CREATE NAMESPACE takes";
        Failure::new(FailureCode::IllegalArgument, told)
    })?;
    Ok(Some(given.to_owned()))
}

async fn read(body: Body, bytes_max: usize) -> Result<Bytes, Failure> {
    match Limited::new(body, bytes_max).collect().await {
        Ok(read) => Ok(read.to_bytes()),
        Err(error) if error.is::<LengthLimitError>() => Err(Failure::new(
            FailureCode::RequestTooLarge,
            format!("the request has more than {bytes_max} bytes: raise body_bytes_max"),
        )),
        Err(error) => Err(Failure::new(
            FailureCode::BadProtocolMessage,
            format!("the request did not come whole: {error}"),
        )),
    }
}
