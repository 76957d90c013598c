//! The operations of the model test, and the strategies that generate them.

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::select;

use crate::{Direction, OnExisting};

/// How many names of spaces there are.
pub(super) const SPACES: usize = 3;

/// The place of the shard-prefixed space after the others.
pub(super) const PLACED: usize = SPACES;

/// Groups (shard keys) and minor keys: few, so that operations meet. Some groups begin with others,
/// one holds an escaped zero.
const GROUPS: [&[u8]; 6] = [b"a", b"b", b"ab", b"", b"a\x00\xff", b"z"];
const MINORS: [&str; 8] = ["", "1", "1a", "1b", "1x", "2", "2a", "3"];

/// A key by the places of its group and minor key in their lists.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelKey {
    pub(super) group: usize,
    pub(super) minor: usize,
}

/// A value by what fills it and how long it is.
#[derive(Clone, Copy, Debug)]
pub(super) struct ModelValue {
    pub(super) fill: u8,
    pub(super) len: usize,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum ModelCondition {
    Always,
    IfAbsent,
    IfPresent,
    /// The version that the row has, or had last.
    IfLastVersion,
    /// A version that no row has.
    IfOtherVersion,
}

#[derive(Clone, Debug)]
pub(super) enum ModelChange {
    Put { minor: usize, value: ModelValue, lives_ms: Option<u64>, when: ModelCondition },
    Delete { minor: usize, when: ModelCondition },
}

#[derive(Clone, Debug)]
pub(super) struct ModelPush {
    pub(super) space: usize,
    pub(super) stream: usize,
    pub(super) entries: Vec<(ModelKey, ModelValue, Option<u64>)>,
    pub(super) then_flush: bool,
}

#[derive(Clone, Debug)]
pub(super) enum ModelRange {
    WholeSpace,
    Group(usize),
    Between {
        group: usize,
        minors: [usize; 2],
    },
    /// Across shard keys, for engines with a total order.
    Across(ModelKey, ModelKey),
}

#[derive(Clone, Debug)]
pub(super) struct ModelScan {
    pub(super) ranges: Vec<ModelRange>,
    pub(super) direction: Direction,
    pub(super) keys_only: bool,
    pub(super) limit_per_range: Option<u64>,
    pub(super) limit_per_shard_key: Option<u64>,
    pub(super) batch_rows_max: usize,
    pub(super) batch_bytes_max: usize,
    pub(super) filter: bool,
}

#[derive(Clone, Debug)]
pub(super) enum ModelOperation {
    CreateSpace(usize),
    DropSpace(usize),
    /// Changes of rows, and of entries of the shard-prefixed space that go along: whether each is
    /// put or deleted.
    Write {
        space: usize,
        group: usize,
        changes: Vec<ModelChange>,
        along: Vec<(usize, bool)>,
    },
    /// Batches, each of a space and a group, in one call.
    WriteMany(Vec<(usize, usize, Vec<ModelChange>)>),
    Load {
        on_existing: OnExisting,
        memory_bytes_max: usize,
        parallelism: usize,
        pushes: Vec<ModelPush>,
    },
    DeleteRange {
        space: usize,
        ranges: Vec<ModelRange>,
    },
    Read {
        space: usize,
        keys: Vec<ModelKey>,
        keys_only: bool,
    },
    Scan {
        space: usize,
        scan: ModelScan,
    },
    MoveClock(u64),
    Settle,
    Reopen,
}

impl ModelKey {
    pub(super) fn bytes(self) -> Vec<u8> {
        let mut key = group_bytes(self.group);
        key.extend_from_slice(MINORS[self.minor].as_bytes());
        key
    }
}

impl ModelValue {
    pub(super) fn bytes(self) -> Vec<u8> {
        vec![self.fill; self.len]
    }
}

/// The shard key of a group, of the shape that all spaces of the suite have.
pub(super) fn group_bytes(group: usize) -> Vec<u8> {
    [&[7], GROUPS[group], &[0, 1]].concat()
}

/// One operation of any kind.
pub(super) fn operation() -> impl Strategy<Value = ModelOperation> {
    let space = 0..SPACES;
    prop_oneof![
        2 => space.clone().prop_map(ModelOperation::CreateSpace),
        1 => space.clone().prop_map(ModelOperation::DropSpace),
        8 => (space.clone(), 0..GROUPS.len(), vec(change(), 0..6), vec((0..MINORS.len(), any::<bool>()), 0..3))
            .prop_map(|(space, group, changes, along)| {
                ModelOperation::Write { space, group, changes, along }
            }),
        4 => vec((space.clone(), 0..GROUPS.len(), vec(change(), 0..4)), 0..6)
            .prop_map(ModelOperation::WriteMany),
        6 => load(),
        2 => (space.clone(), vec(range(), 0..3))
            .prop_map(|(space, ranges)| ModelOperation::DeleteRange { space, ranges }),
        3 => (space.clone(), vec(key(), 0..12), any::<bool>())
            .prop_map(|(space, keys, keys_only)| ModelOperation::Read { space, keys, keys_only }),
        8 => (space, scan()).prop_map(|(space, scan)| ModelOperation::Scan { space, scan }),
        2 => (1..8u64).prop_map(ModelOperation::MoveClock),
        1 => Just(ModelOperation::Settle),
        1 => Just(ModelOperation::Reopen),
    ]
}

fn key() -> impl Strategy<Value = ModelKey> {
    (0..GROUPS.len(), 0..MINORS.len()).prop_map(|(group, minor)| ModelKey { group, minor })
}

fn value() -> impl Strategy<Value = ModelValue> {
    (any::<u8>(), prop_oneof![4 => 0..20usize, 1 => Just(3_000), 1 => Just(9_000)])
        .prop_map(|(fill, len)| ModelValue { fill, len })
}

fn lives_ms() -> impl Strategy<Value = Option<u64>> {
    prop_oneof![2 => Just(None), 1 => (1..12u64).prop_map(Some)]
}

fn change() -> impl Strategy<Value = ModelChange> {
    let when = || {
        prop_oneof![
            4 => Just(ModelCondition::Always),
            1 => Just(ModelCondition::IfAbsent),
            1 => Just(ModelCondition::IfPresent),
            2 => Just(ModelCondition::IfLastVersion),
            1 => Just(ModelCondition::IfOtherVersion),
        ]
    };
    prop_oneof![
        3 => (0..MINORS.len(), value(), lives_ms(), when())
            .prop_map(|(minor, value, lives_ms, when)| {
                ModelChange::Put { minor, value, lives_ms, when }
            }),
        1 => (0..MINORS.len(), when())
            .prop_map(|(minor, when)| ModelChange::Delete { minor, when }),
    ]
}

fn load() -> impl Strategy<Value = ModelOperation> {
    let on_existing = select(vec![
        OnExisting::Keep,
        OnExisting::Keep,
        OnExisting::Replace,
        OnExisting::BlindReplace,
        OnExisting::Fail,
    ]);
    let memory_bytes_max = select(vec![64 << 10, 1 << 20, 16 << 20]);
    (on_existing, memory_bytes_max, 1..4usize, vec(push(), 0..8)).prop_map(
        |(on_existing, memory_bytes_max, parallelism, pushes)| ModelOperation::Load {
            on_existing,
            memory_bytes_max,
            parallelism,
            pushes,
        },
    )
}

/// Streams keep to groups of their own: of equal keys in two streams either may win, which cannot
/// be compared.
fn push() -> impl Strategy<Value = ModelPush> {
    (0..SPACES + 1, 0..2usize, vec((key(), value(), lives_ms()), 0..30), any::<bool>()).prop_map(
        |(space, stream, mut entries, then_flush)| {
            entries.iter_mut().for_each(|(key, ..)| key.group = key.group / 2 * 2 + stream);
            ModelPush { space, stream, entries, then_flush }
        },
    )
}

fn range() -> impl Strategy<Value = ModelRange> {
    prop_oneof![
        2 => Just(ModelRange::WholeSpace),
        3 => (0..GROUPS.len()).prop_map(ModelRange::Group),
        3 => (0..GROUPS.len(), 0..MINORS.len(), 0..MINORS.len())
            .prop_map(|(group, start, end)| ModelRange::Between { group, minors: [start, end] }),
        1 => (key(), key()).prop_map(|(start, end)| ModelRange::Across(start, end)),
    ]
}

fn scan() -> impl Strategy<Value = ModelScan> {
    let direction = select(vec![Direction::Unordered, Direction::Forward, Direction::Reverse]);
    let limit = || option::of(1..4u64);
    let batch = (prop_oneof![1..4usize, Just(8_192)], prop_oneof![1..5_000usize, Just(4 << 20)]);
    (vec(range(), 0..4), direction, any::<bool>(), limit(), limit(), batch, any::<bool>()).prop_map(
        |(
            ranges,
            direction,
            keys_only,
            limit_per_range,
            limit_per_shard_key,
            (batch_rows_max, batch_bytes_max),
            filter,
        )| ModelScan {
            ranges,
            direction,
            keys_only,
            limit_per_range,
            limit_per_shard_key,
            batch_rows_max,
            batch_bytes_max,
            filter,
        },
    )
}
