//! What a client may do. Who it is, others decide: this crate only asks.

use tonnage::Result;

/// A right on keys.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyRight {
    /// Values are read.
    Read,
    /// New keys are created.
    Insert,
    /// Values are changed.
    Update,
    /// Keys are deleted.
    Delete,
}

/// The rights of a user who has logged in.
pub trait UserAccess: Send {
    /// The name of the user.
    fn user(&self) -> &str;

    /// Whether the user has a right on a key.
    ///
    /// # Errors
    /// What keeps the decision from being recorded: then it is refused.
    fn may(&self, right: KeyRight, key: &[u8]) -> Result<bool>;

    /// Whether the user has a right on all keys.
    ///
    /// # Errors
    /// As [`UserAccess::may`].
    fn may_all(&self, right: KeyRight) -> Result<bool>;

    /// Whether the user may do what an operator does, such as look at the other clients.
    ///
    /// # Errors
    /// As [`UserAccess::may`].
    fn may_operate(&self, action: &str) -> Result<bool>;
}

/// What a client may do.
#[derive(Default)]
pub enum ClientAccess {
    /// Nothing before it has logged in.
    #[default]
    Nothing,
    /// Everything: there are no users.
    Everything,
    /// What its user may.
    User(Box<dyn UserAccess>),
}

impl ClientAccess {
    /// Whether the client has logged in, or need not.
    pub fn is_authenticated(&self) -> bool {
        !matches!(self, ClientAccess::Nothing)
    }

    /// The name of its user.
    pub fn user(&self) -> &str {
        match self {
            ClientAccess::User(user) => user.user(),
            _ => "default",
        }
    }

    pub(crate) fn ask(
        &self,
        question: impl FnOnce(&dyn UserAccess) -> Result<bool>,
    ) -> Result<bool> {
        match self {
            ClientAccess::Nothing => Ok(false),
            ClientAccess::Everything => Ok(true),
            ClientAccess::User(user) => question(&**user),
        }
    }
}

impl std::fmt::Debug for ClientAccess {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("ClientAccess").field(&self.user()).finish()
    }
}
