//! The commands: their names, and what clients may know of them.

mod description;
mod lookup;
mod table;

pub(crate) use description::Command;
pub(crate) use lookup::find;
pub(crate) use table::COMMANDS;
