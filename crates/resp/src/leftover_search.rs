//! Where the search for members stands that belong to no collection.

use tonnage::PairPosition;

/// Where the search stands.
#[derive(Debug, Default)]
pub(crate) struct LeftoverSearch {
    pub(crate) position: Option<PairPosition>,
    pub(crate) rests_until_ms: u64,
}
