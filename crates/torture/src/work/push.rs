//! Pushes batches into a load that stays open, and notes acknowledged positions.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tonnage::{BulkPutCallbacks, BulkPutOptions, FailedEntry, Load, Payload, Result};

use super::context::WorkloadContext;
use crate::content::row;
use crate::ledger::durability_name;
use crate::random::SeededRandom;

/// Longer than a load that works takes.
const DURABLE_WAIT_MAX: Duration = Duration::from_secs(60);

/// Whether an entry failed. Positions move past failed entries, and acknowledge nothing then.
#[derive(Default)]
struct FailureFlag(AtomicBool);

impl BulkPutCallbacks for FailureFlag {
    fn failed(&self, _: &FailedEntry<'_>) -> Result<()> {
        self.0.store(true, Ordering::SeqCst);
        Ok(())
    }
}

pub(super) fn run(context: &WorkloadContext<'_>) {
    let mut random = SeededRandom::new(context.plan.seed * 17 + 9);
    for turn in 0.. {
        if !context.goes_on() {
            return;
        }
        let failed = Arc::new(FailureFlag::default());
        let options = BulkPutOptions {
            durability: context.durability(),
            memory_bytes_max: Some(1 << 20),
            flush_interval: random.chance(50).then(|| Duration::from_millis(5)),
            callbacks: failed.clone(),
            ..BulkPutOptions::default()
        };
        let first = (context.round * 1_000 + turn) * 1_000_000;
        let pushed = context.store.load(&options).and_then(|load| {
            push(context, &load, first, &failed, &mut random)?;
            load.finish().map(drop).map_err(|error| error.error)
        });
        if let Err(error) = pushed {
            context.note_failure("push", error);
        }
    }
}

/// Pushes batches of two streams in turn, and waits for some of them.
fn push(
    context: &WorkloadContext<'_>,
    load: &Load,
    first: i64,
    failed: &FailureFlag,
    random: &mut SeededRandom,
) -> Result<()> {
    let streams = [load.stream("first"), load.stream("second")];
    let durability = durability_name(context.durability());
    let mut key = first;
    for _ in 0..1 + random.below(12) {
        let stream = *random.choose(&streams);
        let count = 1 + random.below(400) as i64;
        context.ledger.write_line(format_args!("try push {key} {count}"));
        let rows = (key..key + count).map(|key| row(key, 1)).collect();
        let position = load.push(stream, Payload::Rows { table: "pushed".into(), rows })?;
        // Most are not waited for, so that a kill also meets batches without an acknowledgement.
        if random.chance(40) {
            let is_durable = load.wait_durable(stream, position, DURABLE_WAIT_MAX)?;
            // A position after a failed entry acknowledges nothing, so nothing is noted then.
            if !is_durable {
                context.note_wrong_answer(format_args!(
                    "a load does not become durable up to {position}"
                ));
            } else if !failed.0.load(Ordering::SeqCst) {
                context.ledger.write_line(format_args!("ok push {key} {durability}"));
            }
        }
        key += count;
        if !context.goes_on() {
            break;
        }
    }
    Ok(())
}
