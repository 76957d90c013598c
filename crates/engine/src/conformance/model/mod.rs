//! Random operations on an engine and on the memory engine, which must agree.
//!
//! 1. Proptest makes a list of [`ModelOperation`](operation::ModelOperation)s over so few keys that
//!    they collide all the time.
//! 2. Both engines carry out each operation. Their answers must be equal, errors by their kind.
//! 3. After each operation the rows of all spaces must be equal. Versions are each engine's own,
//!    but a row's version must change on both or on neither, and must only grow.
//! 4. The lists or the comparison leave out what the contract leaves open:
//!    - the order of shards;
//!    - which rows an unordered scan with a limit gives;
//!    - how much a failed load stores (both sides then empty its spaces).

mod engine_pair;
mod operation;
mod tracked_engine;

use proptest::collection::vec;
use proptest::test_runner::{Config, TestRunner};

use super::Harness;
use engine_pair::EnginePair;
use operation::operation;

/// The longest list of operations.
const OPERATIONS_MAX: usize = 40;

/// Runs `cases` random lists of operations, each on a harness of its own.
///
/// # Panics
/// When the engines disagree: with the shortest list found on which they do.
pub fn model_test<H: Harness>(harness: impl Fn() -> H, cases: u32) {
    let config =
        Config { cases, failure_persistence: None, max_shrink_iters: 1_000, ..Config::default() };
    let outcome = TestRunner::new(config).run(&vec(operation(), 1..OPERATIONS_MAX), |operations| {
        let mut harness = harness();
        let mut pair = EnginePair::new(&mut harness);
        operations.iter().for_each(|operation| pair.apply(operation));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("the engine disagrees with the memory engine: {failure}");
    }
}
