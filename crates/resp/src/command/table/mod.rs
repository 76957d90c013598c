//! The table of commands, by their names: a slice for each family, joined when this is compiled.

mod bitmaps;
mod connections;
mod hashes;
mod keys;
mod lists;
mod messages;
mod outside;
mod rights;
mod servers;
mod sets;
mod sorted_sets;
mod strings;
mod transactions;
mod waiting;

use super::description::Command;

/// The commands of each family, sorted.
const FAMILIES: &[&[Command]] = &[
    bitmaps::COMMANDS,
    connections::COMMANDS,
    hashes::COMMANDS,
    keys::COMMANDS,
    lists::COMMANDS,
    messages::COMMANDS,
    outside::COMMANDS,
    servers::COMMANDS,
    sets::COMMANDS,
    sorted_sets::COMMANDS,
    strings::COMMANDS,
    transactions::COMMANDS,
    waiting::COMMANDS,
];

/// How many commands there are.
const COUNT: usize = {
    let (mut count, mut family) = (0, 0);
    while family < FAMILIES.len() {
        count += FAMILIES[family].len();
        family += 1;
    }
    count
};

/// All commands that are offered, sorted.
pub(crate) static COMMANDS: &[Command] = &joined();

/// Merges the families.
const fn joined() -> [Command; COUNT] {
    let mut all = [FAMILIES[0][0]; COUNT];
    let (mut taken, mut places) = (0, [0; FAMILIES.len()]);
    while taken < COUNT {
        let (mut family, mut first) = (0, None::<usize>);
        while family < FAMILIES.len() {
            let is_first = match first {
                _ if places[family] == FAMILIES[family].len() => false,
                None => true,
                Some(other) => {
                    let (one, next) = (&FAMILIES[family], &FAMILIES[other]);
                    is_before(one[places[family]].name, next[places[other]].name)
                }
            };
            if is_first {
                first = Some(family);
            }
            family += 1;
        }
        let Some(family) = first else { break };
        all[taken] = FAMILIES[family][places[family]];
        places[family] += 1;
        taken += 1;
    }
    all
}

/// Whether a name is sorted before another one.
const fn is_before(one: &str, other: &str) -> bool {
    let (one, other) = (one.as_bytes(), other.as_bytes());
    let mut at = 0;
    while at < one.len() && at < other.len() {
        if one[at] != other[at] {
            return one[at] < other[at];
        }
        at += 1;
    }
    one.len() < other.len()
}
