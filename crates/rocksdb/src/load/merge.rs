//! Merges sorted sources into one sorted sequence.
//!
//! A tree of losers: each leaf is a source, each inner node remembers which source lost the match
//! there, and the overall winner is above the root. When the winner moves on, only the matches on
//! its path are played again: one comparison a level. Sources are compared by sixteen bytes of
//! their key, cached as a number, and by the records only when those are equal.

use tonnage_engine::Result;

use super::cursor::SourceCursor;
use super::record::{LoadRecord, Precedence, prefix_number};

/// Yields the records of all sources by key; of equal keys the one to be stored comes first.
#[derive(Debug)]
pub(super) struct SourceMerge<'a> {
    cursors: Vec<SourceCursor<'a>>,
    heads: Vec<MergeHead>,
    /// `tree[0]` is the winner, the others are losers. Node `n` has the children `2n` and `2n + 1`;
    /// source `s` is the leaf `s + sources`.
    tree: Vec<usize>,
    /// How many leading bytes all keys of the merge share.
    common: usize,
    precedence: Precedence,
    started: bool,
}

/// What decides most matches: ended sources lose, then the smaller prefix wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct MergeHead {
    ended: bool,
    prefix: u128,
}

impl<'a> SourceMerge<'a> {
    /// Merges cursors that stand before their first entry. All keys share their first `common`
    /// bytes.
    pub(super) fn new(
        cursors: Vec<SourceCursor<'a>>,
        common: usize,
        precedence: Precedence,
    ) -> Result<Self> {
        let heads = vec![MergeHead { ended: true, prefix: 0 }; cursors.len()];
        let mut merge =
            Self { cursors, heads, tree: Vec::new(), common, precedence, started: false };
        for source in 0..merge.cursors.len() {
            merge.advance(source)?;
        }
        merge.build_tree();
        Ok(merge)
    }

    /// The next record.
    #[inline]
    pub(super) fn next(&mut self) -> Result<Option<LoadRecord<'_>>> {
        let Some(&winner) = self.tree.first() else { return Ok(None) };
        if self.started {
            self.advance(winner)?;
            self.replay(winner);
        }
        self.started = true;
        let winner = self.tree[0];
        Ok((!self.heads[winner].ended).then(|| self.cursors[winner].record()))
    }

    #[inline]
    fn advance(&mut self, source: usize) -> Result<()> {
        let cursor = &mut self.cursors[source];
        self.heads[source] = match cursor.advance()? {
            true => MergeHead {
                ended: false,
                prefix: prefix_number::<16>(cursor.record().key, self.common),
            },
            false => MergeHead { ended: true, prefix: 0 },
        };
        Ok(())
    }

    fn build_tree(&mut self) {
        let sources = self.cursors.len();
        let mut winners = vec![0; 2 * sources];
        self.tree = vec![0; sources];
        for source in 0..sources {
            winners[sources + source] = source;
        }
        for node in (1..sources).rev() {
            let (left, right) = (winners[2 * node], winners[2 * node + 1]);
            let left_wins = self.wins(left, right);
            winners[node] = if left_wins { left } else { right };
            self.tree[node] = if left_wins { right } else { left };
        }
        if sources > 0 {
            self.tree[0] = winners[1];
        }
    }

    #[inline]
    fn replay(&mut self, source: usize) {
        let mut winner = source;
        let mut node = (source + self.cursors.len()) / 2;
        while node > 0 {
            let rival = self.tree[node];
            if self.wins(rival, winner) {
                self.tree[node] = winner;
                winner = rival;
            }
            node /= 2;
        }
        self.tree[0] = winner;
    }

    #[inline]
    fn wins(&self, left: usize, right: usize) -> bool {
        let (left_head, right_head) = (self.heads[left], self.heads[right]);
        if left_head != right_head || left_head.ended {
            return left_head < right_head;
        }
        self.wins_by_record(left, right)
    }

    #[cold]
    fn wins_by_record(&self, left: usize, right: usize) -> bool {
        let (left, right) = (self.cursors[left].record(), self.cursors[right].record());
        left.key.cmp(right.key).then_with(|| left.cmp_origin(&right, self.precedence)).is_lt()
    }
}
