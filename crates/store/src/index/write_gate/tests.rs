//! Who waits for whom.

use super::*;

const ROWS: SpaceId = SpaceId(7);
const OTHERS: SpaceId = SpaceId(8);

/// Pushes rows, and is done.
fn push(load: &OpenLoad<'_>, with_entries: bool) {
    load.pushing().rows_of(ROWS, with_entries);
}

#[test]
fn writers_see_the_loads_that_hold_rows_of_their_table() {
    let gate = WriteGate::default();
    let load = gate.open_load();
    push(&load, false);
    assert!(!gate.enter().sees_loads(ROWS), "there are no indexes");
    push(&load, true);
    assert!(gate.enter().sees_loads(ROWS) && !gate.enter().sees_loads(OTHERS));
    assert!(gate.enter_alone().sees_loads(ROWS));
    drop(load);
    assert!(!gate.enter().sees_loads(ROWS));
}

#[test]
fn a_load_that_has_stored_what_it_held_is_in_nobodys_way() {
    let gate = WriteGate::default();
    let load = gate.open_load();
    push(&load, true);
    let first = load.begin_flush();
    push(&load, true);
    load.flushed(first);
    assert!(gate.enter().sees_loads(ROWS), "of the second push nobody knows whether it is stored");
    let second = load.begin_flush();
    load.flushed(second);
    assert!(!gate.enter().sees_loads(ROWS));
    let mut under_way = load.pushing();
    under_way.rows_of(ROWS, true);
    let third = load.begin_flush();
    load.flushed(third);
    assert!(gate.enter().sees_loads(ROWS), "nor of a push that is under way");
}

#[test]
fn a_writer_that_is_alone_keeps_the_others_out() {
    let gate = WriteGate::default();
    std::thread::scope(|scope| {
        let alone = gate.enter_alone();
        let writer = scope.spawn(|| drop(gate.enter()));
        std::thread::sleep(20 * LOOK_EVERY);
        assert!(!writer.is_finished());
        drop(alone);
        writer.join().unwrap();
    });
}

/// The story of a bug: CREATE INDEX waited minutes for a large load to flush, and DROP TABLE of any
/// other table waited for it, whatever its own patience.
#[test]
fn who_waits_for_loads_waits_for_others_no_longer_than_its_patience() {
    let gate = WriteGate::default();
    let load = gate.open_load();
    push(&load, false);
    let is_given_up = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let first = scope.spawn(|| {
            let give_up = || is_given_up.load(Ordering::SeqCst);
            gate.wait_for_loads(ROWS, Duration::from_secs(20), give_up)
        });
        while !load.flush_wanted() {
            std::thread::yield_now();
        }
        let began = Instant::now();
        let second = gate.wait_for_loads(OTHERS, 20 * LOOK_EVERY, || false);
        assert_eq!(second.unwrap_err().kind(), tonnage_engine::ErrorKind::Unavailable);
        assert!(began.elapsed() < Duration::from_secs(10), "{:?}", began.elapsed());
        is_given_up.store(true, Ordering::SeqCst);
        assert!(first.join().unwrap().is_err());
    });
}

#[test]
fn a_load_that_does_not_flush_is_not_waited_for_for_ever() {
    let gate = WriteGate::default();
    let load = gate.open_load();
    push(&load, false);
    let pushing = load.pushing();
    let error = gate.wait_for_loads(ROWS, Duration::from_millis(20), || false).unwrap_err();
    assert!(error.message().contains("bulk put"), "{error}");
    assert!(!load.flush_wanted(), "there is a push under way that knows nothing");
    drop(pushing);
    assert!(
        gate.wait_for_loads(ROWS, Duration::MAX, || true)
            .unwrap_err()
            .message()
            .contains("cancelled")
    );
    assert!(load.flush_wanted());
    load.flushed(load.begin_flush());
    assert!(!load.flush_wanted());
}

#[test]
fn a_load_is_waited_for_until_it_has_flushed() {
    let gate = WriteGate::default();
    std::thread::scope(|scope| {
        let load = gate.open_load();
        push(&load, false);
        let waiting = scope.spawn(|| gate.wait_for_loads(ROWS, Duration::from_secs(60), || false));
        while !load.flush_wanted() {
            std::thread::sleep(LOOK_EVERY);
        }
        assert!(!waiting.is_finished());
        load.flushed(load.begin_flush());
        waiting.join().unwrap().unwrap();
    });
}

#[test]
fn a_load_that_holds_nothing_of_the_table_is_not_waited_for() {
    let gate = WriteGate::default();
    let load = gate.open_load();
    push(&load, true);
    gate.wait_for_loads(OTHERS, Duration::from_secs(60), || false).unwrap();
    assert!(!load.flush_wanted());
}
