//! Histories of rows that several processes read, set, delete, and set on condition.
//!
//! Each must be linearizable: one order of its operations explains all of their answers, and keeps
//! the order of those that did not overlap.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use todc_utils::linearizability::WGLChecker;
use todc_utils::linearizability::history::{Action, History};
use todc_utils::specifications::Specification;
use tonnage_engine::sync::lock;
use tonnage_engine::{Condition, Engine, SpaceId, WriteOutcome};

use super::{delete, key, put, read};

/// Rows at a time. Few, so that writers meet.
const ROWS: u64 = 6;

/// Operations before other rows take their places: longer histories take too long to explain.
const OPERATIONS: u64 = 500 * ROWS;

/// What was done to a row, and what came of it. Each write has a value of its own; 0 is not a row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Access {
    Read(u64),
    Write(u64),
    /// Whether it was stored is not known of one without an answer.
    CompareAndSet {
        from: u64,
        to: u64,
        is_stored: Option<bool>,
    },
}

/// An access, and the times between which it took effect: at any time from its call on, or never,
/// if it got no answer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event {
    pub(crate) call: u64,
    pub(crate) end: Option<u64>,
    pub(crate) access: Access,
}

/// A row that holds a value.
struct Register;

impl Specification for Register {
    type State = u64;
    type Operation = Access;

    fn init() -> u64 {
        0
    }

    fn apply(access: &Access, state: &u64) -> (bool, u64) {
        match *access {
            Access::Read(value) => (value == *state, *state),
            Access::Write(value) => (true, value),
            Access::CompareAndSet { from, to, is_stored } => {
                let holds = from == *state;
                let after = if holds { to } else { *state };
                (is_stored.is_none_or(|is_stored| is_stored == holds), after)
            }
        }
    }
}

/// Whether one order explains all answers.
///
/// An access without an answer ends after all others. So it may come last, where no other access
/// sees it.
pub(crate) fn is_linearizable(events: &[Event]) -> bool {
    let mut actions = Vec::new();
    for (process, event) in events.iter().enumerate() {
        actions.push((event.call, process, Action::Call(event.access)));
        let end = event.end.unwrap_or(u64::MAX);
        actions.push((end, process, Action::Response(event.access)));
    }
    actions.sort_by_key(|(moment, ..)| *moment);
    let actions = actions.into_iter().map(|(_, process, action)| (process, action)).collect();
    WGLChecker::<Register>::is_linearizable(History::from_actions(actions))
}

/// Histories of rows, by key.
#[derive(Default)]
pub(crate) struct Histories {
    clock: AtomicU64,
    values: AtomicU64,
    rows: Mutex<BTreeMap<String, Vec<Event>>>,
}

impl Histories {
    /// Reads rows, and does something to what it has read.
    pub(crate) fn play(
        &self,
        engine: &dyn Engine,
        space: SpaceId,
        seed: u64,
        goes_on: &dyn Fn() -> bool,
    ) {
        let mut random = seed;
        while goes_on() {
            // A generator of PCG's kind: the upper bits are good.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(2 * seed + 1);
            let turn = self.clock.load(SeqCst) / OPERATIONS;
            let row = format!("history {turn} {}", (random >> 33) % ROWS);
            let stored = self.read(engine, space, &row);
            match (random >> 50) % 8 {
                0 => self.write(engine, space, &row, false),
                1 => self.write(engine, space, &row, true),
                choice => self.compare_and_set(engine, space, &row, stored, choice == 2),
            }
        }
    }

    /// Version and value of a row.
    fn read(&self, engine: &dyn Engine, space: SpaceId, row: &str) -> Option<(u64, u64)> {
        let key = key(row);
        let call = self.tick();
        let stored = read(engine, space, std::slice::from_ref(&key)).get(&key).copied();
        let access = Access::Read(stored.map_or(0, |(_, value)| value));
        self.note(row, Event { call, end: Some(self.tick()), access });
        stored
    }

    fn write(&self, engine: &dyn Engine, space: SpaceId, row: &str, deletes: bool) {
        let (key, to, call) = (key(row), self.value(deletes), self.tick());
        let answer = match deletes {
            true => delete(engine, space, &key, Condition::Always),
            false => put(engine, space, &key, to, Condition::Always),
        };
        let end = answer.map(|outcome| {
            assert!(matches!(outcome, WriteOutcome::Applied { .. }), "{outcome:?}");
            self.tick()
        });
        self.note(row, Event { call, end, access: Access::Write(to) });
    }

    fn compare_and_set(
        &self,
        engine: &dyn Engine,
        space: SpaceId,
        row: &str,
        stored: Option<(u64, u64)>,
        deletes: bool,
    ) {
        let (from, condition) = match stored {
            Some((version, value)) => (value, Condition::IfVersion(version)),
            None => (0, Condition::IfAbsent),
        };
        let deletes = deletes && stored.is_some();
        let (key, to, call) = (key(row), self.value(deletes), self.tick());
        let answer = match deletes {
            true => delete(engine, space, &key, condition),
            false => put(engine, space, &key, to, condition),
        };
        let is_stored = answer.map(|outcome| matches!(outcome, WriteOutcome::Applied { .. }));
        let end = is_stored.map(|_| self.tick());
        self.note(row, Event { call, end, access: Access::CompareAndSet { from, to, is_stored } });
    }

    /// Reads each row once more, and asks whether its history can be explained.
    pub(crate) fn check(&self, engine: &dyn Engine, space: SpaceId, test: &str) {
        let rows: Vec<String> = self.rows().keys().cloned().collect();
        let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("histories").join(test);
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        let (mut accesses, mut in_doubt) = (0, 0);
        for row in &rows {
            self.read(engine, space, row);
            let events = self.rows().remove(row).unwrap_or_default();
            let file = note_down(&folder, row, &events);
            assert!(is_linearizable(&events), "nothing explains {}", file.display());
            accesses += events.len();
            in_doubt += events.iter().filter(|event| event.end.is_none()).count();
        }
        eprintln!(
            "{accesses} accesses of {} rows, {in_doubt} of them in doubt: linearizable",
            rows.len()
        );
        assert!(accesses > 0);
    }

    fn tick(&self) -> u64 {
        self.clock.fetch_add(1, SeqCst)
    }

    fn value(&self, deletes: bool) -> u64 {
        if deletes { 0 } else { self.values.fetch_add(1, SeqCst) + 1 }
    }

    fn note(&self, row: &str, event: Event) {
        self.rows().entry(row.to_owned()).or_default().push(event);
    }

    fn rows(&self) -> std::sync::MutexGuard<'_, BTreeMap<String, Vec<Event>>> {
        lock(&self.rows)
    }
}

/// Writes a history down, a line an event, for other checkers too.
fn note_down(folder: &Path, row: &str, events: &[Event]) -> PathBuf {
    let mut text = String::new();
    for Event { call, end, access } in events {
        let end = end.map_or_else(|| "-".to_owned(), |end| end.to_string());
        let _ = match access {
            Access::Read(value) => writeln!(text, "{call} {end} read {value}"),
            Access::Write(value) => writeln!(text, "{call} {end} write {value}"),
            Access::CompareAndSet { from, to, is_stored } => {
                let answer = is_stored.map_or("lost", |yes| if yes { "stored" } else { "refused" });
                writeln!(text, "{call} {end} cas {from} {to} {answer}")
            }
        };
    }
    let file = folder.join(row.replace(' ', "-"));
    fs::write(&file, text).unwrap();
    file
}
