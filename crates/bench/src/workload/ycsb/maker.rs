//! Keys and values of records, by number.

use std::fmt::Write;
use std::ops::Range;

use rand::rngs::SmallRng;
use rand::{Rng, SeedableRng};
use tonnage::{Error, Result};

use super::chooser::Length;
use super::{CoreOptions, InsertOrder};
use crate::generate::{ValueGenerator, fnv1a_64, mix, ycsb_hash};
use crate::measure::StopFlag;
use crate::system::{Client, Record, RecordSource};

/// Makes keys and values, in buffers that are used again. A thread has its own. Values are random,
/// or with `dataintegrity` follow from the key and the field.
#[derive(Clone)]
pub(crate) struct RecordMaker {
    core: CoreOptions,
    lengths: Length,
    texts: ValueGenerator,
    pub(super) random: SmallRng,
    /// The key of the record that was named last.
    pub(super) key: String,
    /// The values that were generated last.
    pub(super) values: Record,
}

impl RecordMaker {
    /// Those of different seeds make different values.
    pub(crate) fn new(core: &CoreOptions, seed: u64) -> Self {
        RecordMaker {
            lengths: Length::new(core.field_length, core.field_bytes_min, core.field_bytes),
            texts: ValueGenerator::new(core.field_bytes, 0.0),
            core: core.clone(),
            random: SmallRng::seed_from_u64(mix(seed)),
            key: String::new(),
            values: Record::default(),
        }
    }

    /// Likewise with another seed, in no time.
    pub(crate) fn seeded(&self, seed: u64) -> Self {
        RecordMaker { random: SmallRng::seed_from_u64(mix(seed)), ..self.clone() }
    }

    /// Writes the key of a record's number: `user`, then the number or its hash, with zeros before
    /// it.
    pub(crate) fn name(&mut self, number: u64) {
        let number = match self.core.insert_order {
            InsertOrder::Hashed => ycsb_hash(number),
            InsertOrder::Ordered => number,
        };
        self.key.clear();
        // Writing to a string does not fail.
        let _ = write!(self.key, "user{number:0digits$}", digits = self.core.zero_padding);
    }

    /// Makes one field of the record that was named, or all.
    pub(crate) fn fill(&mut self, field: Option<usize>) {
        self.values.clear();
        for field in field.map_or(0..self.core.field_count, |field| field..field + 1) {
            let len = self.lengths.next(&mut self.random);
            let follows = self.core.data_integrity;
            let seed = if follows { seed(&self.key, field) } else { self.random.random() };
            self.values.push(self.texts.cut(seed, len));
        }
    }

    /// Makes the record of a number: its key and its fields.
    pub(crate) fn make(&mut self, number: u64) {
        self.name(number);
        self.fill(None);
    }

    /// Inserts the record that was generated last.
    pub(crate) fn insert(&self, client: &mut dyn Client) -> Result<()> {
        client.insert(&self.key, &mut self.values.iter())
    }

    /// Compares what was read of the record that was named with what follows from its key, if it
    /// does: these fields, or all.
    ///
    /// # Errors
    /// `Corruption`, naming the field.
    pub(crate) fn verify(&self, fields: Option<&[usize]>, read: &Record) -> Result<()> {
        if !self.core.data_integrity {
            return Ok(());
        }
        let (key, expected) = (&self.key, fields.map_or(self.core.field_count, <[usize]>::len));
        if read.len() != expected {
            let fields = read.len();
            let message = format!("{key} was read with {fields} fields instead of {expected}");
            return Err(Error::corruption(message));
        }
        for (index, value) in read.iter().enumerate() {
            let field = fields.map_or(index, |fields| fields[index]);
            if value != self.texts.cut(seed(key, field), self.core.field_bytes) {
                let message = format!("field{field} of {key} does not hold what was written to it");
                return Err(Error::corruption(message));
            }
        }
        Ok(())
    }
}

/// What the value of a field is cut by, when it follows from the key.
fn seed(key: &str, field: usize) -> u64 {
    mix(fnv1a_64(key.as_bytes()).wrapping_add(field as u64))
}

/// Records of a range of numbers, some thousand at a time, for a bulk put. It ends early once it is
/// stopped.
pub(crate) fn records(
    mut maker: RecordMaker,
    mut numbers: Range<u64>,
    stop: StopFlag,
) -> RecordSource {
    const BATCH: usize = 4096;
    Box::new(move |sink| {
        if numbers.is_empty() || stop.is_cancelled() {
            return Ok(false);
        }
        for number in numbers.by_ref().take(BATCH) {
            maker.make(number);
            sink(maker.key.as_bytes(), &maker.values)?;
        }
        Ok(true)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::ycsb::Lengths;

    fn named(options: &CoreOptions, key: &str) -> RecordMaker {
        RecordMaker { key: key.to_owned(), ..RecordMaker::new(options, 0) }
    }

    fn record(options: &CoreOptions, key: &str, seed: u64) -> Record {
        let mut maker = named(options, key).seeded(seed);
        maker.fill(None);
        maker.values
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
        named(&options, "user1").verify(None, &first).unwrap();
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
        let message = named(&options, "user1").verify(None, &wrong).unwrap_err().to_string();
        assert!(message.contains("field1 of user1"), "{message}");
    }

    #[test]
    fn a_field_that_is_missing_is_found() {
        let options = with_integrity();
        let mut record = record(&options, "user1", 1);
        named(&options, "user1").verify(Some(&[0, 1]), &record).unwrap_err();
        record.clear();
        named(&options, "user1").verify(None, &record).unwrap_err();
    }

    #[rstest::rstest]
    #[case(InsertOrder::Hashed, 1, 0, "user6284781860667377211")]
    #[case(InsertOrder::Ordered, 1, 5, "user5")]
    #[case(InsertOrder::Ordered, 8, 5, "user00000005")]
    #[case(InsertOrder::Ordered, 2, 12345, "user12345")]
    fn a_key_is_the_number_with_zeros_before_it_or_its_hash(
        #[case] insert_order: InsertOrder,
        #[case] zero_padding: usize,
        #[case] number: u64,
        #[case] expected: &str,
    ) {
        let core = CoreOptions { insert_order, zero_padding, ..CoreOptions::default() };
        let mut maker = RecordMaker::new(&core, 0);
        maker.name(3);
        maker.name(number);
        assert_eq!(maker.key, expected);
    }
}
