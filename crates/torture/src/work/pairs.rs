//! Puts key/value pairs with little durability. A sync then makes everything before it durable.

use std::time::Duration;

use tonnage::{Durability, WriteOptions};

use super::context::WorkloadContext;
use crate::content::{pair_key, pair_value};
use crate::ledger::durability_name;

const PAIRS: i64 = 20;

pub(super) fn run(context: &WorkloadContext<'_>) {
    let pairs = context.store.kv();
    for turn in 1.. {
        if !context.goes_on() {
            return;
        }
        // Rounds do not repeat generations: the judge takes a higher one for a later write.
        let generation = context.round * 1_000_000 + turn;
        let durability = if turn % 2 == 0 { Durability::None } else { Durability::Write };
        let options = WriteOptions { durability, ..WriteOptions::default() };
        let durability = durability_name(durability);
        for key in 0..PAIRS {
            context.ledger.write_line(format_args!("try pair {key} {generation}"));
            match pairs.put(&pair_key(key), &pair_value(key, generation), &options) {
                Ok(_) => context
                    .ledger
                    .write_line(format_args!("ok pair {key} {generation} {durability}")),
                Err(error) => context.note_failure("pair", error),
            }
        }
        // The line marks how much the sync covers: all that was acknowledged before it.
        context.ledger.write_line(format_args!("try sync {generation}"));
        match context.store.sync() {
            Ok(()) => context.ledger.write_line(format_args!("ok sync {generation}")),
            Err(error) => context.note_failure("sync", error),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
