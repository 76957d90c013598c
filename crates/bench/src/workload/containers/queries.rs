//! Queries over containers: one by one against several in one call, over 10 and 100 containers, and the five aggregates.
//!
//! No target offers queries yet, so all that is here is the word about it. What is to be measured is said above; the rows of
//! [`super::rows::Containers`] are what it will be measured on.

use tonnage::Result;

use crate::report::Report;
use crate::target::{Feature, Target};

/// Measures queries where they are offered, and says where they are not.
pub(super) fn run(target: &dyn Target, report: &mut Report) -> Result<()> {
    if target.offers(Feature::Queries) {
        return Err(target.unsupported("queries that this workload knows"));
    }
    report.notes.push(format!(
        "{} offers no queries yet: single against multi query over 10 and 100 containers, and the aggregates, are left out.",
        target.name()
    ));
    Ok(())
}
