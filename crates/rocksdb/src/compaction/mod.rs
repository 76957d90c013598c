//! Compactions: when they pause, which ranges they rewrite, and which rows they drop.
//!
//! - [`pause`]: compaction pauses while loads come one after another, and catches up later.
//! - [`background`]: a thread compacts deleted ranges, and repeats drops that the disk refused.
//! - [`expiry`]: a compaction filter drops rows whose time to live has ended.

pub(crate) mod background;
pub(crate) mod expiry;
pub(crate) mod pause;
