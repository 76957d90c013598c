//! Random operations on an engine and on the memory engine, which must agree.
//!
//! 1. Proptest makes a list of [`Operation`](operation::Operation)s over so few keys that they
//!    collide all the time.
//! 2. Each is carried out on both engines; what they answer must be equal, errors by their kind.
//! 3. After each, all rows of all spaces are read from both and must be equal. Versions are each
//!    engine's own business, but a row's version must change on both or on neither, and only ever
//!    grow.
//! 4. What the contract leaves open is left out of the lists or of the comparison: the order of
//!    shards, which rows an unordered scan with a limit gives, how much of a load that failed is
//!    stored (those spaces are emptied on both sides).

mod operation;
mod side;
mod world;

use proptest::collection::vec;
use proptest::test_runner::{Config, TestRunner};

use super::Harness;
use operation::operation;
use world::World;

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
        let mut world = World::new(&mut harness);
        operations.iter().for_each(|operation| world.carry_out(operation));
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("the engine disagrees with the memory engine: {failure}");
    }
}
