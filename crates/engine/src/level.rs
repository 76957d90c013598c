//! Consistency levels: how many copies a write waits for, and how fresh a read must be.

use std::time::Duration;

/// How many copies of a row must have a write before it is acknowledged, each as durably as the
/// [`Durability`](crate::Durability) says. An engine that keeps one copy has the majority and all
/// of them with it: there the three mean the same.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Acks {
    /// None: the write is acknowledged when it is under way. On a cluster one copy has it then.
    None,
    /// More than half of them.
    #[default]
    Majority,
    /// All of them. While a node of a cluster is down, such writes to its rows fail.
    All,
}

/// How fresh what is read must be. An engine that keeps one copy answers with what was acknowledged
/// last, and so keeps to all four.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Consistency {
    /// Whatever is at hand.
    None,
    /// Not older than this.
    Time(Duration),
    /// At least this version of each row: what a writer sees of its own writes.
    Version(u64),
    /// The latest.
    #[default]
    Absolute,
}

/// What an engine waits for when it writes and reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    /// How many copies a write waits for.
    pub acks: Acks,
    /// How fresh what is read must be.
    pub consistency: Consistency,
}
