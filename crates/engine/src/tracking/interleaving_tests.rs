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

/// A row that was put under a key, or that all rows were deleted.
type Logged = Option<(u8, u8)>;

#[derive(Clone, PartialEq, Eq, Hash)]
struct World {
    log: Vec<Logged>,
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
    Write {
        key: u8,
        value: u8,
        is_refused: bool,
    },
    /// A write of a row that nobody can name.
    Load {
        key: u8,
        value: u8,
    },
    DeleteAll,
    Copy(u128),
    Read,
}

fn store_of(log: &[Logged]) -> Store {
    let mut store = Store::new();
    for logged in log {
        match logged {
            Some((key, value)) => drop(store.insert(*key, *value)),
            None => store.clear(),
        }
    }
    store
}

impl World {
    /// One step of an actor; false once it is over.
    fn step(&mut self, index: usize, fault: Fault) -> bool {
        let mut actor = self.actors[index].clone();
        let goes_on = match actor.role {
            Role::Write { .. } | Role::Load { .. } | Role::DeleteAll => {
                self.write(&mut actor, fault)
            }
            Role::Copy(id) => self.copy(&mut actor, id, fault),
            Role::Read => self.read(&mut actor, fault),
        };
        actor.step += 1;
        self.actors[index] = actor;
        goes_on
    }

    fn write(&mut self, actor: &mut Actor, fault: Fault) -> bool {
        let is_late = fault == Fault::LateNote;
        match (actor.step, actor.role) {
            (0, _) => {
                actor.ticket = self.book.begin();
                if !is_late {
                    self.note(actor);
                }
            }
            (1, Role::Write { is_refused: true, .. }) => {}
            (1, Role::Write { key, value, .. } | Role::Load { key, value }) => {
                self.log.push(Some((key, value)));
            }
            (1, _) => self.log.push(None),
            (2, _) => {
                if is_late {
                    self.note(actor);
                }
                self.book.end(actor.ticket);
            }
            _ => return false,
        }
        true
    }

    fn note(&mut self, actor: &Actor) {
        match actor.role {
            Role::Write { key, .. } => self.book.note_key(actor.ticket, &[key]),
            Role::DeleteAll => self.book.note_deleted(actor.ticket, &[], &[]),
            _ => self.book.lose(&[], &[]),
        }
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
            copy.taken = copy.taken.max(ticket + 1);
            let RangeChange::Key(key) = change else {
                copy.rows.clone_from(&truth);
                continue;
            };
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
    // A row for a deletion to take.
    let (log, book, copy) = (vec![Some((1, 9))], TicketBook::new(8), None);
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
const LOAD: Role = Role::Load { key: 0, value: 5 };
const REFUSED: Role = Role::Write { key: 1, value: 4, is_refused: true };

const GROUPS: [&[Role]; 9] = [
    &[Role::Copy(1), A, Role::Read],
    &[Role::Copy(1), REFUSED, A, Role::Read],
    &[Role::Copy(1), A, B, Role::Read],
    &[Role::Copy(1), A, Role::Read, Role::Read],
    &[Role::Copy(1), Role::Copy(2), A, Role::Read],
    &[Role::Copy(1), A, Role::DeleteAll, Role::Read],
    &[Role::Copy(1), Role::DeleteAll, Role::Read, Role::Read],
    &[Role::Copy(1), A, LOAD, Role::Read],
    &[Role::Copy(1), LOAD, Role::Read, Role::Read],
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
    for writer in [A, Role::DeleteAll, LOAD] {
        let group = [Role::Copy(1), writer, Role::Read];
        assert!(explore(&group, Fault::LateNote).is_none(), "a late note of any kind is found");
    }
}
