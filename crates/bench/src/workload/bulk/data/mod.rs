//! What is put and got. All of it follows from the numbers of records, so that nothing is kept for
//! each.

mod pairs;
mod phones;
mod picks;
mod positions;
mod source;

pub(super) use picks::{Picks, RecordShare};
pub(super) use source::Data;

use super::{BulkBenchOptions, DataKind};

/// Data of a kind.
pub(super) fn of(kind: DataKind, options: &BulkBenchOptions) -> Box<dyn Data> {
    match kind {
        DataKind::Pairs => Box::new(pairs::PairData::new(options)),
        DataKind::Positions => Box::new(positions::Positions::new(options)),
        DataKind::Phones => Box::new(phones::Phones::new(options)),
    }
}
