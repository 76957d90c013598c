//! Counts the rows of a scan against its limits: which rows it gives, and where a shard key or a
//! range ends.

use tonnage_engine::{Direction, FilterDecision, ScanOptions};

/// What becomes of a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RowStep {
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
pub(crate) struct LimitCounter {
    pub(crate) in_range: u64,
    pub(crate) shard_key: Vec<u8>,
    pub(crate) in_shard_key: u64,
    /// The rest of the shard key is passed over.
    pub(crate) is_passing: bool,
}

#[derive(Clone, Copy)]
enum ReachedLimit {
    Range,
    ShardKey,
}

impl LimitCounter {
    /// Whether a row is of the shard key whose rest is passed over.
    pub(crate) fn passes(&self, shard_key: &[u8]) -> bool {
        self.is_passing && self.shard_key == shard_key
    }

    /// Judges a row that exists.
    ///
    /// Going forward, the row that would be one too many ends the range or the shard key: rows that
    /// come along with the last counted one lie before it. Backwards they lie before the counted
    /// row itself, which hence is the last.
    pub(crate) fn step(&mut self, key: &[u8], shard_key: &[u8], options: &ScanOptions) -> RowStep {
        if self.shard_key != shard_key {
            self.shard_key.clear();
            self.shard_key.extend_from_slice(shard_key);
            self.in_shard_key = 0;
            self.is_passing = false;
        }
        let decision =
            options.filter.as_ref().map_or(FilterDecision::Count, |filter| filter.decide(key));
        let limit = self.limit(options);
        let step = match (decision, limit) {
            (FilterDecision::Count, Some(ReachedLimit::Range)) => RowStep::EndRange,
            (FilterDecision::Count, Some(ReachedLimit::ShardKey)) => RowStep::EndShardKey,
            (FilterDecision::Skip, _) => RowStep::Skip,
            (FilterDecision::Along, _) if options.limit_per_range == Some(0) => RowStep::EndRange,
            (FilterDecision::Along, _) if options.limit_per_shard_key == Some(0) => {
                RowStep::EndShardKey
            }
            (FilterDecision::Along, _) => RowStep::Give,
            (FilterDecision::Count, None) => self.count(options),
        };
        self.is_passing = matches!(step, RowStep::EndShardKey | RowStep::GiveLastOfShardKey);
        step
    }

    fn count(&mut self, options: &ScanOptions) -> RowStep {
        self.in_range += 1;
        self.in_shard_key += 1;
        match self.limit(options).filter(|_| options.direction == Direction::Reverse) {
            Some(ReachedLimit::Range) => RowStep::GiveLastOfRange,
            Some(ReachedLimit::ShardKey) => RowStep::GiveLastOfShardKey,
            None => RowStep::Give,
        }
    }

    fn limit(&self, options: &ScanOptions) -> Option<ReachedLimit> {
        let is_reached = |limit: Option<u64>, count| limit.is_some_and(|limit| count >= limit);
        if is_reached(options.limit_per_range, self.in_range) {
            Some(ReachedLimit::Range)
        } else if is_reached(options.limit_per_shard_key, self.in_shard_key) {
            Some(ReachedLimit::ShardKey)
        } else {
            None
        }
    }
}
