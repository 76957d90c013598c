//! What is put and got. All of it follows from the numbers of records, so that nothing is kept for
//! each.

mod kind;
mod pairs;
mod picks;
mod tables;

pub(super) use kind::Data;
pub(super) use picks::{Picks, RecordShare};

use super::{BulkBenchOptions, DataKind};

/// Data of a kind.
pub(super) fn of(kind: DataKind, options: &BulkBenchOptions) -> Box<dyn Data> {
    match kind {
        DataKind::Pairs => Box::new(pairs::PairData::new(options)),
        DataKind::Positions => Box::new(tables::TableData::positions(options)),
        DataKind::Phones => Box::new(tables::TableData::phones(options)),
    }
}
