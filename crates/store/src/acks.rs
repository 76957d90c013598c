//! How many copies a write waits for.

use tonnage_engine::{Durability, Error, Result};

/// How many copies of a row must have a write before it is acknowledged, each as durably as the
/// [`Durability`] says. An embedded store keeps one copy, which is the majority and all of them:
/// there the three mean the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Acks {
    /// None: the write is acknowledged when it is under way.
    None,
    /// More than half of them.
    #[default]
    Majority,
    /// All of them.
    All,
}

impl Acks {
    /// Refuses what contradicts itself.
    pub(crate) fn check(self, durability: Durability) -> Result<()> {
        if self == Acks::None && durability == Durability::Fsync {
            return Err(Error::invalid(
                "acks of no copy with durability fsync: nobody waits for the disk; ask for a majority, or for a lesser durability",
            ));
        }
        Ok(())
    }
}
