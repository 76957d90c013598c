//! Several openings of one store, as several processes have them: what one changes the others know.

use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use tonnage::{
    Acks, BulkPutOptions, Cancel, Condition, CreateIndexOptions, DeleteOptions, Depth, Durability,
    ErrorKind, IndexColumn, IndexDefinition, IndexRange, Key, Pairs, Payload, Row, Store,
    SystemClock, Value, WriteOptions,
};
use tonnage_engine::{Engine, MemoryEngine};
use tonnage_testkit::wait_until;

use crate::common::row;
use crate::index::{car, plates};
use crate::stepped::{EngineStep, SteppedEngine};

const CARS: &str =
    "CREATE TABLE cars (plate LONG, colour STRING, year INTEGER, note STRING, PRIMARY KEY (plate))";

/// So many openings of one store.
fn openings<const COUNT: usize>() -> [Store; COUNT] {
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::shared());
    std::array::from_fn(|_| Store::over(engine.clone(), Arc::new(SystemClock)).unwrap())
}

fn put(store: &Store, car: &Row) {
    store.table("cars").unwrap().put(car, &WriteOptions::default()).unwrap();
}

fn by_colour() -> IndexDefinition {
    IndexDefinition {
        name: "by_colour".to_owned(),
        table: "cars".to_owned(),
        columns: ["colour", "year"].map(IndexColumn::new).into(),
    }
}

fn of_colour(store: &Store, colour: &str) -> Vec<i64> {
    plates(store, "by_colour", IndexRange::prefix([colour]))
}

/// Once a process that did not know of the index wrote rows that it missed.
#[test]
fn an_index_has_every_row_that_others_write_while_it_is_made() {
    let [here, there] = openings();
    here.execute(CARS).unwrap();
    let (ended, written) = (AtomicBool::new(false), AtomicI64::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let cars = there.table("cars").unwrap();
            while !ended.load(Ordering::SeqCst) {
                let plate = written.load(Ordering::SeqCst);
                cars.put(&car(plate, "red", 2000), &WriteOptions::default()).unwrap();
                written.store(plate + 1, Ordering::SeqCst);
            }
        });
        while written.load(Ordering::SeqCst) < 100 {
            std::thread::yield_now();
        }
        here.create_index(&by_colour(), &CreateIndexOptions::default()).unwrap();
        let before = written.load(Ordering::SeqCst);
        while written.load(Ordering::SeqCst) < before + 100 {
            std::thread::yield_now();
        }
        ended.store(true, Ordering::SeqCst);
    });
    let all: Vec<i64> = (0..written.into_inner()).collect();
    assert_eq!(of_colour(&here, "red"), all);
    assert_eq!(of_colour(&there, "red"), all);
}

/// Whether a process is paused.
#[derive(PartialEq)]
enum Gait {
    Goes,
    /// It will, when it is just about to write a row.
    WillStop,
    StandsStill,
}

/// Two openings of one store with a table of cars, of which one can stand still.
struct Sleeper {
    here: Store,
    there: Store,
    gait: Arc<(Mutex<Gait>, Condvar)>,
}

impl Sleeper {
    fn new(stops_behind_deadlines: bool) -> Self {
        let engine = Arc::new(MemoryEngine::shared());
        let here = Store::over(engine.clone(), Arc::new(SystemClock)).unwrap();
        here.execute(CARS).unwrap();
        let members = engine.spaces().unwrap().into_iter().find(|space| space.name == "members");
        let members = members.unwrap().id;
        let gait = Arc::new((Mutex::new(Gait::Goes), Condvar::new()));
        let of_process = gait.clone();
        let hook = move |step: EngineStep<'_>| {
            let (gait, changed) = &*of_process;
            let mut now = gait.lock().unwrap();
            let is_row = matches!(step, EngineStep::Write(batch) if batch.space(0) != members);
            if is_row && *now == Gait::WillStop {
                *now = Gait::StandsStill;
                changed.notify_all();
            }
            drop(changed.wait_while(now, |now| *now == Gait::StandsStill).unwrap());
            Ok(())
        };
        let stopping = match stops_behind_deadlines {
            true => SteppedEngine::sending_late(&engine, hook),
            false => SteppedEngine::over(&engine, hook),
        };
        let there = Store::over(stopping, Arc::new(SystemClock)).unwrap();
        Self { here, there, gait }
    }

    fn put(&self, plate: i64) -> tonnage::Result<u64> {
        let car = car(plate, "red", 2000);
        self.there.table("cars").unwrap().put(&car, &WriteOptions::default())
    }

    /// Puts three cars, and pauses meanwhile until the other opening has created an index.
    fn put_late(&self, plate: i64) -> tonnage::Result<()> {
        let (now, changed) = &*self.gait;
        *now.lock().unwrap() = Gait::WillStop;
        std::thread::scope(|scope| {
            let late = scope.spawn(|| self.put_some(&[plate, plate + 10, plate + 20]));
            drop(changed.wait_while(now.lock().unwrap(), |now| *now != Gait::StandsStill).unwrap());
            let made = self.here.create_index(&by_colour(), &CreateIndexOptions::default());
            *now.lock().unwrap() = Gait::Goes;
            changed.notify_all();
            made.unwrap();
            late.join().unwrap()
        })
    }

    /// Puts cars, each by itself.
    fn put_some(&self, plates: &[i64]) -> tonnage::Result<()> {
        let cars: Vec<_> = plates.iter().map(|plate| car(*plate, "red", 2000)).collect();
        let table = self.there.table("cars").unwrap();
        let put = table.put_many(&cars, Condition::Always, &WriteOptions::default());
        put.into_iter().try_for_each(|put| put.map(drop))
    }

    /// Puts a car as soon as the paused opening may write again.
    fn put_again(&self, plate: i64) {
        let begun = Instant::now();
        while let Err(error) = self.put(plate) {
            assert!(begun.elapsed() < Duration::from_secs(30), "it never goes on: {error}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The story of a bug: a process paused for more than a minute after it had looked up which indexes
/// a row needs. Others continued without it, and created an index. Then it sent the row, which that
/// index never found.
#[test]
fn a_process_that_stood_still_writes_nothing_by_the_tables_of_before() {
    let sleeper = Sleeper::new(false);
    sleeper.put(1).unwrap();
    assert_eq!(sleeper.put_late(2).unwrap_err().kind(), ErrorKind::Unavailable);
    sleeper.put_again(3);
    assert_eq!(of_colour(&sleeper.here, "red"), [1, 3]);
    let late = sleeper.here.table("cars").unwrap().get(&row! { "plate" => 2 }).unwrap();
    assert!(late.is_none());
}

/// The story of a bug: the row was in a queue of the driver, after the last look at the lease, when
/// the process paused. It was sent and acknowledged a minute later, and an index that others had
/// created meanwhile never found it.
#[test]
fn an_index_has_the_row_that_was_on_its_way_when_its_process_stood_still() {
    let sleeper = Sleeper::new(true);
    sleeper.put(1).unwrap();
    sleeper.put_late(2).unwrap();
    assert_eq!(of_colour(&sleeper.here, "red"), [1, 2, 12, 22]);
    sleeper.put_again(3);
    assert_eq!(of_colour(&sleeper.there, "red"), [1, 2, 3, 12, 22]);
    assert!(sleeper.here.check().unwrap().is_sound());
}

#[test]
fn an_index_has_the_rows_of_a_load_that_others_opened_before() {
    let [here, there] = openings();
    here.execute(CARS).unwrap();
    let options = BulkPutOptions { flush_interval: None, ..BulkPutOptions::default() };
    let load = there.load(&options).unwrap();
    let stream = load.stream("cars");
    let rows = |from: i64| {
        let rows = (from..from + 50).map(|plate| car(plate, "red", 2000)).collect();
        Payload::Rows { table: "cars".into(), rows }
    };
    load.push(stream, rows(0)).unwrap();
    // They are with the engine then, and not stored.
    while load.progress().total().bytes == 0 {
        std::thread::yield_now();
    }
    here.create_index(&by_colour(), &CreateIndexOptions::default()).unwrap();
    assert_eq!(of_colour(&here, "red"), (0..50).collect::<Vec<_>>());
    load.push(stream, rows(50)).unwrap();
    load.end(stream);
    load.finish().unwrap();
    assert_eq!(of_colour(&here, "red"), (0..100).collect::<Vec<_>>());
}

#[test]
fn look_ups_are_right_though_no_entry_is_ever_removed() {
    let [here, there] = openings();
    here.execute(CARS).unwrap();
    here.create_index(&by_colour(), &CreateIndexOptions::default()).unwrap();
    for (store, plate, colour) in [
        (&here, 1, "red"),
        (&there, 1, "blue"),
        (&here, 2, "red"),
        (&there, 2, "red"),
        (&here, 3, "blue"),
        (&there, 3, "red"),
    ] {
        put(store, &car(plate, colour, 2000));
    }
    there.table("cars").unwrap().delete(&row! { "plate" => 2 }, &WriteOptions::default()).unwrap();
    for store in [&here, &there] {
        assert_eq!(of_colour(store, "red"), [3]);
        assert_eq!(of_colour(store, "blue"), [1]);
    }
    let index = here.table("cars").unwrap().index("by_colour").unwrap();
    let error = index.clean().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("make it anew"), "{error}");
}

/// Once a process read rows of a newer layout as a conflict, until it was restarted.
#[test]
fn a_table_that_was_altered_is_so_for_all_at_once() {
    let [here, there] = openings();
    here.execute(CARS).unwrap();
    put(&there, &car(1, "red", 2000));
    here.execute("ALTER TABLE cars (ADD doors INTEGER DEFAULT 4)").unwrap();
    let cars = there.table("cars").unwrap();
    cars.put(&car(2, "red", 2000).with("doors", 2), &WriteOptions::default()).unwrap();
    let doors = |store: &Store, plate: i64| {
        let found = store.table("cars").unwrap().get(&row! { "plate" => plate }).unwrap().unwrap();
        found.row.get("doors").cloned()
    };
    for store in [&here, &there] {
        assert_eq!(doors(store, 1), Some(Value::Integer(4)));
        assert_eq!(doors(store, 2), Some(Value::Integer(2)));
    }
}

/// A handle that was opened before reads what others write by the new layout.
#[test]
fn a_handle_from_before_reads_rows_of_an_altered_table() {
    let [here, there] = openings();
    here.execute(CARS).unwrap();
    let before = there.table("cars").unwrap();
    here.execute("ALTER TABLE cars (ADD doors INTEGER)").unwrap();
    put(&here, &car(1, "red", 2000).with("doors", 2));
    let found = before.get(&row! { "plate" => 1 }).unwrap().unwrap();
    assert_eq!(found.row.get("colour"), Some(&Value::from("red")));
}

#[test]
fn a_table_that_was_dropped_is_so_for_the_handles_of_all() {
    let [here, there] = openings();
    here.execute(CARS).unwrap();
    let before = there.table("cars").unwrap();
    here.execute("DROP TABLE cars").unwrap();
    let refused = before.put(&car(1, "red", 2000), &WriteOptions::default());
    assert_eq!(refused.unwrap_err().kind(), ErrorKind::NotFound);
    here.execute(CARS).unwrap();
    put(&there, &car(1, "red", 2000));
    assert_eq!(here.table("cars").unwrap().count().unwrap(), 1);
}

#[test]
fn an_index_that_was_dropped_is_kept_up_by_nobody() {
    let [here, there] = openings();
    here.execute(CARS).unwrap();
    here.create_index(&by_colour(), &CreateIndexOptions::default()).unwrap();
    put(&there, &car(1, "red", 2000));
    there.drop_index("cars", "by_colour", false).unwrap();
    put(&here, &car(2, "red", 2000));
    assert!(here.table("cars").unwrap().index("by_colour").is_err());
    assert!(here.create_index(&by_colour(), &CreateIndexOptions::default()).unwrap());
    assert_eq!(of_colour(&there, "red"), [1, 2]);
}

#[test]
fn an_index_whose_making_is_called_off_is_taken_back_everywhere() {
    let [here, there] = openings();
    here.execute(CARS).unwrap();
    put(&there, &car(1, "red", 2000));
    let options = CreateIndexOptions { cancel: Cancel::new(), ..Default::default() };
    options.cancel.cancel();
    let error = here.create_index(&by_colour(), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    put(&there, &car(2, "red", 2000));
    assert!(there.table("cars").unwrap().index("by_colour").is_err());
}

/// Of two processes that make the same index at a time one does, the other says so.
#[test]
fn an_index_that_another_process_makes_is_left_to_it() {
    let [here, there] = openings();
    here.execute(CARS).unwrap();
    (0..1_000).for_each(|plate| put(&here, &car(plate, "red", 2000)));
    let (told, asked) = (there.clone(), Arc::new(AtomicI64::new(0)));
    let counted = asked.clone();
    let progress = move |_| {
        counted.fetch_add(1, Ordering::SeqCst);
        let error = told.create_index(&by_colour(), &CreateIndexOptions::default()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Conflict, "{error}");
    };
    let options =
        CreateIndexOptions { progress: Some(Arc::new(progress)), ..CreateIndexOptions::default() };
    assert!(here.create_index(&by_colour(), &options).unwrap());
    assert!(asked.load(Ordering::SeqCst) > 0);
    assert_eq!(of_colour(&there, "red").len(), 1_000);
}

/// Once a cluster acknowledged such a write when a majority of the copies had it.
#[test]
fn a_write_that_all_copies_must_have_is_refused() {
    let [store] = openings();
    store.execute(CARS).unwrap();
    let cars = store.table("cars").unwrap();
    let options = WriteOptions { acks: Some(Acks::All), ..WriteOptions::default() };
    let error = cars.put(&car(1, "red", 2000), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.message().contains("a majority"), "{error}");
    let options = BulkPutOptions { acks: Some(Acks::All), ..BulkPutOptions::default() };
    assert_eq!(store.load(&options).unwrap_err().kind(), ErrorKind::Unsupported);
    assert!(cars.get(&row! { "plate" => 1 }).unwrap().is_none());
}

/// Two processes change tables at the same time: neither waits for the other for ever.
#[test]
fn changes_of_tables_from_several_sides_go_through() {
    let stores: [Store; 3] = openings();
    stores[0].execute(CARS).unwrap();
    std::thread::scope(|scope| {
        for (number, store) in stores.iter().enumerate() {
            scope.spawn(move || {
                for round in 0..4 {
                    let table = format!("t{number}_{round}");
                    store
                        .execute(&format!(
                            "CREATE TABLE {table} (id LONG, v LONG, PRIMARY KEY (id));
                             CREATE INDEX by_v ON {table} (v);
                             ALTER TABLE {table} (ADD w LONG)"
                        ))
                        .unwrap();
                    if round % 2 == 0 {
                        store.execute(&format!("DROP TABLE {table}")).unwrap();
                    }
                }
            });
        }
    });
    let tables = ["cars", "t0_1", "t0_3", "t1_1", "t1_3", "t2_1", "t2_3"];
    for store in &stores {
        let names = || store.tables().iter().map(|it| it.path().to_owned()).collect::<Vec<_>>();
        wait_until("it knows the tables that there are", || names() == tables);
    }
}

/// The story of a bug: a batch of a cluster holds a thousand operations, but rows and pairs went in
/// batches of thousands. So whatever had more than a thousand could not be deleted.
#[test]
fn more_is_deleted_than_a_batch_of_a_cluster_holds() {
    let [store] = openings();
    store
        .execute(
            "CREATE TABLE logs (host STRING, n LONG, PRIMARY KEY (SHARD(host), n));
             CREATE TABLE logs.lines (line LONG, PRIMARY KEY (line))",
        )
        .unwrap();
    let log = |n: i64| row! { "host" => "a", "n" => n };
    let rows: Vec<Row> = (0..2_500).map(log).collect();
    let lines: Vec<Row> = (0..2_500).map(|n| log(n).with("line", 1)).collect();
    store.multi_put([("logs", rows), ("logs.lines", lines)], &BulkPutOptions::default()).unwrap();
    let options = DeleteOptions { relatives: vec!["logs".into()], ..DeleteOptions::default() };
    let lines = store.table("logs.lines").unwrap();
    assert_eq!(lines.delete_range(&row! { "host" => "a" }, &options).unwrap(), 5_000);
    assert_eq!(store.table("logs").unwrap().count().unwrap(), 0);

    let (pairs, parent) = (store.kv(), Key::of_major(["users"]));
    let mut many = Pairs::default();
    (0..2_500).for_each(|n| many.push(&format!("/users/-/{n}").parse().unwrap(), b"").unwrap());
    pairs.bulk_put([Ok(many)], &BulkPutOptions::default()).unwrap();
    let below = Depth::ParentAndDescendants;
    let deleted = pairs.delete_subtree(&parent, below, None, Durability::default());
    assert_eq!((deleted.unwrap(), pairs.count().unwrap()), (2_500, 0));
}
