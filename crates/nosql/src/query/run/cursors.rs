//! Answers that were computed as a whole, kept until the client has taken them.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::time::Duration;

use crate::query::item::Item;
use crate::wire::{Failure, FailureCode, Outcome};

/// How long an unused answer is kept.
const IDLE_MAX: Duration = Duration::from_secs(300);
/// How many bytes all of them may have.
const BYTES_MAX: usize = 256 << 20;
/// How many there may be.
const COUNT_MAX: usize = 1_000;

/// Answers by number.
#[derive(Debug, Default)]
pub(crate) struct Cursors {
    kept: Mutex<KeptAnswers>,
}

#[derive(Debug, Default)]
struct KeptAnswers {
    by_number: HashMap<u64, KeptAnswer>,
    bytes: usize,
    last: u64,
}

/// An answer, and the statement that it is of.
#[derive(Clone, Debug)]
pub(super) struct KeptAnswer {
    pub(super) identity: String,
    pub(super) names: Arc<[Arc<str>]>,
    pub(super) rows: Arc<[Arc<[Item]>]>,
    bytes: usize,
    used_ms: u64,
}

impl Cursors {
    /// Keeps an answer. Those that were not used for longest go where there are too many.
    pub(super) fn keep(
        &self,
        identity: &str,
        names: Arc<[Arc<str>]>,
        rows: Arc<[Arc<[Item]>]>,
        now_ms: u64,
    ) -> u64 {
        let items = rows.iter().flat_map(|row| row.iter());
        let bytes = identity.len() + items.map(Item::bytes).sum::<usize>() + 16 * rows.len();
        let mut kept = lock(&self.kept);
        kept.last += 1;
        let number = kept.last;
        let identity = identity.to_owned();
        kept.by_number.insert(number, KeptAnswer { identity, names, rows, bytes, used_ms: now_ms });
        kept.bytes += bytes;
        kept.make_room(number, now_ms);
        number
    }

    /// An answer of that statement.
    ///
    /// # Errors
    /// That it is not kept any more.
    pub(super) fn get(&self, number: u64, identity: &str, now_ms: u64) -> Outcome<KeptAnswer> {
        let mut kept = lock(&self.kept);
        let found = kept.by_number.get_mut(&number);
        // The answer to another statement must not be seen.
        let found = found.filter(|answer| answer.identity == identity).ok_or_else(|| {
            let message = "QUERY: the rest of the answer is not kept any more: ask anew";
            Failure::new(FailureCode::IllegalArgument, message)
        })?;
        found.used_ms = now_ms;
        Ok(found.clone())
    }

    pub(super) fn remove(&self, number: u64) {
        lock(&self.kept).remove(number);
    }
}

fn lock(kept: &Mutex<KeptAnswers>) -> std::sync::MutexGuard<'_, KeptAnswers> {
    // What a thread leaves that panics is whole: each change is one step.
    kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl KeptAnswers {
    fn make_room(&mut self, newest: u64, now_ms: u64) {
        let idle_ms = IDLE_MAX.as_millis() as u64;
        let old = self.by_number.iter().filter(|(_, answer)| answer.used_ms + idle_ms < now_ms);
        let old: Vec<u64> = old.map(|(number, _)| *number).collect();
        old.into_iter().for_each(|number| self.remove(number));
        while self.bytes > BYTES_MAX || self.by_number.len() > COUNT_MAX {
            let others = self.by_number.iter().filter(|(number, _)| **number != newest);
            let oldest = others.min_by_key(|(number, answer)| (answer.used_ms, **number));
            let Some((oldest, _)) = oldest else { break };
            let oldest = *oldest;
            self.remove(oldest);
        }
    }

    fn remove(&mut self, number: u64) {
        if let Some(answer) = self.by_number.remove(&number) {
            self.bytes -= answer.bytes;
        }
    }
}
