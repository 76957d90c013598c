//! Histograms as HdrHistogram logs, which its viewers and libraries read: one log a run, one line
//! an operation.

use std::time::Duration;

use hdrhistogram::Histogram;
use hdrhistogram::serialization::V2DeflateSerializer;
use hdrhistogram::serialization::interval_log::{IntervalLogWriterBuilder, Tag};
use tonnage::{Error, Result};

use super::{Latency, Run};

/// Logs tell the maximum in milliseconds beside the histogram of nanoseconds.
const NANOS_PER_MS: f64 = 1e6;

/// The log of a run; nothing when it has no histograms.
pub(super) fn log(run: &Run) -> Result<Option<Vec<u8>>> {
    let lines = lines(run)?;
    if lines.is_empty() {
        return Ok(None);
    }
    write(run, &lines).map(Some).map_err(|why| {
        Error::internal(format!("the histograms of {} cannot be written: {why}", run.title()))
    })
}

fn lines(run: &Run) -> Result<Vec<(String, Histogram<u64>)>> {
    let mut lines = Vec::new();
    for operation in &run.operations {
        let intended = operation
            .intended
            .as_ref()
            .map(|latency| (format!("Intended-{}", operation.name), latency));
        let latencies: [Option<(String, &Latency)>; 2] =
            [Some((operation.name.clone(), &operation.service)), intended];
        for (name, latency) in latencies.into_iter().flatten() {
            lines.extend(latency.histogram()?.map(|histogram| (name, histogram)));
        }
    }
    Ok(lines)
}

fn write(run: &Run, lines: &[(String, Histogram<u64>)]) -> std::result::Result<Vec<u8>, String> {
    let (mut log, mut serializer) = (Vec::new(), V2DeflateSerializer::new());
    let comment = format!("{}; nanoseconds", run.title()).replace(['\r', '\n'], " ");
    let mut writer = IntervalLogWriterBuilder::new()
        .add_comment(&comment)
        .with_max_value_divisor(NANOS_PER_MS)
        .begin_log_with(&mut log, &mut serializer)
        .map_err(|error| error.to_string())?;
    for (name, histogram) in lines {
        // A tag ends at a comma or a blank.
        let name = name.replace([',', ' ', '\r', '\n'], "-");
        let duration = Duration::try_from_secs_f64(run.seconds).unwrap_or_default();
        writer
            .write_histogram(histogram, Duration::ZERO, duration, Tag::new(&name))
            .map_err(|error| error.to_string())?;
    }
    Ok(log)
}

/// A name that sorts as the runs do and tells which it is: `003-a-zipfian-rocksdb-4-threads.hdr`.
pub(super) fn file_name(number: usize, run: &Run) -> String {
    let mut name = String::new();
    for character in run.title().chars().flat_map(char::to_lowercase).take(80) {
        match character {
            'a'..='z' | '0'..='9' | '.' => name.push(character),
            _ if name.ends_with('-') => {}
            _ => name.push('-'),
        }
    }
    format!("{:03}-{}.hdr", number + 1, name.trim_matches('-'))
}
