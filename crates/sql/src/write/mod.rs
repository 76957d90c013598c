//! Statements that change rows.
//!
//! Each row is written atomically, with a condition on what was seen of it; a statement as a whole
//! is not one transaction: when it fails midway, rows written before stay written. INSERT looks for
//! existing keys before it writes anything, so that the common failure changes nothing. Between
//! BEGIN and COMMIT nothing is written: `session/transaction.rs` takes the rows.

mod assignments;
mod change;
mod conflict;
mod copy;
mod create;
mod defaults;
mod given;
mod given_rows;
mod insert;
mod insert_statement;
mod key_conflicts;
mod keys;
mod literals;
mod merge;
mod merge_source;
mod merge_statement;
mod partial_changes;
mod reading_query;
mod repeated_insert;
mod returning_clause;
mod returning_rows;
mod row_change;
mod row_inserter;
mod statement;
mod target;
mod tokens;
mod untyped;
mod values;
mod view;

pub(crate) use copy::{CopyResult, CopyStatement, copy};
pub(crate) use create::{CreateTableAs, create_as};
pub(crate) use repeated_insert::repeat_insert;
pub(crate) use statement::WriteStatement;
pub(crate) use tokens::{made, quoted, word};
pub(crate) use view::{ViewStatement, define_view};
