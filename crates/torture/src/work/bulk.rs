//! Bulk puts, one after another, of one to three streams each.

use std::sync::Arc;

use tonnage::{
    BulkPutCallbacks, BulkPutOptions, Durability, EntryStream, OnExisting, StreamReport, row_stream,
};

use super::context::WorkloadContext;
use crate::content::row;
use crate::ledger::{Ledger, durability_name};
use crate::random::SeededRandom;

/// Streams of one load never meet: each has its own hundred thousand keys.
const STREAM_KEYS: i64 = 100_000;

/// Notes streams as they are acknowledged.
struct CompletedStreams {
    ledger: Arc<Ledger>,
    durability: Durability,
}

impl BulkPutCallbacks for CompletedStreams {
    fn completed(&self, stream: &StreamReport) {
        let durability = durability_name(self.durability);
        self.ledger.write_line(format_args!("ok load {} {durability}", stream.name));
    }
}

pub(super) fn run(context: &WorkloadContext<'_>) {
    let mut random = SeededRandom::new(context.plan.seed * 77 + 5);
    for load in 1.. {
        if !context.goes_on() {
            return;
        }
        put(context, context.round * 100_000 + load, &mut random);
    }
}

fn put(context: &WorkloadContext<'_>, load: i64, random: &mut SeededRandom) {
    let soft = random.chance(16);
    let durability = if soft { Durability::Write } else { context.durability() };
    let keeps = random.chance(if context.has("keep") { 60 } else { 20 });
    let mode = if keeps { "keep" } else { *random.choose(&["replace", "overwrite"]) };
    let streams = 1 + random.below(3) as i64;
    let streams = (0..streams).map(|n| stream(context, load * 10 + n, n, mode, random)).collect();
    let options = BulkPutOptions {
        durability,
        on_existing: match mode {
            "keep" => OnExisting::Keep,
            "replace" => OnExisting::Replace,
            _ => OnExisting::BlindReplace,
        },
        memory_bytes_max: Some(1 << 20),
        flush_bytes_max: if random.chance(50) { 1 << 20 } else { 16 << 30 },
        stream_parallelism: Some(2),
        callbacks: Arc::new(CompletedStreams { ledger: context.ledger.clone(), durability }),
        ..BulkPutOptions::default()
    };
    if let Err(error) = context.store.bulk_put(streams, &options) {
        context.note_failure("bulk", error.error);
    }
}

fn stream(
    context: &WorkloadContext<'_>,
    number: i64,
    stream: i64,
    mode: &str,
    random: &mut SeededRandom,
) -> Box<dyn EntryStream> {
    let sizes: &[i64] = if context.has("small") { &[20, 300] } else { &[20, 300, 3_000, 9_000] };
    let first = stream * STREAM_KEYS + random.below(6_000) as i64;
    let count = *random.choose(sizes);
    context.ledger.write_line(format_args!("try load {number} {first} {count} {mode}"));
    let rows = (first..first + count).map(move |key| Ok(("loaded".into(), row(key, number))));
    row_stream(number.to_string(), rows)
}
