//! What a caller of the listener may do.

use tonnage::{Error, Result};
use tonnage_nosql::{AccessDecision, AccessRefusal, NosqlAccess, TableRight};
use tonnage_sql::Sql;

use crate::auth::{Caller, Right};
use crate::error::is_denied;

/// The rights of a caller, by the statements that it makes too.
pub(super) struct CallerRights<'a> {
    pub(super) caller: &'a Caller,
    pub(super) sql: &'a Sql,
}

fn right_of(right: TableRight) -> Right {
    match right {
        TableRight::Read => Right::Read,
        TableRight::Insert => Right::Insert,
        TableRight::Update => Right::Update,
        TableRight::Delete => Right::Delete,
    }
}

/// That the audit log cannot be written is another thing than a missing right.
fn decision(checked: Result<()>) -> AccessDecision {
    checked.map_err(|error: Error| match is_denied(&error) {
        true => AccessRefusal::Denied(error),
        false => AccessRefusal::Failed(error),
    })
}

impl NosqlAccess for CallerRights<'_> {
    fn check_table(&self, right: TableRight, table: &str) -> AccessDecision {
        decision(self.caller.check_table(right_of(right), table))
    }

    fn check_description(&self, table: &str) -> AccessDecision {
        decision(self.caller.check_description(table))
    }

    fn check_definition(&self, statement: &str) -> AccessDecision {
        decision(self.caller.check_definitions(self.sql, statement))
    }

    fn may_see(&self, table: &str) -> bool {
        self.caller.may_see(table)
    }

    fn user_name(&self) -> Option<&str> {
        self.caller.user()
    }
}
