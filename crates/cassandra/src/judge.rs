//! Which of the rows that a scan reads are given, and when it is done with a shard key or a range.

use tonnage_engine::{Direction, ScanOptions, Verdict};

/// What becomes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    Skip,
    Give,
    /// Give the row; the rest of its shard key is passed over.
    GiveLastOfShardKey,
    /// Give the row; the range ends.
    GiveLastOfRange,
    /// The rest of the shard key is passed over, this row too.
    EndShardKey,
    EndRange,
}

/// What was counted in a range so far.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Judge {
    pub(crate) in_range: u64,
    pub(crate) shard_key: Vec<u8>,
    pub(crate) in_shard_key: u64,
    /// The rest of the shard key is passed over.
    pub(crate) is_passing: bool,
}

#[derive(Clone, Copy)]
enum Limit {
    Range,
    ShardKey,
}

impl Judge {
    /// Whether a row is of the shard key whose rest is passed over.
    pub(crate) fn passes(&self, shard_key: &[u8]) -> bool {
        self.is_passing && self.shard_key == shard_key
    }

    /// Judges a row that exists.
    ///
    /// Going forward, the row that would be one too many ends the range or the shard key: rows that
    /// come along with the last counted one lie before it. Backwards they lie before the counted
    /// row itself, which hence is the last.
    pub(crate) fn step(&mut self, key: &[u8], shard_key: &[u8], options: &ScanOptions) -> Step {
        if self.shard_key != shard_key {
            self.shard_key.clear();
            self.shard_key.extend_from_slice(shard_key);
            self.in_shard_key = 0;
            self.is_passing = false;
        }
        let verdict = options.filter.as_ref().map_or(Verdict::Count, |filter| filter.judge(key));
        let limit = self.limit(options);
        let step = match (verdict, limit) {
            (Verdict::Count, Some(Limit::Range)) => Step::EndRange,
            (Verdict::Count, Some(Limit::ShardKey)) => Step::EndShardKey,
            (Verdict::Skip, _) => Step::Skip,
            (Verdict::Along, _) if options.limit_per_range == Some(0) => Step::EndRange,
            (Verdict::Along, _) if options.limit_per_shard_key == Some(0) => Step::EndShardKey,
            (Verdict::Along, _) => Step::Give,
            (Verdict::Count, None) => self.count(options),
        };
        self.is_passing = matches!(step, Step::EndShardKey | Step::GiveLastOfShardKey);
        step
    }

    fn count(&mut self, options: &ScanOptions) -> Step {
        self.in_range += 1;
        self.in_shard_key += 1;
        match self.limit(options).filter(|_| options.direction == Direction::Reverse) {
            Some(Limit::Range) => Step::GiveLastOfRange,
            Some(Limit::ShardKey) => Step::GiveLastOfShardKey,
            None => Step::Give,
        }
    }

    fn limit(&self, options: &ScanOptions) -> Option<Limit> {
        let is_reached = |limit: Option<u64>, count| limit.is_some_and(|limit| count >= limit);
        if is_reached(options.limit_per_range, self.in_range) {
            Some(Limit::Range)
        } else if is_reached(options.limit_per_shard_key, self.in_shard_key) {
            Some(Limit::ShardKey)
        } else {
            None
        }
    }
}
