//! Authentication and rights.
//!
//! 1. A file lists the users ([`users`]): a password, tokens or certificates, and rights
//!    ([`rights`]). Without the file everybody may do everything, on loopback.
//! 2. Each call says who makes it ([`login`]): `Authorization: Basic`, `Authorization: Bearer`, a
//!    certificate, or the cookie of a browser that logged in ([`login_cookie`]).
//! 3. Each use of a table, of pairs or of the server itself is checked against the caller's rights
//!    where its name is resolved ([`caller`]), and recorded in the audit log ([`audit`]).

mod access_denied;
mod audit;
mod authenticate;
mod caller;
mod digest;
mod login;
pub(crate) mod login_cookie;
mod password;
mod rights;
mod users;

pub(crate) use access_denied::AccessDenied;
pub(crate) use audit::Audit;
pub(crate) use authenticate::{authenticate, unauthorized};
pub(crate) use caller::Caller;
pub(crate) use login::{Logins, PeerCertificate, TOKEN_IDLE_MAX};
pub use password::hash_password;
pub(crate) use rights::Right;
pub(crate) use users::Users;
