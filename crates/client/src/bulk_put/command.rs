//! The options of a bulk put as the JSON that the server reads.

use std::time::Duration;

use serde_json::{Map, Value as Json, json};
use tonnage::{BulkPutOptions, Error, ErrorsMax, OnExisting, Result};

use crate::command::durability_of;

/// The least memory that a load takes.
const MEMORY_BYTES_MIN: usize = 1 << 20;

/// Refuses what the wire has no word for.
pub(crate) fn check(options: &BulkPutOptions) -> Result<()> {
    if options.bytes_per_second_max.is_some() {
        return Err(Error::unsupported(
            "bytes_per_second_max is not offered over Flight: limit the rows",
        ));
    }
    // A time of 0 would be over before the call begins.
    let zero = |time: Option<Duration>| time.is_some_and(|time| time.is_zero());
    if zero(options.timeout) || zero(options.flush_interval) {
        return Err(Error::invalid("a time is 0: give a longer one, or none"));
    }
    // Worded as the library words it, so that the program finds the name of its own option.
    for (name, is_zero) in [
        ("rows_per_second_max", options.rows_per_second_max == Some(0)),
        ("stream_parallelism", options.stream_parallelism == Some(0)),
    ] {
        if is_zero {
            return Err(Error::invalid(format!("{name} is 0: it must be at least 1")));
        }
    }
    if let Some(bytes) = options.memory_bytes_max.filter(|bytes| *bytes < MEMORY_BYTES_MIN) {
        return Err(Error::invalid(format!(
            "memory_bytes_max is {bytes}: it must be at least {MEMORY_BYTES_MIN}"
        )));
    }
    match options.errors_max {
        ErrorsMax::Percent(percent) if !(0.0..=100.0).contains(&percent) => {
            Err(Error::invalid(format!("errors_max is {percent}%: it must be between 0% and 100%")))
        }
        _ => Ok(()),
    }
}

/// The descriptor's command.
pub(super) fn of(
    table: Option<&str>,
    stream: &str,
    job: &str,
    ttl: Option<Duration>,
    options: &BulkPutOptions,
) -> Json {
    let mut command = options_of(options);
    let mut set = |name: &str, value: Json| command.insert(name.to_owned(), value);
    match table {
        Some(table) => set("table", json!(table)),
        None => set("pairs", json!(true)),
    };
    set("stream", json!(stream));
    set("job", json!(job));
    // A source that fails ends its stream in good order, too: only the marker tells that all came.
    set("end", json!("required"));
    // Callbacks get each row that failed; the positions of existing ones are not asked for.
    set("reports", json!("failed"));
    set("reports_max", json!(0));
    if let Some(ttl) = ttl {
        set("ttl", json!(milliseconds(ttl)));
    }
    json!({"bulk_put": command})
}

/// What holds for all rows of a load.
pub(crate) fn options_of(options: &BulkPutOptions) -> Map<String, Json> {
    let mut command = Map::new();
    let mut set = |name: &str, value: Json| command.insert(name.to_owned(), value);
    set(
        "on_existing",
        json!(match options.on_existing {
            OnExisting::Keep => "keep",
            OnExisting::Replace => "replace",
            OnExisting::BlindReplace => "blind_replace",
            OnExisting::Fail => "fail",
        }),
    );
    set("durability", json!(durability_of(options.durability)));
    // The server judges what it is sent. `PutJob::update_progress` counts refused entries as well.
    if options.errors_max != ErrorsMax::Unlimited {
        set("errors_max", json!(options.errors_max.to_string()));
    }
    if let Some(memory) = options.memory_bytes_max {
        set("memory_bytes", json!(memory));
    }
    if let Some(interval) = options.flush_interval {
        set("flush_interval", json!(milliseconds(interval)));
    }
    command
}

fn milliseconds(time: Duration) -> String {
    format!("{}ms", time.as_millis().max(u128::from(!time.is_zero())))
}

/// Whether more entries failed than may, as the store judges it.
pub(crate) fn is_exceeded(errors_max: ErrorsMax, failed: u64, read: u64, at_end: bool) -> bool {
    /// Entries that must be read before a share means anything.
    const SHARE_FROM_ENTRIES: u64 = 1_000;
    match errors_max {
        ErrorsMax::Unlimited => false,
        ErrorsMax::Count(limit) => failed > limit,
        ErrorsMax::Percent(limit) => {
            (at_end || read >= SHARE_FROM_ENTRIES) && failed as f64 * 100.0 > limit * read as f64
        }
    }
}
