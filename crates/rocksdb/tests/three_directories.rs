//! The behaviour suite and the model test on a store whose shards lie in three directories.

mod common;

use common::ThreeDirectories;
use tonnage_engine::conformance::model_test;

tonnage_engine::conformance_suite!(ThreeDirectories::new());

#[test]
fn the_engine_agrees_with_the_memory_engine() {
    model_test(ThreeDirectories::new, 32);
}
