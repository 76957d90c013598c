//! Which record is asked for, and how long a field or a scan is.

use rand::rngs::SmallRng;

use super::{CoreOptions, Lengths, Requests};
use crate::generate::{Distribution, Zipfian, below};

/// Chooses records by number. A thread has its own, a clone.
#[derive(Clone, Debug)]
pub(super) struct RecordChooser {
    /// The number of the first record.
    first: u64,
    distribution: Distribution,
}

impl RecordChooser {
    /// After so many draws of records that are not there any will do: an exponential distribution
    /// far wider than the records would be drawn from for ever.
    const DRAWS_MAX: usize = 100;

    /// `count` records are there from the first on.
    pub(super) fn new(options: &CoreOptions, count: u64) -> Self {
        let loaded = options.loaded_count();
        let distribution = match options.requests {
            Requests::Uniform => Distribution::Uniform { count: loaded },
            Requests::Zipfian => {
                Distribution::scrambled_zipfian(loaded + expected_inserts(options))
            }
            Requests::Latest => Distribution::Latest { ages: Zipfian::new(count) },
            Requests::Hotspot => {
                let part = options.hotspot_data_fraction;
                Distribution::hotspot(loaded, part, options.hotspot_operation_fraction)
            }
            Requests::Sequential => Distribution::sequential(loaded),
            Requests::Exponential => {
                let range = options.record_count as f64 * options.exponential_fraction;
                Distribution::exponential(options.exponential_percentile, range)
            }
        };
        RecordChooser { first: options.insert_start, distribution }
    }

    /// The number of a record that is there: below `end`, up to which all are inserted by now.
    pub(super) fn next(&mut self, random: &mut SmallRng, end: u64) -> u64 {
        let count = end - self.first;
        let mut draws = (0..Self::DRAWS_MAX).map(|_| self.distribution.draw(random, count));
        let drawn = draws.find(|&offset| offset < count);
        self.first + drawn.unwrap_or_else(|| below(random, count))
    }
}

/// How many records a run may insert, as YCSB reckons: twice what the mix says. The zipfian numbers
/// are spread over these too from the beginning, so that the hot records stay the same while
/// records are added; numbers not inserted yet are drawn again. Never more than were loaded: then
/// at least every other draw holds.
fn expected_inserts(options: &CoreOptions) -> u64 {
    let share = options.mix.insert / options.mix.total();
    let expected = options.operation_count as f64 * share * 2.0;
    (expected as u64).min(options.loaded_count())
}

/// Lengths from a least to a most, both inclusive.
#[derive(Clone, Debug)]
pub(super) struct Length {
    distribution: Lengths,
    min: usize,
    max: usize,
    /// Built for the zipfian ones alone: that takes time.
    zipfian: Option<Zipfian>,
}

impl Length {
    pub(super) fn new(distribution: Lengths, min: usize, max: usize) -> Self {
        let count = max.saturating_sub(min) as u64 + 1;
        let zipfian = (distribution == Lengths::Zipfian).then(|| Zipfian::new(count));
        Length { distribution, min, max, zipfian }
    }

    /// Draws one.
    pub(super) fn next(&self, random: &mut SmallRng) -> usize {
        match (self.distribution, &self.zipfian) {
            (Lengths::Constant, _) => self.max,
            (_, Some(zipfian)) => self.min + zipfian.next(random) as usize,
            (_, None) => {
                self.min + below(random, self.max.saturating_sub(self.min) as u64 + 1) as usize
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rstest::rstest;

    use super::*;
    use crate::workload::ycsb::Mix;

    fn draws(options: &CoreOptions, end: u64) -> Vec<u64> {
        let mut chooser = RecordChooser::new(options, end - options.insert_start);
        let random = &mut SmallRng::seed_from_u64(7);
        (0..20_000).map(|_| chooser.next(random, end)).collect()
    }

    #[test]
    fn every_record_that_is_there_may_come_and_no_other() {
        for requests in Requests::ALL {
            let core =
                CoreOptions { record_count: 150, insert_start: 50, ..CoreOptions::default() };
            let mut numbers = draws(&CoreOptions { requests, ..core }, 150);
            numbers.sort_unstable();
            numbers.dedup();
            assert!(numbers[0] >= 50 && numbers[numbers.len() - 1] < 150, "{numbers:?}");
            assert!(numbers.len() > 90, "{requests}: {}", numbers.len());
        }
    }

    #[test]
    fn a_distribution_far_wider_than_the_records_still_gives_one() {
        let options = CoreOptions {
            requests: Requests::Exponential,
            exponential_percentile: 0.0,
            exponential_fraction: 1e300,
            ..CoreOptions::default()
        };
        assert!(draws(&options, 1000).iter().all(|&number| number < 1000));
    }

    #[test]
    fn the_hot_records_stay_the_same_while_records_are_added() {
        let mix = Mix { read: 0.9, insert: 0.1, ..Mix::default() };
        let options = CoreOptions { requests: Requests::Zipfian, mix, ..CoreOptions::default() };
        let hottest = |end| {
            let numbers = draws(&options, end);
            (0..end).max_by_key(|number| numbers.iter().filter(|&drawn| drawn == number).count())
        };
        assert_eq!(hottest(1000), hottest(1100));
    }

    #[rstest]
    #[case(Requests::Latest)]
    #[case(Requests::Exponential)]
    fn the_newest_part_is_asked_for_most(#[case] requests: Requests) {
        let options = CoreOptions { requests, ..CoreOptions::default() };
        let numbers = draws(&options, 1000);
        let newer = numbers.iter().filter(|&&number| number >= 500).count();
        assert!(newer > numbers.len() * 7 / 10, "{newer}");
    }
}
