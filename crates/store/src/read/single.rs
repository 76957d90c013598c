//! Looks up a few keys, with a deadline.

use tonnage_engine::{Deadline, Engine, Projection, ReadOptions, Result, Rows, Slices, SpaceId};

/// Looks keys up, all of them at one point in time where they are of one shard key.
pub(crate) fn read_by(
    engine: &dyn Engine,
    space: SpaceId,
    keys: &Slices,
    deadline: Deadline,
    rows: &mut Rows,
) -> Result<()> {
    let options = ReadOptions {
        projection: Projection::KeysAndValues,
        keys: 0..keys.len(),
        bytes_max: usize::MAX,
        deadline,
    };
    engine.read_some(space, keys, &options, rows).map(drop)
}
