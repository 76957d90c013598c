//! Random commands of several clients, against a plain map.

use std::collections::HashMap;

use proptest::prelude::*;

use crate::common::{Clients, NOW_MS};

/// Something that a client does with one key.
#[derive(Clone, Debug)]
enum Action {
    Set(u8, Option<u64>),
    SetIfAbsent,
    Get,
    Delete,
    Add(i64),
    Append(u8),
    Expire(u64),
    Persist,
    TimeToLive,
    Wait(u64),
}

fn action() -> impl Strategy<Value = Action> {
    prop_oneof![
        (0..9_u8, proptest::option::of(1..50_u64)).prop_map(|(value, ms)| Action::Set(value, ms)),
        Just(Action::SetIfAbsent),
        Just(Action::Get),
        Just(Action::Delete),
        (-5..5_i64).prop_map(Action::Add),
        (0..9_u8).prop_map(Action::Append),
        (1..50_u64).prop_map(Action::Expire),
        Just(Action::Persist),
        Just(Action::TimeToLive),
        (0..30_u64).prop_map(Action::Wait),
    ]
}

/// A value and when it expires.
type Entry = (String, Option<u64>);

/// The reply of the command, and the command itself.
fn expected(map: &mut HashMap<u8, Entry>, key: u8, action: &Action, now: u64) -> (String, String) {
    if map.get(&key).is_some_and(|(_, expiry)| expiry.is_some_and(|at| at <= now)) {
        map.remove(&key);
    }
    let flag = |is_set: bool| format!(":{}\r\n", u8::from(is_set));
    match action {
        Action::Set(value, ms) => {
            map.insert(key, (value.to_string(), ms.map(|ms| now + ms)));
            let expiry = ms.map_or(String::new(), |ms| format!(" PX {ms}"));
            ("+OK\r\n".into(), format!("SET k{key} {value}{expiry}"))
        }
        Action::SetIfAbsent => {
            let is_new = !map.contains_key(&key);
            map.entry(key).or_insert(("7".into(), None));
            (flag(is_new), format!("SETNX k{key} 7"))
        }
        Action::Get => {
            let reply = match map.get(&key) {
                Some((value, _)) => format!("${}\r\n{value}\r\n", value.len()),
                None => "$-1\r\n".into(),
            };
            (reply, format!("GET k{key}"))
        }
        Action::Delete => (flag(map.remove(&key).is_some()), format!("DEL k{key}")),
        Action::Add(delta) => {
            let entry = map.entry(key).or_insert(("0".into(), None));
            let sum = entry.0.parse::<i64>().ok().and_then(|number| number.checked_add(*delta));
            let is_strict = entry.0 == "0" || !entry.0.starts_with('0');
            let reply = match sum.filter(|_| is_strict) {
                Some(sum) => {
                    entry.0 = sum.to_string();
                    format!(":{sum}\r\n")
                }
                None => "-ERR value is not an integer or out of range\r\n".into(),
            };
            (reply, format!("INCRBY k{key} {delta}"))
        }
        Action::Append(digit) => {
            let entry = map.entry(key).or_insert((String::new(), None));
            // Kept short, so that numbers stay numbers.
            entry.0.push_str(&digit.to_string());
            (format!(":{}\r\n", entry.0.len()), format!("APPEND k{key} {digit}"))
        }
        Action::Expire(ms) => {
            let is_there = map.get_mut(&key).map(|entry| entry.1 = Some(now + ms)).is_some();
            (flag(is_there), format!("PEXPIRE k{key} {ms}"))
        }
        Action::Persist => {
            let had = map.get_mut(&key).and_then(|entry| entry.1.take()).is_some();
            (flag(had), format!("PERSIST k{key}"))
        }
        Action::TimeToLive => {
            let reply = match map.get(&key) {
                None => ":-2\r\n".into(),
                Some((_, None)) => ":-1\r\n".into(),
                Some((_, Some(at))) => format!(":{}\r\n", at - now),
            };
            (reply, format!("PTTL k{key}"))
        }
        Action::Wait(_) => (String::new(), String::new()),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Each client has keys of its own, so that its replies do not depend on the others.
    #[test]
    fn replies_are_those_of_a_map(
        actions in proptest::collection::vec((0..3_usize, 0..3_u8, action(), any::<bool>()), 1..80),
    ) {
        let mut clients = Clients::new(3);
        let mut maps = [HashMap::new(), HashMap::new(), HashMap::new()];
        let mut replies = [String::new(), String::new(), String::new()];
        let mut now = NOW_MS;
        for (client, key, action, runs) in &actions {
            if let Action::Wait(ms) = action {
                clients.run();
                now += ms;
                clients.clock.set_ms(now);
                continue;
            }
            let key = *client as u8 * 10 + key;
            let (reply, line) = expected(&mut maps[*client], key, action, now);
            replies[*client].push_str(&reply);
            clients.all[*client].receive(format!("{line}\r\n").as_bytes());
            if *runs {
                clients.run();
            }
        }
        clients.run();
        for (client, expected) in replies.iter().enumerate() {
            prop_assert_eq!(&clients.answer(client), expected);
        }
        // What is stored is what the map holds.
        for (key, (value, expiry)) in maps.iter().flatten() {
            let stored = clients.store.kv().get(&tonnage::Key::of_major([format!("k{key}")])).unwrap();
            if expiry.is_none_or(|at| at > now) {
                let stored = stored.expect("it is stored");
                prop_assert_eq!(&stored.value, value.as_bytes());
                prop_assert_eq!(stored.expires_at_ms, expiry.unwrap_or(0));
            }
        }
    }
}
