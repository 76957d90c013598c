//! What expressions give for a row.

mod arithmetic;
mod cast;
mod comparison;
mod evaluator;
mod expression;
mod functions;
mod of_type;
mod path;
mod scope;

pub(crate) use arithmetic::{add_items, divide_items};
pub(crate) use cast::cast_item;
pub(crate) use evaluator::Evaluator;
pub(crate) use functions::{AGGREGATES, ROW_FUNCTIONS, check_call};
pub(crate) use scope::{RowFacts, Scope, StepScope};
