//! Statements carried out, a part at a time.
//!
//! Rows in the order of their keys come a part at a time, and the client sends the key after which
//! it continues. Rows that had to be sorted, grouped or looked for in an index are computed once
//! and kept for the client ([`Cursors`]), within limits.

mod budget;
mod change_row;
mod collection_document;
mod columns;
mod continuation;
mod cursors;
mod delete;
mod groups;
mod insert;
mod part;
mod rows;
mod select;
mod sorting;
mod stored_row;
mod targets;
mod update;

pub(crate) use continuation::table_position;
pub(crate) use cursors::Cursors;
pub(crate) use delete::run_delete;
pub(crate) use insert::run_insert;
pub(crate) use part::{Output, PartLimits, QueryCall};
pub(crate) use select::run_select;
pub(crate) use update::run_update;
