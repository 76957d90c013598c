//! One of the two engines of the model test. It names spaces by their position, and remembers the
//! last version seen of each row.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::conformance::fixture::{group, scan, shape};
use crate::conformance::recorder::LoadRecorder;
use crate::header::NEVER_MS;
use crate::{
    Condition, Deadline, Durability, Engine, Entries, ErrorKind, FilterDecision, KeyFilter,
    KeyShape, LoadOptions, OnExisting, Projection, Ranges, ReadOptions, Result, Rows, SHARD_LEN,
    ScanOptions, Slices, SpaceId, WriteBatch, WriteOutcome,
};

use super::operation::{
    ModelChange, ModelCondition, ModelKey, ModelPush, ModelScan, PLACED, group_bytes,
};

/// A row as both sides must have it: origin, key, value, expiry.
pub(super) type ScannedRow = (u32, Vec<u8>, Vec<u8>, u64);

/// What became of a load: what each stream stored (inserted, replaced), and which entries existed.
pub(super) type LoadResult = ([(u64, u64); 2], Vec<(u32, Vec<u8>, u64, usize)>);

/// All rows of a space by key: value, expiry, and whether the version changed since the row was
/// last seen.
pub(super) type SpaceSurvey = BTreeMap<Vec<u8>, (Vec<u8>, u64, bool)>;

/// An engine with what was seen of it.
pub(super) struct TrackedEngine {
    /// The number last given to each space, whether or not it was dropped since.
    ids: [Option<SpaceId>; PLACED + 1],
    used: Vec<SpaceId>,
    /// The version last seen of each row, whether or not it still exists.
    versions: BTreeMap<(SpaceId, Vec<u8>), u64>,
    /// Whether entries of a refused batch are put all the same: the model does as the tested
    /// engine, whose entries may be no part of the atomic step.
    puts_entries_first: bool,
}

impl TrackedEngine {
    pub(super) fn new(puts_entries_first: bool) -> Self {
        Self {
            ids: [None; PLACED + 1],
            used: Vec::new(),
            versions: BTreeMap::new(),
            puts_entries_first,
        }
    }

    /// The number of a space; one that does not exist when it was never created.
    pub(super) fn id(&self, space: usize) -> SpaceId {
        self.ids[space].unwrap_or(SpaceId(u32::MAX))
    }

    pub(super) fn create_space(&mut self, engine: &dyn Engine, space: usize) -> Result<()> {
        let shape = if space == PLACED { KeyShape::shard_prefixed() } else { shape() };
        let id = engine.create_space(&format!("space {space}"), &shape)?;
        assert!(!self.used.contains(&id), "the number of a space is used twice");
        self.used.push(id);
        self.ids[space] = Some(id);
        Ok(())
    }

    /// The operation that was refused, and whether there is a row; nothing for a batch that was
    /// applied.
    pub(super) fn write(
        &self,
        engine: &dyn Engine,
        space: usize,
        group: usize,
        changes: &[ModelChange],
        along: &[(usize, bool)],
        now_ms: u64,
    ) -> Result<Option<(usize, bool)>> {
        let mut batch = self.batch(space, group, changes, now_ms);
        // Where the tested engine has no such space, neither side has one, and rows go alone.
        if let Some(placed) = self.ids[PLACED] {
            batch.switch_to(placed);
            for (minor, is_put) in along {
                let key = prefixed_key(engine, ModelKey { group, minor: *minor });
                match is_put {
                    true => batch.put(&key, &[], NEVER_MS, Condition::Always),
                    false => batch.delete(&key, Condition::Always),
                }
            }
        }
        Ok(match engine.write(&batch, Durability::Write)? {
            WriteOutcome::Applied { .. } => None,
            WriteOutcome::Refused { operation, current } => {
                // Entries of the tested engine may be no part of the atomic step: the model does
                // the same.
                if self.puts_entries_first {
                    self.put_entries(engine, group, along)?;
                }
                let seen = self.last_version(space, batch.key(operation));
                assert!(
                    current.is_none() || current == seen,
                    "the row has version {current:?}, last seen was {seen:?}"
                );
                Some((operation, current.is_some()))
            }
        })
    }

    /// Puts the entries that stay when their batch is refused.
    fn put_entries(
        &self,
        engine: &dyn Engine,
        group: usize,
        along: &[(usize, bool)],
    ) -> Result<()> {
        let Some(placed) = self.ids[PLACED] else { return Ok(()) };
        let last_of_each: BTreeMap<usize, bool> = along.iter().copied().collect();
        let mut batch = WriteBatch::new(placed);
        for (minor, _) in last_of_each.into_iter().filter(|(_, is_put)| *is_put) {
            let key = prefixed_key(engine, ModelKey { group, minor });
            batch.put(&key, &[], NEVER_MS, Condition::Always);
        }
        engine.write(&batch, Durability::Write).map(drop)
    }

    /// What became of each batch: the same, or the kind of its error.
    pub(super) fn write_many(
        &self,
        engine: &dyn Engine,
        batches: &[(usize, usize, Vec<ModelChange>)],
        now_ms: u64,
    ) -> Vec<std::result::Result<Option<(usize, bool)>, ErrorKind>> {
        let batches: Vec<WriteBatch> = batches
            .iter()
            .map(|(space, group, changes)| self.batch(*space, *group, changes, now_ms))
            .collect();
        let refusal = |outcome| match outcome {
            WriteOutcome::Applied { .. } => None,
            WriteOutcome::Refused { operation, current } => Some((operation, current.is_some())),
        };
        let outcomes = engine.write_many(&batches, Durability::Write).into_iter();
        outcomes.map(|outcome| outcome.map(refusal).map_err(|error| error.kind())).collect()
    }

    fn batch(
        &self,
        space: usize,
        group: usize,
        changes: &[ModelChange],
        now_ms: u64,
    ) -> WriteBatch {
        // The space need not exist: then both engines must say so.
        let mut batch = WriteBatch::new(self.id(space));
        // Versions differ between the engines, so a condition names the one last seen of this
        // engine.
        for change in changes {
            match change {
                ModelChange::Put { minor, value, lives_ms, when } => {
                    let key = ModelKey { group, minor: *minor }.bytes();
                    batch.put(
                        &key,
                        &value.bytes(),
                        expires_at_ms(now_ms, *lives_ms),
                        self.condition(space, &key, *when),
                    );
                }
                ModelChange::Delete { minor, when } => {
                    let key = ModelKey { group, minor: *minor }.bytes();
                    batch.delete(&key, self.condition(space, &key, *when));
                }
            }
        }
        batch
    }

    fn last_version(&self, space: usize, key: &[u8]) -> Option<u64> {
        self.versions.get(&(self.id(space), key.to_vec())).copied()
    }

    fn condition(&self, space: usize, key: &[u8], when: ModelCondition) -> Condition {
        match when {
            ModelCondition::Always => Condition::Always,
            ModelCondition::IfAbsent => Condition::IfAbsent,
            ModelCondition::IfPresent => Condition::IfPresent,
            ModelCondition::IfLastVersion => {
                Condition::IfVersion(self.last_version(space, key).unwrap_or(u64::MAX))
            }
            ModelCondition::IfOtherVersion => Condition::IfVersion(u64::MAX),
        }
    }

    /// Loads all pushes in one session. Where in the session an error comes up is the engine's own
    /// business.
    pub(super) fn load(
        &self,
        engine: &dyn Engine,
        options: &LoadOptions,
        pushes: &[ModelPush],
        now_ms: u64,
    ) -> Result<LoadResult> {
        let recorder = Arc::new(LoadRecorder::default());
        let session =
            engine.load(LoadOptions { observer: Arc::clone(&recorder) as _, ..options.clone() })?;
        let mut positions = [0; 2];
        for push in pushes {
            let mut entries = Entries::new();
            for (key, value, lives_ms) in &push.entries {
                // Which of two shard-prefixed entries with one key wins is open, so they are all alike.
                match push.space {
                    PLACED => entries.push(
                        &prefixed_key(engine, *key),
                        &[],
                        positions[push.stream],
                        NEVER_MS,
                    ),
                    _ => entries.push(
                        &key.bytes(),
                        &value.bytes(),
                        positions[push.stream],
                        expires_at_ms(now_ms, *lives_ms),
                    ),
                }
                positions[push.stream] += 1;
            }
            // An engine may count a shard-prefixed entry as inserted or as replaced, so such streams
            // are counted apart and not compared.
            let stream = push.stream + if push.space == PLACED { PLACED_STREAMS } else { 0 };
            session.push(self.id(push.space), stream as u32, &entries)?;
            if push.then_flush {
                session.flush()?;
            }
        }
        session.finish()?;
        let (inserted, replaced, existed) = recorder.counts();
        // No write runs beside the load, so no entry may be overtaken.
        assert_eq!(
            inserted + replaced + existed,
            positions[0] + positions[1],
            "every entry is reported once"
        );
        let rows_replaced = recorder.of_stream(0).1 + recorder.of_stream(1).1;
        assert!(rows_replaced == 0 || options.on_existing == OnExisting::Replace);
        Ok(([recorder.of_stream(0), recorder.of_stream(1)], self.existed(&recorder)))
    }

    /// The entries that existed in an order that both sides share.
    fn existed(&self, recorder: &LoadRecorder) -> Vec<(u32, Vec<u8>, u64, usize)> {
        let place = |id| {
            self.ids.iter().position(|known| *known == Some(id)).expect("an entry of a known space")
        };
        let told = recorder.existed();
        let mut existed: Vec<_> = told
            .into_iter()
            .map(|entry| (entry.stream, entry.key, entry.position, place(entry.space)))
            .collect();
        existed.sort();
        existed
    }

    pub(super) fn read(
        &self,
        engine: &dyn Engine,
        space: usize,
        keys: &[ModelKey],
        keys_only: bool,
    ) -> Result<Vec<ScannedRow>> {
        let keys: Vec<Vec<u8>> = keys.iter().map(|key| key.bytes()).collect();
        let keys: Slices = keys.iter().map(Vec::as_slice).collect();
        let mut rows = Rows::new();
        engine.read(self.id(space), &keys, projection(keys_only), &mut rows)?;
        self.check_pieces(engine, space, &keys, keys_only, &rows)?;
        Ok(self.rows_seen(space, &rows))
    }

    /// The same keys read some at a time give the same rows.
    fn check_pieces(
        &self,
        engine: &dyn Engine,
        space: usize,
        keys: &Slices,
        keys_only: bool,
        whole: &Rows,
    ) -> Result<()> {
        // So few that the keys are read in many pieces.
        const BYTES_MAX: usize = 40;
        let (mut first, mut row, mut rows) = (0, 0, Rows::new());
        while first < keys.len() {
            let options = ReadOptions {
                projection: projection(keys_only),
                keys: first..keys.len(),
                bytes_max: BYTES_MAX,
                deadline: Deadline::NONE,
            };
            first += engine.read_some(self.id(space), keys, &options, &mut rows)?;
            for index in 0..rows.len() {
                assert_eq!(
                    (rows.keys.get(index), rows.values.get(index)),
                    (whole.keys.get(row), whole.values.get(row))
                );
                // Origins count from the first of all keys, not from the first of the piece.
                assert_eq!(rows.origins[index], whole.origins[row]);
                row += 1;
            }
        }
        assert_eq!(row, whole.len());
        Ok(())
    }

    pub(super) fn scan(
        &self,
        engine: &dyn Engine,
        space: usize,
        ranges: Ranges,
        options: &ModelScan,
    ) -> Result<Vec<ScannedRow>> {
        let options = ScanOptions {
            direction: options.direction,
            projection: projection(options.keys_only),
            limit_per_range: options.limit_per_range,
            limit_per_shard_key: options.limit_per_shard_key,
            batch_rows_max: options.batch_rows_max,
            batch_bytes_max: options.batch_bytes_max,
            filter: options.filter.then(|| Arc::new(ModelKeyFilter) as _),
            ..ScanOptions::default()
        };
        Ok(self.rows_seen(space, &scan(engine, self.id(space), ranges, options)?))
    }

    /// The rows without their versions, which must be those seen last.
    fn rows_seen(&self, space: usize, rows: &Rows) -> Vec<ScannedRow> {
        let row = |index: usize| {
            let key = rows.keys.get(index).to_vec();
            assert_eq!(
                Some(rows.versions[index]),
                self.last_version(space, &key),
                "the row has the version seen last"
            );
            (rows.origins[index], key, rows.values.get(index).to_vec(), rows.expiries_ms[index])
        };
        (0..rows.len()).map(row).collect()
    }

    /// Reads a whole space and remembers its versions. Nothing for a space that does not exist.
    pub(super) fn survey(&mut self, engine: &dyn Engine, space: usize) -> Option<SpaceSurvey> {
        let id = self.id(space);
        let rows = match scan(engine, id, Ranges::whole_space(), ScanOptions::default()) {
            Ok(rows) => rows,
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
                return None;
            }
        };
        let mut all = BTreeMap::new();
        for index in 0..rows.len() {
            let (key, version) = (rows.keys.get(index).to_vec(), rows.versions[index]);
            // Versions of rows that are gone stay: one that comes back is held against its last.
            let last = self.versions.insert((id, key.clone()), version);
            assert!(
                last.is_none_or(|last| last <= version),
                "a version went back from {last:?} to {version}"
            );
            // Each engine chooses the shard of a key, so its number is not compared.
            let key = if space == PLACED { key[SHARD_LEN..].to_vec() } else { key };
            all.insert(
                key,
                (rows.values.get(index).to_vec(), rows.expiries_ms[index], last != Some(version)),
            );
        }
        assert_eq!(all.len(), rows.len(), "a scan gives each row once");
        Some(all)
    }
}

/// Entries of the shard-prefixed space come in streams of their own, by so many after those of rows.
const PLACED_STREAMS: usize = 2;

/// The key of an entry of the shard-prefixed space in the shard of a group.
fn prefixed_key(engine: &dyn Engine, key: ModelKey) -> Vec<u8> {
    let shard = engine.shard_of(&group_bytes(key.group)).0 as u16;
    [&shard.to_be_bytes()[..], &key.bytes()].concat()
}

fn projection(keys_only: bool) -> Projection {
    if keys_only { Projection::KeysOnly } else { Projection::KeysAndValues }
}

fn expires_at_ms(now_ms: u64, lives_ms: Option<u64>) -> u64 {
    lives_ms.map_or(NEVER_MS, |lives_ms| now_ms + lives_ms)
}

/// Minor keys of one byte count, longer ones come along, those with an `x` are passed over.
struct ModelKeyFilter;

impl KeyFilter for ModelKeyFilter {
    fn decide(&self, key: &[u8]) -> FilterDecision {
        let minor = &key[shape().shard_key_len(key).unwrap_or(group("").len())..];
        match minor.len() {
            _ if minor.contains(&b'x') => FilterDecision::Skip,
            0 | 1 => FilterDecision::Count,
            _ => FilterDecision::Along,
        }
    }
}
