//! Roles and grants.

use serde::{Deserialize, Serialize};
use serde_json::{Value as Json, json};
use tonnage::Condition;
use tonnage_sql::Access;

/// What may be done.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq, Hash)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Right {
    /// Rows or pairs are read.
    Read,
    /// Rows or pairs are put in.
    Insert,
    /// Rows or pairs are changed.
    Update,
    /// Rows or pairs are deleted.
    Delete,
    /// Tables and indexes are created, altered and dropped.
    Define,
}

impl From<Access> for Right {
    fn from(access: Access) -> Self {
        match access {
            // Other rights do as well: `Caller::may_see`.
            Access::Read | Access::Describe => Right::Read,
            Access::Insert => Right::Insert,
            Access::Update => Right::Update,
            Access::Delete => Right::Delete,
            Access::Define => Right::Define,
        }
    }
}

impl Right {
    pub(crate) const ALL: [Right; 5] =
        [Right::Read, Right::Insert, Right::Update, Right::Delete, Right::Define];

    /// What a put under a condition does.
    pub(crate) fn of_put(condition: Condition) -> &'static [Right] {
        match condition {
            Condition::Always => &[Right::Insert, Right::Update],
            Condition::IfAbsent => &[Right::Insert],
            Condition::IfPresent | Condition::IfVersion(_) => &[Right::Update],
        }
    }

    pub(crate) fn label(self) -> &'static str {
        match self {
            Right::Read => "read",
            Right::Insert => "insert",
            Right::Update => "update",
            Right::Delete => "delete",
            Right::Define => "define",
        }
    }
}

/// Rights on everything.
#[derive(Clone, Copy, Debug, Deserialize, Serialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Role {
    /// Reads all tables and pairs.
    Reader,
    /// Reads and writes all tables and pairs.
    Writer,
    /// Puts rows and pairs in, and reads none.
    Loader,
    /// Sees and cancels jobs, reads metrics, syncs.
    Operator,
    /// May do everything.
    Admin,
}

impl Role {
    fn has(self, right: Right) -> bool {
        match self {
            Role::Reader => right == Right::Read,
            Role::Writer => right != Right::Define,
            Role::Loader => matches!(right, Right::Insert | Right::Update),
            Role::Operator => false,
            Role::Admin => true,
        }
    }
}

/// Rights on a table and its children, or on pairs whose keys begin alike.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Grant {
    /// The path of a table, or `*`.
    pub(super) table: Option<String>,
    /// What the first component of a key begins with, or `*`.
    pub(super) pairs: Option<String>,
    pub(super) allow: Vec<Right>,
}

/// All rights of a user.
#[derive(Clone, Debug, Default)]
pub(crate) struct Rights {
    pub(super) roles: Vec<Role>,
    pub(super) grants: Vec<Grant>,
}

impl Rights {
    /// Everything.
    pub(crate) fn all() -> Self {
        Self { roles: vec![Role::Admin], grants: Vec::new() }
    }

    /// The roles as the file of users names them.
    pub(crate) fn roles_json(&self) -> Json {
        json!(self.roles)
    }

    /// The grants as the file of users has them.
    pub(crate) fn grants_json(&self) -> Json {
        let grants = self.grants.iter().map(|grant| match &grant.pairs {
            Some(pairs) => json!({ "pairs": pairs, "allow": grant.allow }),
            None => json!({ "table": grant.table, "allow": grant.allow }),
        });
        grants.collect()
    }

    /// Whether a right holds for a table.
    pub(crate) fn on_table(&self, right: Right, table: &str) -> bool {
        self.has(right)
            || self.grants.iter().any(|grant| {
                let path = grant.table.as_deref();
                grant.allow.contains(&right) && path.is_some_and(|path| covers(path, table))
            })
    }

    /// Whether a right holds for any pair.
    pub(crate) fn on_some_pair(&self, right: Right) -> bool {
        let mut grants = self.grants.iter().filter(|grant| grant.pairs.is_some());
        self.has(right) || grants.any(|grant| grant.allow.contains(&right))
    }

    /// Whether a right holds for any table, even a future one.
    pub(crate) fn on_some_table(&self, right: Right) -> bool {
        let mut grants = self.grants.iter().filter(|grant| grant.table.is_some());
        self.has(right) || grants.any(|grant| grant.allow.contains(&right))
    }

    /// Whether a right holds for a table below another.
    pub(crate) fn below(&self, right: Right, table: &str) -> bool {
        self.grants.iter().any(|grant| {
            let path = grant.table.as_deref();
            grant.allow.contains(&right) && path.is_some_and(|path| covers(table, path))
        })
    }

    /// Whether a right holds for the pair whose key begins with this component.
    pub(crate) fn on_pair(&self, right: Right, first: &[u8]) -> bool {
        self.has(right)
            || self.grants.iter().any(|grant| {
                let prefix = grant.pairs.as_deref();
                grant.allow.contains(&right)
                    && prefix
                        .is_some_and(|prefix| prefix == "*" || first.starts_with(prefix.as_bytes()))
            })
    }

    /// Whether a right holds for all pairs.
    pub(crate) fn on_all_pairs(&self, right: Right) -> bool {
        self.has(right)
            || self
                .grants
                .iter()
                .any(|grant| grant.allow.contains(&right) && grant.pairs.as_deref() == Some("*"))
    }

    /// Whether jobs, metrics and the like are theirs to see and steer.
    pub(crate) fn operates(&self) -> bool {
        self.roles.iter().any(|role| matches!(role, Role::Operator | Role::Admin))
    }

    /// Whether they may write to the server's own directories.
    pub(crate) fn administers(&self) -> bool {
        self.roles.contains(&Role::Admin)
    }

    fn has(&self, right: Right) -> bool {
        self.roles.iter().any(|role| role.has(right))
    }
}

/// Whether a grant on a path holds for a table: on itself, its children, or everything.
fn covers(path: &str, table: &str) -> bool {
    if path == "*" {
        return true;
    }
    match table.get(..path.len()) {
        Some(head) if head.eq_ignore_ascii_case(path) => {
            table.len() == path.len() || table.as_bytes()[path.len()] == b'.'
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn granted(table: &str, allow: Right) -> Rights {
        let grant = Grant { table: Some(table.to_owned()), pairs: None, allow: vec![allow] };
        Rights { roles: Vec::new(), grants: vec![grant] }
    }

    #[test]
    fn a_grant_on_a_table_holds_for_its_children_and_nothing_else() {
        let rights = granted("ships", Right::Read);
        for (table, may) in
            [("ships", true), ("Ships.calls", true), ("shipsters", false), ("ship", false)]
        {
            assert_eq!(rights.on_table(Right::Read, table), may, "{table}");
        }
        assert!(!rights.on_table(Right::Insert, "ships"));
        assert!(rights.on_some_table(Right::Read) && !rights.on_some_table(Right::Insert));
        assert!(!rights.on_pair(Right::Read, b"ships"));
    }

    #[test]
    fn a_grant_on_a_child_holds_below_its_parents() {
        let rights = granted("ships.calls.crews", Right::Insert);
        for (table, is_above) in
            [("ships", true), ("SHIPS.calls", true), ("ships.other", false), ("ship", false)]
        {
            assert_eq!(rights.below(Right::Insert, table), is_above, "{table}");
            assert!(!rights.on_table(Right::Insert, table), "{table}");
        }
        assert!(!rights.below(Right::Read, "ships"));
    }

    #[test]
    fn a_grant_on_pairs_holds_for_keys_that_begin_so() {
        let grant = Grant { table: None, pairs: Some("fleet/".into()), allow: vec![Right::Update] };
        let rights = Rights { roles: Vec::new(), grants: vec![grant] };
        assert!(rights.on_pair(Right::Update, b"fleet/7"));
        assert!(!rights.on_pair(Right::Update, b"fleets"));
        assert!(!rights.on_all_pairs(Right::Update) && !rights.on_table(Right::Update, "fleet/"));
        assert!(!rights.on_some_table(Right::Update), "pairs are not tables");
    }

    #[test]
    fn roles_hold_for_everything() {
        let role = |role| Rights { roles: vec![role], grants: Vec::new() };
        let cases = [
            (Role::Reader, [true, false, false, false, false], false),
            (Role::Writer, [true, true, true, true, false], false),
            (Role::Loader, [false, true, true, false, false], false),
            (Role::Operator, [false; 5], true),
            (Role::Admin, [true; 5], true),
        ];
        for (given, may, operates) in cases {
            let rights = role(given);
            assert_eq!(Right::ALL.map(|right| rights.on_table(right, "t")), may, "{given:?}");
            assert_eq!(Right::ALL.map(|right| rights.on_some_table(right)), may, "{given:?}");
            assert_eq!(rights.operates(), operates, "{given:?}");
        }
    }
}
