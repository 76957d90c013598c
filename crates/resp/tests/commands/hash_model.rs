//! Random commands on hashes, against a plain list of fields.

use proptest::prelude::*;

use crate::common::Clients;

/// Something that is done with one of two keys.
#[derive(Clone, Debug)]
enum Action {
    Set(Vec<(u8, u8)>),
    SetIfNew(u8, u8),
    Delete(Vec<u8>),
    Add(u8, i64),
    Get(u8),
    Length,
    All,
    Names,
    DeleteKey,
    SetString,
    GetString,
    /// Many fields, so that a table finds them.
    Fill,
}

fn action() -> impl Strategy<Value = Action> {
    let field = || 0..12_u8;
    prop_oneof![
        4 => proptest::collection::vec((field(), 0..9_u8), 1..4).prop_map(Action::Set),
        1 => (field(), 0..9_u8).prop_map(|(field, value)| Action::SetIfNew(field, value)),
        3 => proptest::collection::vec(field(), 1..4).prop_map(Action::Delete),
        2 => (field(), -5..5_i64).prop_map(|(field, delta)| Action::Add(field, delta)),
        2 => field().prop_map(Action::Get),
        1 => Just(Action::Length),
        2 => Just(Action::All),
        1 => Just(Action::Names),
        1 => Just(Action::DeleteKey),
        1 => Just(Action::SetString),
        1 => Just(Action::GetString),
        1 => Just(Action::Fill),
    ]
}

/// What a key holds.
#[derive(Clone, Debug, PartialEq)]
enum Held {
    Nothing,
    String,
    Fields(Vec<(String, i64)>),
}

const WRONG_TYPE: &str = "-WRONGTYPE Operation against a key holding the wrong kind of value\r\n";

fn bulk(text: &str) -> String {
    format!("${}\r\n{text}\r\n", text.len())
}

fn set(fields: &mut Vec<(String, i64)>, name: String, value: i64) -> bool {
    match fields.iter_mut().find(|(known, _)| *known == name) {
        Some(field) => {
            field.1 = value;
            false
        }
        None => {
            fields.push((name, value));
            true
        }
    }
}

/// The command, and the reply to it.
fn expected(held: &mut Held, key: u8, action: &Action) -> (String, String) {
    let is_of_hashes = !matches!(action, Action::DeleteKey | Action::SetString | Action::GetString);
    let line = line_of(key, action);
    if is_of_hashes && *held == Held::String {
        return (line, WRONG_TYPE.into());
    }
    match action {
        Action::DeleteKey => {
            let was_there = std::mem::replace(held, Held::Nothing) != Held::Nothing;
            return (line, format!(":{}\r\n", u8::from(was_there)));
        }
        Action::SetString => {
            *held = Held::String;
            return (line, "+OK\r\n".into());
        }
        Action::GetString => {
            let reply = match held {
                Held::Nothing => "$-1\r\n".into(),
                Held::String => bulk("x"),
                Held::Fields(_) => WRONG_TYPE.into(),
            };
            return (line, reply);
        }
        _ => {}
    }
    let mut fields = match std::mem::replace(held, Held::Nothing) {
        Held::Fields(fields) => fields,
        _ => Vec::new(),
    };
    let value = |fields: &[(String, i64)], name: u8| {
        fields.iter().find(|(known, _)| *known == format!("f{name}")).map(|(_, value)| *value)
    };
    let reply = match action {
        Action::Set(some) => {
            let news = some.iter().map(|(name, value)| {
                usize::from(set(&mut fields, format!("f{name}"), i64::from(*value)))
            });
            format!(":{}\r\n", news.sum::<usize>())
        }
        Action::Fill => {
            let news = (0..60).map(|name| usize::from(set(&mut fields, format!("g{name}"), 1)));
            format!(":{}\r\n", news.sum::<usize>())
        }
        Action::SetIfNew(name, new) => {
            let is_new = value(&fields, *name).is_none();
            if is_new {
                set(&mut fields, format!("f{name}"), i64::from(*new));
            }
            format!(":{}\r\n", u8::from(is_new))
        }
        Action::Delete(names) => {
            let before = fields.len();
            fields.retain(|(known, _)| !names.iter().any(|name| *known == format!("f{name}")));
            format!(":{}\r\n", before - fields.len())
        }
        Action::Add(name, delta) => {
            let sum = value(&fields, *name).unwrap_or(0) + delta;
            set(&mut fields, format!("f{name}"), sum);
            format!(":{sum}\r\n")
        }
        Action::Get(name) => match value(&fields, *name) {
            Some(value) => bulk(&value.to_string()),
            None => "$-1\r\n".into(),
        },
        Action::Length => format!(":{}\r\n", fields.len()),
        Action::Names => {
            let names: String = fields.iter().map(|(name, _)| bulk(name)).collect();
            format!("*{}\r\n{names}", fields.len())
        }
        _ => {
            let all: String =
                fields.iter().map(|(name, value)| bulk(name) + &bulk(&value.to_string())).collect();
            format!("*{}\r\n{all}", 2 * fields.len())
        }
    };
    if !fields.is_empty() {
        *held = Held::Fields(fields);
    }
    (line, reply)
}

fn line_of(key: u8, action: &Action) -> String {
    let pairs = |some: &[(u8, u8)]| -> String {
        some.iter().map(|(name, value)| format!(" f{name} {value}")).collect()
    };
    match action {
        Action::Set(some) => format!("HSET k{key}{}", pairs(some)),
        Action::Fill => {
            let some: String = (0..60).map(|name| format!(" g{name} 1")).collect();
            format!("HSET k{key}{some}")
        }
        Action::SetIfNew(name, value) => format!("HSETNX k{key} f{name} {value}"),
        Action::Delete(names) => {
            let names: String = names.iter().map(|name| format!(" f{name}")).collect();
            format!("HDEL k{key}{names}")
        }
        Action::Add(name, delta) => format!("HINCRBY k{key} f{name} {delta}"),
        Action::Get(name) => format!("HGET k{key} f{name}"),
        Action::Length => format!("HLEN k{key}"),
        Action::All => format!("HGETALL k{key}"),
        Action::Names => format!("HKEYS k{key}"),
        Action::DeleteKey => format!("DEL k{key}"),
        Action::SetString => format!("SET k{key} x"),
        Action::GetString => format!("GET k{key}"),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Many come together, so that changes happen in memory, or each by itself.
    #[test]
    fn replies_are_those_of_a_list_of_fields(
        actions in proptest::collection::vec((0..2_u8, action(), any::<bool>()), 1..60),
    ) {
        let mut clients = Clients::new(1);
        let (mut held, mut replies) = ([Held::Nothing, Held::Nothing], String::new());
        for (key, action, runs) in &actions {
            let (line, reply) = expected(&mut held[*key as usize], *key, action);
            replies.push_str(&reply);
            clients.all[0].receive(format!("{line}\r\n").as_bytes());
            if *runs {
                clients.run();
            }
        }
        clients.run();
        prop_assert_eq!(&clients.answer(0), &replies);
        // And what is stored is what was answered last.
        for (key, held) in (0..).zip(&mut held) {
            for action in [Action::GetString, Action::All] {
                let (line, reply) = expected(held, key, &action);
                prop_assert_eq!(clients.ask(&line), reply);
            }
        }
    }
}
