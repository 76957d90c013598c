//! A field that a command sets.

use super::room::CommandRoom;
use super::texts::ClientArgument;

/// A field that a command sets.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FieldSet {
    pub(crate) field: ClientArgument,
    pub(crate) value: ClientArgument,
    pub(crate) only_if_new: bool,
    pub(crate) room: CommandRoom,
}
