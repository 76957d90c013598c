//! Counts what the values of a column read as, to find the few that make text of it.
//!
//! 1. Every value of the sample counts for one kind, and the first of each kind is kept.
//! 2. Where no kind but text has nine tenths of the first [`TRIAL`] values, no more are counted:
//!    columns of text cost little.
//! 3. The outlier is the first value of another kind than those nine tenths.

/// What a value reads as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ValueKind {
    Number,
    Boolean,
    /// A point in time with a time of day.
    Time,
    Date,
    Text,
}

impl ValueKind {
    const ALL: [ValueKind; 5] = {
        use ValueKind::*;
        [Number, Boolean, Time, Date, Text]
    };
}

/// A value and its position.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ValuePlace {
    pub(crate) source: String,
    /// The line on which its record begins, from 1.
    pub(crate) line: u64,
    /// At most [`SHOWN_CHARS`] of it.
    pub(crate) value: String,
}

/// So many values show whether a column has outliers.
const TRIAL: u64 = 1_000;

/// So much of a value is kept.
const SHOWN_CHARS: usize = 40;

impl ValuePlace {
    pub(crate) fn new(source: &str, line: u64, value: &[u8]) -> Self {
        // A value may be as long as a record. No letter takes more than four bytes.
        let head = String::from_utf8_lossy(&value[..value.len().min(4 * SHOWN_CHARS + 4)]);
        let mut shown: String = head.chars().take(SHOWN_CHARS).collect();
        if head.chars().nth(SHOWN_CHARS).is_some() {
            shown.push_str("...");
        }
        Self { source: source.to_owned(), line, value: shown }
    }
}

/// How many values of a column read as what.
#[derive(Clone, Debug, Default)]
pub(crate) struct KindCounts {
    /// In the order of [`ValueKind::ALL`].
    kinds: [KindCount; ValueKind::ALL.len()],
    total: u64,
    has_no_outlier: bool,
}

#[derive(Clone, Debug, Default)]
struct KindCount {
    count: u64,
    first: Option<FirstValue>,
}

#[derive(Clone, Debug)]
struct FirstValue {
    /// How many values of any kind came before.
    before: u64,
    place: ValuePlace,
}

impl KindCounts {
    /// Whether enough was counted to know that no value is an outlier.
    pub(crate) fn has_no_outlier(&self) -> bool {
        self.has_no_outlier
    }

    pub(crate) fn count(&mut self, kind: ValueKind, place: impl FnOnce() -> ValuePlace) {
        let before = self.total;
        let counted = &mut self.kinds[kind as usize];
        counted.count += 1;
        counted.first.get_or_insert_with(|| FirstValue { before, place: place() });
        self.total += 1;
        self.has_no_outlier =
            self.total >= TRIAL && self.usual().is_none_or(|usual| usual == ValueKind::Text);
    }

    /// Adds the counts of the values after these.
    pub(crate) fn merge(&mut self, other: &KindCounts) {
        let before = self.total;
        for (own, other) in self.kinds.iter_mut().zip(&other.kinds) {
            own.count += other.count;
            if own.first.is_none() {
                own.first = other
                    .first
                    .clone()
                    .map(|first| FirstValue { before: before + first.before, ..first });
            }
        }
        self.total += other.total;
        self.has_no_outlier |= other.has_no_outlier;
    }

    /// How many values read as this.
    pub(crate) fn of_kind(&self, kind: ValueKind) -> u64 {
        self.kinds[kind as usize].count
    }

    /// The kind of nearly all values, and the first value of another.
    pub(crate) fn outlier(&self) -> Option<(ValueKind, &ValuePlace)> {
        let usual =
            self.usual().filter(|usual| !self.has_no_outlier && *usual != ValueKind::Text)?;
        let others = ValueKind::ALL.into_iter().filter(|kind| *kind != usual);
        let first = others
            .filter_map(|kind| self.kinds[kind as usize].first.as_ref())
            .min_by_key(|first| first.before)?;
        Some((usual, &first.place))
    }

    /// The kind of nine tenths of the values.
    fn usual(&self) -> Option<ValueKind> {
        let is_usual =
            |kind: &ValueKind| self.kinds[*kind as usize].count >= self.total - self.total / 10;
        ValueKind::ALL.into_iter().find(is_usual)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(kinds: &[(ValueKind, u64)]) -> KindCounts {
        let mut counts = KindCounts::default();
        for (kind, count) in kinds {
            for _ in 0..*count {
                let line = counts.total + 1;
                counts.count(*kind, || ValuePlace::new("a.csv", line, b"x"));
            }
        }
        counts
    }

    fn line_of(counts: &KindCounts) -> Option<(ValueKind, u64)> {
        counts.outlier().map(|(kind, place)| (kind, place.line))
    }

    #[test]
    fn the_first_of_at_most_a_tenth_is_the_outlier() {
        use ValueKind::{Date, Number, Text};
        assert_eq!(line_of(&counted(&[(Number, 9), (Text, 1)])), Some((Number, 10)));
        assert_eq!(line_of(&counted(&[(Text, 1), (Date, 9)])), Some((Date, 1)));
        assert_eq!(line_of(&counted(&[(Number, 50), (Date, 1), (Text, 2)])), Some((Number, 51)));
        assert_eq!(line_of(&counted(&[(Number, 8), (Text, 1)])), None);
        assert_eq!(line_of(&counted(&[(Text, 99), (Number, 1)])), None);
        assert_eq!(line_of(&counted(&[(Number, 5)])), None);
        assert_eq!(line_of(&counted(&[])), None);
    }

    #[test]
    fn columns_of_text_are_known_soon_and_stay_so() {
        use ValueKind::{Number, Text};
        let mut mixed = counted(&[(Number, 500), (Text, 500)]);
        assert!(mixed.has_no_outlier());
        assert!(counted(&[(Text, 1_000)]).has_no_outlier());
        assert!(!counted(&[(Number, 999), (Text, 1)]).has_no_outlier());
        mixed.merge(&counted(&[(Number, 100_000)]));
        assert_eq!(line_of(&mixed), None);
    }

    #[test]
    fn an_earlier_file_comes_first() {
        use ValueKind::{Date, Number, Text};
        let mut counts = counted(&[(Number, 90), (Text, 1)]);
        counts.merge(&counted(&[(Date, 1), (Number, 90)]));
        assert_eq!(line_of(&counts), Some((Number, 91)));
    }

    #[test]
    fn long_values_are_cut() {
        let place = ValuePlace::new("a.csv", 1, "é".repeat(5_000_000).as_bytes());
        assert_eq!(place.value, format!("{}...", "é".repeat(40)));
        assert_eq!(ValuePlace::new("a.csv", 1, "é".repeat(40).as_bytes()).value.len(), 80);
    }
}
