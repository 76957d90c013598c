//! Parts of a space: token ranges of equal length.

use tonnage_engine::{Direction, Part, Projection, Result, Rows, SpaceId};

use crate::extent::{Extent, TokenRange};
use crate::pages::Pages;
use crate::store::ClusterStore;

/// A space of fewer rows is one part.
const SMALL_ROWS: usize = 1_000;

impl ClusterStore {
    /// See [`tonnage_engine::Engine::split`]. Cuts never lie inside a partition, hence not inside a
    /// shard key.
    pub(crate) async fn split_space(&self, space: SpaceId, parts: usize) -> Result<Vec<Part>> {
        let table = self.table(space).await?;
        let whole = Extent::Ring(TokenRange::RING);
        let mut pages = Pages::of(&whole, Direction::Unordered, Projection::KeysOnly);
        let (mut page, mut count) = (Rows::new(), 0);
        while count < SMALL_ROWS && !pages.are_over() {
            pages
                .read(self, &table, usize::MAX, &mut page)
                .await
                .map_err(|error| self.explain(&table, error))?;
            count += page.len();
        }
        let parts = if pages.are_over() && count < SMALL_ROWS { 1 } else { parts };
        Ok(TokenRange::split(parts).into_iter().map(TokenRange::to_part).collect())
    }
}
