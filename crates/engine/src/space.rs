//! Spaces: what is created, listed and dropped as a whole.

use crate::KeyShape;

/// The number of a space. An engine never uses a number twice, so what is left of a dropped space
/// can never be read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SpaceId(pub u32);

/// A space as the engine knows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpaceInfo {
    /// Its number.
    pub id: SpaceId,
    /// Its name, unique among the spaces of a store.
    pub name: String,
    /// Where the shard key ends in each of its keys.
    pub shape: KeyShape,
}
