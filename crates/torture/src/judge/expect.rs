//! Reads from a ledger what the store must and may hold.

use std::collections::{BTreeMap, BTreeSet};

use tonnage::Durability;

use crate::ledger::{durability_named, lines};

/// What happened before the store was opened again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    /// The machine lost power: what reached the disk is there.
    Power,
    /// The process ended: what reached the operating system is there.
    Process,
}

impl Loss {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Loss::Power => "power",
            Loss::Process => "process",
        }
    }

    pub(crate) fn parse(name: &str) -> Option<Self> {
        [Loss::Power, Loss::Process].into_iter().find(|loss| loss.name() == name)
    }

    fn survives(self, durability: Durability) -> bool {
        match self {
            Loss::Power => durability == Durability::Fsync,
            Loss::Process => durability != Durability::None,
        }
    }
}

/// The newest generation of a key that was tried, and the newest that must be there.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Generations {
    pub(super) tried: i64,
    pub(super) kept: Option<i64>,
}

/// One stream of a bulk put.
#[derive(Clone, Copy, Debug)]
pub(super) struct ExpectedLoad {
    pub(super) first: i64,
    pub(super) count: i64,
    pub(super) keeps_existing: bool,
    pub(super) is_kept: bool,
}

/// A batch pushed into an open load.
#[derive(Clone, Copy, Debug)]
pub(super) struct PushedBatch {
    pub(super) count: i64,
    pub(super) is_kept: bool,
}

/// A group of rows that is put whole and deleted whole.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct GroupWrite {
    pub(super) count: i64,
    pub(super) is_kept: bool,
    pub(super) purge_tried: bool,
    pub(super) purge_kept: bool,
}

#[derive(Default)]
pub(super) struct ExpectedRows {
    pub(super) tables_kept: bool,
    pub(super) rows: BTreeMap<i64, Generations>,
    pub(super) loads: BTreeMap<i64, ExpectedLoad>,
    /// Steps on tables that were tried, and those that must stand.
    pub(super) steps_tried: BTreeSet<(i64, String)>,
    pub(super) steps_kept: BTreeSet<(i64, String)>,
    pub(super) members_tried: BTreeSet<(i64, i64)>,
    pub(super) members_kept: BTreeSet<(i64, i64)>,
    pub(super) pairs: BTreeMap<i64, Generations>,
    pub(super) groups: BTreeMap<i64, GroupWrite>,
    /// By their first keys.
    pub(super) pushes: BTreeMap<i64, PushedBatch>,
    /// Whether the last step on the recurring index was its acknowledged creation.
    pub(super) index_stands: bool,
    /// Answers that the workload itself found wrong.
    pub(super) wrong: Vec<String>,
}

impl ExpectedRows {
    /// What a store must hold after a loss.
    pub(super) fn read(ledger: &str, loss: Loss) -> Self {
        Self::of(ledger, loss, usize::MAX)
    }

    /// What a checkpoint must hold when it is later than this many lines: all that the process had
    /// by then.
    pub(super) fn read_checkpoint(ledger: &str, lines: usize) -> Self {
        Self::of(ledger, Loss::Process, lines)
    }

    /// What was tried at any time, and what was acknowledged in the first lines.
    fn of(ledger: &str, loss: Loss, end: usize) -> Self {
        let lines: Vec<Vec<&str>> = lines(ledger).collect();
        let synced = last_synced(&lines[..end.min(lines.len())]);
        let mut expected = Self::default();
        for (at, line) in lines.iter().enumerate() {
            match line[0] {
                "try" => expected.tried(&line[1..]),
                "ok" if at < end => expected.acknowledged(&line[1..], |durability| {
                    at < synced || loss.survives(durability_named(durability))
                }),
                "wrong" => expected.wrong.push(line[1..].join(" ")),
                _ => {}
            }
        }
        expected
    }

    fn tried(&mut self, words: &[&str]) {
        // The lines are those of `ledger`, and each has its twin in `acknowledged`.
        match *words {
            ["row", key, generation] => {
                self.rows.entry(number(key)).or_default().tried = number(generation);
            }
            ["load", load, first, count, mode] => {
                let (first, count) = (number(first), number(count));
                let load_ =
                    ExpectedLoad { first, count, keeps_existing: mode == "keep", is_kept: false };
                self.loads.insert(number(load), load_);
            }
            ["table", step, table] => {
                self.steps_tried.insert((number(table), step.to_owned()));
            }
            ["member", table, key] => {
                self.members_tried.insert((number(table), number(key)));
            }
            ["pair", key, generation] => {
                self.pairs.entry(number(key)).or_default().tried = number(generation);
            }
            ["fill", group, count] => {
                self.groups.insert(
                    number(group),
                    GroupWrite { count: number(count), ..GroupWrite::default() },
                );
            }
            ["push", first, count] => {
                let push = PushedBatch { count: number(count), is_kept: false };
                self.pushes.insert(number(first), push);
            }
            ["purge", group] => self.groups.entry(number(group)).or_default().purge_tried = true,
            // A step on the index may have gone either way until it is acknowledged.
            ["index", _] => self.index_stands = false,
            _ => {}
        }
    }

    fn acknowledged(&mut self, words: &[&str], is_kept: impl Fn(&str) -> bool) {
        // Steps without a durability in their line are durable as soon as they are acknowledged.
        match *words {
            ["tables"] => self.tables_kept = true,
            ["row", key, generation, durability] if is_kept(durability) => {
                self.rows.entry(number(key)).or_default().kept = Some(number(generation));
            }
            ["load", load, durability] if is_kept(durability) => {
                if let Some(load) = self.loads.get_mut(&number(load)) {
                    load.is_kept = true;
                }
            }
            ["table", step, table] => {
                self.steps_kept.insert((number(table), step.to_owned()));
            }
            ["member", table, key, durability] if is_kept(durability) => {
                self.members_kept.insert((number(table), number(key)));
            }
            ["pair", key, generation, durability] if is_kept(durability) => {
                self.pairs.entry(number(key)).or_default().kept = Some(number(generation));
            }
            ["fill", group, durability] if is_kept(durability) => {
                self.groups.entry(number(group)).or_default().is_kept = true;
            }
            ["push", first, durability] if is_kept(durability) => {
                if let Some(push) = self.pushes.get_mut(&number(first)) {
                    push.is_kept = true;
                }
            }
            ["purge", group, durability] if is_kept(durability) => {
                self.groups.entry(number(group)).or_default().purge_kept = true;
            }
            // A drop has no arm: `tried` has taken the index for gone before.
            ["index", "create"] => self.index_stands = true,
            _ => {}
        }
    }

    pub(super) fn step_tried(&self, table: i64, step: &str) -> bool {
        self.steps_tried.contains(&(table, step.to_owned()))
    }

    pub(super) fn step_kept(&self, table: i64, step: &str) -> bool {
        self.steps_kept.contains(&(table, step.to_owned()))
    }
}

/// Everything before the beginning of the last acknowledged sync is durable.
fn last_synced(lines: &[Vec<&str>]) -> usize {
    let acknowledged = lines.iter().rev().find_map(|line| match line[..] {
        ["ok", "sync", number] => Some(number),
        _ => None,
    });
    let begin = acknowledged.map(|number| ["try", "sync", number]);
    lines
        .iter()
        .position(|line| Some(&line[..]) == begin.as_ref().map(|line| &line[..]))
        .unwrap_or(0)
}

fn number(text: &str) -> i64 {
    text.parse().unwrap_or(i64::MIN)
}
