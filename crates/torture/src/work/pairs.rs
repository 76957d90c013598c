//! Key/value pairs put with little durability; a sync then makes everything before it durable.

use std::time::Duration;

use tonnage::{Durability, WriteOptions};

use super::scene::Scene;
use crate::content::{pair_key, pair_value};
use crate::ledger::durability_name;

const PAIRS: i64 = 20;

pub(super) fn run(scene: &Scene<'_>) {
    let pairs = scene.store.kv();
    for turn in 1.. {
        if !scene.goes_on() {
            return;
        }
        let generation = scene.round * 1_000_000 + turn;
        let durability = if turn % 2 == 0 { Durability::None } else { Durability::Write };
        let options = WriteOptions { durability, ..WriteOptions::default() };
        let durability = durability_name(durability);
        for key in 0..PAIRS {
            scene.ledger.say(format_args!("try pair {key} {generation}"));
            match pairs.put(&pair_key(key), &pair_value(key, generation), &options) {
                Ok(_) => scene.ledger.say(format_args!("ok pair {key} {generation} {durability}")),
                Err(error) => scene.failed("pair", error),
            }
        }
        scene.ledger.say(format_args!("try sync {generation}"));
        match scene.store.sync() {
            Ok(()) => scene.ledger.say(format_args!("ok sync {generation}")),
            Err(error) => scene.failed("sync", error),
        }
        std::thread::sleep(Duration::from_millis(2));
    }
}
