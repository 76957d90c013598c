//! Channels: SUBSCRIBE, PUBLISH and their relatives.
//!
//! A channel is named like a key, and the rights on the key of its name are those on the channel: who
//! may read the key may subscribe, and who may insert it may publish. A pattern needs the right to
//! read all keys that begin with its literal beginning.

use super::immediate::ImmediateCall;
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::client::Client;
use crate::protocol::{Protocol, ReplyWriter};
use crate::subscriptions::{ChannelKind, may_subscribe};

type Handled = Result<(), Refusal>;

/// The most channels and patterns of a client.
const SUBSCRIPTIONS_MAX: usize = 100_000;

/// What a client of RESP2 may do while it subscribes: replies of others would look like messages.
const WITH_SUBSCRIPTIONS: [&str; 9] = [
    "ping",
    "psubscribe",
    "punsubscribe",
    "quit",
    "reset",
    "ssubscribe",
    "subscribe",
    "sunsubscribe",
    "unsubscribe",
];

/// Refuses what a client of RESP2 may not do while it subscribes.
pub(super) fn check_subscribed(
    client: &Client,
    name: &str,
    subcommand: Option<&[u8]>,
) -> Result<(), Refusal> {
    let is_listening = client.protocol == Protocol::Two && !client.subscriptions.is_empty();
    if !is_listening || WITH_SUBSCRIPTIONS.contains(&name) {
        return Ok(());
    }
    let mut full_name = name.to_owned();
    if matches!(name, "client" | "command" | "config" | "object" | "pubsub")
        && let Some(word) = subcommand
    {
        full_name = format!("{name}|{}", String::from_utf8_lossy(word).to_ascii_lowercase());
    }
    Err(format!(
        "ERR Can't execute '{full_name}': only (P|S)SUBSCRIBE / (P|S)UNSUBSCRIBE / PING / QUIT / \
         RESET are allowed in this context"
    )
    .into())
}

/// Whether a command confirms what it did by pushes, which no setting of replies leaves out.
pub(super) fn is_answered_by_pushes(name: &str) -> bool {
    name.ends_with("subscribe")
}

fn decided(allowed: tonnage::Result<bool>) -> Handled {
    match allowed {
        Ok(true) => Ok(()),
        Ok(false) => Err(words::NO_CHANNEL_PERMISSION.into()),
        Err(error) => Err(words::of_store(&error).into()),
    }
}

/// Which kind a command is about, by its name.
fn kind_of(call: &ImmediateCall<'_>) -> (ChannelKind, &'static str, &'static str) {
    match call.lower(0).as_str() {
        "psubscribe" | "punsubscribe" => (ChannelKind::Pattern, "psubscribe", "punsubscribe"),
        "ssubscribe" | "sunsubscribe" => (ChannelKind::Sharded, "ssubscribe", "sunsubscribe"),
        _ => (ChannelKind::Channel, "subscribe", "unsubscribe"),
    }
}

fn confirm(client: &mut Client, what: &str, name: Option<&[u8]>, kind: ChannelKind) {
    let count = client.subscriptions.told(kind) as i64;
    let mut reply = ReplyWriter::new(&mut client.output, client.protocol);
    reply.push(3);
    reply.bulk(what.as_bytes());
    match name {
        Some(name) => reply.bulk(name),
        None => reply.null(),
    }
    reply.integer(count);
}

pub(crate) fn subscribe(call: &mut ImmediateCall<'_>) -> Handled {
    let (kind, what, _) = kind_of(call);
    for index in 1..call.len() {
        decided(may_subscribe(&call.client.access, kind, call.word(index)))?;
    }
    if call.client.subscriptions.len() + call.len() - 1 > SUBSCRIPTIONS_MAX {
        let refusal = format!("OOM a client subscribes to {SUBSCRIPTIONS_MAX} channels at most");
        return Err(refusal.into());
    }
    for index in 1..call.len() {
        let (name, client) = (call.word(index), &mut **call.client);
        let (channels, card) = (&call.keyspace.channels, client.card.clone());
        channels.subscribe(kind, name, &card, &mut client.subscriptions);
        confirm(client, what, Some(name), kind);
    }
    Ok(())
}

pub(crate) fn unsubscribe(call: &mut ImmediateCall<'_>) -> Handled {
    let (kind, _, what) = kind_of(call);
    let names: Vec<Box<[u8]>> = match call.len() {
        1 => call.client.subscriptions.of(kind).iter().map(|name| (**name).into()).collect(),
        len => (1..len).map(|index| call.word(index).into()).collect(),
    };
    let client = &mut **call.client;
    if names.is_empty() {
        confirm(client, what, None, kind);
    }
    let card = client.card.clone();
    for name in names {
        call.keyspace.channels.unsubscribe(kind, &name, &card, &mut client.subscriptions);
        confirm(client, what, Some(&name), kind);
    }
    Ok(())
}

pub(crate) fn publish(call: &mut ImmediateCall<'_>) -> Handled {
    let (channel, payload) = (call.word(1), call.word(2));
    let is_sharded = call.lower(0) == "spublish";
    decided(call.client.access.ask(|user| user.may(KeyRight::Insert, channel)))?;
    let count = call.keyspace.channels.publish(channel, payload, is_sharded);
    call.reply().integer(count as i64);
    Ok(())
}

const PUBSUB_HELP: [&str; 11] = [
    "PUBSUB <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "CHANNELS [<pattern>]",
    "    List the channels with subscribers, of which the names match the pattern.",
    "NUMPAT",
    "    Count the patterns with subscribers.",
    "NUMSUB [<channel> ...]",
    "    Count the subscribers of channels, those by patterns not included.",
    "SHARDCHANNELS [<pattern>]",
    "    List the sharded channels with subscribers.",
    "SHARDNUMSUB [<channel> ...]",
    "    Count the subscribers of sharded channels.",
];

pub(crate) fn pubsub(call: &mut ImmediateCall<'_>) -> Handled {
    let subcommand = call.lower(1);
    match (subcommand.as_str(), call.len()) {
        ("channels", 2 | 3) => list(call, ChannelKind::Channel),
        ("shardchannels", 2 | 3) => list(call, ChannelKind::Sharded),
        ("numsub", _) => count(call, ChannelKind::Channel),
        ("shardnumsub", _) => count(call, ChannelKind::Sharded),
        ("numpat", 2) => {
            let patterns = call.keyspace.channels.count(ChannelKind::Pattern);
            call.reply().integer(patterns as i64);
            Ok(())
        }
        ("help", 2) => {
            let mut reply = call.reply();
            reply.array(PUBSUB_HELP.len());
            PUBSUB_HELP.iter().for_each(|line| reply.simple(line));
            Ok(())
        }
        ("channels" | "shardchannels", _) => {
            let refusal = "ERR unknown subcommand or wrong number of arguments for";
            let shown = String::from_utf8_lossy(call.word(1)).into_owned();
            Err(format!("{refusal} '{shown}'. Try PUBSUB HELP.").into())
        }
        ("numpat" | "help", _) => Err(words::wrong_arity(&format!("pubsub|{subcommand}")).into()),
        _ => Err(words::unknown_subcommand("pubsub", call.word(1)).into()),
    }
}

/// A user sees the names of the channels that it may subscribe to.
fn list(call: &mut ImmediateCall<'_>, kind: ChannelKind) -> Handled {
    let pattern = if call.len() == 3 { call.word(2) } else { b"*" };
    let mut names = call.keyspace.channels.matching(kind, pattern);
    if call.client.access.ask(|user| user.may_all(KeyRight::Read)).is_ok_and(|may| !may) {
        names.retain(|name| may_subscribe(&call.client.access, kind, name).unwrap_or(false));
    }
    let mut reply = call.reply();
    reply.array(names.len());
    names.iter().for_each(|name| reply.bulk(name));
    Ok(())
}

fn count(call: &mut ImmediateCall<'_>, kind: ChannelKind) -> Handled {
    for index in 2..call.len() {
        decided(may_subscribe(&call.client.access, kind, call.word(index)))?;
    }
    let names: Vec<&[u8]> = (2..call.len()).map(|index| call.word(index)).collect();
    let channels = &call.keyspace.channels;
    let counts: Vec<usize> = names.iter().map(|name| channels.subscribers(kind, name)).collect();
    let mut reply = call.reply();
    reply.array(2 * names.len());
    for (name, count) in names.into_iter().zip(counts) {
        reply.bulk(name);
        reply.integer(count as i64);
    }
    Ok(())
}
