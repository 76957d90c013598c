//! Keys of commands that say how many they have: ZUNION 2 a b.

use std::ops::Range;

use super::immediate::{ImmediateCall, check_right};
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::protocol::parse_integer;

impl ImmediateCall<'_> {
    /// The keys after their number, which is at an index. The table of commands cannot know where
    /// they end, so the rights on them are checked here.
    pub(super) fn keys_after(
        &self,
        number_at: usize,
        count: i64,
        rights: &[KeyRight],
    ) -> Result<Range<usize>, Refusal> {
        let first = number_at + 1;
        let end = usize::try_from(count).ok().and_then(|count| count.checked_add(first));
        let end = end.filter(|end| *end <= self.len()).ok_or(words::SYNTAX)?;
        for index in first..end {
            for right in rights {
                check_right(self.client, *right, self.word(index))?;
            }
        }
        Ok(first..end)
    }

    /// A number of at least 1.
    pub(super) fn at_least_one(&self, index: usize, what: &str) -> Result<i64, Refusal> {
        let number = parse_integer(self.word(index)).filter(|number| *number > 0);
        number.ok_or_else(|| format!("ERR {what} should be greater than 0").into())
    }
}
