//! Many independent batches in one call.
//!
//! 1. Each batch is checked by itself. One that is wrong gets its error and leaves the others
//!    alone.
//! 2. Those of one shard go together in the order given, in portions of up to [`PORTION_BYTES`];
//!    one shard after another.
//! 3. A portion passes the throttle, takes its stripes, those of lower numbers first, and holds the
//!    gate shared.
//! 4. Its batches are judged in their order, by what is stored and by what those before them
//!    [leave](BatchEffects).
//! 5. Those whose conditions hold are one RocksDB batch, and one write to the log.
//! 6. When all shards are done and nothing is held any more, the log of each is synced once where
//!    that was asked for, as [`write`](crate::write) does it.

use tonnage_engine::{Deadline, Durability, Error, Result, WriteBatch, WriteOutcome};

use crate::attempt_outcome::AttemptOutcome;
use crate::batch_effects::BatchEffects;
use crate::open_store::OpenStore;
use crate::shard::{Shard, Stripe};
use crate::stall::StallDeadline;
use crate::write::{BatchEncoder, has_conditions};

/// How many bytes are written to the log at once, unless one batch alone is larger.
const PORTION_BYTES: usize = 16 << 20;

/// A sound batch of a shard.
struct GroupedBatch<'b> {
    /// Its position among all batches of the call.
    index: usize,
    batch: &'b WriteBatch,
    stripe: usize,
    bytes: usize,
}

/// What becomes of each batch of a portion.
type BatchOutcomes = Vec<Result<WriteOutcome>>;

impl OpenStore {
    pub(crate) fn write_batches(
        &self,
        batches: &[WriteBatch],
        durability: Durability,
        deadline: Deadline,
    ) -> BatchOutcomes {
        let stall_deadline = StallDeadline::until(deadline);
        let mut outcomes: Vec<Option<Result<WriteOutcome>>> =
            batches.iter().map(|_| None).collect();
        let mut shards: Vec<Vec<GroupedBatch<'_>>> =
            self.shards().iter().map(|_| Vec::new()).collect();
        let mut known_space = None;
        for (index, batch) in batches.iter().enumerate() {
            let checked =
                deadline.check("its turn").and_then(|()| self.check_batch(batch, &mut known_space));
            match checked {
                Ok(to) => {
                    let stripe = Shard::stripe_of(to.shard_key);
                    shards[to.shard].push(GroupedBatch { index, batch, stripe, bytes: to.bytes });
                }
                Err(error) => outcomes[index] = Some(Err(error)),
            }
        }
        let mut written_to = Vec::with_capacity(shards.len());
        for (shard, members) in self.shards().iter().zip(&shards) {
            let mut written = 0;
            for portion in portions(members) {
                let bytes = portion.iter().map(|member| member.bytes).sum();
                let answers = shard.throttle.write(bytes, stall_deadline, || {
                    self.write_portion(shard, portion, (deadline, stall_deadline))
                });
                let answers = answers.map(|(answers, up_to)| {
                    written = up_to;
                    answers
                });
                // A portion that fails as a whole fails each of its batches; other portions
                // continue.
                let answers = answers
                    .unwrap_or_else(|error| portion.iter().map(|_| Err(same(&error))).collect());
                for (member, answer) in portion.iter().zip(answers) {
                    outcomes[member.index] = Some(answer);
                }
            }
            written_to.push(written);
        }
        // No stripe and no gate is held any more, and one sync serves all portions of a shard.
        if durability == Durability::Fsync {
            for ((shard, members), written) in self.shards().iter().zip(&shards).zip(written_to) {
                sync(shard, members, written, &mut outcomes);
            }
        }
        outcomes
            .into_iter()
            .map(|outcome| outcome.expect("a batch is wrong or in a portion"))
            .collect()
    }

    /// The answers, and up to which sequence number they are in the log.
    fn write_portion(
        &self,
        shard: &Shard,
        portion: &[GroupedBatch<'_>],
        (deadline, stall_deadline): (Deadline, StallDeadline),
    ) -> Result<AttemptOutcome<(BatchOutcomes, u64)>> {
        let _stripes = stripes(shard, portion, deadline)?;
        let _gate = shard.gate_by(deadline)?;
        let (mut left, mut answers) = (
            BatchEffects::new(portion.iter().any(|member| has_conditions(member.batch))),
            BatchOutcomes::with_capacity(portion.len()),
        );
        let mut rows = BatchEncoder::new(shard);
        let mut known_space = None;
        // Those of batches that are not carried out are never used.
        let versions = shard.versions.next_many_until(portion.len() as u64, stall_deadline.end)?;
        for (GroupedBatch { batch, .. }, version) in portion.iter().zip(versions) {
            let judged = self
                .check_spaces(batch, &mut known_space)
                .and_then(|()| self.failed_condition(shard, batch, &left));
            answers.push(match judged {
                Ok(None) => {
                    rows.add(batch, version);
                    left.add(batch, version);
                    Ok(WriteOutcome::Applied { version })
                }
                Ok(Some(refused)) => Ok(refused),
                Err(error) => Err(error),
            });
        }
        if rows.batch.is_empty() {
            return Ok(AttemptOutcome::Done((answers, shard.written())));
        }
        // Where writes are stopped these answers are dropped: the next try judges everything anew.
        Ok(match shard.attempt(false, &rows.notes, rows.batch)? {
            AttemptOutcome::Done(()) => AttemptOutcome::Done((answers, shard.written())),
            AttemptOutcome::Stopped(refusal) => AttemptOutcome::Stopped(refusal),
        })
    }
}

/// Syncs what was written to a shard. Where that fails no batch of it is acknowledged.
fn sync(
    shard: &Shard,
    members: &[GroupedBatch<'_>],
    written: u64,
    outcomes: &mut [Option<Result<WriteOutcome>>],
) {
    if members.is_empty() {
        return;
    }
    if let Err(error) = shard.sync_log_to(written) {
        for member in members {
            let outcome = &mut outcomes[member.index];
            if outcome.as_ref().is_some_and(Result::is_ok) {
                *outcome = Some(Err(same(&error)));
            }
        }
    }
}

/// Cuts the part of a shard.
fn portions<'m, 'b>(
    mut members: &'m [GroupedBatch<'b>],
) -> impl Iterator<Item = &'m [GroupedBatch<'b>]> {
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = members.iter().take_while(|member| {
            bytes += member.bytes;
            bytes <= PORTION_BYTES
        });
        let len = fits.count().max(1).min(members.len());
        let (portion, rest) = members.split_at(len);
        members = rest;
        (!portion.is_empty()).then_some(portion)
    })
}

/// Takes the stripes of a portion in the order in which everybody takes them.
fn stripes<'s>(
    shard: &'s Shard,
    portion: &[GroupedBatch<'_>],
    deadline: Deadline,
) -> Result<Vec<Stripe<'s>>> {
    let mut numbers: Vec<usize> = portion.iter().map(|member| member.stripe).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(|number| shard.stripe_by(number, deadline)).collect()
}

/// The error of a portion, for each of its batches.
fn same(error: &Error) -> Error {
    Error::new(error.kind(), error.message())
}

#[cfg(test)]
mod tests {
    use tonnage_engine::SpaceId;

    use super::*;

    #[test]
    fn a_portion_holds_so_many_bytes_and_always_something() {
        let batch = WriteBatch::new(SpaceId(0));
        let sizes = [1, PORTION_BYTES - 1, 1, 2 * PORTION_BYTES, 3, 4];
        let members: Vec<_> = sizes
            .iter()
            .map(|bytes| GroupedBatch { index: 0, batch: &batch, stripe: 0, bytes: *bytes })
            .collect();
        let lens: Vec<usize> = portions(&members).map(<[_]>::len).collect();
        assert_eq!(lens, [2, 1, 1, 2]);
        assert_eq!(portions(&[]).count(), 0);
    }
}
