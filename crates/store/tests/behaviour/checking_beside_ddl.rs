//! `check` while tables and indexes are created, altered and dropped.
//!
//! It reported damage that was none: "restore from a copy".

use std::sync::{Arc, Mutex};

use tonnage::{CheckReport, Error, Result, Store, SystemClock, WriteOptions};
use tonnage_engine::{Engine, MemoryEngine, SpaceId};

use crate::common::row;
use crate::stepped::{EngineStep, SteppedEngine};

const CARS: &str = "
    CREATE TABLE cars (plate LONG, colour STRING, year INTEGER NOT NULL, PRIMARY KEY (plate));
    CREATE INDEX by_colour ON cars (colour)";

/// What is done beside a check, and when.
struct Plan {
    is_due: Box<dyn FnMut(&EngineStep<'_>) -> bool + Send>,
    work: Box<dyn FnOnce() + Send>,
}

/// A store with a car in it, and what is done beside its check.
struct CheckedStore {
    engine: Arc<MemoryEngine>,
    store: Arc<Store>,
    plan: Arc<Mutex<Option<Plan>>>,
}

impl CheckedStore {
    fn new() -> Self {
        Self::dropping(|| Ok(()))
    }

    /// One whose engine answers so before it drops a space.
    fn dropping(answer: fn() -> Result<()>) -> Self {
        let engine = Arc::new(MemoryEngine::new());
        let plan: Arc<Mutex<Option<Plan>>> = Arc::default();
        let planned = plan.clone();
        let stepped = SteppedEngine::over(&engine, move |step| {
            let mut waiting = planned.lock().unwrap();
            let is_due = waiting.as_mut().is_some_and(|plan| (plan.is_due)(&step));
            let due = if is_due { waiting.take() } else { None };
            // What is done then makes steps of its own.
            drop(waiting);
            if let Some(plan) = due {
                (plan.work)();
            }
            if matches!(step, EngineStep::Drop(_)) { answer() } else { Ok(()) }
        });
        let store = Arc::new(Store::over(stepped, Arc::new(SystemClock)).unwrap());
        store.execute(CARS).unwrap();
        put(&store, 1);
        Self { engine, store, plan }
    }

    fn space(&self, name: &str) -> SpaceId {
        let mut spaces = self.engine.spaces().unwrap().into_iter();
        spaces.find(|space| space.name == name).unwrap().id
    }

    /// Checks the store, and does something else beside that.
    fn check_beside(
        &self,
        is_due: impl FnMut(&EngineStep<'_>) -> bool + Send + 'static,
        work: impl FnOnce(&Store) + Send + 'static,
    ) -> CheckReport {
        let store = self.store.clone();
        let plan = Plan { is_due: Box::new(is_due), work: Box::new(move || work(&store)) };
        *self.plan.lock().unwrap() = Some(plan);
        let report = self.store.check().unwrap();
        assert!(self.plan.lock().unwrap().is_none(), "nothing was done beside the check");
        report
    }
}

fn put(store: &Store, plate: i64) {
    let car = row! { "plate" => plate, "colour" => "red", "year" => 2000 };
    store.table("cars").unwrap().put(&car, &WriteOptions::default()).unwrap();
}

/// The scan of a space after so many others of it.
fn scan_behind(
    mut others: usize,
    space: SpaceId,
) -> impl FnMut(&EngineStep<'_>) -> bool + Send + 'static {
    move |step| match step {
        EngineStep::Scan(scanned) if *scanned == space && others == 0 => true,
        EngineStep::Scan(scanned) if *scanned == space => {
            others -= 1;
            false
        }
        _ => false,
    }
}

fn assert_sound(report: &CheckReport) {
    assert!(report.is_sound(), "{:?}", report.damages);
}

#[test]
fn a_table_that_is_made_meanwhile_is_no_damage() {
    let checked = CheckedStore::new();
    let report = checked.check_beside(
        |step| matches!(step, EngineStep::Listed),
        |store| drop(store.execute("CREATE TABLE vans (id LONG, PRIMARY KEY (id))").unwrap()),
    );
    assert_sound(&report);
    assert_eq!(report.rows["cars"], 1);
}

#[test]
fn a_table_that_is_dropped_before_its_space_is_looked_for_is_no_damage() {
    let checked = CheckedStore::new();
    let report = checked.check_beside(
        |step| matches!(step, EngineStep::List),
        |store| drop(store.execute("DROP TABLE cars").unwrap()),
    );
    assert_sound(&report);
    assert!(report.rows.is_empty(), "{:?}", report.rows);
}

#[test]
fn a_table_that_is_dropped_before_it_is_read_is_no_damage() {
    let checked = CheckedStore::new();
    let report = checked.check_beside(scan_behind(0, checked.space("table:cars")), |store| {
        drop(store.execute("DROP TABLE cars").unwrap());
    });
    assert_sound(&report);
    assert!(report.rows.is_empty(), "{:?}", report.rows);
}

#[test]
fn rows_that_are_written_behind_an_alteration_are_no_damage() {
    for alter in ["DROP COLUMN year", "ALTER COLUMN year DROP NOT NULL"] {
        let checked = CheckedStore::new();
        let report =
            checked.check_beside(scan_behind(0, checked.space("table:cars")), move |store| {
                store.execute(&format!("ALTER TABLE cars {alter}")).unwrap();
                let car = row! { "plate" => 2_i64, "colour" => "red" };
                store.table("cars").unwrap().put(&car, &WriteOptions::default()).unwrap();
            });
        assert_sound(&report);
        assert_eq!(report.rows["cars"], 2);
    }
}

#[test]
fn an_index_that_is_dropped_before_it_is_read_is_no_damage() {
    let checked = CheckedStore::new();
    let entries = checked.space("index:cars.by_colour");
    let report = checked.check_beside(scan_behind(0, entries), |store| {
        store.drop_index("cars", "by_colour", false).unwrap();
    });
    assert_sound(&report);
}

/// Its space may be there for a while.
#[test]
fn rows_that_are_written_after_an_index_was_dropped_are_not_missing_in_it() {
    let checked = CheckedStore::dropping(|| Err(Error::unavailable("the space stays")));
    let cars = checked.space("table:cars");
    // The first scan decodes the rows, the second one compares them with the index.
    let report = checked.check_beside(scan_behind(1, cars), |store| {
        store.drop_index("cars", "by_colour", false).unwrap();
        put(store, 2);
    });
    assert_sound(&report);
}
