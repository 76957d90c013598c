//! The behaviour suite and the model test on a store in one directory.

mod common;

use common::OneDirectory;
use tonnage_engine::conformance::model_test;

tonnage_engine::conformance_suite!(OneDirectory::new());

#[test]
fn the_engine_agrees_with_the_memory_engine() {
    model_test(OneDirectory::new, 64);
}
