//! Values of fields.

use rand::Rng;
use rand::rngs::SmallRng;
use tonnage::{Error, Result};

use super::{CoreOptions, Lengths};
use crate::generate::{ValueGenerator, Zipfian, below, fnv1a_64, mix};
use crate::system::Record;

/// Makes values of fields: random ones, or with `dataintegrity` ones that follow from the key and
/// the field.
#[derive(Clone, Debug)]
pub(super) struct FieldValues {
    values: ValueGenerator,
    lengths: Length,
    count: usize,
    follow_from_key: bool,
}

impl FieldValues {
    pub(super) fn new(options: &CoreOptions) -> Self {
        FieldValues {
            values: ValueGenerator::new(options.field_bytes, 0.0),
            lengths: Length::new(
                options.field_length,
                options.field_bytes_min,
                options.field_bytes,
            ),
            count: options.field_count,
            follow_from_key: options.data_integrity,
        }
    }

    /// Makes one field of a record, or all.
    pub(super) fn fill(
        &self,
        key: &str,
        field: Option<usize>,
        into: &mut Record,
        random: &mut SmallRng,
    ) {
        into.clear();
        for field in field.map_or(0..self.count, |field| field..field + 1) {
            let len = self.lengths.next(random);
            let seed = if self.follow_from_key { seed(key, field) } else { random.random() };
            into.push(self.values.cut(seed, len));
        }
    }

    /// Compares what was read with what follows from its key, if it does: these fields, or all.
    ///
    /// # Errors
    /// `Corruption`, naming the field.
    pub(super) fn verify(&self, key: &str, fields: Option<&[usize]>, read: &Record) -> Result<()> {
        if !self.follow_from_key {
            return Ok(());
        }
        let expected_count = fields.map_or(self.count, <[usize]>::len);
        if read.len() != expected_count {
            return Err(Error::corruption(format!(
                "{key} was read with {} fields instead of {expected_count}",
                read.len()
            )));
        }
        for (index, value) in read.iter().enumerate() {
            let field = fields.map_or(index, |fields| fields[index]);
            if value != self.values.cut(seed(key, field), self.lengths.max) {
                return Err(Error::corruption(format!(
                    "field{field} of {key} does not hold what was written to it"
                )));
            }
        }
        Ok(())
    }
}

/// What the value of a field is cut by, when it follows from the key.
fn seed(key: &str, field: usize) -> u64 {
    mix(fnv1a_64(key.as_bytes()).wrapping_add(field as u64))
}

/// Lengths from a least to a most, both inclusive.
#[derive(Clone, Debug)]
pub(super) struct Length {
    distribution: Lengths,
    min: usize,
    max: usize,
    /// Made for the zipfian ones alone: that takes time.
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

    use super::*;

    fn record(options: &CoreOptions, key: &str, seed: u64) -> Record {
        let mut record = Record::default();
        FieldValues::new(options).fill(key, None, &mut record, &mut SmallRng::seed_from_u64(seed));
        record
    }

    fn with_integrity() -> CoreOptions {
        CoreOptions { data_integrity: true, field_count: 3, ..CoreOptions::default() }
    }

    #[test]
    fn a_record_has_its_fields_of_their_length() {
        let record = record(&CoreOptions::default(), "user1", 1);
        assert_eq!(record.iter().map(<[u8]>::len).collect::<Vec<_>>(), [100; 10]);
    }

    #[rstest::rstest]
    #[case(Lengths::Uniform, 0.5)]
    #[case(Lengths::Zipfian, 0.2)]
    fn lengths_differ_within_their_bounds(#[case] field_length: Lengths, #[case] middle: f64) {
        let options = CoreOptions {
            field_length,
            field_bytes_min: 10,
            field_count: 10_000,
            ..CoreOptions::default()
        };
        let lens: Vec<usize> = record(&options, "user1", 1).iter().map(<[u8]>::len).collect();
        assert_eq!((lens.iter().min(), lens.iter().max()), (Some(&10), Some(&100)));
        let mean = lens.iter().sum::<usize>() as f64 / lens.len() as f64;
        assert!((mean - 10.0 - 90.0 * middle).abs() < 9.0, "{mean}");
    }

    #[test]
    fn values_differ_from_draw_to_draw() {
        let draw = |seed| record(&CoreOptions::default(), "user1", seed);
        assert_ne!(draw(1), draw(2));
    }

    #[test]
    fn with_data_integrity_values_follow_from_key_and_field() {
        let options = with_integrity();
        let first = record(&options, "user1", 1);
        assert_eq!(first, record(&options, "user1", 2));
        assert_ne!(first.get(0), first.get(1));
        assert_ne!(first, record(&options, "user2", 1));
        FieldValues::new(&options).verify("user1", None, &first).unwrap();
    }

    #[test]
    fn a_field_that_was_altered_is_found_and_named() {
        let options = with_integrity();
        let right = record(&options, "user1", 1);
        let mut wrong = Record::default();
        wrong.push(right.get(0));
        let mut altered = right.get(1).to_vec();
        altered[99] ^= 1;
        wrong.push(&altered);
        wrong.push(right.get(2));
        let message =
            FieldValues::new(&options).verify("user1", None, &wrong).unwrap_err().to_string();
        assert!(message.contains("field1 of user1"), "{message}");
    }

    #[test]
    fn a_field_that_is_missing_is_found() {
        let options = with_integrity();
        let mut record = record(&options, "user1", 1);
        FieldValues::new(&options).verify("user1", Some(&[0, 1]), &record).unwrap_err();
        record.clear();
        FieldValues::new(&options).verify("user1", None, &record).unwrap_err();
    }
}
