//! Commands for large objects.

use std::time::Duration;

use serde::Deserialize;
use tonnage::{Durability, Error, GetOptions, Key, LobOptions, Result, WriteOptions};

use super::choice::DurabilityChoice;
use super::consistency_choice::ConsistencyChoice;
use super::expected_condition::ExpectedCondition;
use crate::auth::{Caller, Right};

/// Writes a large object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct PutLobCommand {
    key: String,
    #[serde(default)]
    pub(super) mode: PutLobMode,
    #[serde(default)]
    chunk_bytes: Option<usize>,
    #[serde(default)]
    durability: Option<DurabilityChoice>,
    #[serde(default, rename = "if")]
    condition: Option<ExpectedCondition>,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

/// Where a writer begins.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub(crate) enum PutLobMode {
    /// At the first byte of a new object.
    #[default]
    Put,
    /// After the existing object.
    Append,
    /// Where a writer was cut short.
    Resume,
}

impl PutLobCommand {
    pub(super) fn key(&self) -> Result<Key> {
        self.key.parse()
    }

    /// Refuses what the caller may not write.
    pub(super) fn check(&self, caller: &Caller) -> Result<()> {
        let key = self.key()?;
        Right::of_put(self.options().condition)
            .iter()
            .try_for_each(|right| caller.check_pair(*right, first(&key)))
    }

    pub(super) fn options(&self) -> LobOptions {
        let defaults = LobOptions::default();
        LobOptions {
            chunk_bytes: self.chunk_bytes.unwrap_or(defaults.chunk_bytes),
            durability: self.durability.map_or(defaults.durability, Durability::from),
            condition: ExpectedCondition::condition(self.condition),
            timeout: self.timeout_ms.map(Duration::from_millis),
        }
    }
}

/// Reads a large object, or a part of it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct GetLobCommand {
    key: String,
    /// The first byte wanted, from 0.
    #[serde(default)]
    pub(super) offset: u64,
    /// Bytes at most; up to the end without it.
    #[serde(default)]
    pub(super) limit: Option<u64>,
    /// The version that the object must have: what is read in several calls is of one object.
    #[serde(default)]
    pub(super) version: Option<u64>,
    #[serde(default)]
    consistency: ConsistencyChoice,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

impl GetLobCommand {
    pub(super) fn key(&self) -> Result<Key> {
        self.key.parse()
    }

    /// Refuses what the caller may not read.
    pub(crate) fn check(&self, caller: &Caller) -> Result<()> {
        caller.check_pair(Right::Read, first(&self.key()?))
    }

    pub(super) fn options(&self) -> GetOptions {
        GetOptions {
            consistency: Some(self.consistency.into()),
            timeout: self.timeout_ms.map(Duration::from_millis),
        }
    }

    /// Refuses an object that is not the one that was asked for.
    pub(super) fn check_version(&self, version: u64) -> Result<()> {
        match self.version {
            Some(wanted) if wanted != version => Err(Error::conflict(format!(
                "{}: the large object has version {version}, not {wanted}: it was replaced \
                 meanwhile, read it again",
                self.key
            ))),
            _ => Ok(()),
        }
    }
}

/// Deletes a large object.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct DeleteLobCommand {
    key: String,
    #[serde(default)]
    durability: Option<DurabilityChoice>,
    #[serde(default)]
    timeout_ms: Option<u64>,
}

impl DeleteLobCommand {
    pub(super) fn key(&self) -> Result<Key> {
        self.key.parse()
    }

    /// Refuses what the caller may not delete.
    pub(super) fn check(&self, caller: &Caller) -> Result<()> {
        caller.check_pair(Right::Delete, first(&self.key()?))
    }

    pub(super) fn options(&self, defaults: WriteOptions) -> WriteOptions {
        WriteOptions {
            durability: self.durability.map_or(defaults.durability, Durability::from),
            timeout: self.timeout_ms.map(Duration::from_millis).or(defaults.timeout),
            ..defaults
        }
    }
}

/// What grants on pairs look at. Those on pairs hold for large objects under such keys, too.
fn first(key: &Key) -> &[u8] {
    key.major().first().map_or(&[], Vec::as_slice)
}
