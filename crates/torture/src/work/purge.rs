//! Groups of rows under one shard key, put together and deleted by range.

use tonnage::{Row, RowOperation};

use super::scene::Scene;
use crate::content::purged_row;
use crate::ledger::durability_name;
use crate::random::Random;

pub(super) fn run(scene: &Scene<'_>) {
    let mut random = Random::new(scene.plan.seed * 13 + 3);
    for turn in 0.. {
        if !scene.goes_on() {
            return;
        }
        let group = scene.round * 100_000 + turn;
        if fill(scene, group, 1 + random.below(200) as i64) && random.chance(70) {
            purge(scene, group);
        }
    }
}

fn fill(scene: &Scene<'_>, group: i64, count: i64) -> bool {
    let options = scene.options();
    scene.ledger.say(format_args!("try fill {group} {count}"));
    let put = |key| RowOperation::put("purged", purged_row(group, key));
    let done = scene.store.atomic_write(&(0..count).map(put).collect::<Vec<_>>(), &options);
    match &done {
        Ok(_) => {
            let durability = durability_name(options.durability);
            scene.ledger.say(format_args!("ok fill {group} {durability}"));
        }
        Err(error) => scene.failed("fill", error),
    }
    done.is_ok()
}

fn purge(scene: &Scene<'_>, group: i64) {
    scene.ledger.say(format_args!("try purge {group}"));
    let key = Row::new().with("p", group);
    let durability = scene.durability();
    let table = scene.store.table("purged");
    match table.and_then(|table| table.multi_delete(&key, None, &[], durability)) {
        Ok(_) => {
            let durability = durability_name(durability);
            scene.ledger.say(format_args!("ok purge {group} {durability}"));
        }
        Err(error) => scene.failed("purge", error),
    }
}
