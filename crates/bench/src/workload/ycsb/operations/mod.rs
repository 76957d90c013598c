//! YCSB's core workload: what each operation does.
//!
//! - `fields` makes values and compares them.
//! - `chooser` says which record is asked for.
//! - `inserter` makes records for the load phase, one by one and for a bulk put.
//! - `session` is a thread of the run phase.

mod chooser;
mod fields;
mod inserter;
mod session;

pub(super) use inserter::{CoreSource, Inserter};
pub(super) use session::{CoreWorkload, YcsbOperation};
