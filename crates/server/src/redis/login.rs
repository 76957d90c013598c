//! Who a client of the Redis listener is, and what it may do.

use tonnage::Result;
use tonnage_resp::{ClientAccess, KeyRight, UserAccess};

use crate::auth::{Caller, Right};
use crate::error::is_denied;

/// How a login ended: who it is, or what the client is told.
pub(super) type LoginOutcome = std::result::Result<Caller, String>;

/// The rights of a caller.
struct CallerAccess(Caller);

/// What a caller may do.
pub(super) fn access_of(caller: Caller) -> ClientAccess {
    ClientAccess::User(Box::new(CallerAccess(caller)))
}

fn right_of(right: KeyRight) -> Right {
    match right {
        KeyRight::Read => Right::Read,
        KeyRight::Insert => Right::Insert,
        KeyRight::Update => Right::Update,
        KeyRight::Delete => Right::Delete,
    }
}

/// A refusal is an answer; that the audit log cannot be written is an error.
fn decided(checked: Result<()>) -> Result<bool> {
    match checked {
        Ok(()) => Ok(true),
        Err(error) if is_denied(&error) => Ok(false),
        Err(error) => Err(error),
    }
}

impl UserAccess for CallerAccess {
    fn user(&self) -> &str {
        self.0.user().unwrap_or("default")
    }

    fn may(&self, right: KeyRight, key: &[u8]) -> Result<bool> {
        decided(self.0.check_pair(right_of(right), key))
    }

    fn may_all(&self, right: KeyRight) -> Result<bool> {
        decided(self.0.check_pairs(right_of(right)))
    }

    fn may_operate(&self, action: &str) -> Result<bool> {
        decided(self.0.check_operator(action))
    }
}
