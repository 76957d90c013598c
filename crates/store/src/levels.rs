//! The consistency levels that a call asks for, and the engine on these levels.

use std::ops::Deref;
use std::sync::Arc;

use tonnage_engine::{Acks, Capability, Consistency, Durability, Engine, Error, Levels, Result};

/// Refuses what contradicts itself, and what the engine cannot wait for.
pub(crate) fn check_acks(
    acks: Option<Acks>,
    durability: Durability,
    capability: &Capability,
) -> Result<()> {
    if acks == Some(Acks::All) && !capability.acks_all {
        return Err(Error::unsupported(
            "acks of all copies: the engine of this store waits for a majority of them, so that a node may be down; ask for that",
        ));
    }
    if acks == Some(Acks::None) && durability == Durability::Fsync {
        return Err(Error::invalid(
            "acks of no copy with durability fsync: no write waits for the disk; ask for a majority, or for a lesser durability",
        ));
    }
    Ok(())
}

/// Refuses what no read can keep to.
pub(crate) fn check_consistency(consistency: Option<Consistency>) -> Result<()> {
    match consistency {
        Some(Consistency::Time(lag)) if lag.is_zero() => {
            Err(Error::invalid("a consistency of no time at all: ask for Consistency::Absolute"))
        }
        Some(Consistency::Version(0)) => {
            Err(Error::invalid("no row has version 0: give the version that a write has answered"))
        }
        _ => Ok(()),
    }
}

/// The engine of a store, on its own levels or on those that a call asks for.
pub(crate) enum AtLevels<'a> {
    Own(&'a Arc<dyn Engine>),
    Others(Arc<dyn Engine>),
}

impl<'a> AtLevels<'a> {
    pub(crate) fn of(engine: &'a Arc<dyn Engine>, levels: Levels) -> Self {
        if levels == Levels::default() {
            return AtLevels::Own(engine);
        }
        engine.at(levels).map_or(AtLevels::Own(engine), AtLevels::Others)
    }
}

impl Deref for AtLevels<'_> {
    type Target = Arc<dyn Engine>;

    fn deref(&self) -> &Arc<dyn Engine> {
        match self {
            AtLevels::Own(engine) => engine,
            AtLevels::Others(engine) => engine,
        }
    }
}
