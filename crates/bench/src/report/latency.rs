//! Distributions of times, from histograms and back.

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use tonnage::{Error, Result};

use super::{Latency, Percentile};

/// The percentiles that reports give.
const PERCENTS: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

impl Latency {
    /// The distribution of a histogram of nanoseconds.
    pub(crate) fn of(histogram: &Histogram<u64>) -> Self {
        let us = |nanos: u64| nanos as f64 / 1e3;
        let percentile = |percent: f64| Percentile {
            percent,
            us: us(histogram.value_at_quantile(percent / 100.0)),
        };
        Latency {
            // Of the mean of nanoseconds, digits beyond the point are no knowledge, and in JSON
            // they are long.
            mean_us: histogram.mean().round() / 1e3,
            min_us: us(histogram.min()),
            max_us: us(histogram.max()),
            percentiles: PERCENTS.map(percentile).to_vec(),
            histogram: encode(histogram),
        }
    }

    /// A percentile that the report gives, microseconds; 0 when it does not.
    pub fn at(&self, percent: f64) -> f64 {
        self.percentiles.iter().find(|known| known.percent == percent).map_or(0.0, |known| known.us)
    }

    /// The whole histogram, nanoseconds. Nothing when nothing was measured.
    ///
    /// # Errors
    /// `Corruption` when it cannot be decoded.
    pub fn histogram(&self) -> Result<Option<Histogram<u64>>> {
        if self.histogram.is_empty() {
            return Ok(None);
        }
        let damaged = |why: String| {
            Error::corruption(format!("a histogram of the report cannot be decoded: {why}"))
        };
        let bytes =
            BASE64_STANDARD.decode(&self.histogram).map_err(|error| damaged(error.to_string()))?;
        let histogram = Deserializer::new()
            .deserialize(&mut bytes.as_slice())
            .map_err(|error| damaged(error.to_string()))?;
        Ok(Some(histogram))
    }
}

fn encode(histogram: &Histogram<u64>) -> String {
    let mut bytes = Vec::new();
    V2DeflateSerializer::new()
        .serialize(histogram, &mut bytes)
        .expect("a histogram of u64 counts fits the format, and memory takes it");
    BASE64_STANDARD.encode(bytes)
}
