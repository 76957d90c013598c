//! Pairs: keys of 16 characters and values.

use std::sync::Arc;

use tonnage::{Durability, Result};

use super::{Data, Picks, RecordShare};
use crate::generate::{ValueGenerator, ordered_key};
use crate::system::{BatchSink, BatchSource, Client, GetKeys, PairSource, PutInput};
use crate::workload::bulk::BulkBenchOptions;
use crate::workload::columns::BATCH_ROWS;

/// Pairs. The key of a record is its number in hexadecimal digits, so keys are in the order of
/// numbers.
pub(in crate::workload::bulk) struct PairData {
    picks: Picks,
    records: u64,
    values: Arc<ValueGenerator>,
}

impl PairData {
    pub(in crate::workload::bulk) fn new(options: &BulkBenchOptions) -> Self {
        PairData {
            picks: Picks::new(options, options.records),
            records: options.records,
            values: Arc::new(ValueGenerator::new(options.value_bytes, options.compressible)),
        }
    }
}

/// The number whose key is asked for at a place. One that was never put is past all records.
fn wanted(picks: &Picks, records: u64, place: u64) -> u64 {
    let (number, is_missing) = picks.get(place);
    if is_missing { number + records } else { number }
}

impl Data for PairData {
    fn definitions(&self) -> &[&'static str] {
        &[]
    }

    fn rows_per_record(&self) -> u64 {
        1
    }

    fn put_one(&self, client: &mut dyn Client, place: u64, durability: Durability) -> Result<()> {
        let number = self.picks.put(place);
        client.put_pair(&ordered_key(number), self.values.of(number), durability)
    }

    fn is_stored(&self, client: &mut dyn Client, place: u64) -> Result<bool> {
        Ok(client.get_pair(&ordered_key(self.picks.put(place)))?.is_some())
    }

    fn put_inputs(&self, count: u64, share: RecordShare) -> Vec<PutInput> {
        let source =
            |numbers| -> PairSource { Box::new(PairNumbers(numbers, Some(self.values.clone()))) };
        vec![PutInput::Pairs(self.picks.puts(count, share).map(source).collect())]
    }

    fn keys(&self) -> u64 {
        self.picks.get.len()
    }

    fn found(&self, key: u64) -> u64 {
        u64::from(!self.picks.get(key).1)
    }

    fn get_one(&self, client: &mut dyn Client, place: u64) -> Result<u64> {
        let number = wanted(&self.picks, self.records, place);
        Ok(client.get_pair(&ordered_key(number))?.is_some().into())
    }

    fn get_keys(&self, count: u64) -> GetKeys {
        let (picks, records) = (self.picks, self.records);
        let numbers = (0..count).map(move |place| wanted(&picks, records, place));
        GetKeys::Pairs(Box::new(PairNumbers(numbers, None)))
    }
}

/// Pairs of some numbers; without values, their keys.
struct PairNumbers<I>(I, Option<Arc<ValueGenerator>>);

impl<I: Iterator<Item = u64> + Send> BatchSource<[u8]> for PairNumbers<I> {
    fn next_batch(&mut self, sink: &mut BatchSink<'_, [u8]>) -> Result<bool> {
        let mut numbers = self.0.by_ref().take(BATCH_ROWS).peekable();
        let more = numbers.peek().is_some();
        let value = |number| self.1.as_ref().map_or(&[][..], |values| values.of(number));
        numbers.try_for_each(|number| sink(&ordered_key(number), value(number)))?;
        Ok(more)
    }
}
