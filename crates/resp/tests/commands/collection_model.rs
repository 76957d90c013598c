//! Random commands on hashes, sets, sorted sets and lists, against plain collections of Rust.
//!
//! Each runs on three stores: one keeps collections whole, one gives their members entries of their
//! own from the first one on, one does so from some bytes on.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use tonnage::CollectionBatch;

use crate::common::Clients;

/// From how many bytes on members are entries of their own.
const BOUNDS: [usize; 3] = [usize::MAX, 0, 70];
const KEYS: [&str; 3] = ["a", "b", "c"];

#[derive(Clone, Debug, PartialEq)]
enum Value {
    Hash(BTreeMap<String, i64>),
    Set(BTreeSet<String>),
    Sorted(Vec<(i64, String)>),
    List(Vec<String>),
}

impl Value {
    fn is_empty(&self) -> bool {
        match self {
            Value::Hash(fields) => fields.is_empty(),
            Value::Set(members) => members.is_empty(),
            Value::Sorted(members) => members.is_empty(),
            Value::List(elements) => elements.is_empty(),
        }
    }

    /// How many entries it has where it is spread.
    fn entries(&self) -> usize {
        match self {
            Value::Hash(fields) => fields.len(),
            Value::Set(members) => members.len(),
            Value::Sorted(members) => 2 * members.len(),
            Value::List(elements) => elements.len(),
        }
    }
}

/// What the keys hold, and when they expire.
#[derive(Clone, Debug, Default, PartialEq)]
struct Model {
    keys: BTreeMap<&'static str, (Value, Option<u64>)>,
    now_ms: u64,
}

#[derive(Clone, Debug)]
enum Action {
    Hset(Vec<(u8, i64)>),
    Hdel(Vec<u8>),
    Hincrby(u8, i64),
    Hgetall,
    Hget(u8),
    Sadd(Vec<u8>),
    Srem(Vec<u8>),
    Sismember(u8),
    Smembers,
    Zadd(Vec<(i64, u8)>),
    Zrem(Vec<u8>),
    Zincrby(i64, u8),
    Zrange(i64, i64, bool),
    Zrangebyscore(i64, i64, bool),
    Zrank(u8, bool),
    Zcount(i64, i64),
    Zremrangebyrank(i64, i64),
    Zremrangebyscore(i64, i64),
    Zpop(u64, bool),
    Push(Vec<u8>, bool),
    Pop(u64, bool),
    Lrange(i64, i64),
    Lindex(i64),
    Lset(i64, u8),
    Ltrim(i64, i64),
    Lrem(i64, u8),
    Linsert(u8, u8, bool),
    Move(&'static str, bool, bool),
    Length,
    Delete,
    Expire(u64),
    Persist,
    Rename(&'static str),
    Copy(&'static str),
    TurnClock(u64),
}

fn action() -> impl Strategy<Value = Action> {
    let (name, place) = (|| 0..9_u8, || -6..7_i64);
    let names = move || proptest::collection::vec(name(), 1..5);
    let fields = proptest::collection::vec((name(), place()), 1..6);
    let scores = proptest::collection::vec((place(), name()), 1..6);
    let key = || proptest::sample::select(&KEYS[..]);
    let of_hashes = prop_oneof![
        4 => fields.prop_map(Action::Hset),
        2 => names().prop_map(Action::Hdel),
        1 => (name(), place()).prop_map(|(name, by)| Action::Hincrby(name, by)),
        2 => Just(Action::Hgetall),
        1 => name().prop_map(Action::Hget),
    ];
    let of_sets = prop_oneof![
        3 => names().prop_map(Action::Sadd),
        2 => names().prop_map(Action::Srem),
        1 => name().prop_map(Action::Sismember),
        2 => Just(Action::Smembers),
    ];
    let of_sorted = prop_oneof![
        6 => scores.prop_map(Action::Zadd),
        2 => names().prop_map(Action::Zrem),
        1 => (place(), name()).prop_map(|(by, name)| Action::Zincrby(by, name)),
        2 => (place(), place(), any::<bool>()).prop_map(|(a, b, r)| Action::Zrange(a, b, r)),
        2 => (place(), place(), any::<bool>()).prop_map(|(a, b, r)| Action::Zrangebyscore(a, b, r)),
        1 => (name(), any::<bool>()).prop_map(|(name, r)| Action::Zrank(name, r)),
        1 => (place(), place()).prop_map(|(a, b)| Action::Zcount(a, b)),
        1 => (place(), place()).prop_map(|(a, b)| Action::Zremrangebyrank(a, b)),
        1 => (place(), place()).prop_map(|(a, b)| Action::Zremrangebyscore(a, b)),
        1 => (0..4_u64, any::<bool>()).prop_map(|(count, highest)| Action::Zpop(count, highest)),
    ];
    let of_lists = prop_oneof![
        6 => (names(), any::<bool>()).prop_map(|(names, front)| Action::Push(names, front)),
        2 => (0..4_u64, any::<bool>()).prop_map(|(count, front)| Action::Pop(count, front)),
        2 => (place(), place()).prop_map(|(a, b)| Action::Lrange(a, b)),
        1 => place().prop_map(Action::Lindex),
        1 => (place(), name()).prop_map(|(index, name)| Action::Lset(index, name)),
        1 => (place(), place()).prop_map(|(a, b)| Action::Ltrim(a, b)),
        1 => (-2..3_i64, name()).prop_map(|(count, name)| Action::Lrem(count, name)),
        1 => (name(), name(), any::<bool>()).prop_map(|(p, n, behind)| Action::Linsert(p, n, behind)),
        1 => (key(), any::<bool>(), any::<bool>()).prop_map(|(to, a, b)| Action::Move(to, a, b)),
    ];
    let of_keys = prop_oneof![
        2 => Just(Action::Length),
        1 => Just(Action::Delete),
        1 => (1..300_u64).prop_map(Action::Expire),
        1 => Just(Action::Persist),
        1 => key().prop_map(Action::Rename),
        1 => key().prop_map(Action::Copy),
        1 => (1..200_u64).prop_map(Action::TurnClock),
    ];
    prop_oneof![2 => of_hashes, 1 => of_sets, 2 => of_sorted, 2 => of_lists, 1 => of_keys]
}

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";

fn bulk(text: impl ToString) -> String {
    let text = text.to_string();
    format!("${}\r\n{text}\r\n", text.len())
}

fn integer(number: impl ToString) -> String {
    format!(":{}\r\n", number.to_string())
}

fn array<T: ToString>(texts: impl IntoIterator<Item = T>) -> String {
    let texts: Vec<String> = texts.into_iter().map(bulk).collect();
    format!("*{}\r\n{}", texts.len(), texts.concat())
}

fn m(name: u8) -> String {
    format!("member{name}")
}

fn words(names: &[u8]) -> String {
    names.iter().map(|name| format!(" {}", m(*name))).collect()
}

/// Places from the end, as a half-open range.
fn bounds(first: i64, last: i64, len: usize) -> std::ops::Range<usize> {
    let at = |place: i64| if place < 0 { place + len as i64 } else { place };
    let (first, last) = (at(first).max(0), at(last).min(len as i64 - 1));
    if first > last { 0..0 } else { first as usize..last as usize + 1 }
}

/// Sets what is wanted of a value of a kind; the value itself where the key has another one.
macro_rules! held {
    ($model:expr, $key:expr, $kind:ident) => {
        match $model.keys.get($key).cloned() {
            None => Default::default(),
            Some((Value::$kind(held), _)) => held,
            Some(_) => return WRONG_TYPE.into(),
        }
    };
}

impl Model {
    fn expire(&mut self) {
        let now_ms = self.now_ms;
        self.keys.retain(|_, (_, at_ms)| at_ms.is_none_or(|at_ms| at_ms > now_ms));
    }

    fn put(&mut self, key: &'static str, value: Value) {
        let expiry = self.keys.remove(key).and_then(|(_, expiry)| expiry);
        if !value.is_empty() {
            self.keys.insert(key, (value, expiry));
        }
    }

    /// Carries an action out, and tells the reply.
    fn apply(&mut self, key: &'static str, action: &Action) -> String {
        match action {
            Action::Hset(_) | Action::Hdel(_) | Action::Hincrby(..) => self.hash(key, action),
            Action::Hgetall | Action::Hget(_) => self.hash(key, action),
            Action::Sadd(_) | Action::Srem(_) | Action::Sismember(_) | Action::Smembers => {
                self.set(key, action)
            }
            Action::Push(..) | Action::Pop(..) | Action::Lrange(..) | Action::Lindex(_) => {
                self.list(key, action)
            }
            Action::Lset(..) | Action::Ltrim(..) | Action::Lrem(..) | Action::Linsert(..) => {
                self.list(key, action)
            }
            Action::Move(to, from_front, to_front) => {
                let mut from: Vec<String> = held!(self, key, List);
                if from.is_empty() {
                    return "$-1\r\n".into();
                }
                let into: Vec<String> = held!(self, to, List);
                if *to == key && into.len() == 1 {
                    return bulk(&into[0]);
                }
                let element = if *from_front { from.remove(0) } else { from.pop().unwrap() };
                self.put(key, Value::List(from));
                let mut into: Vec<String> = held!(self, to, List);
                into.insert(if *to_front { 0 } else { into.len() }, element.clone());
                self.put(to, Value::List(into));
                bulk(element)
            }
            Action::Length | Action::Delete | Action::Expire(_) | Action::Persist => {
                self.key(key, action)
            }
            Action::Rename(_) | Action::Copy(_) | Action::TurnClock(_) => self.key(key, action),
            _ => self.sorted(key, action),
        }
    }

    fn hash(&mut self, key: &'static str, action: &Action) -> String {
        let mut held: BTreeMap<String, i64> = held!(self, key, Hash);
        let reply = match action {
            Action::Hset(fields) => {
                let mut set = |(name, value): &(u8, i64)| held.insert(m(*name), *value).is_none();
                integer(fields.iter().map(|field| usize::from(set(field))).sum::<usize>())
            }
            Action::Hdel(names) => {
                let mut delete = |name: &u8| usize::from(held.remove(&m(*name)).is_some());
                integer(names.iter().map(&mut delete).sum::<usize>())
            }
            Action::Hincrby(name, by) => {
                let value = held.entry(m(*name)).or_default();
                *value += by;
                integer(*value)
            }
            Action::Hget(name) => held.get(&m(*name)).map_or("$-1\r\n".into(), bulk),
            _ => {
                return array(
                    held.iter().flat_map(|(name, value)| [name.clone(), value.to_string()]),
                );
            }
        };
        self.put(key, Value::Hash(held));
        reply
    }

    fn set(&mut self, key: &'static str, action: &Action) -> String {
        let mut held: BTreeSet<String> = held!(self, key, Set);
        let reply = match action {
            Action::Sadd(names) => {
                integer(names.iter().filter(|name| held.insert(m(**name))).count())
            }
            Action::Srem(names) => {
                integer(names.iter().filter(|name| held.remove(&m(**name))).count())
            }
            Action::Sismember(name) => integer(u8::from(held.contains(&m(*name)))),
            _ => return array(held),
        };
        self.put(key, Value::Set(held));
        reply
    }

    fn sorted(&mut self, key: &'static str, action: &Action) -> String {
        let mut held: Vec<(i64, String)> = held!(self, key, Sorted);
        let within = |low: i64, high: i64| move |score: i64| low <= score && score <= high;
        let shown = |some: &[(i64, String)], is_reverse: bool| {
            let mut some = some.to_vec();
            if is_reverse {
                some.reverse();
            }
            array(some.into_iter().flat_map(|(score, name)| [name, score.to_string()]))
        };
        let place = |held: &[(i64, String)], name: u8| held.iter().position(|one| one.1 == m(name));
        let reply = match action {
            Action::Zadd(members) => {
                let mut added = 0;
                for (score, name) in members {
                    added += usize::from(place(&held, *name).is_none());
                    held.retain(|one| one.1 != m(*name));
                    held.push((*score, m(*name)));
                }
                integer(added)
            }
            Action::Zrem(names) => {
                let before = held.len();
                held.retain(|one| !names.iter().any(|name| one.1 == m(*name)));
                integer(before - held.len())
            }
            Action::Zincrby(by, name) => {
                let sum = place(&held, *name).map_or(0, |at| held.remove(at).0) + by;
                held.push((sum, m(*name)));
                bulk(sum)
            }
            Action::Zrange(first, last, is_reverse) => {
                if *is_reverse {
                    held.reverse();
                }
                return shown(&held[bounds(*first, *last, held.len())], false);
            }
            Action::Zrangebyscore(low, high, is_reverse) => {
                held.retain(|one| within(*low, *high)(one.0));
                return shown(&held, *is_reverse);
            }
            Action::Zrank(name, is_reverse) => {
                let rank = place(&held, *name);
                let rank = rank.map(|at| if *is_reverse { held.len() - 1 - at } else { at });
                return rank.map_or("$-1\r\n".into(), integer);
            }
            Action::Zcount(low, high) => {
                return integer(held.iter().filter(|one| within(*low, *high)(one.0)).count());
            }
            Action::Zremrangebyrank(first, last) => {
                integer(held.drain(bounds(*first, *last, held.len())).count())
            }
            Action::Zremrangebyscore(low, high) => {
                let before = held.len();
                held.retain(|one| !within(*low, *high)(one.0));
                integer(before - held.len())
            }
            Action::Zpop(count, is_highest) => {
                let count = (*count as usize).min(held.len());
                let some = if *is_highest { held.len() - count..held.len() } else { 0..count };
                let popped: Vec<_> = held.drain(some).collect();
                shown(&popped, *is_highest)
            }
            other => panic!("{other:?}"),
        };
        held.sort();
        self.put(key, Value::Sorted(held));
        reply
    }

    fn list(&mut self, key: &'static str, action: &Action) -> String {
        let mut held: Vec<String> = held!(self, key, List);
        let reply = match action {
            Action::Push(names, is_front) => {
                for name in names {
                    held.insert(if *is_front { 0 } else { held.len() }, m(*name));
                }
                integer(held.len())
            }
            Action::Pop(_, _) if held.is_empty() => "*-1\r\n".into(),
            Action::Pop(count, is_front) => {
                let count = (*count as usize).min(held.len());
                let some = if *is_front { 0..count } else { held.len() - count..held.len() };
                let mut popped: Vec<String> = held.drain(some).collect();
                if !is_front {
                    popped.reverse();
                }
                array(popped)
            }
            Action::Lrange(first, last) => array(&held[bounds(*first, *last, held.len())]),
            Action::Lindex(index) => {
                let at = if *index < 0 { index + held.len() as i64 } else { *index };
                let found = usize::try_from(at).ok().and_then(|at| held.get(at));
                found.map_or("$-1\r\n".into(), bulk)
            }
            Action::Lset(_, _) if held.is_empty() => "-ERR no such key\r\n".into(),
            Action::Lset(index, name) => {
                let at = if *index < 0 { index + held.len() as i64 } else { *index };
                match usize::try_from(at).ok().and_then(|at| held.get_mut(at)) {
                    Some(element) => {
                        *element = m(*name);
                        "+OK\r\n".into()
                    }
                    None => "-ERR index out of range\r\n".into(),
                }
            }
            Action::Ltrim(first, last) => {
                held = held[bounds(*first, *last, held.len())].to_vec();
                "+OK\r\n".into()
            }
            Action::Lrem(count, name) => {
                let mut at: Vec<usize> =
                    (0..held.len()).filter(|at| held[*at] == m(*name)).collect();
                if *count < 0 {
                    at.reverse();
                }
                at.truncate(if *count == 0 { usize::MAX } else { count.unsigned_abs() as usize });
                at.sort_unstable();
                at.iter().rev().for_each(|at| drop(held.remove(*at)));
                integer(at.len())
            }
            Action::Linsert(..) if held.is_empty() => integer(0),
            Action::Linsert(pivot, name, is_behind) => {
                match held.iter().position(|element| *element == m(*pivot)) {
                    Some(at) => {
                        held.insert(at + usize::from(*is_behind), m(*name));
                        integer(held.len())
                    }
                    None => integer(-1),
                }
            }
            other => panic!("{other:?}"),
        };
        self.put(key, Value::List(held));
        reply
    }

    fn key(&mut self, key: &'static str, action: &Action) -> String {
        let held = self.keys.get(key).cloned();
        match (action, held) {
            (Action::Length, None) => "+none\r\n".into(),
            (Action::Length, Some((value, _))) => integer(match value {
                Value::Sorted(members) => members.len(),
                other => other.entries(),
            }),
            (Action::Delete, held) => {
                self.keys.remove(key);
                integer(u8::from(held.is_some()))
            }
            (Action::Expire(ms), Some((value, _))) => {
                self.keys.insert(key, (value, Some(self.now_ms + ms)));
                integer(1)
            }
            (Action::Persist, Some((value, expiry))) => {
                self.keys.insert(key, (value, None));
                integer(u8::from(expiry.is_some()))
            }
            (Action::Expire(_) | Action::Persist, None) => integer(0),
            (Action::Rename(_), None) => "-ERR no such key\r\n".into(),
            (Action::Rename(to), Some(held)) => {
                self.keys.remove(key);
                self.keys.insert(to, held);
                "+OK\r\n".into()
            }
            (Action::Copy(to), _) if *to == key => {
                "-ERR source and destination objects are the same\r\n".into()
            }
            (Action::Copy(to), Some(held)) => {
                self.keys.insert(to, held);
                integer(1)
            }
            (Action::Copy(_), None) => integer(0),
            (Action::TurnClock(ms), _) => {
                self.now_ms += ms;
                "+PONG\r\n".into()
            }
            (other, _) => panic!("{other:?}"),
        }
    }

    fn line(&self, key: &str, action: &Action) -> String {
        let end = |is_front: bool| if is_front { "LEFT" } else { "RIGHT" };
        match action {
            Action::Hset(fields) => {
                let fields = fields.iter().map(|(name, value)| format!(" {} {value}", m(*name)));
                format!("HSET {key}{}", fields.collect::<String>())
            }
            Action::Hdel(names) => format!("HDEL {key}{}", words(names)),
            Action::Hincrby(name, by) => format!("HINCRBY {key} {} {by}", m(*name)),
            Action::Hgetall => format!("HGETALL {key}"),
            Action::Hget(name) => format!("HGET {key} {}", m(*name)),
            Action::Sadd(names) => format!("SADD {key}{}", words(names)),
            Action::Srem(names) => format!("SREM {key}{}", words(names)),
            Action::Sismember(name) => format!("SISMEMBER {key} {}", m(*name)),
            Action::Smembers => format!("SMEMBERS {key}"),
            Action::Zadd(members) => {
                let members = members.iter().map(|(score, name)| format!(" {score} {}", m(*name)));
                format!("ZADD {key}{}", members.collect::<String>())
            }
            Action::Zrem(names) => format!("ZREM {key}{}", words(names)),
            Action::Zincrby(by, name) => format!("ZINCRBY {key} {by} {}", m(*name)),
            Action::Zrange(first, last, is_reverse) => {
                let command = if *is_reverse { "ZREVRANGE" } else { "ZRANGE" };
                format!("{command} {key} {first} {last} WITHSCORES")
            }
            Action::Zrangebyscore(low, high, false) => {
                format!("ZRANGEBYSCORE {key} {low} {high} WITHSCORES")
            }
            Action::Zrangebyscore(low, high, true) => {
                format!("ZREVRANGEBYSCORE {key} {high} {low} WITHSCORES")
            }
            Action::Zrank(name, is_reverse) => {
                format!("{} {key} {}", if *is_reverse { "ZREVRANK" } else { "ZRANK" }, m(*name))
            }
            Action::Zcount(low, high) => format!("ZCOUNT {key} {low} {high}"),
            Action::Zremrangebyrank(first, last) => format!("ZREMRANGEBYRANK {key} {first} {last}"),
            Action::Zremrangebyscore(low, high) => format!("ZREMRANGEBYSCORE {key} {low} {high}"),
            Action::Zpop(count, is_highest) => {
                format!("{} {key} {count}", if *is_highest { "ZPOPMAX" } else { "ZPOPMIN" })
            }
            Action::Push(names, is_front) => {
                format!("{} {key}{}", if *is_front { "LPUSH" } else { "RPUSH" }, words(names))
            }
            Action::Pop(count, is_front) => {
                format!("{} {key} {count}", if *is_front { "LPOP" } else { "RPOP" })
            }
            Action::Lrange(first, last) => format!("LRANGE {key} {first} {last}"),
            Action::Lindex(index) => format!("LINDEX {key} {index}"),
            Action::Lset(index, name) => format!("LSET {key} {index} {}", m(*name)),
            Action::Ltrim(first, last) => format!("LTRIM {key} {first} {last}"),
            Action::Lrem(count, name) => format!("LREM {key} {count} {}", m(*name)),
            Action::Linsert(pivot, name, is_behind) => {
                let side = if *is_behind { "AFTER" } else { "BEFORE" };
                format!("LINSERT {key} {side} {} {}", m(*pivot), m(*name))
            }
            Action::Move(to, from_front, to_front) => {
                format!("LMOVE {key} {to} {} {}", end(*from_front), end(*to_front))
            }
            Action::Length => match self.keys.get(key).map(|(value, _)| value) {
                None => format!("TYPE {key}"),
                Some(Value::Hash(_)) => format!("HLEN {key}"),
                Some(Value::Set(_)) => format!("SCARD {key}"),
                Some(Value::Sorted(_)) => format!("ZCARD {key}"),
                Some(Value::List(_)) => format!("LLEN {key}"),
            },
            Action::Delete => format!("DEL {key}"),
            Action::Expire(ms) => format!("PEXPIRE {key} {ms}"),
            Action::Persist => format!("PERSIST {key}"),
            Action::Rename(to) => format!("RENAME {key} {to}"),
            Action::Copy(to) => format!("COPY {key} {to} REPLACE"),
            Action::TurnClock(_) => "PING".into(),
        }
    }
}

/// A reply whose members have no order, in the order of their names.
fn in_order(action: &Action, reply: &str) -> String {
    let step = match action {
        Action::Hgetall => 4,
        Action::Smembers => 2,
        _ => return reply.into(),
    };
    let lines: Vec<&str> = reply.lines().collect();
    let mut members: Vec<&[&str]> = lines[1..].chunks(step).collect();
    members.sort_by_key(|member| member[1]);
    format!("{}\r\n{}", lines[0], members.concat().join("\r\n"))
}

/// How many entries there are in a store.
fn entries_of(clients: &Clients) -> usize {
    let session = clients.store.kv().session();
    let Some(entries) = session.collections().unwrap() else { return 0 };
    let (mut count, mut found) = (0, CollectionBatch::default());
    for key in KEYS {
        let mut scan = entries.scan(key.as_bytes(), (b"", None), false, 100).unwrap();
        while scan.next_batch(&mut found).unwrap() {
            count += found.len();
        }
    }
    count
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Many come together, so that changes happen in memory, in a transaction, or each by itself.
    /// Another client watches a key meanwhile.
    #[test]
    fn replies_are_those_of_plain_collections_in_each_form(
        steps in proptest::collection::vec(
            (proptest::sample::select(&KEYS[..]), proptest::collection::vec(action(), 1..5),
             any::<bool>(), proptest::sample::select(&KEYS[..])),
            1..25),
    ) {
        let mut model = Model::default();
        let mut stores = BOUNDS.map(|bytes| {
            let clients = Clients::new(2);
            clients.keyspace.set_whole_bytes_max(bytes);
            clients
        });
        for (key, actions, is_transaction, watched) in &steps {
            let before = model.keys.get(watched).cloned();
            stores.iter_mut().for_each(|clients| {
                clients.send(1, format!("WATCH {watched}\r\n"));
            });
            let (mut lines, mut expected) = (String::new(), String::new());
            // The clock turns between the steps only.
            let mut turned = 0;
            for action in actions {
                if let Action::TurnClock(ms) = action {
                    turned += ms;
                    continue;
                }
                lines.push_str(&format!("{}\r\n", model.line(key, action)));
                expected.push_str(&in_order(action, &model.apply(key, action)));
                expected.push('|');
            }
            for (clients, bytes) in stores.iter_mut().zip(BOUNDS) {
                let mut replies = match is_transaction {
                    false => clients.send(0, &lines),
                    true => clients.send(0, format!("MULTI\r\n{lines}EXEC\r\n")),
                };
                if *is_transaction {
                    replies = replies.split_once("*").map(|(_, rest)| rest.to_owned()).unwrap();
                    replies = replies.split_once("\r\n").map(|(_, rest)| rest.to_owned()).unwrap();
                }
                let mut rest = replies.as_str();
                let mut found = String::new();
                for action in actions.iter().filter(|one| !matches!(one, Action::TurnClock(_))) {
                    let (reply, behind) = split_reply(rest);
                    rest = behind;
                    found.push_str(&in_order(action, reply));
                    found.push('|');
                }
                prop_assert_eq!(&found, &expected, "{} with {} bytes", &lines, bytes);
                // A client that watched a changed key runs nothing.
                let executed = clients.send(1, "MULTI\r\nPING\r\nEXEC\r\n").ends_with("+PONG\r\n");
                if model.keys.get(watched).cloned() != before {
                    prop_assert!(!executed, "{} watched {}", &lines, watched);
                }
            }
            model.now_ms += turned;
            model.expire();
            stores.iter().for_each(|clients| clients.turn_clock(model.now_ms));
        }
        // In the end what is stored is what the model holds, with the entries that belong to it.
        for (clients, bytes) in stores.iter_mut().zip(BOUNDS) {
            clients.keyspace.delete_leftovers().unwrap();
            let all: usize = model.keys.values().map(|(value, _)| value.entries()).sum();
            match bytes {
                0 => prop_assert_eq!(entries_of(clients), all),
                usize::MAX => prop_assert_eq!(entries_of(clients), 0),
                _ => prop_assert!(entries_of(clients) <= all),
            }
            prop_assert_eq!(clients.ask("DBSIZE"), integer(model.keys.len()));
            for (key, (value, _)) in model.keys.clone() {
                let action = match value {
                    Value::Hash(_) => Action::Hgetall,
                    Value::Set(_) => Action::Smembers,
                    Value::Sorted(_) => Action::Zrange(0, -1, false),
                    Value::List(_) => Action::Lrange(0, -1),
                };
                let reply = clients.ask(&model.line(key, &action));
                prop_assert_eq!(
                    in_order(&action, &reply),
                    in_order(&action, &model.clone().apply(key, &action))
                );
            }
        }
    }
}

/// The first reply of some, and the others.
fn split_reply(replies: &str) -> (&str, &str) {
    fn end_of(replies: &str, start: usize) -> usize {
        let line_end = start + replies[start..].find("\r\n").unwrap() + 2;
        let number = || replies[start + 1..line_end - 2].parse::<i64>().unwrap();
        match &replies[start..=start] {
            "$" if number() >= 0 => line_end + number() as usize + 2,
            "*" => (0..number().max(0)).fold(line_end, |end, _| end_of(replies, end)),
            _ => line_end,
        }
    }
    replies.split_at(end_of(replies, 0))
}
