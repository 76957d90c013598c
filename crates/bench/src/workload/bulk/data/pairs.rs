//! Pairs: keys of 16 characters and values.

use std::ops::Range;
use std::sync::Arc;

use tonnage::{Durability, Result};

use super::source::{BATCH_ROWS, parts};
use super::{Data, Picks, RecordShare};
use crate::generate::{Values, ordered_key};
use crate::system::{BulkDone, BulkOptions, Client, Feature, KeySource, PairSource, System};
use crate::workload::bulk::BulkBenchOptions;

/// Pairs. The key of a record is its number in hexadecimal digits, so keys are in the order of
/// numbers.
pub(super) struct PairData {
    picks: Picks,
    records: u64,
    values: Arc<Values>,
}

impl PairData {
    pub(super) fn new(options: &BulkBenchOptions) -> Self {
        PairData {
            picks: Picks::new(options, options.records),
            records: options.records,
            values: Arc::new(Values::new(options.value_bytes, options.compressible)),
        }
    }

    fn key_of(&self, place: u64) -> [u8; 16] {
        wanted_key(&self.picks, self.records, place)
    }
}

fn key(number: u64) -> [u8; 16] {
    let mut key = [0; 16];
    ordered_key(number, &mut key);
    key
}

/// The key at a place of a get. One that was never put has a number past all records.
fn wanted_key(picks: &Picks, records: u64, place: u64) -> [u8; 16] {
    let pick = picks.get(place);
    key(if pick.is_missing { pick.number + records } else { pick.number })
}

impl Data for PairData {
    fn feature(&self) -> Option<Feature> {
        None
    }

    fn define(&self, _target: &dyn System) -> Result<()> {
        Ok(())
    }

    fn rows_per_record(&self) -> u64 {
        1
    }

    fn put_one(&self, client: &mut dyn Client, place: u64, durability: Durability) -> Result<()> {
        let number = self.picks.put(place);
        client.put_pair(&key(number), self.values.of(number), durability)
    }

    fn is_stored(&self, client: &mut dyn Client, place: u64) -> Result<bool> {
        Ok(client.get_pair(&key(self.picks.put(place)))?.is_some())
    }

    fn bulk_put(
        &self,
        system: &dyn System,
        places: Range<u64>,
        share: RecordShare,
        streams: usize,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        let source = |places| {
            Box::new(Puts { places, share, picks: self.picks, values: self.values.clone() }) as _
        };
        system.bulk_put_pairs(parts(places, streams).map(source).collect(), options)
    }

    fn keys(&self) -> u64 {
        self.picks.keys()
    }

    fn found(&self, key: u64) -> u64 {
        u64::from(!self.picks.get(key).is_missing)
    }

    fn get_one(&self, client: &mut dyn Client, key: u64) -> Result<u64> {
        Ok(client.get_pair(&self.key_of(key))?.is_some().into())
    }

    fn bulk_get(
        &self,
        system: &dyn System,
        keys: u64,
        options: &BulkOptions<'_>,
    ) -> Result<BulkDone> {
        system.bulk_get_pairs(
            Box::new(Gets { places: 0..keys, picks: self.picks, records: self.records }),
            options,
        )
    }
}

struct Puts {
    places: Range<u64>,
    share: RecordShare,
    picks: Picks,
    values: Arc<Values>,
}

impl PairSource for Puts {
    fn next_batch(&mut self, sink: &mut dyn FnMut(&[u8], &[u8]) -> Result<()>) -> Result<bool> {
        let (share, picks, values) = (self.share, self.picks, &self.values);
        let mut numbers = self
            .places
            .by_ref()
            .filter(|place| share.holds(*place))
            .map(|place| picks.put(place))
            .take(BATCH_ROWS)
            .peekable();
        let more = numbers.peek().is_some();
        numbers.try_for_each(|number| sink(&key(number), values.of(number)))?;
        Ok(more)
    }
}

struct Gets {
    places: Range<u64>,
    picks: Picks,
    records: u64,
}

impl KeySource for Gets {
    fn next_batch(&mut self, sink: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<bool> {
        let more = !self.places.is_empty();
        let (picks, records) = (self.picks, self.records);
        self.places
            .by_ref()
            .take(BATCH_ROWS)
            .try_for_each(|place| sink(&wanted_key(&picks, records, place)))?;
        Ok(more)
    }
}
