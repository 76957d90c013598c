//! What commands do with the time of a field, or by it.

use super::expiry_time::{ExpiryRule, NewExpiry};
use super::room::CommandRoom;
use super::texts::ClientArgument;

/// What is done with the time of a field, or by it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum FieldTimeAction {
    Expire {
        field: ClientArgument,
        at_ms: u64,
        rule: ExpiryRule,
        bytes_max: usize,
    },
    Persist(ClientArgument),
    /// How long a field lives: the number of milliseconds in the unit.
    TimeToLive(ClientArgument, u64),
    /// When it expires, likewise.
    ExpiryTime(ClientArgument, u64),
    GetAndExpire {
        field: ClientArgument,
        expiry: NewExpiry,
        bytes_max: usize,
    },
    GetAndDelete(ClientArgument),
    /// What follows is carried out only if each of these fields is there, or none.
    Require {
        field: ClientArgument,
        is_there: bool,
        is_first: bool,
    },
    /// Makes room for the fields that follow.
    Reserve {
        field: ClientArgument,
        room: CommandRoom,
        has_times: bool,
        is_conditional: bool,
    },
    Set {
        field: ClientArgument,
        value: ClientArgument,
        expiry: NewExpiry,
        is_conditional: bool,
    },
}

impl FieldTimeAction {
    pub(super) fn field(&self) -> ClientArgument {
        match self {
            Self::Expire { field, .. } | Self::GetAndExpire { field, .. } => *field,
            Self::Persist(field) | Self::GetAndDelete(field) => *field,
            Self::TimeToLive(field, _) | Self::ExpiryTime(field, _) => *field,
            Self::Require { field, .. } | Self::Reserve { field, .. } => *field,
            Self::Set { field, .. } => *field,
        }
    }

    /// Whether INFO counts it as a look-up.
    pub(super) fn is_look_up(&self) -> bool {
        matches!(self, Self::TimeToLive(..) | Self::ExpiryTime(..) | Self::GetAndExpire { .. })
    }
}
