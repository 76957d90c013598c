//! YCSB's core workload: what each operation does.
//!
//! - `operation` names them.
//! - `names` makes keys, `fields` makes values and compares them.
//! - `chooser` says which record is asked for.
//! - `inserter` is a thread of the load phase, `session` one of the run phase, `source` a source of
//!   a bulk put.

mod chooser;
mod fields;
mod inserter;
mod names;
mod operation;
mod session;
mod source;

pub(super) use inserter::Inserter;
pub(super) use operation::YcsbOperation;
pub(super) use session::{CoreWorkload, OperationSession};
pub(super) use source::CoreSource;
