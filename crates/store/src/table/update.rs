//! Changes of some columns of a row.

use std::time::{Duration, Instant};

use tonnage_engine::{Condition, Deadline, Error, Result, Rows, Slices};

use super::Table;
use crate::row::Row;
use crate::single_calls::{StoredRow, WriteOptions, WriteResult};

impl Table {
    /// Changes the columns that a row names, of the stored row with its key; the other columns
    /// stay. So does the expiry, unless the options give a time to live. Where there is no such row
    /// the result is [`WriteResult::ConditionFailed`] without a version.
    ///
    /// What others write at the same time to other columns is not lost: the row is read, changed,
    /// and written only if its version is still the same; else all begins anew.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{Row, Store, WriteOptions};
    ///
    /// let store = Store::open("memory:")?;
    /// store.execute("CREATE TABLE ships (name STRING, speed DOUBLE, draught DOUBLE,
    ///     PRIMARY KEY (name))")?;
    /// let ships = store.table("ships")?;
    /// let argo = Row::new().with("name", "ARGO");
    /// ships.put(&argo.clone().with("speed", 7.5).with("draught", 4.0), &WriteOptions::default())?;
    /// ships.update(&argo.clone().with("speed", 8.0), &WriteOptions::default())?;
    /// let stored = ships.get(&argo)?.expect("it is there").row;
    /// assert_eq!(stored, argo.with("speed", 8.0).with("draught", 4.0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Table::put`]; `Invalid` for a key that is not whole; `TimedOut`.
    pub fn update(&self, changes: &Row, options: &WriteOptions) -> Result<WriteResult> {
        self.update_if(changes, Condition::IfPresent, options)
    }

    /// The same if a condition holds of the stored row.
    ///
    /// # Errors
    /// As [`Table::update`]; `Invalid` for [`Condition::IfAbsent`], which leaves nothing to change.
    pub fn update_if(
        &self,
        changes: &Row,
        condition: Condition,
        options: &WriteOptions,
    ) -> Result<WriteResult> {
        options.check(self.store.engine.capability())?;
        if condition == Condition::IfAbsent {
            return Err(Error::invalid(
                "an update changes a row that exists: give another condition, or put the row",
            ));
        }
        let mut key = Vec::new();
        // A key that its column would have to round is the key of no row.
        if !self.entry.codec.lookup_key(changes, &mut key)? {
            return Ok(MISSING);
        }
        let keys: Slices = [&key[..]].into_iter().collect();
        let mut rows = Rows::new();
        // Once for all attempts, since the time of the deadline begins here.
        let deadline = options.terms().deadline;
        loop {
            let stored = self.stored(&*self.store.engine, &keys, deadline, &mut rows)?;
            let Some(stored) = stored else { return Ok(MISSING) };
            let version = stored.version;
            if !condition.holds(Some(version)) {
                return Ok(WriteResult::ConditionFailed { operation: 0, current: Some(version) });
            }
            let options =
                WriteOptions { timeout: time_left(deadline), ..with_kept_expiry(options, &stored) };
            // Another write in between changes the version, and this one is refused.
            let row = changed(stored.row, changes);
            let written = self.put_if_version(&row, version, &options)?;
            if written.is_stored() {
                return Ok(written);
            }
            deadline.check("others to write the row")?;
        }
    }
}

const MISSING: WriteResult = WriteResult::ConditionFailed { operation: 0, current: None };

/// A put without these would give the row the time to live of its table anew.
fn with_kept_expiry(options: &WriteOptions, stored: &StoredRow) -> WriteOptions {
    let has_expiry = options.ttl.is_some() || options.expires_at_ms.is_some();
    let kept = (!has_expiry || options.keep_ttl).then_some(stored.expires_at_ms);
    WriteOptions { expires_at_ms: kept.or(options.expires_at_ms), keep_ttl: false, ..*options }
}

/// What is left until then, and never zero, which is refused.
fn time_left(end: Deadline) -> Option<Duration> {
    let left = end.moment()?.saturating_duration_since(Instant::now());
    Some(left.max(Duration::from_nanos(1)))
}

fn changed(mut row: Row, changes: &Row) -> Row {
    changes.iter().for_each(|(name, value)| row.set(name, value.clone()));
    row
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::Store;

    fn ships() -> Table {
        let store = Store::open("memory:").unwrap();
        store
            .execute(
                "CREATE TABLE ships (id LONG, a LONG, b LONG, c LONG, PRIMARY KEY (id)) \
                 USING TTL 7 DAYS",
            )
            .unwrap();
        store.table("ships").unwrap()
    }

    fn ship(id: i64) -> Row {
        Row::new().with("id", id)
    }

    #[test]
    fn a_row_that_is_not_there_is_not_made() {
        let ships = ships();
        let changes = ship(1).with("a", 1_i64);
        assert_eq!(ships.update(&changes, &WriteOptions::default()).unwrap(), MISSING);
        assert_eq!(ships.get(&ship(1)).unwrap(), None);
        let absent = ships.update_if(&changes, Condition::IfAbsent, &WriteOptions::default());
        assert!(absent.unwrap_err().message().contains("put the row"));
    }

    #[test]
    fn another_version_is_left_as_it_is() {
        let ships = ships();
        let options = WriteOptions::default();
        let version = ships.put(&ship(1).with("a", 1_i64), &options).unwrap();
        let changes = ship(1).with("a", 2_i64);
        let other = Condition::IfVersion(version + 1);
        let refused = ships.update_if(&changes, other, &options).unwrap();
        let current = Some(version);
        assert_eq!(refused, WriteResult::ConditionFailed { operation: 0, current });
        let right = Condition::IfVersion(version);
        assert!(ships.update_if(&changes, right, &options).unwrap().is_stored());
    }

    #[test]
    fn the_expiry_stays_unless_a_new_one_is_given() {
        let ships = ships();
        let day = Duration::from_secs(86_400);
        let put = WriteOptions { ttl: Some(day), ..WriteOptions::default() };
        ships.put(&ship(1).with("a", 1_i64), &put).unwrap();
        let expiry = || ships.get(&ship(1)).unwrap().unwrap().expires_at_ms;
        let before = expiry();
        ships.update(&ship(1).with("a", 2_i64), &WriteOptions::default()).unwrap();
        assert_eq!(expiry(), before);
        let kept = WriteOptions { ttl: Some(3 * day), keep_ttl: true, ..WriteOptions::default() };
        ships.update(&ship(1).with("a", 3_i64), &kept).unwrap();
        assert_eq!(expiry(), before);
        let longer = WriteOptions { ttl: Some(3 * day), ..WriteOptions::default() };
        ships.update(&ship(1).with("a", 4_i64), &longer).unwrap();
        assert!(expiry() > before);
    }

    #[test]
    fn updates_of_several_threads_lose_nothing() {
        let ships = ships();
        ships.put(&ship(1), &WriteOptions::default()).unwrap();
        std::thread::scope(|scope| {
            for column in ["a", "b", "c"] {
                let ships = &ships;
                scope.spawn(move || {
                    for number in 1..=200_i64 {
                        let changes = ship(1).with(column, number);
                        assert!(
                            ships.update(&changes, &WriteOptions::default()).unwrap().is_stored()
                        );
                    }
                });
            }
        });
        let stored = ships.get(&ship(1)).unwrap().unwrap().row;
        assert_eq!(stored, ship(1).with("a", 200_i64).with("b", 200_i64).with("c", 200_i64));
    }

    proptest! {
        #[test]
        fn columns_that_are_not_named_stay(before: [Option<i64>; 3], changes: [Option<Option<i64>>; 3]) {
            let ships = ships();
            let names = ["a", "b", "c"];
            let mut row = ship(1);
            names.iter().zip(before).for_each(|(name, value)| row.set(name, value));
            ships.put(&row, &WriteOptions::default()).unwrap();
            let mut update = ship(1);
            for (name, change) in names.iter().zip(changes) {
                if let Some(value) = change {
                    update.set(name, value);
                    row.set(name, value);
                }
            }
            prop_assert!(ships.update(&update, &WriteOptions::default()).unwrap().is_stored());
            prop_assert_eq!(ships.get(&ship(1)).unwrap().unwrap().row, row);
        }
    }
}
