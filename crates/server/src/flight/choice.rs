//! Values of options in commands, as JSON names them.

use serde::Deserialize;
use tonnage::{Depth, Direction, Durability, OnExisting};

/// What becomes of a stored row.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ExistingChoice {
    Keep,
    Replace,
    BlindReplace,
    Fail,
}

/// When a write is acknowledged.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DurabilityChoice {
    None,
    Write,
    Fsync,
}

impl From<ExistingChoice> for OnExisting {
    fn from(choice: ExistingChoice) -> Self {
        match choice {
            ExistingChoice::Keep => OnExisting::Keep,
            ExistingChoice::Replace => OnExisting::Replace,
            ExistingChoice::BlindReplace => OnExisting::BlindReplace,
            ExistingChoice::Fail => OnExisting::Fail,
        }
    }
}

impl From<DurabilityChoice> for Durability {
    fn from(choice: DurabilityChoice) -> Self {
        match choice {
            DurabilityChoice::None => Durability::None,
            DurabilityChoice::Write => Durability::Write,
            DurabilityChoice::Fsync => Durability::Fsync,
        }
    }
}

/// How deep below the keys of pairs to look.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DepthChoice {
    #[default]
    ParentOnly,
    ChildrenOnly,
    DescendantsOnly,
    ParentAndChildren,
    ParentAndDescendants,
}

impl From<DepthChoice> for Depth {
    fn from(choice: DepthChoice) -> Self {
        match choice {
            DepthChoice::ParentOnly => Depth::ParentOnly,
            DepthChoice::ChildrenOnly => Depth::ChildrenOnly,
            DepthChoice::DescendantsOnly => Depth::DescendantsOnly,
            DepthChoice::ParentAndChildren => Depth::ParentAndChildren,
            DepthChoice::ParentAndDescendants => Depth::ParentAndDescendants,
        }
    }
}

/// The order of rows.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum DirectionChoice {
    #[default]
    Unordered,
    Forward,
    Reverse,
}

impl From<DirectionChoice> for Direction {
    fn from(choice: DirectionChoice) -> Self {
        match choice {
            DirectionChoice::Unordered => Direction::Unordered,
            DirectionChoice::Forward => Direction::Forward,
            DirectionChoice::Reverse => Direction::Reverse,
        }
    }
}

/// Which entries of a bulk put are reported one by one, besides the first ones.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ReportsChoice {
    /// None.
    #[default]
    First,
    /// All that failed.
    Failed,
    /// All that failed, and all that exist.
    All,
}
