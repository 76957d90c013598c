//! Queries over containers: one by one against several in one call, over 10 and 100 containers, and the five aggregates.
//!
//! No target offers queries yet, so all that is here is the word about it. [`super::rows::Containers`] has what they will be
//! measured on.

use crate::report::Report;
use crate::target::{Feature, Target};

/// Says that queries were not measured, and why.
pub(super) fn note_missing(target: &dyn Target, report: &mut Report) {
    let why = if target.offers(Feature::Queries) { "are not measured" } else { "are not offered" };
    report.notes.push(format!(
        "{}: queries {why} yet: single against multi query over 10 and 100 containers, and the aggregates, are left out.",
        target.name()
    ));
}
