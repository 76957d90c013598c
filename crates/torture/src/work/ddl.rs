//! Tables and indexes made, altered and dropped. What is acknowledged stands whatever happens.

use super::scene::Scene;
use crate::content::member_row;
use crate::ledger::durability_name;

/// Rows put into each table.
const MEMBERS: i64 = 5;

pub(super) fn run(scene: &Scene<'_>) {
    for number in scene.round * 1_000.. {
        if !scene.goes_on() {
            return;
        }
        one_table(scene, number);
    }
}

fn one_table(scene: &Scene<'_>, number: i64) {
    let create = format!("CREATE TABLE made{number} (k LONG, a STRING, PRIMARY KEY (k))");
    if !step(scene, "create", number, &create) {
        return;
    }
    put_members(scene, number);
    step(scene, "alter", number, &format!("ALTER TABLE made{number} (ADD extra INTEGER)"));
    step(scene, "index", number, &format!("CREATE INDEX ix ON made{number} (a)"));
    if number % 2 == 0 {
        step(scene, "noindex", number, &format!("DROP INDEX ix ON made{number}"));
    }
    if number % 3 != 0 {
        step(scene, "drop", number, &format!("DROP TABLE made{number}"));
    }
}

fn step(scene: &Scene<'_>, step: &str, number: i64, sql: &str) -> bool {
    scene.ledger.say(format_args!("try table {step} {number}"));
    let done = scene.store.execute(sql);
    match &done {
        Ok(_) => scene.ledger.say(format_args!("ok table {step} {number}")),
        Err(error) => scene.failed(step, error),
    }
    done.is_ok()
}

fn put_members(scene: &Scene<'_>, number: i64) {
    let table = match scene.store.table(&format!("made{number}")) {
        Ok(table) => table,
        Err(error) => return scene.wrong(format_args!("a table just made: {error}")),
    };
    let options = scene.options();
    let durability = durability_name(options.durability);
    for key in 0..MEMBERS {
        scene.ledger.say(format_args!("try member {number} {key}"));
        match table.put(&member_row(key), &options) {
            Ok(_) => scene.ledger.say(format_args!("ok member {number} {key} {durability}")),
            Err(error) => scene.failed("member", error),
        }
    }
}
