//! An index made and dropped beside the rest, and checkpoints.

use std::path::Path;
use std::time::Duration;

use super::scene::Scene;

pub(super) fn rebuild(scene: &Scene<'_>) {
    let steps = [
        ("create", "CREATE INDEX IF NOT EXISTS loaded_vg ON loaded (v, g)"),
        ("drop", "DROP INDEX loaded_vg ON loaded"),
    ];
    while scene.goes_on() {
        for (step, sql) in steps {
            scene.ledger.say(format_args!("try index {step}"));
            match scene.store.execute(sql) {
                Ok(_) => scene.ledger.say(format_args!("ok index {step}")),
                Err(error) => {
                    scene.failed("rebuild", error);
                    break;
                }
            }
        }
    }
}

pub(super) fn checkpoint(scene: &Scene<'_>) {
    let base = scene.plan.store.parent().unwrap_or(Path::new("."));
    for turn in 0.. {
        // The first one comes soon: a workload that has said enough ends long before its time, and
        // most states that are rebuilt of it would hold none.
        let wait_ms = (scene.plan.millis / 100) << turn.min(4);
        std::thread::sleep(Duration::from_millis(wait_ms));
        if !scene.goes_on() {
            return;
        }
        let number = scene.round * 100 + turn;
        scene.ledger.say(format_args!("try checkpoint {number}"));
        match scene.store.checkpoint(&base.join(format!("checkpoint{number}"))) {
            Ok(()) => scene.ledger.say(format_args!("ok checkpoint {number}")),
            Err(error) => scene.failed("checkpoint", error),
        }
    }
}
