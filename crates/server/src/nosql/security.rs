//! Logins: a user's name and password for a token, which goes with each request.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;
use tonnage::{Clock, Error, SystemClock};

use super::data::{NosqlState, bearer_token};
use crate::auth::TOKEN_IDLE_MAX;
use crate::metrics::ListenerKind;

/// Gives a token for a name and a password.
pub(super) async fn login(State(state): State<NosqlState>, headers: HeaderMap) -> Response {
    token(&state, &headers).await
}

/// Gives another token for one that still holds.
pub(super) async fn renew(State(state): State<NosqlState>, headers: HeaderMap) -> Response {
    match bearer_token(&headers) {
        Some(_) => token(&state, &headers).await,
        None => refused(StatusCode::UNAUTHORIZED, "there is no token to be renewed"),
    }
}

/// Ends a token.
pub(super) async fn logout(State(state): State<NosqlState>, headers: HeaderMap) -> Response {
    if let Some(token) = bearer_token(&headers) {
        state.context.logins.end(token);
    }
    StatusCode::OK.into_response()
}

async fn token(state: &NosqlState, headers: &HeaderMap) -> Response {
    let context = &state.context;
    let caller = match context.logins.caller(headers, None).await {
        Ok(caller) => caller,
        Err(error) => {
            context.metrics.count_failed_login(ListenerKind::nosql);
            return refused(StatusCode::UNAUTHORIZED, error.message());
        }
    };
    let expires_at_ms = SystemClock.now_ms() + TOKEN_IDLE_MAX.as_millis() as u64;
    match context.logins.token(&caller) {
        Ok(Some(token)) => {
            let body = json!({ "token": token, "expireAt": expires_at_ms }).to_string();
            ([(header::CONTENT_TYPE, "application/json")], body).into_response()
        }
        Ok(None) => {
            let told = "the server has no users: connect without a name and a password";
            refused(StatusCode::BAD_REQUEST, told)
        }
        Err(error) => failed(&error),
    }
}

fn failed(error: &Error) -> Response {
    refused(StatusCode::SERVICE_UNAVAILABLE, error.message())
}

fn refused(status: StatusCode, told: &str) -> Response {
    (status, told.to_owned()).into_response()
}
