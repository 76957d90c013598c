//! The rows of members, and that of the epoch.
//!
//! All have one shard key, so one request sees them at one point in time, unless there are
//! hundreds:
//!
//! ```text
//! members, 'e'                    the epoch, 8 bytes big-endian
//! members, 'm', number (8 bytes)  a member, as JSON: {"followed":7,"beat":42,"process":"1234 on
//! host"}
//! ```

use std::hash::{BuildHasher, RandomState};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use tonnage_engine::{
    Condition, Durability, Engine, Error, ErrorKind, KeyPart, KeyShape, NEVER_MS, Ranges, Result,
    Rows, ScanOptions, SpaceId, WriteBatch, WriteOutcome,
};

use crate::codec::push_escaped;

const SPACE_NAME: &str = "members";
const EPOCH: u8 = b'e';
const MEMBER: u8 = b'm';

/// How often a change of the epoch is tried beside others.
const ATTEMPTS: usize = 1_000;

/// What a member tells the others.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct MemberState {
    #[serde(skip)]
    pub(super) id: u64,
    /// The epoch by whose tables it works.
    pub(super) followed: u64,
    /// Grows with each renewal.
    pub(super) beat: u64,
    /// What errors call it.
    pub(super) process: String,
}

impl MemberState {
    /// A new member.
    pub(super) fn new() -> Self {
        let host = std::fs::read_to_string("/proc/sys/kernel/hostname");
        let host = host.unwrap_or_else(|_| "another machine".to_owned());
        Self {
            id: RandomState::new().hash_one(std::process::id()),
            followed: 0,
            beat: 0,
            process: format!("process {} on {}", std::process::id(), host.trim()),
        }
    }
}

/// The epoch and all members as they were read, each with the version of its row.
#[derive(Debug, Default)]
pub(super) struct MembersSnapshot {
    pub(super) epoch: u64,
    epoch_version: Option<u64>,
    pub(super) members: Vec<(MemberState, u64)>,
}

impl MembersSnapshot {
    /// The version of a member's row, if it has one.
    pub(super) fn version_of(&self, id: u64) -> Option<u64> {
        self.members.iter().find(|(member, _)| member.id == id).map(|(_, version)| *version)
    }
}

/// Reads and writes the rows.
pub(super) struct MemberRows {
    engine: Arc<dyn Engine>,
    space: SpaceId,
}

impl MemberRows {
    /// Finds the space, or makes it.
    pub(super) fn open(engine: &Arc<dyn Engine>) -> Result<Self> {
        let find = || -> Result<Option<SpaceId>> {
            let found = engine.spaces()?.into_iter().find(|space| space.name == SPACE_NAME);
            Ok(found.map(|space| space.id))
        };
        let space = match find()? {
            Some(space) => space,
            None => match engine.create_space(SPACE_NAME, &KeyShape::new([KeyPart::Terminated])) {
                Err(error) if error.kind() == ErrorKind::Conflict => find()?.ok_or(error)?,
                made => made?,
            },
        };
        Ok(Self { engine: engine.clone(), space })
    }

    /// The epoch and all members. Beyond some 500 members an engine asks for several pages, one
    /// after another. That is enough for all who look:
    ///
    /// - A member that is there throughout is never missed: its key stays the same.
    /// - One that joins meanwhile puts its row before it reads epoch and catalog. So it knows of
    ///   every change that was announced before this read.
    /// - One page shows whether a member is alone: it then has only its own row and the epoch.
    pub(super) fn read(&self) -> Result<MembersSnapshot> {
        let mut ranges = Ranges::new();
        ranges.push_prefix(&prefix());
        let mut scanner = self.engine.scan(self.space, ranges, ScanOptions::default())?;
        let mut all = MembersSnapshot::default();
        let mut rows = Rows::new();
        while scanner.next_batch(&mut rows)? {
            for index in 0..rows.len() {
                // Kept with each row: it is changed later only if it is still the one read here.
                let version = rows.versions[index];
                let value = rows.values.get(index);
                // An unreadable row ends the read: no change would wait for a member that is
                // skipped.
                match rows.keys.get(index)[prefix().len()..].split_first() {
                    Some((&EPOCH, _)) => {
                        all.epoch = value.try_into().map(u64::from_be_bytes).map_err(damaged)?;
                        all.epoch_version = Some(version);
                    }
                    Some((&MEMBER, id)) => {
                        let id = id.try_into().map(u64::from_be_bytes).map_err(damaged)?;
                        let state: MemberState = serde_json::from_slice(value).map_err(damaged)?;
                        all.members.push((MemberState { id, ..state }, version));
                    }
                    _ => return Err(damaged("a key of another kind")),
                }
            }
        }
        Ok(all)
    }

    pub(super) fn epoch(&self) -> Result<u64> {
        Ok(self.read()?.epoch)
    }

    /// Makes the epoch one greater, and answers it.
    pub(super) fn advance(&self) -> Result<u64> {
        for _ in 0..ATTEMPTS {
            let all = self.read()?;
            let epoch = all.epoch + 1;
            let condition = all.epoch_version.map_or(Condition::IfAbsent, Condition::IfVersion);
            let key = [&prefix()[..], &[EPOCH]].concat();
            if self.write(&key, Some(&epoch.to_be_bytes()), condition)?.is_some() {
                return Ok(epoch);
            }
        }
        Err(Error::unavailable("other processes change tables again and again: try again"))
    }

    /// Writes the row of a member over the one with this version; over none, if there is none.
    /// Answers nothing where the row is another one.
    pub(super) fn put(&self, state: &MemberState, version: Option<u64>) -> Result<Option<u64>> {
        let condition = version.map_or(Condition::IfAbsent, Condition::IfVersion);
        self.write(&member_key(state.id), Some(&encoded(state)?), condition)
    }

    /// Puts the row of a member whatever is there.
    pub(super) fn put_again(&self, state: &MemberState) -> Result<Option<u64>> {
        self.write(&member_key(state.id), Some(&encoded(state)?), Condition::Always)
    }

    /// Removes the row of a member, if it has this version still.
    pub(super) fn remove(&self, id: u64, version: u64) -> Result<()> {
        self.write(&member_key(id), None, Condition::IfVersion(version)).map(drop)
    }

    fn write(&self, key: &[u8], value: Option<&[u8]>, condition: Condition) -> Result<Option<u64>> {
        let mut batch = WriteBatch::new(self.space);
        match value {
            Some(value) => batch.put(key, value, NEVER_MS, condition),
            None => batch.delete(key, condition),
        }
        match self.engine.write(&batch, Durability::Fsync)? {
            WriteOutcome::Applied { version } => Ok(Some(version)),
            WriteOutcome::Refused { .. } => Ok(None),
        }
    }
}

/// What all keys begin with: the shard key.
fn prefix() -> Vec<u8> {
    let mut key = Vec::new();
    push_escaped(SPACE_NAME.as_bytes(), &mut key);
    key
}

fn member_key(id: u64) -> Vec<u8> {
    [&prefix()[..], &[MEMBER], &id.to_be_bytes()].concat()
}

fn encoded(state: &MemberState) -> Result<Vec<u8>> {
    serde_json::to_vec(state).map_err(|error| {
        Error::internal("the row of a member cannot be written").with_source(error)
    })
}

#[cold]
fn damaged(error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Error {
    let error = error.into();
    Error::corruption(format!(
        "a row of space '{SPACE_NAME}' cannot be read ({error}): drop the space while no process has the store open"
    ))
}
