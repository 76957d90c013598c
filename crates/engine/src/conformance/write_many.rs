//! Many independent batches in one call.

use super::Harness;
use super::fixture::{Fixture, START_MS, key};
use crate::header::NEVER_MS;
use crate::{
    Condition, Durability, Engine, ErrorKind, Projection, Rows, SpaceId, WriteBatch, WriteOutcome,
};

fn put(space: SpaceId, key: &[u8], value: &[u8], condition: Condition) -> WriteBatch {
    let mut batch = WriteBatch::new(space);
    batch.put(key, value, NEVER_MS, condition);
    batch
}

fn delete(space: SpaceId, key: &[u8], condition: Condition) -> WriteBatch {
    let mut batch = WriteBatch::new(space);
    batch.delete(key, condition);
    batch
}

/// No batches, no outcomes.
pub fn no_batches_have_no_outcomes(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    assert!(fixture.engine().write_many(&[], Durability::Fsync).is_empty());
}

/// Each batch has its outcome, in its place: one that is wrong, or whose condition does not hold,
/// leaves the others alone.
pub fn each_batch_has_an_outcome_of_its_own(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let space = fixture.space;
    let stored = fixture.put(&key("b", "1"), b"stored before");
    let mut mixed = WriteBatch::new(space);
    mixed.put(&key("a", "2"), b"", NEVER_MS, Condition::Always);
    mixed.put(&key("c", "2"), b"", NEVER_MS, Condition::Always);
    // Bad batches are among good ones: none may stop or shift the outcomes after it.
    let batches = [
        put(space, &key("a", "1"), b"first", Condition::Always),
        mixed,
        put(space, &key("b", "1"), b"refused", Condition::IfAbsent),
        put(SpaceId(u32::MAX - 7), &key("a", "3"), b"", Condition::Always),
        WriteBatch::new(space),
        put(space, &key("c", "1"), b"last", Condition::IfAbsent),
    ];
    let mut outcomes = fixture.engine().write_many(&batches, Durability::Write).into_iter();
    assert!(matches!(outcomes.next(), Some(Ok(WriteOutcome::Applied { .. }))));
    assert_eq!(outcomes.next().unwrap().unwrap_err().kind(), ErrorKind::Invalid);
    assert_eq!(
        outcomes.next().unwrap().unwrap(),
        WriteOutcome::Refused { operation: 0, current: Some(stored) }
    );
    assert_eq!(outcomes.next().unwrap().unwrap_err().kind(), ErrorKind::NotFound);
    assert!(matches!(outcomes.next(), Some(Ok(WriteOutcome::Applied { .. }))));
    assert!(matches!(outcomes.next(), Some(Ok(WriteOutcome::Applied { .. }))));
    assert!(outcomes.next().is_none());
    // Neither row of the mixed batch is there, though each by itself would have been sound.
    assert_eq!(fixture.all_names(), ["a/1", "b/1", "c/1"]);
    assert_eq!(fixture.value(&key("b", "1")).as_deref(), Some(&b"stored before"[..]));
}

/// Batches are judged and carried out in their order: each sees what those before it left of its
/// rows.
pub fn a_batch_sees_what_those_before_it_left(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let (space, row) = (fixture.space, key("a", "1"));
    let batches = [
        put(space, &row, b"first", Condition::IfAbsent),
        put(space, &row, b"refused", Condition::IfAbsent),
        delete(space, &row, Condition::IfPresent),
        put(space, &row, b"refused", Condition::IfPresent),
        put(space, &row, b"last", Condition::IfAbsent),
    ];
    let outcomes = fixture.engine().write_many(&batches, Durability::Write);
    let outcomes: Vec<WriteOutcome> = outcomes.into_iter().map(Result::unwrap).collect();
    let versions: Vec<u64> = outcomes.iter().filter_map(|outcome| outcome.version()).collect();
    assert!(
        versions.len() == 3 && versions.is_sorted_by(|before, after| before < after),
        "{outcomes:?}"
    );
    assert_eq!(outcomes[1], WriteOutcome::Refused { operation: 0, current: Some(versions[0]) });
    assert_eq!(outcomes[3], WriteOutcome::Refused { operation: 0, current: None });
    assert_eq!(fixture.value(&row).as_deref(), Some(&b"last"[..]));
    assert_eq!(fixture.version(&row), Some(versions[2]));
}

/// A row that an earlier batch put, and that has expired already, counts as absent.
pub fn a_row_put_by_an_earlier_batch_may_have_expired(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let (space, row) = (fixture.space, key("a", "1"));
    let mut expired = WriteBatch::new(space);
    expired.put(&row, b"expired", START_MS, Condition::Always);
    let batches = [expired, put(space, &row, b"lives", Condition::IfAbsent)];
    let outcomes = fixture.engine().write_many(&batches, Durability::Write);
    assert!(
        outcomes.iter().all(|outcome| matches!(outcome, Ok(WriteOutcome::Applied { .. }))),
        "{outcomes:?}"
    );
    assert_eq!(fixture.value(&row).as_deref(), Some(&b"lives"[..]));
}

/// Whatever durability is asked for, batches of many shard keys are all there afterwards.
pub fn many_batches_are_the_same_after_reopen(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    for (round, durability) in
        [Durability::None, Durability::Write, Durability::Fsync].into_iter().enumerate()
    {
        let row = |number: usize| key(&format!("g{number:03}"), &round.to_string());
        let batches: Vec<WriteBatch> = (0..200)
            .map(|number| put(fixture.space, &row(number), &row(number), Condition::IfAbsent))
            .collect();
        let outcomes = fixture.engine().write_many(&batches, durability);
        assert!(outcomes.iter().all(|outcome| matches!(outcome, Ok(WriteOutcome::Applied { .. }))));
    }
    fixture.engine().sync().unwrap();
    for _ in 0..2 {
        assert_eq!(fixture.all_names().len(), 600);
        assert_eq!(fixture.value(&key("g077", "1")), Some(key("g077", "1")));
        fixture.reopen();
    }
}

/// Calls that name the same rows in opposite orders do not wait for each other for ever, and no
/// step is lost.
pub fn calls_in_opposite_orders_lose_nothing(harness: &mut dyn Harness) {
    const ROWS: usize = 12;
    const STEPS: u64 = 40;
    let fixture = Fixture::new(harness);
    let (engine, space) = (fixture.engine(), fixture.space);
    let rows: Vec<Vec<u8>> = (0..ROWS).map(|row| key(&format!("g{row}"), "count")).collect();
    for row in &rows {
        fixture.put(row, &0u64.to_le_bytes());
    }
    let backwards: Vec<Vec<u8>> = rows.iter().rev().cloned().collect();
    std::thread::scope(|threads| {
        for order in [&rows, &backwards, &rows] {
            threads.spawn(move || (0..STEPS).for_each(|_| count_up(engine, space, order)));
        }
    });
    for row in &rows {
        assert_eq!(fixture.value(row), Some((3 * STEPS).to_le_bytes().to_vec()));
    }
}

/// Adds one to each row, and repeats those that another writer changed meanwhile.
fn count_up(engine: &dyn Engine, space: SpaceId, rows: &[Vec<u8>]) {
    let mut rest: Vec<&[u8]> = rows.iter().map(Vec::as_slice).collect();
    while !rest.is_empty() {
        let mut found = Rows::new();
        engine
            .read(space, &rest.iter().copied().collect(), Projection::KeysAndValues, &mut found)
            .unwrap();
        let step = |(index, row): (usize, &&[u8])| {
            let count = u64::from_le_bytes(found.values.get(index).try_into().unwrap());
            put(space, row, &(count + 1).to_le_bytes(), Condition::IfVersion(found.versions[index]))
        };
        let batches: Vec<WriteBatch> = rest.iter().enumerate().map(step).collect();
        let outcomes = engine.write_many(&batches, Durability::Write);
        let mut refused = outcomes.into_iter().map(|outcome| outcome.unwrap().version().is_none());
        rest.retain(|_| refused.next().unwrap());
    }
}
