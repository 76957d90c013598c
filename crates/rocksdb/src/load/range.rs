//! Ranges of keys, and how the keys of a load are cut into them.
//!
//! Each range becomes one output file. The cuts come from samples: keys at even distances in every
//! run, each standing for the bytes around it. Equal keys never part, because a cut is a key.

use tonnage_engine::SpaceId;

use super::run::SortedRun;
use super::spill::SpillFile;

/// About how many bytes of records one sample represents.
const SAMPLE_BYTES: u64 = 256 << 10;

/// Keys from `lower` on and before `upper`; no bound where there is none.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KeyBounds {
    pub(super) lower: Option<Vec<u8>>,
    pub(super) upper: Option<Vec<u8>>,
}

impl KeyBounds {
    /// All keys of a space.
    pub(super) fn of_space(space: SpaceId) -> Self {
        let start = space.0.to_be_bytes().to_vec();
        let upper = space.0.checked_add(1).map(|next| next.to_be_bytes().to_vec());
        Self { lower: Some(start), upper }
    }

    fn contains(&self, key: &[u8]) -> bool {
        self.lower.as_ref().is_none_or(|lower| lower.as_slice() <= key)
            && self.upper.as_ref().is_none_or(|upper| key < upper.as_slice())
    }
}

/// Keys with the bytes that they mean.
#[derive(Debug, Default)]
pub(super) struct Samples {
    samples: Vec<(Vec<u8>, u64)>,
}

impl Samples {
    /// Samples a run in memory.
    pub(super) fn add_run(&mut self, run: &SortedRun) {
        let count = (run.bytes() / SAMPLE_BYTES).clamp(1, run.len().max(1) as u64) as usize;
        for index in 0..count.min(run.len()) {
            let key = run.record(index * run.len() / count).key;
            self.samples.push((key.to_vec(), run.bytes() / count as u64));
        }
    }

    /// Samples a spill file.
    pub(super) fn add_file(&mut self, file: &SpillFile) {
        self.samples.extend(file.index().map(|(key, bytes)| (key.to_vec(), bytes)));
    }

    /// Cuts `all` into ranges of about `range_bytes`, but at least `ranges_min` where there is
    /// enough to cut.
    pub(super) fn cut(&self, all: &KeyBounds, range_bytes: u64, ranges_min: u64) -> Vec<KeyBounds> {
        let mut samples: Vec<&(Vec<u8>, u64)> =
            self.samples.iter().filter(|(key, _)| all.contains(key)).collect();
        samples.sort_unstable();
        let total: u64 = samples.iter().map(|(_, bytes)| bytes).sum();
        let ranges = total.div_ceil(range_bytes).max(ranges_min).max(1);
        // Whole rounds for the threads: a last range alone would keep one of them waiting.
        let ranges = ranges.next_multiple_of(ranges_min.max(1));
        let step = (total / ranges).max(1);
        let mut cuts: Vec<Vec<u8>> = Vec::new();
        let (mut seen, mut next_cut) = (0, step);
        for (key, bytes) in samples {
            if seen >= next_cut && cuts.last().is_none_or(|cut| cut < key) {
                cuts.push(key.clone());
                next_cut = seen + step;
            }
            seen += bytes;
        }
        ranges_between(cuts, all)
    }
}

fn ranges_between(cuts: Vec<Vec<u8>>, all: &KeyBounds) -> Vec<KeyBounds> {
    let mut lower = all.lower.clone();
    let mut ranges = Vec::with_capacity(cuts.len() + 1);
    for cut in cuts {
        ranges.push(KeyBounds { lower: lower.take(), upper: Some(cut.clone()) });
        lower = Some(cut);
    }
    ranges.push(KeyBounds { lower, upper: all.upper.clone() });
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_keys_of_a_space_end_where_those_of_the_next_begin() {
        assert_eq!(
            KeyBounds::of_space(SpaceId(3)),
            KeyBounds { lower: Some(vec![0, 0, 0, 3]), upper: Some(vec![0, 0, 0, 4]) }
        );
        assert_eq!(KeyBounds::of_space(SpaceId(u32::MAX)).upper, None);
    }

    fn samples(keys: impl IntoIterator<Item = u16>) -> Samples {
        Samples { samples: keys.into_iter().map(|key| (key.to_be_bytes().to_vec(), 100)).collect() }
    }

    #[test]
    fn ranges_are_even_and_cover_everything_without_overlap() {
        let ranges = samples((0..1000).rev()).cut(&KeyBounds::default(), 10_000, 2);
        assert_eq!(ranges.len(), 10);
        assert_eq!((&ranges[0].lower, &ranges[9].upper), (&None, &None));
        for (index, pair) in ranges.windows(2).enumerate() {
            assert_eq!(pair[0].upper, pair[1].lower);
            assert_eq!(pair[0].upper, Some((100 * (index as u16 + 1)).to_be_bytes().to_vec()));
        }
    }

    #[test]
    fn a_part_of_the_keys_is_cut_by_what_lies_in_it() {
        let key = |number: u16| Some(number.to_be_bytes().to_vec());
        let part = KeyBounds { lower: key(200), upper: key(300) };
        let ranges = samples(0..1000).cut(&part, 1_000_000, 2);
        assert_eq!(ranges.len(), 2);
        assert_eq!((&ranges[0].lower, &ranges[1].upper), (&part.lower, &part.upper));
        assert_eq!((&ranges[0].upper, &ranges[1].lower), (&key(250), &key(250)));
        assert_eq!(
            samples(0..100).cut(&part, 1_000, 2),
            [part],
            "what no sample was taken of is not left out"
        );
    }

    #[test]
    fn equal_keys_stay_in_one_range() {
        assert_eq!(samples([7; 1000]).cut(&KeyBounds::default(), 10_000, 4).len(), 2);
        assert_eq!(samples([]).cut(&KeyBounds::default(), 10_000, 1), [KeyBounds::default()]);
    }
}
