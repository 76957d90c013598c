//! The conformance suite: what every engine must do, one behaviour a test.
//!
//! An engine crate supplies a [`Harness`] and, in a file of its own `tests/`, calls
//! `conformance_suite!(MyHarness::new())` at the top level and `model_test(MyHarness::new, 256)` in
//! a test; `tests/memory.rs` of this crate shows it whole.
//!
//! [`conformance_suite!`](crate::conformance_suite) expands to one `#[test]` for each behaviour,
//! named after it, so that a failure names what is broken. [`model_test`] runs random operations on
//! the engine and on the memory engine, which must agree. A behaviour that rests on a capability
//! that the engine does not have checks that the engine says so.

mod fixture;
mod model;
mod recorder;
mod suite;

pub mod changes;
pub mod conditions;
pub mod deadlines;
pub mod errors;
pub mod expiry;
pub mod limits;
pub mod load_conflicts;
pub mod loads;
pub mod ranges;
pub mod reads;
pub mod scans;
pub mod shard_prefixed;
pub mod spaces;
pub mod tracking;
pub mod upkeep;
pub mod versions;
pub mod write_many;
pub mod writes;

use std::sync::Arc;

use crate::{Clock, Engine};

pub use model::model_test;

use recorder::LoadRecorder;

/// How the suite comes by engines. Each test makes a harness of its own; dropping it may remove
/// what it stored.
pub trait Harness {
    /// Opens a fresh, empty store that lives on `clock`. Called once for each harness.
    fn open(&mut self, clock: Arc<dyn Clock>) -> Box<dyn Engine>;

    /// Closes the engine and opens the same store again. Nothing when the engine is not persistent.
    fn reopen(&mut self, engine: Box<dyn Engine>, clock: Arc<dyn Clock>)
    -> Option<Box<dyn Engine>>;
}
