//! What openings make of spaces that no table has, where several processes use the store.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tonnage::{Durability, Error, ErrorKind, Row, Store, SystemClock, WriteOptions};
use tonnage_engine::{Deadline, Engine, KeyPart, KeyShape, MemoryEngine, SpaceId, WriteBatch};
use tonnage_testkit::wait_until;

use crate::common::row;
use crate::stepped::{EngineStep, SteppedEngine};

const CARS: &str = "CREATE TABLE cars (plate LONG, PRIMARY KEY (plate))";

/// An exchange between two processes is short; a test that waits so long has failed.
const LONG: Duration = Duration::from_secs(20);
/// After so long an opening has dropped what it found.
const SOON: Duration = Duration::from_millis(300);

fn open(engine: Arc<dyn Engine>) -> Store {
    Store::over(engine, Arc::new(SystemClock)).unwrap()
}

/// An engine with a store in it, and the space of the store's catalog.
fn stored() -> (Arc<MemoryEngine>, SpaceId) {
    let engine = Arc::new(MemoryEngine::shared());
    drop(open(engine.clone()));
    let catalog = space(&engine, "catalog");
    (engine, catalog)
}

fn space(engine: &MemoryEngine, name: &str) -> SpaceId {
    let mut spaces = engine.spaces().unwrap().into_iter();
    spaces.find(|space| space.name == name).unwrap().id
}

fn put(store: &Store, table: &str, plate: i64) {
    let row: Row = row! { "plate" => plate };
    store.table(table).unwrap().put(&row, &WriteOptions::default()).unwrap();
}

/// As a process sees it that opens the store by now.
fn count(engine: &Arc<MemoryEngine>, table: &str) -> u64 {
    open(engine.clone()).table(table).unwrap().count().unwrap()
}

/// Makes spaces that no table has.
fn leave_spaces(engine: &MemoryEngine, count: usize) {
    for number in 0..count {
        let name = format!("table:left{number}");
        engine.create_space(&name, &KeyShape::new([KeyPart::Fixed(4)])).unwrap();
    }
}

fn left_spaces(engine: &MemoryEngine) -> usize {
    let spaces = engine.spaces().unwrap().into_iter();
    spaces.filter(|space| space.name.starts_with("table:left")).count()
}

/// Another process in the middle of a statement: it is about to write to the catalog.
struct OtherProcess {
    goes_on: Arc<AtomicBool>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

impl OtherProcess {
    /// It has written so many times before.
    fn begin(
        engine: &Arc<MemoryEngine>,
        catalog: SpaceId,
        writes: usize,
        work: impl FnOnce(&Store) + Send + 'static,
    ) -> Self {
        let [is_there, goes_on] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let (reached, released) = (is_there.clone(), goes_on.clone());
        let (so_far, has_told) = (AtomicUsize::new(0), AtomicBool::new(false));
        let members = space(engine, "members");
        let engine = SteppedEngine::over(engine, move |step| {
            match step {
                EngineStep::Write(batch)
                    if batch.space(0) == catalog
                        && so_far.fetch_add(1, Ordering::SeqCst) == writes =>
                {
                    reached.store(true, Ordering::SeqCst);
                    wait_until("the other process goes on", || released.load(Ordering::SeqCst));
                }
                EngineStep::Write(batch) if batch.space(0) == members => {
                    has_told.store(released.load(Ordering::SeqCst), Ordering::SeqCst);
                }
                // It would wait until the opening has followed, which waits for it.
                EngineStep::Scan(space) if space == members && has_told.load(Ordering::SeqCst) => {
                    return Err(Error::unavailable("the others are not reached"));
                }
                _ => {}
            }
            Ok(())
        });
        let thread = std::thread::spawn(move || work(&open(engine)));
        wait_until("it is about to write", || is_there.load(Ordering::SeqCst));
        Self { goes_on, thread: Mutex::new(Some(thread)) }
    }

    /// It finishes, and is gone.
    fn end(&self) {
        self.goes_on.store(true, Ordering::SeqCst);
        if let Some(thread) = self.thread.lock().unwrap().take() {
            thread.join().unwrap();
        }
    }
}

/// The story of a bug: an opening listed the spaces, then read the rows, then saw that no other
/// process was there. But one had been: it had created the space before, wrote the row of the table
/// just after the rows were read, put its rows and left. The opening dropped the space of the
/// table.
#[test]
fn a_table_that_is_made_beside_an_opening_keeps_its_space() {
    let (engine, catalog) = stored();
    let other = OtherProcess::begin(&engine, catalog, 0, |store| {
        store.execute(CARS).unwrap();
        put(store, "cars", 1);
    });
    let store = open(SteppedEngine::over(&engine, move |step| {
        if matches!(step, EngineStep::Scanned(space) if space == catalog) {
            other.end();
        }
        Ok(())
    }));
    std::thread::sleep(SOON);
    drop(store);
    assert_eq!(count(&engine, "cars"), 1);
}

/// The story of a bug: the same, where a table takes the place of another. For a short time its
/// space has no row, and the process that does that may come and leave while an opening reads the
/// rows.
#[test]
fn a_table_that_takes_anothers_place_beside_an_opening_keeps_its_space() {
    let (engine, catalog) = stored();
    let before = open(engine.clone());
    before.execute(&format!("{CARS}; {}", CARS.replace("cars", "fresh"))).unwrap();
    put(&before, "fresh", 1);
    drop(before);
    let (inner, other) = (engine.clone(), OnceLock::new());
    let store = open(SteppedEngine::over(&engine, move |step| {
        match step {
            EngineStep::Scan(space) if space == catalog => {
                other.get_or_init(|| {
                    OtherProcess::begin(&inner, catalog, 1, |store| {
                        store.catalog().replace_table("cars", "fresh").unwrap();
                    })
                });
            }
            EngineStep::Scanned(space) if space == catalog => {
                other.get().into_iter().for_each(OtherProcess::end);
            }
            _ => {}
        }
        Ok(())
    }));
    std::thread::sleep(SOON);
    drop(store);
    assert_eq!(count(&engine, "cars"), 1);
}

/// The story of a bug: a cluster may store a row later whose writer got no answer, with the next
/// decision about it. An opening that did not see the row dropped the space that it names.
#[test]
fn a_table_whose_row_is_in_doubt_keeps_its_space() {
    let (engine, catalog) = stored();
    let in_doubt = Arc::new(Mutex::new(None::<WriteBatch>));
    let kept = in_doubt.clone();
    let other = open(SteppedEngine::over(&engine, move |step| match step {
        EngineStep::Write(batch) if batch.space(0) == catalog => {
            *kept.lock().unwrap() = Some(batch.clone());
            Err(Error::unavailable("it may or may not be stored"))
        }
        _ => Ok(()),
    }));
    assert_eq!(other.execute(CARS).unwrap_err().kind(), ErrorKind::Unavailable);
    drop(other);
    let inner = engine.clone();
    let store = open(SteppedEngine::over(&engine, move |step| {
        if let EngineStep::Settle = step
            && let Some(batch) = in_doubt.lock().unwrap().take()
        {
            inner.write(&batch, Durability::Fsync).unwrap();
        }
        Ok(())
    }));
    std::thread::sleep(SOON);
    put(&store, "cars", 1);
    drop(store);
    assert_eq!(count(&engine, "cars"), 1);
}

/// The story of a bug: an opening dropped such spaces before it announced that it is there. On a
/// cluster that may take a minute for each. It was taken for gone meanwhile, and could not write.
#[test]
fn an_opening_does_not_wait_for_its_drops() {
    let (engine, _) = stored();
    leave_spaces(&engine, 1);
    let goes_on = Arc::new(AtomicBool::new(false));
    let released = goes_on.clone();
    let began = Instant::now();
    let store = open(SteppedEngine::over(&engine, move |step| {
        if let EngineStep::Drop(_) = step {
            wait_until("the drop may go on", || released.load(Ordering::SeqCst));
        }
        Ok(())
    }));
    store.execute(CARS).unwrap();
    put(&store, "cars", 1);
    assert!(began.elapsed() < LONG && left_spaces(&engine) == 1);
    goes_on.store(true, Ordering::SeqCst);
    wait_until("the space is dropped", || left_spaces(&engine) == 0);
}

/// Waits as long as a disk or a cluster may take, and then has no time left.
fn slow_drop(deadline: Deadline) -> tonnage::Result<()> {
    let left = deadline.moment().map(|end| end.saturating_duration_since(Instant::now()));
    std::thread::sleep(left.unwrap_or(LONG));
    Err(Deadline::passed("the disk"))
}

/// The story of a bug: closing a store waited for a try at each of its late drops.
#[test]
fn who_closes_a_store_waits_for_one_late_drop_at_most() {
    let (engine, _) = stored();
    leave_spaces(&engine, 20);
    let is_dropping = Arc::new(AtomicBool::new(false));
    let began = is_dropping.clone();
    let store = open(SteppedEngine::over(&engine, move |step| match step {
        EngineStep::Drop(deadline) => {
            began.store(true, Ordering::SeqCst);
            slow_drop(deadline)
        }
        _ => Ok(()),
    }));
    wait_until("a drop runs", || is_dropping.load(Ordering::SeqCst));
    let closing = Instant::now();
    drop(store);
    assert!(closing.elapsed() < LONG, "it took {:?}", closing.elapsed());
    assert_eq!(left_spaces(&engine), 20);
}

/// The story of a bug: after a panic in a late drop no other was tried until the store was opened
/// again.
#[test]
fn a_late_drop_that_panics_is_tried_again() {
    let (engine, _) = stored();
    leave_spaces(&engine, 2);
    let tries = AtomicUsize::new(0);
    let _store = open(SteppedEngine::over(&engine, move |step| {
        let is_first =
            matches!(step, EngineStep::Drop(_)) && tries.fetch_add(1, Ordering::SeqCst) == 0;
        assert!(!is_first, "the first drop panics");
        Ok(())
    }));
    wait_until("the space is dropped", || left_spaces(&engine) == 0);
}
