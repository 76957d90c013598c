//! Namespaces: names that lead the names of tables, as `sales:orders`.
//!
//! A table in one is a table whose name has a colon. So all that is kept are the names of the
//! namespaces, since one may have no table. They have a space of their own, with one shard key:
//!
//! ```text
//! namespaces, name in lower case    the name as it was given
//! ```

use tonnage_engine::{
    Condition, Durability, Engine, Error, ErrorKind, KeyPart, KeyShape, NEVER_MS, Projection,
    Ranges, Result, Rows, ScanOptions, SpaceId, WriteBatch,
};

use crate::codec::push_escaped;
use crate::schema::check_name;

const SPACE_NAME: &str = "namespaces";

/// The names of all namespaces, in order.
pub(crate) fn list(engine: &dyn Engine) -> Result<Vec<String>> {
    let Some(space) = find_space(engine)? else { return Ok(Vec::new()) };
    let mut ranges = Ranges::new();
    ranges.push_prefix(&prefix());
    let options = ScanOptions { projection: Projection::KeysAndValues, ..ScanOptions::default() };
    let mut scanner = engine.scan(space, ranges, options)?;
    let (mut names, mut rows) = (Vec::new(), Rows::new());
    while scanner.next_batch(&mut rows)? {
        for index in 0..rows.len() {
            let name = std::str::from_utf8(rows.values.get(index)).map_err(|_| damaged())?;
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

/// Makes a namespace. Returns whether there was none of that name.
pub(crate) fn create(engine: &dyn Engine, name: &str) -> Result<bool> {
    check_name(name, "namespace")?;
    if name.contains(':') {
        return Err(Error::invalid(format!(
            "the name of namespace '{name}' holds a colon, which separates it from tables"
        )));
    }
    let mut batch = WriteBatch::new(ensure_space(engine)?);
    batch.put(&key(name), name.as_bytes(), NEVER_MS, Condition::IfAbsent);
    Ok(engine.write(&batch, Durability::Fsync)?.version().is_some())
}

/// Forgets a namespace. Returns whether there was one of that name. Its tables stay.
pub(crate) fn remove(engine: &dyn Engine, name: &str) -> Result<bool> {
    let Some(space) = find_space(engine)? else { return Ok(false) };
    let mut batch = WriteBatch::new(space);
    batch.delete(&key(name), Condition::IfPresent);
    Ok(engine.write(&batch, Durability::Fsync)?.version().is_some())
}

fn find_space(engine: &dyn Engine) -> Result<Option<SpaceId>> {
    let found = engine.spaces()?.into_iter().find(|space| space.name == SPACE_NAME);
    Ok(found.map(|space| space.id))
}

fn ensure_space(engine: &dyn Engine) -> Result<SpaceId> {
    if let Some(space) = find_space(engine)? {
        return Ok(space);
    }
    match engine.create_space(SPACE_NAME, &KeyShape::new([KeyPart::Terminated])) {
        Err(error) if error.kind() == ErrorKind::Conflict => find_space(engine)?.ok_or(error),
        made => made,
    }
}

/// What all keys begin with: the shard key.
fn prefix() -> Vec<u8> {
    let mut key = Vec::new();
    push_escaped(SPACE_NAME.as_bytes(), &mut key);
    key
}

/// Names are equal whatever the case of their letters, as those of tables are.
fn key(name: &str) -> Vec<u8> {
    [&prefix()[..], name.to_ascii_lowercase().as_bytes()].concat()
}

#[cold]
fn damaged() -> Error {
    Error::corruption("the name of a namespace is damaged: run `check`, then restore from a copy")
}

#[cfg(test)]
mod tests {
    use crate::Store;

    #[test]
    fn namespaces_are_made_once_listed_in_order_and_survive_a_reopening() {
        let directory = tempfile::tempdir().unwrap();
        let url = directory.path().to_str().unwrap();
        let store = Store::open(url).unwrap();
        assert!(store.namespaces().unwrap().is_empty());
        assert!(!store.drop_namespace("nope").unwrap());
        for (name, is_new) in [("Sales", true), ("ops", true), ("SALES", false), ("é", true)] {
            assert_eq!(store.create_namespace(name).unwrap(), is_new, "{name}");
        }
        drop(store);
        let store = Store::open(url).unwrap();
        assert_eq!(store.namespaces().unwrap(), ["ops", "Sales", "é"]);
        assert!(store.drop_namespace("sales").unwrap() && !store.drop_namespace("sales").unwrap());
        assert_eq!(store.namespaces().unwrap(), ["ops", "é"]);
        assert!(store.check().unwrap().is_sound());
    }

    #[test]
    fn a_name_that_no_table_could_have_is_refused() {
        let store = Store::open("memory:").unwrap();
        for (name, part) in [("", "empty"), ("a.b", "point"), ("a:b", "colon"), ("a\n", "control")]
        {
            let error = store.create_namespace(name).unwrap_err();
            assert!(error.message().contains(part), "{name:?}: {error}");
        }
    }
}
