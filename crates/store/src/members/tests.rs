use std::sync::atomic::AtomicUsize;

use tonnage_engine::{ErrorKind, MemoryEngine};
use tonnage_testkit::wait_until;

use super::*;

/// The lease is longer than a busy machine pauses: then a renewal is late, and none is lost.
const TIMES: MemberTimes = MemberTimes {
    look: Duration::from_millis(5),
    renew: Duration::from_millis(20),
    lease: Duration::from_secs(6),
    gone: Duration::from_secs(9),
    reread: Duration::from_secs(3_600),
};

/// For members of whom it is not asked whether they are in time.
const SHORT_TIMES: MemberTimes =
    MemberTimes { lease: Duration::from_millis(20), gone: Duration::from_millis(60), ..TIMES };

const LONG: Duration = Duration::from_secs(60);

fn engine() -> Arc<dyn Engine> {
    Arc::new(MemoryEngine::shared())
}

fn member(engine: &Arc<dyn Engine>) -> Members {
    Members::join_with(engine, TIMES).unwrap()
}

/// A member that takes every change over, and counts them.
fn following(engine: &Arc<dyn Engine>) -> (Members, Arc<AtomicUsize>) {
    let member = member(engine);
    let count = follow(&member);
    (member, count)
}

fn follow(member: &Members) -> Arc<AtomicUsize> {
    let count = Arc::new(AtomicUsize::new(0));
    let counted = count.clone();
    member.watch(Box::new(move || {
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(true)
    }));
    count
}

/// Waits until the thread of the only member has looked at the tables several times.
fn wait_for_looks(member: &Members) {
    let beat = || member.shared.rows.read().unwrap().members[0].0.beat;
    let first = beat();
    wait_until("three more beats", || beat() > first + 2);
}

fn notify_and_wait(member: &Members, patience: Duration) -> Result<()> {
    member.notify_and_wait(patience, Deadline::NONE, &|| false)
}

#[test]
fn whoever_changes_tables_waits_until_all_have_followed() {
    let engine = engine();
    let here = member(&engine);
    let others: Vec<_> = (0..3).map(|_| following(&engine)).collect();
    for round in 1..4 {
        notify_and_wait(&here, LONG).unwrap();
        assert!(others.iter().all(|(_, count)| count.load(Ordering::SeqCst) == round));
    }
}

#[test]
fn who_does_not_follow_is_named() {
    let engine = engine();
    let (here, there) = (member(&engine), member(&engine));
    let follows = Arc::new(AtomicBool::new(false));
    let answer = follows.clone();
    there.watch(Box::new(move || Ok(answer.load(Ordering::SeqCst))));
    let error = notify_and_wait(&here, Duration::from_millis(50)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert!(error.message().contains(&format!("process {}", std::process::id())), "{error}");
    let by = Deadline::after(Duration::from_millis(50));
    assert_eq!(here.notify_and_wait(LONG, by, &|| false).unwrap_err().kind(), ErrorKind::TimedOut);
    assert_eq!(
        here.notify_and_wait(LONG, Deadline::NONE, &|| true).unwrap_err().kind(),
        ErrorKind::Cancelled
    );
    follows.store(true, Ordering::SeqCst);
    notify_and_wait(&here, LONG).unwrap();
}

#[test]
fn a_member_that_was_closed_is_not_waited_for() {
    let engine = engine();
    let here = member(&engine);
    drop(member(&engine));
    assert_eq!(here.shared.rows.read().unwrap().members.len(), 1);
    notify_and_wait(&here, Duration::ZERO).unwrap();
}

/// As if its process had been killed: its row stays.
#[test]
fn a_member_that_died_is_waited_for_until_it_is_gone_and_has_not_written_since_long_before() {
    let engine = engine();
    let (here, _count) = following(&engine);
    let begun = Instant::now();
    let dead = member(&engine);
    assert!(dead.check().is_ok() && here.is_there(dead.id()).unwrap());
    notify_and_wait(&here, LONG).unwrap();
    assert!(begun.elapsed() >= TIMES.gone);
    assert_eq!(dead.check().unwrap_err().kind(), ErrorKind::Unavailable);
    assert!(!here.is_there(dead.id()).unwrap());
    assert!(here.check().is_ok(), "who renews its row may write");
}

/// The story of a bug: its row stayed for some time after others had gone on without it. If it woke
/// up just then it renewed the row, and wrote by tables that were out of date.
#[test]
fn whoever_goes_on_without_a_member_has_removed_its_row_by_then() {
    let engine = engine();
    let join = || Members::join_with(&engine, SHORT_TIMES).unwrap();
    let (here, asleep) = (join(), join());
    assert!(asleep.lease_end() <= Instant::now() + SHORT_TIMES.lease);
    notify_and_wait(&here, LONG).unwrap();
    asleep.shared.renew(&mut asleep.shared.own()).unwrap();
    assert!(asleep.check().is_err(), "it does not know what was changed");
    assert!(asleep.lease_end() <= Instant::now());
}

#[test]
fn a_member_that_was_taken_for_gone_writes_again_once_it_has_followed() {
    let engine = engine();
    let here = member(&engine);
    let member = member(&engine);
    let follows = Arc::new(AtomicBool::new(false));
    let answer = follows.clone();
    member.watch(Box::new(move || Ok(answer.load(Ordering::SeqCst))));
    let take_for_gone = || {
        if let Some(version) = here.shared.rows.read().unwrap().version_of(member.id()) {
            here.shared.rows.remove(member.id(), version).unwrap();
        }
        member.check().is_err()
    };
    wait_until("it is taken for gone", take_for_gone);
    wait_until("it is back", || here.is_there(member.id()).unwrap());
    assert!(member.check().is_err(), "it is there, and does not know what was changed meanwhile");
    follows.store(true, Ordering::SeqCst);
    wait_until("it follows", || member.check().is_ok());
}

/// Once such a member refused to write until it had read the catalog anew.
#[test]
fn a_renewal_that_got_no_answer_costs_nothing() {
    let engine = engine();
    let member = member(&engine);
    let stored = member.shared.rows.read().unwrap().members.remove(0);
    assert!(member.shared.rows.put(&stored.0, Some(stored.1)).unwrap().is_some());
    let count = follow(&member);
    wait_for_looks(&member);
    assert!(member.check().is_ok());
    assert_eq!(count.load(Ordering::SeqCst), 0);
}

/// Its process died between the change and the word about it.
#[test]
fn a_change_that_nobody_told_of_is_found_all_the_same() {
    let engine = engine();
    let times = MemberTimes { reread: TIMES.look, ..TIMES };
    let member = Members::join_with(&engine, times).unwrap();
    let count = follow(&member);
    wait_until("two readings", || count.load(Ordering::SeqCst) >= 2);
}

#[test]
fn a_member_that_changes_tables_has_nothing_to_follow_itself() {
    let engine = engine();
    let here = member(&engine);
    (0..5).for_each(|_| notify_and_wait(&here, LONG).unwrap());
    let count = follow(&here);
    wait_for_looks(&here);
    assert_eq!(count.load(Ordering::SeqCst), 0);
}
