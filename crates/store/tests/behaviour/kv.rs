//! Key/value pairs.

use std::sync::Arc;
use std::time::Duration;

use rstest::rstest;
use tonnage::{
    BulkPutOptions, Condition, Depth, Direction, Durability, ErrorKind, Key, KeyRange, ManualClock,
    Pair, PairGetOptions, PairOperation, Pairs, Store, WriteOptions, WriteResult,
};

use crate::common::Backend::{self, Memory, RocksDb};
use crate::common::recorder::Recorder;
use crate::common::{assert_error, failure, row};

fn key(text: &str) -> Key {
    text.parse().unwrap()
}

fn now() -> WriteOptions {
    WriteOptions::default()
}

fn put_all(store: &Store, keys: &[&str]) {
    for text in keys {
        store.kv().put(&key(text), text.as_bytes(), &now()).unwrap();
    }
}

fn texts(pairs: &[Pair]) -> Vec<String> {
    pairs.iter().map(|pair| pair.key.to_string()).collect()
}

#[rstest]
fn a_value_that_was_put_can_be_got(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = on.open();
    let version = store
        .kv()
        .put(
            &key("/users/42/-/mail"),
            b"home",
            &WriteOptions { durability: Durability::Fsync, ..now() },
        )
        .unwrap();
    store.reopen();
    let expected =
        Pair { key: key("/users/42/-/mail"), value: b"home".to_vec(), version, expires_at_ms: 0 };
    assert_eq!(store.kv().get(&key("/users/42/-/mail")).unwrap(), Some(expected));
    for missing in ["/users/42", "/users/-/42/mail", "/users/42/mail", "/users/42/-/mail/x"] {
        assert_eq!(store.kv().get(&key(missing)).unwrap(), None, "{missing}");
    }
}

#[rstest]
fn many_groups_are_written_in_one_call_each_by_itself(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = on.open();
    let put = |text: &str, condition| PairOperation::Put {
        key: key(text),
        value: text.into(),
        condition,
    };
    let groups = [
        vec![put("/a/-/1", Condition::IfAbsent), put("/a/-/2", Condition::Always)],
        vec![put("/a/-/3", Condition::Always), put("/b/-/1", Condition::Always)],
        vec![put("/b/-/2", Condition::Always)],
        vec![],
        vec![put("/a/-/4", Condition::Always), put("/a/-/1", Condition::IfAbsent)],
        vec![PairOperation::Delete { key: key("/a/-/2"), condition: Condition::IfPresent }],
    ];
    let mut outcomes = store
        .kv()
        .write_many(&groups, &WriteOptions { durability: Durability::Fsync, ..now() })
        .into_iter();
    let first = outcomes.next().unwrap().unwrap().version().unwrap();
    assert_error(failure(outcomes.next().unwrap()), ErrorKind::Invalid, &["one batch each"]);
    assert!(outcomes.next().unwrap().unwrap().is_stored());
    assert_error(
        failure(outcomes.next().unwrap()),
        ErrorKind::Invalid,
        &["at least one operation"],
    );
    assert_eq!(
        outcomes.next().unwrap().unwrap(),
        WriteResult::ConditionFailed { operation: 1, current: Some(first) }
    );
    assert!(outcomes.next().unwrap().unwrap().is_stored());
    assert!(outcomes.next().is_none());
    store.reopen();
    let there = |text: &&str| store.kv().get(&key(text)).unwrap().is_some();
    let texts = ["/a/-/1", "/a/-/2", "/a/-/3", "/a/-/4", "/b/-/1", "/b/-/2"];
    assert_eq!(texts.into_iter().filter(there).collect::<Vec<_>>(), ["/a/-/1", "/b/-/2"]);
}

#[rstest]
fn conditions_are_kept(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let (kv, key) = (store.kv(), key("/a/-/b"));
    assert_eq!(
        kv.put_if_present(&key, b"0", &now()).unwrap(),
        WriteResult::ConditionFailed { operation: 0, current: None }
    );
    let first = kv.put_if_absent(&key, b"1", &now()).unwrap().version().unwrap();
    assert_eq!(
        kv.put_if_absent(&key, b"2", &now()).unwrap(),
        WriteResult::ConditionFailed { operation: 0, current: Some(first) }
    );
    let second = kv.put_if_version(&key, b"3", first, &now()).unwrap().version().unwrap();
    assert!(second > first);
    assert!(!kv.put_if_version(&key, b"4", first, &now()).unwrap().is_stored());
    assert!(kv.put_if_present(&key, b"5", &now()).unwrap().is_stored());
    assert!(!kv.delete_if_version(&key, second, &now()).unwrap().is_stored());
    let current = kv.get(&key).unwrap().unwrap();
    assert_eq!(current.value, b"5");
    assert!(kv.delete_if_version(&key, current.version, &now()).unwrap().is_stored());
    assert!(!kv.delete(&key, &now()).unwrap());
    kv.put(&key, b"6", &now()).unwrap();
    assert!(kv.delete(&key, &now()).unwrap());
}

#[rstest]
#[case(Depth::ParentOnly, &["/s/-/a"])]
#[case(Depth::ChildrenOnly, &["/s/-/a/1", "/s/-/a/2"])]
#[case(Depth::DescendantsOnly, &["/s/-/a/1", "/s/-/a/1/x", "/s/-/a/2", "/s/-/a/3/y"])]
#[case(Depth::ParentAndChildren, &["/s/-/a", "/s/-/a/1", "/s/-/a/2"])]
#[case(Depth::ParentAndDescendants, &["/s/-/a", "/s/-/a/1", "/s/-/a/1/x", "/s/-/a/2", "/s/-/a/3/y"])]
fn a_multi_get_looks_as_deep_as_asked_for(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] depth: Depth,
    #[case] expected: &[&str],
) {
    let store = on.open();
    let others = ["/s", "/s/-/a!", "/s/-/aa", "/s/-/b", "/t/-/a", "/s/a/-/1", "/r/-/a/1"];
    put_all(&store, &others);
    put_all(&store, &["/s/-/a", "/s/-/a/1", "/s/-/a/1/x", "/s/-/a/2", "/s/-/a/3/y"]);
    let pairs = store
        .kv()
        .get_subtree(&key("/s/-/a"), &PairGetOptions { depth, ..Default::default() })
        .unwrap();
    assert_eq!(texts(&pairs), expected);
    assert!(pairs.iter().all(|pair| pair.value == pair.key.to_string().as_bytes()));
}

#[rstest]
fn a_major_path_holds_all_its_pairs_and_no_others(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/s", "/s/-/a", "/s/-/a/1", "/s/t", "/s/t/-/a", "/sa"]);
    let all = PairGetOptions { depth: Depth::ParentAndDescendants, ..Default::default() };
    assert_eq!(
        texts(&store.kv().get_subtree(&key("/s"), &all).unwrap()),
        ["/s", "/s/-/a", "/s/-/a/1"]
    );
}

fn range(start: Option<(&str, bool)>, end: Option<(&str, bool)>, prefix: &str) -> KeyRange {
    let end_of = |end: Option<(&str, bool)>| end.map(|(text, inclusive)| (text.into(), inclusive));
    KeyRange { start: end_of(start), end: end_of(end), prefix: prefix.into() }
}

#[rstest]
#[case::inclusive(range(Some(("b", true)), Some(("d", true)), ""), &["b", "b/x", "c", "ca", "d"])]
#[case::exclusive(range(Some(("b", false)), Some(("d", false)), ""), &["c", "ca"])]
#[case::from(range(Some(("c", false)), None, ""), &["ca", "d", "é"])]
#[case::to(range(None, Some(("b", true)), ""), &["a", "b", "b/x"])]
#[case::prefix(range(None, None, "c"), &["c", "ca"])]
#[case::prefix_and_start(range(Some(("c", false)), None, "c"), &["ca"])]
#[case::nothing(range(Some(("d", true)), Some(("b", true)), ""), &[])]
#[case::prefix_outside(range(Some(("d", true)), None, "b"), &[])]
fn a_key_range_narrows_the_component_below_the_parent(
    #[values(Memory, RocksDb)] on: Backend,
    #[case] range: KeyRange,
    #[case] expected: &[&str],
) {
    let store = on.open();
    put_all(
        &store,
        &["/s", "/s/-/a", "/s/-/b", "/s/-/b/x", "/s/-/c", "/s/-/ca", "/s/-/d", "/s/-/é", "/t/-/c"],
    );
    let get = |depth| {
        let options = PairGetOptions { depth, range: Some(range.clone()), ..Default::default() };
        texts(&store.kv().get_subtree(&key("/s"), &options).unwrap())
    };
    let below: Vec<String> = expected.iter().map(|minor| format!("/s/-/{minor}")).collect();
    assert_eq!(get(Depth::DescendantsOnly), below);
    let children: Vec<String> =
        below.iter().filter(|text| !text.ends_with("/x")).cloned().collect();
    assert_eq!(get(Depth::ChildrenOnly), children);
    assert_eq!(get(Depth::ParentAndDescendants), [vec!["/s".to_string()], below].concat());
}

#[rstest]
fn a_range_with_two_major_keys_gives_the_range_under_each(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/s/-/a", "/s/-/b", "/s/-/c", "/t/-/b", "/t/-/c", "/t/-/d"]);
    let options = PairGetOptions {
        depth: Depth::ChildrenOnly,
        range: Some(range(Some(("b", true)), Some(("c", true)), "")),
        direction: Direction::Reverse,
        ..Default::default()
    };
    assert_eq!(bulk_get(&store, &["/t", "/s"], &options), ["/t/-/c", "/t/-/b", "/s/-/c", "/s/-/b"]);
}

fn bulk_get(store: &Store, keys: &[&str], options: &PairGetOptions) -> Vec<String> {
    let keys: Vec<Key> = keys.iter().map(|text| key(text)).collect();
    let mut found = Vec::new();
    for batch in store.kv().bulk_get(keys, options).unwrap() {
        let batch = batch.unwrap();
        found.extend((0..batch.len()).map(|index| batch.key(index).unwrap().to_string()));
    }
    found
}

#[rstest]
fn missing_keys_are_skipped_and_duplicates_merged(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/a", "/b", "/c"]);
    let mut found = bulk_get(&store, &["/c", "/x", "/a", "/a", "/c"], &PairGetOptions::default());
    found.sort();
    assert_eq!(found, ["/a", "/c"]);
}

#[rstest]
fn ordered_reads_answer_keys_in_the_order_given(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/a", "/b", "/c"]);
    let forward = PairGetOptions { direction: Direction::Forward, ..Default::default() };
    assert_eq!(bulk_get(&store, &["/c", "/x", "/a", "/b"], &forward), ["/c", "/a", "/b"]);
}

#[rstest]
fn a_limit_holds_below_each_key_and_the_parent_does_not_count(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.open();
    put_all(&store, &["/s", "/s/-/a", "/s/-/b", "/s/-/c", "/t/-/a", "/t/-/b"]);
    let options = PairGetOptions {
        depth: Depth::ParentAndDescendants,
        limit_per_key: Some(1),
        direction: Direction::Reverse,
        ..Default::default()
    };
    assert_eq!(bulk_get(&store, &["/s", "/t"], &options), ["/s", "/s/-/c", "/t/-/b"]);
}

#[rstest]
fn keys_only_leaves_the_values_out(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/s/-/a", "/s/-/b"]);
    let options =
        PairGetOptions { depth: Depth::ChildrenOnly, keys_only: true, ..Default::default() };
    let pairs = store.kv().get_subtree(&key("/s"), &options).unwrap();
    assert_eq!(texts(&pairs), ["/s/-/a", "/s/-/b"]);
    assert!(pairs.iter().all(|pair| pair.value.is_empty() && pair.version > 0));
}

#[rstest]
fn operations_under_one_major_path_are_atomic(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let kv = store.kv();
    let put = |text: &str, condition| PairOperation::Put {
        key: key(text),
        value: text.into(),
        condition,
    };
    let delete = |text: &str, condition| PairOperation::Delete { key: key(text), condition };
    let written = kv
        .write(&[put("/u/-/a", Condition::IfAbsent), put("/u/-/b", Condition::Always)], &now())
        .unwrap();
    let version = written.version().unwrap();
    let refused = kv
        .write(
            &[
                delete("/u/-/a", Condition::Always),
                put("/u/-/b", Condition::IfVersion(version + 1)),
            ],
            &now(),
        )
        .unwrap();
    assert_eq!(refused, WriteResult::ConditionFailed { operation: 1, current: Some(version) });
    assert_eq!(kv.count().unwrap(), 2);
    assert!(
        kv.write(&[delete("/u/-/a", Condition::IfPresent), put("/u", Condition::IfAbsent)], &now())
            .unwrap()
            .is_stored()
    );
    let all = PairGetOptions { depth: Depth::ParentAndDescendants, ..Default::default() };
    assert_eq!(texts(&kv.get_subtree(&key("/u"), &all).unwrap()), ["/u", "/u/-/b"]);

    let mixed =
        kv.write(&[put("/u/-/z", Condition::Always), put("/v/-/z", Condition::Always)], &now());
    assert_error(failure(mixed), ErrorKind::Invalid, &["shard key"]);
    assert_eq!(kv.get(&key("/u/-/z")).unwrap(), None);
    assert_error(failure(kv.write(&[], &now())), ErrorKind::Invalid, &["at least one operation"]);
}

#[rstest]
fn many_pairs_are_put_and_got_in_bulk(#[values(Memory, RocksDb)] on: Backend) {
    const PAIRS: u64 = 50_000;
    let store = on.open();
    let batch = |numbers: std::ops::Range<u64>| {
        let mut pairs = Pairs::new();
        for number in numbers {
            pairs
                .push_parts(&[&number.to_be_bytes()], &[b"v"], format!("value {number}").as_bytes())
                .unwrap();
        }
        pairs
    };
    let batches = (0..50).map(move |number| Ok(batch(number * 1_000..(number + 1) * 1_000)));
    let report = store.kv().bulk_put(batches, &BulkPutOptions::default()).unwrap();
    assert_eq!((report.total.read, report.total.inserted), (PAIRS, PAIRS));
    assert_eq!(store.kv().count().unwrap(), PAIRS);

    // Every second of the stored keys, and as many that are not there.
    let wanted = (0..50).map(move |number| {
        let mut pairs = Pairs::new();
        for number in (number * 2_000..(number + 1) * 2_000).step_by(2) {
            pairs.push_parts(&[&u64::to_be_bytes(number)], &[b"v"], b"").unwrap();
        }
        pairs
    });
    let mut found = Vec::new();
    for batch in store.kv().bulk_get_batches(wanted, &PairGetOptions::default()).unwrap() {
        let batch = batch.unwrap();
        found.extend(
            (0..batch.len()).map(|index| String::from_utf8(batch.value(index).to_vec()).unwrap()),
        );
    }
    found.sort();
    let mut expected: Vec<String> =
        (0..PAIRS).step_by(2).map(|number| format!("value {number}")).collect();
    expected.sort();
    assert_eq!(found, expected);
}

#[rstest]
fn existing_pairs_are_called_back_with_their_key(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/a/-/b"]);
    let mut pairs = Pairs::new();
    for text in ["/x", "/a/-/b", "/x"] {
        pairs.push(&key(text), b"new").unwrap();
    }
    let (recorder, options) = Recorder::default().watch(BulkPutOptions::default());
    store.kv().bulk_put([Ok(pairs)], &options).unwrap();
    assert_eq!(recorder.existing_places(), [(0, 1), (0, 2)]);
    let told = recorder.existing().into_iter().find(|entry| entry.position == 1).unwrap();
    assert_eq!((told.table.as_str(), told.key), ("", row! { "key" => "/a/-/b" }));
    assert_eq!(store.kv().get(&key("/a/-/b")).unwrap().unwrap().value, b"/a/-/b");
}

#[rstest]
fn an_endless_source_of_keys_may_be_dropped(#[values(Memory, RocksDb)] on: Backend) {
    let mut store = on.open();
    put_all(&store, &["/a", "/a/-/b"]);
    for depth in [Depth::ParentOnly, Depth::ChildrenOnly, Depth::ParentAndDescendants] {
        let mut read = store
            .kv()
            .bulk_get(std::iter::repeat(key("/a")), &PairGetOptions { depth, ..Default::default() })
            .unwrap();
        assert!(!read.next().unwrap().unwrap().is_empty());
        drop(read);
        store.reopen();
    }
}

#[rstest]
fn a_bad_key_is_named_after_the_pairs_of_the_keys_before_it(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.open();
    put_all(&store, &["/a", "/b"]);
    let nothing = Key::of_major(Vec::<Vec<u8>>::new());
    let mut read = store
        .kv()
        .bulk_get(vec![key("/a"), key("/b"), nothing.clone()], &PairGetOptions::default())
        .unwrap();
    assert_eq!(read.next().unwrap().unwrap().len(), 2);
    assert_error(failure(read.next().unwrap()), ErrorKind::Invalid, &["key 2", "major"]);
    assert!(read.next().is_none());
    assert_error(failure(store.kv().put(&nothing, b"", &now())), ErrorKind::Invalid, &["major"]);
}

#[rstest]
fn a_multi_delete_takes_what_a_multi_get_would_give(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/s", "/s/-/a", "/s/-/a/x", "/s/-/b", "/s/-/c", "/t/-/a"]);
    let kv = store.kv();
    let middle = range(Some(("b", true)), None, "");
    assert_eq!(
        kv.delete_subtree(&key("/s"), Depth::DescendantsOnly, Some(&middle), Durability::Write)
            .unwrap(),
        2
    );
    assert_eq!(
        kv.delete_subtree(&key("/s"), Depth::ChildrenOnly, None, Durability::Write).unwrap(),
        1
    );
    assert_eq!(
        kv.delete_subtree(&key("/s"), Depth::ParentAndDescendants, None, Durability::Fsync)
            .unwrap(),
        2
    );
    assert_eq!(
        kv.delete_subtree(&key("/s"), Depth::ParentAndDescendants, None, Durability::Write)
            .unwrap(),
        0
    );
    assert_eq!(kv.count().unwrap(), 1);
}

#[rstest]
fn keys_and_values_over_the_limits_are_refused_with_the_limits(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.open();
    let long = Key::of_major(["x".repeat(100_000)]);
    assert_error(
        failure(store.kv().put(&long, b"", &now())),
        ErrorKind::Invalid,
        &["65536", "1073741824"],
    );
    let large = vec![7; 5 << 20];
    store.kv().put(&key("/large"), &large, &now()).unwrap();
    assert_eq!(store.kv().get(&key("/large")).unwrap().unwrap().value, large);
}

#[rstest]
fn a_pair_is_gone_when_its_time_is_up(#[values(Memory, RocksDb)] on: Backend) {
    let clock = Arc::new(ManualClock::new(1_000));
    let store = on.open_with_clock(clock.clone());
    store
        .kv()
        .put(&key("/a"), b"", &WriteOptions { ttl: Some(Duration::from_millis(500)), ..now() })
        .unwrap();
    clock.set_ms(1_499);
    assert_eq!(store.kv().count().unwrap(), 1);
    clock.set_ms(1_500);
    assert_eq!(store.kv().get(&key("/a")).unwrap(), None);
}

#[rstest]
fn a_scan_gives_all_pairs_in_order(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/b", "/a/-/2", "/a", "/a/-/1"]);
    let scan = |direction| {
        let mut found = Vec::new();
        for batch in store.kv().scan(&PairGetOptions { direction, ..Default::default() }).unwrap() {
            let batch = batch.unwrap();
            found.extend((0..batch.len()).map(|index| batch.key(index).unwrap().to_string()));
        }
        found
    };
    assert_eq!(scan(Direction::Forward), ["/a", "/a/-/1", "/a/-/2", "/b"]);
    assert_eq!(scan(Direction::Reverse), ["/b", "/a/-/2", "/a/-/1", "/a"]);
}

#[test]
fn components_may_hold_any_text() {
    let store = Memory.open();
    let keys = [
        Key::new(["a/b", "-", "%"], ["", "\0", "\0\u{1}"]),
        Key::new(["a", "b", "-", "%"], ["", "\0", "\0\u{1}"]),
        Key::new([""], Vec::<String>::new()),
        Key::new(["", ""], [""]),
    ];
    for (number, key) in keys.iter().enumerate() {
        store.kv().put(key, &[number as u8], &now()).unwrap();
    }
    for (number, key) in keys.iter().enumerate() {
        let pair = store.kv().get(key).unwrap().unwrap();
        assert_eq!((pair.value, &pair.key), (vec![number as u8], key));
    }
    let scanned: Vec<_> = store
        .kv()
        .scan(&PairGetOptions::default())
        .unwrap()
        .map(|batch| batch.unwrap().len())
        .collect();
    assert_eq!(scanned.iter().sum::<usize>(), keys.len());
    for key in &keys[..2] {
        assert_eq!(key.to_string().parse::<Key>().unwrap(), *key);
    }
}

/// Keys that are not text came back with replacement characters: two of them became one, and
/// neither was found again.
#[rstest]
fn keys_of_any_bytes_are_read_back_and_found_again(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    let components: [&[u8]; 6] = [b"\xff", b"\xfe", b"\xff\x00", b"a\xc3", b"\xe9", "é".as_bytes()];
    let mut pairs = Pairs::new();
    for (number, component) in components.iter().enumerate() {
        pairs.push_parts(&[component], &[component], &[number as u8]).unwrap();
    }
    store.kv().bulk_put([Ok(pairs)], &BulkPutOptions::default()).unwrap();
    let (mut copy, mut found) = (Pairs::new(), 0);
    for batch in store.kv().scan(&PairGetOptions::default()).unwrap() {
        let batch = batch.unwrap();
        for index in 0..batch.len() {
            let key = batch.key(index).unwrap();
            let component = components[usize::from(batch.value(index)[0])];
            assert_eq!(
                (key.major(), key.minor()),
                (&[component.to_vec()][..], &[component.to_vec()][..])
            );
            assert_eq!(store.kv().get(&key).unwrap().unwrap().value, batch.value(index));
            assert_eq!(
                key.to_string().parse::<Key>().unwrap(),
                key,
                "its text stands for the same key"
            );
            copy.push_from(&batch, index);
            found += 1;
        }
    }
    assert_eq!(found, components.len());
    let other = on.open();
    other.kv().bulk_put([Ok(copy)], &BulkPutOptions::default()).unwrap();
    assert_eq!(
        other.kv().get(&Key::new([components[0]], [components[0]])).unwrap().unwrap().value,
        [0]
    );
}

/// The first batch of keys used to decide how deep children lie, so an empty one let all
/// descendants through.
#[rstest]
fn children_stay_children_after_an_empty_batch_of_keys(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/s", "/s/-/a", "/s/-/a/x", "/s/-/b"]);
    let mut keys = Pairs::new();
    keys.push(&key("/s"), b"").unwrap();
    let options = PairGetOptions {
        depth: Depth::ChildrenOnly,
        direction: Direction::Forward,
        ..Default::default()
    };
    let found = store.kv().bulk_get_batches([Pairs::new(), keys], &options).unwrap();
    assert_eq!(found.map(|batch| batch.unwrap().len()).sum::<usize>(), 2);
}

/// They used to be refused.
#[rstest]
fn children_of_keys_of_every_depth_come_together(
    #[values(Memory, RocksDb)] on: Backend,
    #[values(Direction::Unordered, Direction::Forward)] direction: Direction,
) {
    let store = on.open();
    put_all(&store, &["/s", "/s/-/a", "/s/-/a/x", "/s/-/a/x/deep", "/s/-/b", "/t/-/c", "/t/-/c/y"]);
    let options = PairGetOptions { depth: Depth::ChildrenOnly, direction, ..Default::default() };
    let mut found = bulk_get(&store, &["/s", "/s/-/a", "/t", "/t/-/c"], &options);
    found.sort();
    assert_eq!(found, ["/s/-/a", "/s/-/a/x", "/s/-/b", "/t/-/c", "/t/-/c/y"]);
}

/// They were passed over in silence.
#[test]
fn what_a_read_cannot_heed_is_refused() {
    let store = Memory.open();
    let range = Some(range(Some(("b", true)), None, ""));
    for options in [
        PairGetOptions { depth: Depth::ChildrenOnly, ..Default::default() },
        PairGetOptions { range: range.clone(), ..Default::default() },
    ] {
        assert_error(failure(store.kv().scan(&options)), ErrorKind::Invalid, &["bulk get"]);
    }
    let of_itself = PairGetOptions { range, ..Default::default() };
    assert_error(
        failure(store.kv().get_subtree(&key("/s"), &of_itself)),
        ErrorKind::Invalid,
        &["depth"],
    );
}

/// A read by depth found nothing, where a get said what is wrong.
#[rstest]
fn a_key_over_the_limit_is_refused_by_every_read(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/a", "/a/-/b"]);
    let long = Key::of_major(["x".repeat(100_000)]);
    for depth in [Depth::ParentOnly, Depth::ChildrenOnly, Depth::ParentAndDescendants] {
        let options = PairGetOptions { depth, ..Default::default() };
        assert_error(
            failure(store.kv().get_subtree(&long, &options)),
            ErrorKind::Invalid,
            &["key 0", "65536"],
        );
        let deleted = store.kv().delete_subtree(&long, depth, None, Durability::Write);
        assert_error(failure(deleted), ErrorKind::Invalid, &["65536"]);
        let mut read = store.kv().bulk_get(vec![key("/a"), long.clone()], &options).unwrap();
        assert!(
            !read.next().unwrap().unwrap().is_empty(),
            "the pairs of the key before it come first"
        );
    }
}

#[rstest]
fn a_source_of_keys_may_fail(#[values(Memory, RocksDb)] on: Backend) {
    let store = on.open();
    put_all(&store, &["/a", "/b"]);
    let keys =
        vec![Ok(key("/a")), Ok(key("/b")), Err(tonnage::Error::unavailable("the queue is closed"))];
    let mut found = 0;
    for batch in store.kv().try_bulk_get(keys, &PairGetOptions::default()).unwrap() {
        match batch {
            Ok(batch) => found += batch.len(),
            Err(error) => assert_error(error, ErrorKind::Unavailable, &["the queue is closed"]),
        }
    }
    assert_eq!(found, 2);
}

#[rstest]
fn batches_hold_as_many_pairs_as_asked_for_and_tell_when_they_expire(
    #[values(Memory, RocksDb)] on: Backend,
) {
    let store = on.open();
    let lives = WriteOptions { expires_at_ms: Some(u64::MAX - 1), ..now() };
    for number in 0..10 {
        let options = if number == 3 { lives } else { now() };
        store.kv().put(&key(&format!("/s/-/{number}")), b"v", &options).unwrap();
    }
    let options = PairGetOptions {
        depth: Depth::ChildrenOnly,
        direction: Direction::Forward,
        batch_rows_max: Some(4),
        ..Default::default()
    };
    let batches: Vec<_> =
        store.kv().bulk_get([key("/s")], &options).unwrap().map(|batch| batch.unwrap()).collect();
    assert_eq!(batches.iter().map(|batch| batch.len()).collect::<Vec<_>>(), [4, 4, 2]);
    let expiries: Vec<u64> = batches
        .iter()
        .flat_map(|batch| (0..batch.len()).map(|index| batch.expires_at_ms(index)))
        .collect();
    assert_eq!(expiries, [0, 0, 0, u64::MAX - 1, 0, 0, 0, 0, 0, 0]);
    assert_eq!(store.kv().get(&key("/s/-/3")).unwrap().unwrap().expires_at_ms, u64::MAX - 1);
}
