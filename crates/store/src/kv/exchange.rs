//! Writes of pairs that return the pair that was there before. `table/exchange` describes how.

use tonnage_engine::{Condition, KeyPart, KeyShape, Result, WriteBatch, WriteOutcome};

use super::{Key, KeyValue, Pair, PairBatch, PairOperation};
use crate::single_calls::{WriteOptions, WriteResult};
use crate::table::judge_and_write;

/// What became of a write, and the pair that it found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct ExchangedPair {
    /// What became of the write.
    pub result: WriteResult,
    /// The pair that was stored before, if there was one.
    pub previous: Option<Pair>,
}

impl KeyValue {
    /// Stores a value if a condition holds of the pair under its key, and says which pair that was.
    ///
    /// # Errors
    /// As [`KeyValue::put`].
    pub fn put_returning(
        &self,
        key: &Key,
        value: &[u8],
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<ExchangedPair> {
        options.check(self.store.engine.capability())?;
        self.exchange(key, Some(value), condition, options)
    }

    /// Deletes the pair under a key if a condition holds of it, and says which pair that was.
    ///
    /// # Errors
    /// As [`KeyValue::delete`].
    pub fn delete_returning(
        &self,
        key: &Key,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<ExchangedPair> {
        options.check(self.store.engine.capability())?;
        self.exchange(key, None, condition, options)
    }

    /// Carries out those operations under one major path whose conditions hold, as
    /// [`Store::write_each`] does it with rows: each answer says whether its operation was carried
    /// out, and which pair it found.
    ///
    /// [`Store::write_each`]: crate::Store::write_each
    ///
    /// # Errors
    /// As [`KeyValue::write`]; then nothing was carried out.
    pub fn write_each(
        &self,
        operations: &[PairOperation],
        options: &WriteOptions,
    ) -> Result<Vec<ExchangedPair>> {
        let (wanted, shape) = (self.batch(operations, options)?, KeyShape::new([KeyPart::Path]));
        let terms = options.terms();
        let writer = self.store.writer(terms.acks);
        let (engine, deadline) = (&*self.store.engine, terms.deadline);
        let judged = judge_and_write(engine, &wanted, &shape, deadline, |batch, _| {
            writer.write_by(batch, terms.durability, deadline)
        })?;
        let answers: Vec<_> = judged.answers().collect();
        let found = PairBatch { rows: judged.found };
        let answers = answers.into_iter().map(|(result, row)| {
            let previous = row.map(|row| found.pair(row)).transpose()?;
            Ok(ExchangedPair { result, previous })
        });
        answers.collect()
    }

    fn exchange(
        &self,
        key: &Key,
        value: Option<&[u8]>,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<ExchangedPair> {
        let terms = options.terms();
        // The condition is judged by what was read, so the write succeeds only if that is still
        // there. Otherwise someone else wrote between the two: look again.
        loop {
            let previous = self.get_by(&*self.store.engine, key, terms.deadline)?;
            let current = previous.as_ref().map(|pair| pair.version);
            if !condition.holds(current) {
                let result = WriteResult::ConditionFailed { operation: 0, current };
                return Ok(ExchangedPair { result, previous });
            }
            let unchanged = current.map_or(Condition::IfAbsent, Condition::IfVersion);
            let mut batch = WriteBatch::new(self.store.pairs);
            match value {
                None => {
                    let mut bytes = Vec::new();
                    key.encode(&mut bytes)?;
                    batch.delete(&bytes, unchanged);
                }
                Some(value) => {
                    let kept = previous.as_ref().filter(|_| options.keep_ttl);
                    let expires_at_ms = kept.map(|pair| pair.expires_at_ms);
                    let options = WriteOptions {
                        expires_at_ms: expires_at_ms.or(options.expires_at_ms),
                        ..*options
                    };
                    self.add_put(&mut batch, key, value, unchanged, &options)?;
                }
            }
            // The caller says how many copies to wait for. The decision takes a majority in any
            // case.
            let writer = self.store.writer(terms.acks);
            let outcome = writer.write_by(&batch, terms.durability, terms.deadline)?;
            if let WriteOutcome::Applied { .. } = outcome {
                return Ok(ExchangedPair { result: outcome.into(), previous });
            }
        }
    }
}
