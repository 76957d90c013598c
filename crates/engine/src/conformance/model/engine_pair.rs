//! Both engines side by side, on one clock.

use std::fmt::Debug;
use std::sync::Arc;

use crate::conformance::Harness;
use crate::conformance::fixture::{START_MS, shape};
use crate::{
    Clock, Direction, Durability, Engine, ErrorKind, LoadOptions, ManualClock, MemoryEngine,
    OnExisting, Ranges, Result,
};

use super::operation::{
    ModelKey, ModelOperation, ModelPush, ModelRange, ModelScan, PLACED, SPACES, group_bytes,
};
use super::tracked_engine::{ScannedRow, TrackedEngine};

/// The engine under test and the model.
pub(super) struct EnginePair<'h> {
    harness: &'h mut dyn Harness,
    clock: Arc<ManualClock>,
    /// Absent only while it is opened again.
    tested: Option<Box<dyn Engine>>,
    model: MemoryEngine,
    tested_side: TrackedEngine,
    model_side: TrackedEngine,
}

impl<'h> EnginePair<'h> {
    pub(super) fn new(harness: &'h mut dyn Harness) -> Self {
        let clock = Arc::new(ManualClock::new(START_MS));
        let tested = harness.open(Arc::clone(&clock) as _);
        let model = MemoryEngine::with_clock(Arc::clone(&clock) as _);
        let puts_entries_first = !tested.capability().shard_prefixed_atomic;
        let mut pair = Self {
            harness,
            clock,
            tested: Some(tested),
            model,
            tested_side: TrackedEngine::new(false),
            model_side: TrackedEngine::new(puts_entries_first),
        };
        // Most operations should find their space: all but the last are there from the start.
        (0..SPACES - 1).for_each(|space| pair.apply(&ModelOperation::CreateSpace(space)));
        if pair.tested.as_deref().is_some_and(|tested| tested.capability().shard_prefixed_spaces) {
            pair.ask_both(|side, engine| side.create_space(engine, PLACED));
        }
        pair
    }

    /// Carries an operation out on both sides and compares answers, then everything stored.
    pub(super) fn apply(&mut self, operation: &ModelOperation) {
        // One timestamp for both sides: expiries are computed from it, and must be equal.
        let now_ms = self.clock.now_ms();
        match operation {
            ModelOperation::CreateSpace(space) => {
                self.ask_both(|side, engine| side.create_space(engine, *space))
            }
            ModelOperation::DropSpace(space) => {
                self.ask_both(|side, engine| engine.drop_space(side.id(*space)))
            }
            ModelOperation::Write { space, group, changes, along } => {
                self.ask_both(|side, engine| {
                    side.write(engine, *space, *group, changes, along, now_ms)
                });
            }
            ModelOperation::WriteMany(batches) => {
                self.ask_both(|side, engine| Ok(side.write_many(engine, batches, now_ms)))
            }
            ModelOperation::Load { on_existing, memory_bytes_max, parallelism, pushes } => {
                self.load(*on_existing, *memory_bytes_max, *parallelism, pushes, now_ms);
            }
            ModelOperation::DeleteRange { space, ranges } => {
                let ranges = self.ranges(ranges);
                self.ask_both(|side, engine| {
                    engine.delete_range(side.id(*space), &ranges, Durability::Write)
                });
            }
            ModelOperation::Read { space, keys, keys_only } => {
                self.ask_both(|side, engine| side.read(engine, *space, keys, *keys_only))
            }
            ModelOperation::Scan { space, scan } => self.scan(*space, scan.clone()),
            ModelOperation::MoveClock(by_ms) => self.clock.set_ms(now_ms + by_ms),
            ModelOperation::Settle => self.ask_both(|_, engine| match engine.capability().settle {
                true => engine.settle(),
                false => Ok(()),
            }),
            ModelOperation::Reopen => self.reopen(),
        }
        // After each operation, so that a failure names the first one that went wrong.
        self.compare_spaces();
    }

    /// Asks both sides, and compares what they answer.
    fn ask_both<T: PartialEq + Debug>(
        &mut self,
        ask: impl Fn(&mut TrackedEngine, &dyn Engine) -> Result<T>,
    ) {
        let tested =
            ask(&mut self.tested_side, self.tested.as_deref().expect("the engine is open"));
        let model = ask(&mut self.model_side, &self.model);
        match (&tested, &model) {
            (Ok(tested), Ok(model)) => assert_eq!(tested, model, "engine under test, then model"),
            (Err(tested), Err(model)) => {
                assert_eq!(tested.kind(), model.kind(), "{tested} / {model}");
                assert_ne!(
                    tested.kind(),
                    ErrorKind::Invalid,
                    "the test makes sound requests only: {tested}"
                );
            }
            _ => panic!("the engine under test answers {tested:?}, the model {model:?}"),
        }
    }

    /// Loads into the spaces that exist. A load that fails stores as much as it likes: its spaces
    /// are then emptied.
    fn load(
        &mut self,
        on_existing: OnExisting,
        memory_bytes_max: usize,
        parallelism: usize,
        pushes: &[ModelPush],
        now_ms: u64,
    ) {
        // A push into a space that is not there ends the load: little would be left to compare.
        let exists = |push: &&ModelPush| {
            self.model
                .spaces()
                .unwrap()
                .iter()
                .any(|space| space.id == self.model_side.id(push.space))
        };
        let pushes: Vec<ModelPush> = pushes.iter().filter(exists).cloned().collect();
        let options =
            LoadOptions { on_existing, memory_bytes_max, parallelism, ..LoadOptions::default() };
        self.ask_both(|side, engine| {
            let loaded = side.load(engine, &options, &pushes, now_ms);
            // How much a failed load stores is left open, so both sides begin again with empty
            // spaces.
            if loaded.is_err() {
                for push in &pushes {
                    engine.delete_range(
                        side.id(push.space),
                        &Ranges::whole_space(),
                        Durability::Write,
                    )?;
                }
            }
            loaded
        });
    }

    /// Scans on both sides, without the limits that leave open which rows are given.
    fn scan(&mut self, space: usize, mut scan: ModelScan) {
        let ordered = scan.direction != Direction::Unordered;
        let in_total = self.is_in_total_order();
        let crosses = scan
            .ranges
            .iter()
            .any(|range| matches!(range, ModelRange::WholeSpace | ModelRange::Across(..)));
        // Without an order an engine may choose the rows within a limit, so both could be right.
        if !ordered {
            scan.limit_per_shard_key = None;
        }
        if !ordered || (crosses && !in_total) {
            scan.limit_per_range = None;
        }
        let ranges = self.ranges(&scan.ranges);
        self.ask_both(|side, engine| {
            let mut rows = side.scan(engine, space, ranges.clone(), &scan)?;
            match (ordered, in_total) {
                (false, _) => rows.sort(),
                (true, false) => rows.sort_by(|left, right| {
                    range_and_shard_key(left).cmp(&range_and_shard_key(right))
                }),
                (true, true) => {}
            }
            Ok(rows)
        });
    }

    /// Whether the order of rows is the same everywhere in the engine under test as in the model.
    fn is_in_total_order(&self) -> bool {
        let capability = self.tested.as_deref().expect("the engine is open").capability();
        capability.total_order && capability.shards == 1
    }

    /// The ranges as bytes. One across shard keys becomes that of a shard key where there is no
    /// total order.
    fn ranges(&self, ranges: &[ModelRange]) -> Ranges {
        let total_order =
            self.tested.as_deref().expect("the engine is open").capability().total_order;
        let mut all = Ranges::new();
        for range in ranges {
            match range {
                ModelRange::WholeSpace => all.push(&[], &[]),
                ModelRange::Group(group) => all.push_prefix(&group_bytes(*group)),
                ModelRange::Between { group, minors } => {
                    let [start, end] =
                        minors.map(|minor| ModelKey { group: *group, minor }.bytes());
                    all.push(&start, &end);
                }
                ModelRange::Across(start, end) if total_order => {
                    all.push(&start.bytes(), &end.bytes())
                }
                ModelRange::Across(start, _) => all.push_prefix(&group_bytes(start.group)),
            }
        }
        all
    }

    fn reopen(&mut self) {
        let tested = self.tested.take().expect("the engine is open");
        if !tested.capability().persistent {
            self.tested = Some(tested);
            return;
        }
        self.tested = self.harness.reopen(tested, Arc::clone(&self.clock) as _);
        assert!(
            self.tested.is_some(),
            "a persistent engine must come with a harness that opens it again"
        );
    }

    /// Compares the rows of all spaces, and whether their versions changed.
    fn compare_spaces(&mut self) {
        let tested = self.tested.as_deref().expect("the engine is open");
        for space in 0..=PLACED {
            let (tested, model) = (
                self.tested_side.survey(tested, space),
                self.model_side.survey(&self.model, space),
            );
            assert_eq!(
                tested, model,
                "rows of space {space}: value, expiry, and whether the version changed"
            );
        }
    }
}

/// The position of a row among those whose order is fixed: its range and its shard key.
fn range_and_shard_key(row: &ScannedRow) -> (u32, &[u8]) {
    let (origin, key, ..) = row;
    (*origin, &key[..shape().shard_key_len(key).expect("a key of the suite's shape")])
}
