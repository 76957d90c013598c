//! Who calls, and what they may do.

use axum::Extension;
use axum::extract::State;
use axum::response::Response;
use serde_json::json;

use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body};
use crate::auth::Right;

/// Tells a caller's name and rights, so that a page can hide what would be refused. It decides
/// nothing: each call is checked as ever.
pub(super) async fn me(
    State(context): ContextState,
    Extension(caller): CallerExtension,
) -> HandlerResult<Response> {
    let rights = caller.rights();
    let allow = Right::ALL.into_iter().filter(|right| rights.on_some_table(*right));
    let allow_pairs = Right::ALL.into_iter().filter(|right| rights.on_some_pair(*right));
    Ok(json_body(&json!({
        "user": caller.user(),
        "has_users": context.config.users.is_some(),
        "roles": rights.roles_json(),
        "grants": rights.grants_json(),
        "operates": rights.operates(),
        "administers": rights.administers(),
        "allow": allow.collect::<Vec<_>>(),
        "allow_pairs": allow_pairs.collect::<Vec<_>>(),
        "version": env!("CARGO_PKG_VERSION"),
    })))
}
