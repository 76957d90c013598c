//! COMMAND: what clients may ask about commands.

use super::immediate::ImmediateCall;
use super::words::{self, Refusal};
use crate::command::{COMMANDS, Command, find};
use crate::protocol::{ReplyWriter, glob_matches, parse_integer};

type Handled = Result<(), Refusal>;

pub(crate) fn command(call: &mut ImmediateCall<'_>) -> Handled {
    let subcommand = call.lower(1);
    let named = |call: &ImmediateCall<'_>| -> Vec<Option<&'static Command>> {
        let command = |index| find(call.word(index)).map(|number| &COMMANDS[usize::from(number)]);
        (2..call.len()).map(command).collect()
    };
    // COMMAND alone is COMMAND INFO of all.
    match (subcommand.as_str(), call.len()) {
        (_, 1) | ("info", 2) => {
            let mut reply = call.reply();
            reply.array(COMMANDS.len());
            COMMANDS.iter().for_each(|command| write_info(Some(command), &mut reply));
        }
        ("count", 2) => call.reply().integer(COMMANDS.len() as i64),
        ("info", _) => {
            let named = named(call);
            let mut reply = call.reply();
            reply.array(named.len());
            named.into_iter().for_each(|command| write_info(command, &mut reply));
        }
        // Names that there are not are left out here, and null in COMMAND INFO.
        ("docs", len) => {
            let named: Vec<&Command> = match len {
                2 => COMMANDS.iter().collect(),
                _ => named(call).into_iter().flatten().collect(),
            };
            let mut reply = call.reply();
            reply.map(named.len());
            named.into_iter().for_each(|command| write_docs(command, &mut reply));
        }
        ("list", 2 | 5) => return list(call),
        ("getkeys", 3..) => return get_keys(call),
        ("count" | "list" | "getkeys", _) => {
            return Err(words::wrong_arity(&format!("command|{subcommand}")).into());
        }
        _ => return Err(words::unknown_subcommand("command", call.word(1)).into()),
    }
    Ok(())
}

fn write_info(command: Option<&Command>, reply: &mut ReplyWriter<'_>) {
    let Some(command) = command else { return reply.null_array() };
    reply.array(10);
    reply.bulk(command.name.as_bytes());
    reply.integer(command.arity.into());
    let flags = command.flags.split(' ').filter(|flag| !flag.is_empty());
    reply.set(flags.clone().count());
    flags.for_each(|flag| reply.simple(flag));
    let (first, last, step) = command.keys;
    [first, last, step].into_iter().for_each(|number| reply.integer(number.into()));
    let categories = categories(command);
    reply.set(categories.len());
    categories.iter().for_each(|category| reply.simple(category));
    // Tips, specifications of keys, subcommands.
    (0..3).for_each(|_| reply.array(0));
}

/// The categories of Redis' ACL.
fn categories(command: &Command) -> Vec<String> {
    let group = match command.group {
        "generic" => "keyspace",
        "server" => "admin",
        "transactions" => "transaction",
        "sorted-set" => "sortedset",
        other => other,
    };
    let mut categories = vec![format!("@{group}")];
    for (flag, category) in [("write", "@write"), ("readonly", "@read")] {
        if command.has_flag(flag) {
            categories.push(category.to_owned());
        }
    }
    if command.has_flag("blocking") {
        categories.push("@blocking".to_owned());
    }
    let speed = if command.has_flag("fast") { "@fast" } else { "@slow" };
    categories.push(speed.to_owned());
    categories
}

fn write_docs(command: &Command, reply: &mut ReplyWriter<'_>) {
    reply.bulk(command.name.as_bytes());
    let docs = [("summary", command.summary), ("since", command.since), ("group", command.group)];
    reply.map(docs.len());
    for (name, text) in docs {
        reply.bulk(name.as_bytes());
        reply.bulk(text.as_bytes());
    }
}

fn list(call: &mut ImmediateCall<'_>) -> Handled {
    let pattern = match (call.len(), call.lower(2).as_str(), call.lower(3).as_str()) {
        (2, ..) => "*".to_owned(),
        (5, "filterby", "pattern") => call.lower(4),
        _ => return Err(words::SYNTAX.into()),
    };
    let listed: Vec<_> = COMMANDS
        .iter()
        .filter(|command| glob_matches(pattern.as_bytes(), command.name.as_bytes()))
        .collect();
    let mut reply = call.reply();
    reply.array(listed.len());
    listed.iter().for_each(|command| reply.bulk(command.name.as_bytes()));
    Ok(())
}

fn get_keys(call: &mut ImmediateCall<'_>) -> Handled {
    let command = find(call.word(2)).map(|number| &COMMANDS[usize::from(number)]);
    let command = command.ok_or("ERR Invalid command specified")?;
    let words = call.len() - 2;
    if !command.takes(words) {
        return Err("ERR Invalid number of arguments specified for command".into());
    }
    // Where they stand the table says, or a number among the words.
    let mut keys: Vec<&[u8]> =
        command.key_indexes(words).map(|index| call.word(index + 2)).collect();
    if command.name == "sort" {
        keys.extend(target_of_sort(call));
    }
    if let Some(at) = command.counted_at() {
        let count = parse_integer(call.word(at + 2)).filter(|count| *count > 0);
        // Values may be between them.
        let step = command.counted_step();
        let words = count.and_then(|count| count.checked_mul(step as i64));
        let counted = words.and_then(|words| call.keys_after(at + 2, words, &[]).ok());
        let counted = counted.ok_or("ERR Invalid arguments specified for command")?;
        keys.extend(counted.step_by(step).map(|index| call.word(index)));
    }
    if keys.is_empty() {
        return Err("ERR The command has no key arguments".into());
    }
    let mut reply = call.reply();
    reply.array(keys.len());
    keys.iter().for_each(|key| reply.bulk(key));
    Ok(())
}

/// The key that SORT stores its result under: that of the last option of this kind.
fn target_of_sort<'c>(call: &ImmediateCall<'c>) -> Option<&'c [u8]> {
    let (mut target, mut at) = (None, 4);
    while at < call.len() {
        match call.lower(at).as_str() {
            "limit" => at += 2,
            "by" | "get" => at += 1,
            "store" if at + 1 < call.len() => {
                at += 1;
                target = Some(call.word(at));
            }
            _ => {}
        }
        at += 1;
    }
    target
}
