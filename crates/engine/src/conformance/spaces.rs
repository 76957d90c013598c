//! Creating, listing and dropping spaces.

use super::fixture::{Fixture, entries, kind, scan, shape};
use super::{Harness, fixture};
use crate::{
    Condition, Durability, ErrorKind, KeyPart, KeyShape, LoadOptions, Projection, Ranges, Rows,
    ScanOptions, Slices, WriteBatch,
};

/// A space is listed with its number, name and shape.
pub fn a_space_is_listed_with_its_name_and_shape(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let shape = KeyShape::new([KeyPart::Path, KeyPart::Fixed(8), KeyPart::Terminated]);
    let id = fixture.engine().create_space("über 'all'", &shape).unwrap();
    let spaces = fixture.engine().spaces().unwrap();
    let listed = spaces.iter().find(|space| space.id == id).expect("a new space is listed");
    assert_eq!((listed.name.as_str(), &listed.shape), ("über 'all'", &shape));
}

/// Spaces are listed by ascending number, whatever their names.
pub fn spaces_are_listed_by_ascending_number(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let mut made = vec![fixture.space];
    made.extend(["m", "z", "a"].map(|name| fixture.engine().create_space(name, &shape()).unwrap()));
    made.sort();
    let listed: Vec<_> = fixture.engine().spaces().unwrap().iter().map(|space| space.id).collect();
    assert_eq!(listed, made);
}

/// A second space of the same name is a conflict and changes nothing.
pub fn a_name_can_be_used_only_once(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    assert_eq!(kind(fixture.engine().create_space("fixture", &shape())), ErrorKind::Conflict);
    assert_eq!(fixture.engine().spaces().unwrap().len(), 1);
}

/// Whatever is asked of a dropped space is answered with `NotFound`.
pub fn a_dropped_space_is_not_found(harness: &mut dyn Harness) {
    let fixture = Fixture::new(harness);
    let (engine, space) = (fixture.engine(), fixture.space);
    let key = fixture::key("a", "1");
    fixture.put(&key, b"v");
    engine.drop_space(space).unwrap();

    let keys: Slices = [&key[..]].into_iter().collect();
    let mut batch = WriteBatch::new(space);
    batch.put(&key, b"v", 0, Condition::Always);
    let session = engine.load(LoadOptions::default()).unwrap();
    // Every way in is tried: an engine may keep the space at hand for one of them.
    assert_eq!(engine.spaces().unwrap(), []);
    assert_eq!(
        kind(engine.read(space, &keys, Projection::KeysAndValues, &mut Rows::new())),
        ErrorKind::NotFound
    );
    assert_eq!(
        kind(scan(engine, space, Ranges::whole_space(), ScanOptions::default())),
        ErrorKind::NotFound
    );
    assert_eq!(kind(engine.write(&batch, Durability::Write)), ErrorKind::NotFound);
    assert_eq!(kind(session.push(space, 0, &entries(&[(&key, b"v")]))), ErrorKind::NotFound);
    assert_eq!(
        kind(engine.delete_range(space, &Ranges::whole_space(), Durability::Write)),
        ErrorKind::NotFound
    );
    // Of two that drop a space only one may hear that it did.
    assert_eq!(kind(engine.drop_space(space)), ErrorKind::NotFound);
}

/// The name of a dropped space is free, the new space of that name is empty, and has a number of
/// its own.
pub fn a_dropped_name_starts_anew_under_a_new_number(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let dropped = fixture.space;
    fixture.fill(&["a", "b"], 3);
    fixture.engine().drop_space(dropped).unwrap();
    fixture.space = fixture.engine().create_space("fixture", &shape()).unwrap();
    assert_ne!(fixture.space, dropped);
    assert!(fixture.all_names().is_empty());
    assert_eq!(fixture.value(&fixture::key("a", "00")), None);
}

/// Dropping one space leaves the rows of its neighbours by number.
pub fn dropping_a_space_leaves_the_others(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let first = fixture.space;
    let second = fixture.engine().create_space("second", &shape()).unwrap();
    let third = fixture.engine().create_space("third", &shape()).unwrap();
    for space in [first, second, third] {
        fixture.space = space;
        fixture.fill(&["a"], 2);
    }
    fixture.engine().drop_space(second).unwrap();
    for space in [first, third] {
        fixture.space = space;
        assert_eq!(fixture.all_names(), ["a/00", "a/01"]);
    }
}

/// The same key in two spaces is two rows.
pub fn rows_of_one_space_are_unseen_in_another(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let key = fixture::key("a", "1");
    fixture.put(&key, b"here");
    let here = fixture.space;
    fixture.space = fixture.engine().create_space("elsewhere", &shape()).unwrap();
    assert_eq!(fixture.value(&key), None);
    assert!(fixture.all_names().is_empty());
    fixture.put(&key, b"there");
    fixture.delete(&fixture::key("a", "2"));
    fixture.space = here;
    assert_eq!(fixture.value(&key).as_deref(), Some(&b"here"[..]));
}

/// Spaces, and their absence, outlive the engine.
pub fn spaces_are_the_same_after_reopen(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let dropped = fixture.engine().create_space("dropped", &shape()).unwrap();
    let shape = KeyShape::new([KeyPart::Path, KeyPart::Fixed(300)]);
    fixture.engine().create_space("kept", &shape).unwrap();
    fixture.engine().drop_space(dropped).unwrap();
    let before = fixture.engine().spaces().unwrap();
    if fixture.reopen() {
        assert_eq!(fixture.engine().spaces().unwrap(), before);
    }
    assert_eq!(before.len(), 2);
}

/// The number of a dropped space is not given out again, not even if it was the last one and the
/// store was opened anew.
pub fn a_number_is_never_used_twice(harness: &mut dyn Harness) {
    let mut fixture = Fixture::new(harness);
    let mut used = vec![fixture.space];
    for _ in 0..3 {
        let id = fixture.engine().create_space("brief", &shape()).unwrap();
        assert!(!used.contains(&id), "{id:?} was used before");
        used.push(id);
        fixture.engine().drop_space(id).unwrap();
        fixture.reopen();
    }
}
