//! Distributions of times, from histograms and back; and as HdrHistogram logs, which its viewers
//! and libraries read: one log a run, one line an operation.

use std::time::Duration;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use hdrhistogram::Histogram;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use hdrhistogram::serialization::{Deserializer, Serializer, V2DeflateSerializer};
use tonnage::{Error, Result};

use super::{Latency, Percentile, Run};

/// A result with an error of one of several libraries.
type AnyResult<T> = std::result::Result<T, Box<dyn std::error::Error>>;

/// Logs tell the maximum in milliseconds beside the histogram of nanoseconds.
const NANOS_PER_MS: f64 = 1e6;

impl Latency {
    /// The percentiles that reports give.
    pub const PERCENTS: [f64; 6] = [50.0, 90.0, 95.0, 99.0, 99.9, 99.99];

    /// The distribution of a histogram of nanoseconds.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let us = |nanos: u64| nanos as f64 / 1e3;
        let at = |percent: f64| us(histogram.value_at_quantile(percent / 100.0));
        let mut encoded = Vec::new();
        V2DeflateSerializer::new()
            .serialize(histogram, &mut encoded)
            .expect("a histogram of u64 counts fits the format, and memory takes it");
        Latency {
            // Of the mean of nanoseconds, digits beyond the point are not knowledge, and in JSON
            // they are long.
            mean_us: histogram.mean().round() / 1e3,
            min_us: us(histogram.min()),
            max_us: us(histogram.max()),
            percentiles: Self::PERCENTS
                .map(|percent| Percentile { percent, us: at(percent) })
                .into(),
            histogram: BASE64_STANDARD.encode(encoded),
        }
    }

    /// A percentile that the report gives, microseconds; 0 when it does not.
    pub fn at(&self, percent: f64) -> f64 {
        self.percentiles.iter().find(|known| known.percent == percent).map_or(0.0, |known| known.us)
    }

    /// The whole histogram, nanoseconds. Nothing when nothing was measured.
    pub fn histogram(&self) -> Result<Option<Histogram<u64>>> {
        if self.histogram.is_empty() {
            return Ok(None);
        }
        let decoded = || -> AnyResult<Histogram<u64>> {
            let bytes = BASE64_STANDARD.decode(&self.histogram)?;
            Ok(Deserializer::new().deserialize(&mut bytes.as_slice())?)
        };
        decoded().map(Some).map_err(|why| {
            Error::corruption(format!("a histogram of the report cannot be decoded: {why}"))
        })
    }
}

/// The log of a run; nothing when it has no histograms.
pub(super) fn log(run: &Run) -> Result<Option<Vec<u8>>> {
    let mut lines = Vec::new();
    for operation in &run.operations {
        let name = &operation.name;
        lines.extend(operation.service.histogram()?.map(|times| (name.clone(), times)));
        if let Some(intended) = &operation.intended {
            lines.extend(intended.histogram()?.map(|times| (format!("Intended-{name}"), times)));
        }
    }
    if lines.is_empty() {
        return Ok(None);
    }
    let (mut log, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    // A comment ends with its line: a line end in the title would break it off.
    let comment = format!("{}; nanoseconds", run.title()).replace(['\r', '\n'], " ");
    let duration = Duration::try_from_secs_f64(run.seconds).unwrap_or_default();
    let mut write = || -> AnyResult<()> {
        let mut writer = IntervalLogWriterBuilder::new()
            .add_comment(&comment)
            .with_max_value_divisor(NANOS_PER_MS)
            .begin_log_with(&mut log, &mut serializer)?;
        for (name, histogram) in &lines {
            // A tag ends at a comma or a blank.
            let name = name.replace([',', ' ', '\r', '\n'], "-");
            writer.write_histogram(histogram, Duration::ZERO, duration, Tag::new(&name))?;
        }
        Ok(())
    };
    write().map_err(|why| {
        Error::internal(format!("the histograms of {} cannot be written: {why}", run.title()))
    })?;
    Ok(Some(log))
}

/// A name that sorts as the runs do and says which it is: `003-a-zipfian-rocksdb-4-threads.hdr`.
pub(super) fn file_name(number: usize, run: &Run) -> String {
    let title: String = run.title().chars().flat_map(char::to_lowercase).take(80).collect();
    let words = title.split(|c| !matches!(c, 'a'..='z' | '0'..='9' | '.'));
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    format!("{:03}-{}.hdr", number + 1, words.join("-"))
}
