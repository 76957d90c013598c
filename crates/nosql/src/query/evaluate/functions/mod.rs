//! Functions by name.

mod arguments;
mod call;
mod durations;
mod mathematics;
mod pattern;
mod registry;
mod rows;
mod sequences;
mod strings;
mod time_arithmetic;
mod time_format;
mod times;

pub(crate) use call::{call_function, check_call};
pub(crate) use registry::{AGGREGATES, ROW_FUNCTIONS};
