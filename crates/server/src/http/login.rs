//! Logins of browsers. A program sends its credentials with each call and needs none of this.

use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde::Deserialize;
use serde_json::json;

use super::handler::{ContextState, HandlerResult, json as json_body, parse_json};
use crate::auth::{login_cookie, unauthorized};
use crate::metrics::ListenerKind;

/// A user's name and password, or a token alone.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Credentials {
    user: Option<String>,
    /// The password or the token.
    secret: String,
}

/// Checks credentials as every call does, and lets the browser keep a token in their place.
pub(super) async fn login(
    State(context): ContextState,
    headers: HeaderMap,
    body: String,
) -> HandlerResult<Response> {
    let given: Credentials = parse_json(&body)?;
    let caller = match context.logins.named_caller(given.user.as_deref(), &given.secret).await {
        Ok(caller) => caller,
        Err(error) => {
            context.metrics.count_failed_login(ListenerKind::http);
            return Ok(unauthorized(ListenerKind::http, &headers, error));
        }
    };
    let mut response = json_body(&json!({ "user": caller.user() }));
    if let Some(token) = context.logins.token(&caller)? {
        set_cookie(&mut response, &login_cookie::keep(&token, context.config.tls.is_some()));
    }
    Ok(response)
}

/// Ends the login of the cookie, here and in the browser.
pub(super) async fn logout(State(context): ContextState, headers: HeaderMap) -> Response {
    if let Some(token) = login_cookie::token_of(&headers) {
        context.logins.end(token);
    }
    let mut response = StatusCode::NO_CONTENT.into_response();
    set_cookie(&mut response, &login_cookie::forget(context.config.tls.is_some()));
    response
}

fn set_cookie(response: &mut Response, cookie: &str) {
    // Tokens are of digits and letters, so this is always a header.
    if let Ok(cookie) = cookie.parse() {
        response.headers_mut().insert(header::SET_COOKIE, cookie);
    }
}
