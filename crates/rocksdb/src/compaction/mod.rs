//! Compactions: when they wait, which ranges they are asked for, and what they leave out.
//!
//! - [`pause`]: compaction waits while loads come one after another, and catches up later.
//! - [`background`]: a thread gives back the space of deleted ranges, and deletes files that the
//!   disk did not let go before.
//! - [`expiry`]: a compaction filter drops rows whose time to live has ended.

pub(crate) mod background;
pub(crate) mod expiry;
pub(crate) mod pause;
