//! How many copies a write waits for.

use tonnage_engine::{Capability, Durability, Error, Result};

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
    /// All of them. On a cluster it is `Unsupported`: one node that is down would stop all writes.
    All,
}

impl Acks {
    /// Refuses what contradicts itself, and what the engine cannot wait for.
    pub(crate) fn check(self, durability: Durability, capability: &Capability) -> Result<()> {
        if self == Acks::All && !capability.acks_all {
            return Err(Error::unsupported(
                "acks of all copies: the engine of this store waits for a majority of them, so that a node may be down; ask for that",
            ));
        }
        if self == Acks::None && durability == Durability::Fsync {
            return Err(Error::invalid(
                "acks of no copy with durability fsync: nobody waits for the disk; ask for a majority, or for a lesser durability",
            ));
        }
        Ok(())
    }
}
