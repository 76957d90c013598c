//! A thread of small writes and reads. The versions that it saw last go into its conditions.

use std::collections::BTreeMap;

use tonnage::{
    BulkGetOptions, Condition, Index, IndexRange, IndexScanOptions, KeySource, Result, Row,
    RowOperation, Table, Value, WriteOptions, WriteResult,
};

use super::history::{
    HistoryEvent, HistoryOperation, KEYS, ObjectState, WriteAnswer, WriteCondition,
};
use super::round::{OBJECTS, Round, write_of};
use crate::content::long;
use crate::random::SeededRandom;

pub(super) struct HistoryClient<'r> {
    round: &'r Round<'r>,
    number: usize,
    table: Table,
    index: Index,
    random: SeededRandom,
    /// The version and the write that a row showed last.
    last: BTreeMap<(u64, usize), (u64, u64)>,
    /// Recent puts of this thread: object, key, write.
    recent: Vec<(u64, usize, u64)>,
}

impl<'r> HistoryClient<'r> {
    pub(super) fn new(round: &'r Round<'r>, number: u64) -> Result<Self> {
        let table = round.store.table("r")?;
        let index = table.index("by_w")?;
        let random = SeededRandom::new(round.seed ^ number << 32);
        let (last, recent) = Default::default();
        Ok(Self { round, number: number as usize, table, index, random, last, recent })
    }

    pub(super) fn run(mut self, operations: u64) -> Result<()> {
        for _ in 0..operations {
            let (object, key) =
                (self.random.below(OBJECTS), self.random.below(KEYS as u64) as usize);
            let call = self.round.tick();
            let (object, operation) = self.run_operation(object, key)?;
            let end = self.round.tick();
            self.round.note(object, HistoryEvent { call, end, thread: self.number, operation });
            if self.random.chance(25) {
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// Carries out something; gives the object that it concerned, which an index read chooses.
    fn run_operation(&mut self, object: u64, key: usize) -> Result<(u64, HistoryOperation)> {
        let known = self.last.get(&(object, key)).copied();
        let operation = match (self.random.below(100), known) {
            (0..15, _) => self.put(object, key)?,
            (15..25, _) => {
                let was_there = self.table.delete(&self.round.key(object, key), &options())?;
                HistoryOperation::Delete { key, was_there }
            }
            (25..40, Some((version, write))) => self.put_if_version(object, key, version, write)?,
            (40..44, Some((version, write))) => {
                let row = self.round.key(object, key);
                let done = self.table.delete_if_version(&row, version, &options())?;
                let (when, answer) = (WriteCondition::Shows(write), answer(done));
                HistoryOperation::Conditional { key, when, write: 0, answer }
            }
            (44..50, _) => self.put_when(object, key, WriteCondition::Absent)?,
            (50..55, _) => self.put_when(object, key, WriteCondition::Present)?,
            (55..67, known) => self.group(object, key, known)?,
            (67..75, _) => self.snapshot(object)?,
            (75..80, _) if !self.recent.is_empty() => return self.index_read(),
            _ => self.get(object, key)?,
        };
        Ok((object, operation))
    }

    fn learn(&mut self, object: u64, key: usize, version: u64, write: u64) {
        self.round.learn(object, key, version, write);
        self.last.insert((object, key), (version, write));
    }

    fn put(&mut self, object: u64, key: usize) -> Result<HistoryOperation> {
        let write = self.round.write();
        let version = self.table.put(&self.round.row(object, key, write), &options())?;
        self.learn(object, key, version, write);
        self.recent.push((object, key, write));
        Ok(HistoryOperation::Put { key, write })
    }

    fn put_if_version(
        &mut self,
        object: u64,
        key: usize,
        version: u64,
        shown: u64,
    ) -> Result<HistoryOperation> {
        let write = self.round.write();
        let row = self.round.row(object, key, write);
        let done = self.table.put_if_version(&row, version, &options())?;
        if let Some(version) = done.version() {
            self.learn(object, key, version, write);
        }
        Ok(HistoryOperation::Conditional {
            key,
            when: WriteCondition::Shows(shown),
            write,
            answer: answer(done),
        })
    }

    fn put_when(
        &mut self,
        object: u64,
        key: usize,
        when: WriteCondition,
    ) -> Result<HistoryOperation> {
        let write = self.round.write();
        let row = self.round.row(object, key, write);
        let done = match when {
            WriteCondition::Absent => self.table.put_if_absent(&row, &options())?,
            _ => self.table.put_if_present(&row, &options())?,
        };
        if let Some(version) = done.version() {
            self.round.learn(object, key, version, write);
        }
        Ok(HistoryOperation::Conditional { key, when, write, answer: answer(done) })
    }

    /// A row and its neighbour, which is deleted now and then.
    fn group(
        &mut self,
        object: u64,
        key: usize,
        known: Option<(u64, u64)>,
    ) -> Result<HistoryOperation> {
        let (write, other) = (self.round.write(), (key + 1) % KEYS);
        let deletes = self.random.chance(33);
        let second = match deletes {
            true => RowOperation::delete("r", self.round.key(object, other)),
            false => RowOperation::put("r", self.round.row(object, other, write)),
        };
        let mut first = RowOperation::put("r", self.round.row(object, key, write));
        // Half of the groups or more have no condition, so that nothing may refuse them.
        let known = known.filter(|_| self.random.chance(50));
        if let Some((version, _)) = known {
            first = first.when(Condition::IfVersion(version));
        }
        let done = self.round.store.atomic_write(&[first, second], &options())?;
        if let Some(version) = done.version() {
            self.round.learn(object, key, version, write);
            if !deletes {
                self.round.learn(object, other, version, write);
            }
        }
        // Both writes are one step of the history: a snapshot between them is unexplained.
        let writes = [(key, write), (other, if deletes { 0 } else { write })];
        let when = known.map(|(_, shown)| WriteCondition::Shows(shown));
        Ok(HistoryOperation::Group { writes, when, is_stored: done.is_stored() })
    }

    /// All rows of an object: a scan of one shard key reads at one point in time.
    fn snapshot(&mut self, object: u64) -> Result<HistoryOperation> {
        let mut state = ObjectState::default();
        let keys = KeySource::keys([Row::new().with("s", self.round.base + object as i64)]);
        for found in self.table.bulk_get(keys, &BulkGetOptions::default())?.into_rows() {
            let row = found?.row;
            if let Some(key) = long(&row, "k") {
                state[key as usize] = write_of(&row);
            }
        }
        Ok(HistoryOperation::Snapshot(state))
    }

    /// Whether the index leads to a row that this thread put a while ago.
    fn index_read(&mut self) -> Result<(u64, HistoryOperation)> {
        let from = self.recent.len().saturating_sub(8);
        let (object, key, write) = *self.random.choose(&self.recent[from..]);
        let range = IndexRange::prefix([Value::Long(write as i64)]);
        let (shard, mut is_found) = (self.round.base + object as i64, false);
        for batch in self.index.scan(&range, &IndexScanOptions::default())? {
            let rows = batch?.rows;
            for at in 0..rows.num_rows() {
                let row = Row::from_batch(&rows, at)?;
                is_found |= long(&row, "s") == Some(shard) && long(&row, "k") == Some(key as i64);
            }
        }
        Ok((object, HistoryOperation::IndexRead { key, write, is_found }))
    }

    fn get(&mut self, object: u64, key: usize) -> Result<HistoryOperation> {
        let Some(found) = self.table.get(&self.round.key(object, key))? else {
            return Ok(HistoryOperation::Get { key, write: 0 });
        };
        let write = write_of(&found.row);
        self.learn(object, key, found.version, write);
        Ok(HistoryOperation::Get { key, write })
    }
}

fn options() -> WriteOptions {
    WriteOptions::default()
}

fn answer(done: WriteResult) -> WriteAnswer {
    match done {
        WriteResult::Stored { .. } => WriteAnswer::Stored,
        WriteResult::ConditionFailed { current, .. } => WriteAnswer::Refused(current),
    }
}
