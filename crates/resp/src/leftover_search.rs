//! The position of the search for members that belong to no collection.

use tonnage::PairPosition;

/// The position of the search.
#[derive(Debug, Default)]
pub(crate) struct LeftoverSearch {
    pub(crate) position: Option<PairPosition>,
    pub(crate) rests_until_ms: u64,
}
