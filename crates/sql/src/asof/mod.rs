//! ASOF JOIN: with each row the nearest one of another table, before or after it in time.
//!
//! 1. The planner of relations (`plan/relations.rs`) makes a [`AsOf`] of it, a node of the logical
//!    plan.
//! 2. [`AsOfPlanner`] makes an operator of the node.
//! 3. The operator gathers the right side, sorted by key and time, within the memory pool. The left
//!    side streams past it.

mod exec;
mod node;
mod planner;
mod sorted;

pub(crate) use node::AsOf;
pub(crate) use planner::AsOfQueryPlanner;
