//! What is known of a command.

use crate::access::KeyRight;

/// A command. COMMAND tells clients of it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Command {
    /// In small letters.
    pub(crate) name: &'static str,
    /// How many words it has, its name included; at least as many where it is negative.
    pub(crate) arity: i8,
    /// Words of COMMAND INFO.
    pub(crate) flags: &'static str,
    /// Where its keys stand: the first, the last (counted from the end where negative), the step.
    pub(crate) keys: (i8, i8, i8),
    pub(crate) group: &'static str,
    pub(crate) since: &'static str,
    pub(crate) summary: &'static str,
    /// What its user needs for each key.
    pub(crate) rights: &'static [KeyRight],
}

impl Command {
    /// Whether it may have so many words.
    pub(crate) fn takes(&self, words: usize) -> bool {
        let least = usize::from(self.arity.unsigned_abs());
        if self.arity < 0 { words >= least } else { words == least }
    }

    /// Where its keys stand among so many words.
    pub(crate) fn key_indexes(&self, words: usize) -> impl Iterator<Item = usize> + use<> {
        let (first, last, step) = self.keys;
        let last = if last < 0 { words as i64 + i64::from(last) } else { i64::from(last) };
        let indexes = (i64::from(first)..=last).step_by(usize::from(step.unsigned_abs()).max(1));
        indexes.filter(move |index| first > 0 && (*index as usize) < words).map(|at| at as usize)
    }

    /// The position of the word that says how many keys follow it, if there is one.
    pub(crate) fn counted_at(&self) -> Option<usize> {
        // Those of SORT are in patterns.
        let is_counted = self.has_flag("movablekeys") && self.group != "generic";
        // A time to wait comes before the number.
        let waits = usize::from(self.has_flag("blocking"));
        is_counted.then(|| usize::from(self.keys.1.unsigned_abs()) + 1 + waits)
    }

    /// How many words further the next of the counted keys is.
    pub(crate) fn counted_step(&self) -> usize {
        // Values are between those of MSETEX.
        if self.name == "msetex" { 2 } else { 1 }
    }

    pub(crate) fn has_flag(&self, flag: &str) -> bool {
        self.flags.split(' ').any(|one| one == flag)
    }
}
