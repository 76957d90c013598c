//! Users, and what the audit log says, for administrators.

use axum::Extension;
use axum::extract::{Query, State};
use axum::response::Response;
use serde::Deserialize;
use serde_json::json;
use tonnage::Error;

use super::handler::{CallerExtension, ContextState, HandlerResult, json as json_body};
use crate::audit_tail::AuditTail;

/// Lines of one answer.
const LINES_MAX: usize = 1_000;

#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct UsersQuery {
    /// A table: the answer says what each user may do there.
    table: Option<String>,
}

/// All users, without passwords and digests.
pub(super) async fn users(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Query(query): Query<UsersQuery>,
) -> HandlerResult<Response> {
    caller.check_admin("list users of")?;
    let users = context.logins.users_json(query.table.as_deref());
    Ok(json_body(&json!({ "has_users": context.config.users.is_some(), "users": users })))
}

#[derive(Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct AuditQuery {
    /// Where the lines wanted end, as the answer before says.
    before: Option<u64>,
    limit: usize,
}

impl Default for AuditQuery {
    fn default() -> Self {
        Self { before: None, limit: 100 }
    }
}

/// The last lines of the audit log.
pub(super) async fn audit(
    State(context): ContextState,
    Extension(caller): CallerExtension,
    Query(query): Query<AuditQuery>,
) -> HandlerResult<Response> {
    caller.check_admin("read the audit log of")?;
    let Some(path) = context.config.audit.clone() else {
        return Err(Error::not_found(
            "the server keeps no audit log: start it with `audit`, the path of a file",
        )
        .into());
    };
    if !(1..=LINES_MAX).contains(&query.limit) {
        return Err(Error::invalid(format!("limit is 1 to {LINES_MAX}")).into());
    }
    let tail = context.blocking(move |_| AuditTail::read(&path, query.before, query.limit)).await?;
    Ok(json_body(&json!({ "lines": tail.lines, "before": tail.before })))
}
