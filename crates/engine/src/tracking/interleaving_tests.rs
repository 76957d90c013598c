//! All interleavings of writers, copies and readers over one book. A reader that finds other rows
//! than the store shows at its snapshot has found a fault; the faults put in must be found.

use std::collections::{BTreeMap, HashSet};

use super::{RangeChange, RangeChanges, TicketBook};

/// A mistake in the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fault {
    None,
    /// A copy takes all tickets for settled.
    OpenIsSettled,
    /// A reader looks at the ranges only after its snapshot.
    LateRanges,
    /// What a reader took in counts as settled.
    NotedIsSettled,
    /// A key is noted after it was written.
    LateNote,
}

type Store = BTreeMap<u8, u8>;

/// What a copy holds beyond the changes: its rows, and up to where it took changes in.
#[derive(Clone, PartialEq, Eq, Hash)]
struct Copied {
    id: u128,
    rows: Store,
    settled: u64,
    /// Behind the last ticket taken in.
    taken: u64,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct World {
    log: Vec<(u8, u8)>,
    book: TicketBook,
    copy: Option<Copied>,
    is_stale: bool,
    actors: Vec<Actor>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct Actor {
    role: Role,
    step: u8,
    ticket: u64,
    settled: u64,
    shown: usize,
    copy: Option<u128>,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Role {
    Write { key: u8, value: u8, is_refused: bool },
    Copy(u128),
    Read,
}

fn store_of(log: &[(u8, u8)]) -> Store {
    log.iter().copied().collect()
}

impl World {
    /// One step of an actor; false once it is over.
    fn step(&mut self, index: usize, fault: Fault) -> bool {
        let mut actor = self.actors[index].clone();
        let goes_on = match actor.role {
            Role::Write { key, value, is_refused } => {
                self.write(&mut actor, (key, value), is_refused, fault)
            }
            Role::Copy(id) => self.copy(&mut actor, id, fault),
            Role::Read => self.read(&mut actor, fault),
        };
        actor.step += 1;
        self.actors[index] = actor;
        goes_on
    }

    fn write(&mut self, actor: &mut Actor, row: (u8, u8), is_refused: bool, fault: Fault) -> bool {
        let is_late = fault == Fault::LateNote;
        match actor.step {
            0 => {
                actor.ticket = self.book.begin();
                if !is_late {
                    self.book.note_key(actor.ticket, &[row.0]);
                }
            }
            1 if is_refused => {}
            1 => self.log.push(row),
            2 => {
                if is_late {
                    self.book.note_key(actor.ticket, &[row.0]);
                }
                self.book.end(actor.ticket);
            }
            _ => return false,
        }
        true
    }

    fn copy(&mut self, actor: &mut Actor, id: u128, fault: Fault) -> bool {
        match actor.step {
            0 => {
                actor.settled = match fault {
                    Fault::OpenIsSettled => self.book.noted(),
                    _ => self.book.settled(),
                }
            }
            1 => actor.shown = self.log.len(),
            2 => {
                let settled = actor.settled;
                if self.book.track(&[], &[], id, settled) {
                    let rows = store_of(&self.log[..actor.shown]);
                    self.copy = Some(Copied { id, rows, settled, taken: 0 });
                }
            }
            _ => return false,
        }
        true
    }

    fn read(&mut self, actor: &mut Actor, fault: Fault) -> bool {
        let id = self.copy.as_ref().map(|copy| copy.id);
        match actor.step {
            0 => (actor.settled, actor.copy) = (self.book.settled(), id),
            1 => actor.shown = self.log.len(),
            2 => {
                actor.ticket = self.book.noted();
                if fault == Fault::LateRanges {
                    actor.copy = id;
                }
            }
            3 => self.answer(actor, fault),
            _ => return false,
        }
        true
    }

    /// Takes changes into the copy, if it is that of the snapshot, and holds it against the store.
    fn answer(&mut self, actor: &Actor, fault: Fault) {
        let truth = store_of(&self.log[..actor.shown]);
        let Some(copy) = self.copy.as_mut().filter(|copy| Some(copy.id) == actor.copy) else {
            return;
        };
        // Otherwise it is too new for this snapshot.
        if copy.taken > actor.settled {
            return;
        }
        let RangeChanges::Known(changes) =
            self.book.changes(&[], copy.id, copy.settled, actor.ticket)
        else {
            return;
        };
        for (ticket, change) in changes {
            let RangeChange::Key(key) = change else { continue };
            copy.taken = copy.taken.max(ticket + 1);
            match truth.get(&key[0]) {
                Some(value) => drop(copy.rows.insert(key[0], *value)),
                None => drop(copy.rows.remove(&key[0])),
            }
        }
        self.is_stale |= copy.rows != truth;
        copy.settled = copy.settled.max(match fault {
            Fault::NotedIsSettled => actor.ticket,
            _ => actor.settled,
        });
    }
}

/// Goes through all interleavings. Answers how many states there are, or, where one of them gave a
/// stale answer, nothing.
fn explore(roles: &[Role], fault: Fault) -> Option<usize> {
    let actor =
        |role: &Role| Actor { role: *role, step: 0, ticket: 0, settled: 0, shown: 0, copy: None };
    let (log, book, copy) = (Vec::new(), TicketBook::new(8), None);
    let first =
        World { log, book, copy, is_stale: false, actors: roles.iter().map(actor).collect() };
    let (mut seen, mut left) = (HashSet::from([first.clone()]), vec![first]);
    while let Some(world) = left.pop() {
        if world.is_stale {
            return None;
        }
        for index in 0..roles.len() {
            let mut next = world.clone();
            if next.step(index, fault) && seen.insert(next.clone()) {
                left.push(next);
            }
        }
    }
    Some(seen.len())
}

const A: Role = Role::Write { key: 0, value: 1, is_refused: false };
const B: Role = Role::Write { key: 0, value: 2, is_refused: false };
const C: Role = Role::Write { key: 1, value: 3, is_refused: false };
const REFUSED: Role = Role::Write { key: 1, value: 4, is_refused: true };

const GROUPS: [&[Role]; 5] = [
    &[Role::Copy(1), A, Role::Read],
    &[Role::Copy(1), REFUSED, A, Role::Read],
    &[Role::Copy(1), A, B, Role::Read],
    &[Role::Copy(1), A, Role::Read, Role::Read],
    &[Role::Copy(1), Role::Copy(2), A, Role::Read],
];

#[test]
fn no_interleaving_gives_a_stale_answer() {
    for group in GROUPS {
        assert!(explore(group, Fault::None).is_some_and(|states| states > 50));
    }
    assert!(explore(&[Role::Copy(1), A, C, Role::Read], Fault::None).is_some_and(|n| n > 500));
}

#[test]
fn each_fault_put_in_is_found() {
    let faults = [Fault::OpenIsSettled, Fault::LateRanges, Fault::NotedIsSettled, Fault::LateNote];
    let found = faults.map(|fault| GROUPS.iter().any(|group| explore(group, fault).is_none()));
    assert_eq!(found, [true; 4]);
}
