//! Where a space may be cut into parts.

/// Where [`Engine::split`](crate::Engine::split) may cut a space.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Cuts {
    /// Anywhere: the parts are of about the same size.
    #[default]
    Anywhere,
    /// Between shard keys only: all rows of a shard key are in one part.
    BetweenShardKeys,
}
