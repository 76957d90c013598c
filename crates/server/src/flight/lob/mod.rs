//! Large objects: write and read them in pieces.

mod delete;
mod get;
mod put;

pub(super) use delete::delete;
pub(super) use get::get;
pub(super) use put::put;
