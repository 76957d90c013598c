//! The caller of a request, and the checks of their rights.

use std::sync::Arc;

use axum::http::{HeaderMap, header};
use tonnage::{Error, ErrorKind, OnExisting, Result};
use tonnage_sql::{Access, INFORMATION_SCHEMA, Sql, TableAccess};

use super::access_denied::AccessDenied;
use super::audit::Audit;
use super::rights::{Right, Rights};
use super::users::User;
use crate::job_scope::JobScope;
use crate::request_id::RequestId;
use crate::sessions::session_of;

/// Who calls.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    user: Option<Arc<User>>,
    rights: Arc<Rights>,
    audit: Option<Arc<Audit>>,
    session: Option<String>,
    request: Option<RequestId>,
    binds_milliseconds: bool,
}

/// What leads the name that gRPC for Java gives itself, and with it the JDBC driver of Flight SQL.
const GRPC_JAVA: &str = "grpc-java";

impl Caller {
    pub(super) fn new(
        user: Option<Arc<User>>,
        rights: Rights,
        audit: Option<Arc<Audit>>,
        headers: &HeaderMap,
    ) -> Caller {
        let cookies = headers.get_all(header::COOKIE).iter();
        let mut sessions = cookies.filter_map(|cookie| cookie.to_str().ok()).filter_map(session_of);
        Caller {
            user,
            rights: Arc::new(rights),
            audit,
            session: sessions.next().map(str::to_owned),
            request: RequestId::current(),
            binds_milliseconds: user_agent(headers).contains(GRPC_JAVA),
        }
    }

    /// The name of the user; none where the server has no users.
    pub(crate) fn user(&self) -> Option<&str> {
        self.user.as_ref().map(|user| user.name.as_str())
    }

    /// What the caller may do.
    pub(crate) fn rights(&self) -> &Rights {
        &self.rights
    }

    /// The user as they were when the call came.
    pub(super) fn logged_in_user(&self) -> Option<&User> {
        self.user.as_deref()
    }

    /// The session that the caller names.
    pub(crate) fn session(&self) -> Option<&str> {
        self.session.as_deref()
    }

    /// Whether the caller's program binds timestamps and times of day as milliseconds, whatever the
    /// type of the parameter: the JDBC driver of Flight SQL does.
    pub(crate) fn binds_milliseconds(&self) -> bool {
        self.binds_milliseconds
    }

    /// Whether the caller may know of a table, and of its columns. A user with rights below it
    /// knows its key already, and needs the rest to understand its children.
    pub(crate) fn may_see(&self, table: &str) -> bool {
        Right::ALL
            .into_iter()
            .any(|right| self.rights.on_table(right, table) || self.rights.below(right, table))
    }

    /// Refuses to describe a table that the caller may not know of.
    pub(crate) fn check_description(&self, table: &str) -> Result<()> {
        self.decide(self.may_see(table), Right::Read.label(), || format!("table {table}"))
    }

    /// Refuses what the caller may not do with a table.
    ///
    /// # Errors
    /// `Unsupported` marked as [`AccessDenied`], with user, right and table.
    pub(crate) fn check_table(&self, right: Right, table: &str) -> Result<()> {
        let may = self.rights.on_table(right, table);
        self.decide(may, right.label(), || format!("table {table}"))
    }

    /// Refuses a caller with none of these rights on any table.
    pub(crate) fn check_some_table(&self, rights: &[Right]) -> Result<()> {
        let may = rights.iter().any(|right| self.rights.on_some_table(*right));
        let label = rights.first().map_or("use", |right| right.label());
        self.decide(may, label, || "any table".to_owned())
    }

    /// Refuses rows that the caller may not put into a table.
    pub(crate) fn check_put(&self, table: &str, on_existing: OnExisting) -> Result<()> {
        self.check_table(Right::Insert, table)?;
        match on_existing {
            OnExisting::Replace | OnExisting::BlindReplace => {
                self.check_table(Right::Update, table)
            }
            OnExisting::Keep | OnExisting::Fail => Ok(()),
        }
    }

    /// Refuses what the caller may not do with a pair.
    pub(crate) fn check_pair(&self, right: Right, first: &[u8]) -> Result<()> {
        let may = self.rights.on_pair(right, first);
        self.decide(may, right.label(), || format!("pair {}", String::from_utf8_lossy(first)))
    }

    /// Refuses what the caller may not do with pairs whose keys are not known beforehand.
    pub(crate) fn check_pairs(&self, right: Right) -> Result<()> {
        let may = self.rights.on_all_pairs(right);
        self.decide(may, right.label(), || "all pairs".to_owned())
    }

    /// The jobs that the caller may see and cancel: an operator all, others their own.
    pub(crate) fn job_scope(&self) -> JobScope {
        match self.rights.operates() {
            true => JobScope::All,
            false => JobScope::Of(self.user().map(str::to_owned)),
        }
    }

    /// Notes what the caller does with a thing that they may touch.
    pub(crate) fn note(&self, action: &str, object: &str) -> Result<()> {
        self.audit_access(action, object, true)
    }

    /// Refuses what is an operator's.
    pub(crate) fn check_operator(&self, action: &str) -> Result<()> {
        self.decide(self.rights.operates(), action, || "the server".to_owned())
    }

    /// Refuses what is an administrator's.
    pub(crate) fn check_admin(&self, action: &str) -> Result<()> {
        self.decide(self.rights.administers(), action, || "the server".to_owned())
    }

    /// Refuses a statement that touches what the caller may not touch.
    pub(crate) fn check_statement(&self, sql: &Sql, text: &str) -> Result<()> {
        self.check_accesses(sql, text, Sql::accesses)
    }

    /// The same for definitions that the store itself reads.
    pub(crate) fn check_definitions(&self, sql: &Sql, text: &str) -> Result<()> {
        self.check_accesses(sql, text, Sql::accesses_of_definitions)
    }

    fn check_accesses(
        &self,
        sql: &Sql,
        text: &str,
        accesses: impl FnOnce(&Sql, &str) -> Result<Vec<TableAccess>>,
    ) -> Result<()> {
        if self.user.is_none() && self.audit.is_none() {
            return Ok(());
        }
        for access in accesses(sql, text)? {
            // A name that WITH gives in a change may be no table. Reports on all tables take a
            // grant too.
            let is_table = !matches!(access.access, Access::Read | Access::Describe)
                || access.table.split('.').next() == Some(INFORMATION_SCHEMA)
                || sql.store().table(&access.table).is_ok();
            // A writer of rows must know their columns.
            let may = match access.access {
                Access::Describe => self.may_see(&access.table),
                other => self.rights.on_table(other.into(), &access.table),
            };
            if is_table && !may {
                self.audit_access("statement", text, false)?;
                return Err(self.denied_error(Right::from(access.access).label(), &access.table));
            }
        }
        self.audit_access("statement", text, true)
    }

    fn decide(&self, may: bool, action: &str, object: impl Fn() -> String) -> Result<()> {
        if self.audit.is_some() {
            self.audit_access(action, &object(), may)?;
        }
        if may { Ok(()) } else { Err(self.denied_error(action, &object())) }
    }

    fn denied_error(&self, action: &str, object: &str) -> Error {
        let user = self.user().unwrap_or("nobody");
        let message = format!("user {user} may not {action} {object}: ask for a grant");
        Error::new(ErrorKind::Unsupported, message).with_source(AccessDenied)
    }

    fn audit_access(&self, action: &str, object: &str, allowed: bool) -> Result<()> {
        match &self.audit {
            Some(audit) => {
                audit.record(self.user(), action, object, allowed, self.request.as_ref())
            }
            None => Ok(()),
        }
    }
}

/// The name that the caller's program gives itself.
fn user_agent(headers: &HeaderMap) -> &str {
    headers.get(header::USER_AGENT).and_then(|name| name.to_str().ok()).unwrap_or_default()
}
