//! The memory engine passes the behaviour suite.
//!
//! It also runs against itself as the model: a check of the model test, and of the memory engine's
//! repeatability.

use std::sync::Arc;

use tonnage_engine::conformance::{Harness, model_test};
use tonnage_engine::{Clock, Engine, MemoryEngine};

struct Memory;

impl Harness for Memory {
    fn open(&mut self, clock: Arc<dyn Clock>) -> Box<dyn Engine> {
        Box::new(MemoryEngine::with_clock(clock))
    }

    fn reopen(
        &mut self,
        _engine: Box<dyn Engine>,
        _clock: Arc<dyn Clock>,
    ) -> Option<Box<dyn Engine>> {
        None
    }
}

tonnage_engine::conformance_suite!(Memory);

#[test]
fn the_memory_engine_agrees_with_itself() {
    model_test(|| Memory, 256);
}
