//! The server: INFO, CONFIG, DBSIZE, FLUSHALL and their relatives.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use super::immediate::ImmediateCall;
use super::keys::count_keys;
use super::words::{self, Refusal};
use crate::access::KeyRight;
use crate::keyspace::{Keyspace, SyncPolicy};
use crate::protocol::{REDIS_VERSION, glob_matches};
use crate::subscriptions::ChannelKind;

type Handled = Result<(), Refusal>;

/// Up to so many keys DBSIZE counts; more are estimated.
const COUNTED_MAX: u64 = 1_000_000;
/// INFO is asked for again and again.
const COUNTED_BY_INFO_MAX: u64 = 10_000;

pub(crate) fn dbsize(call: &mut ImmediateCall<'_>) -> Handled {
    call.check_all(KeyRight::Read)?;
    let count = call.stored(count_keys(call.keyspace, COUNTED_MAX))?;
    call.reply().integer(count as i64);
    Ok(())
}

pub(crate) fn flush(call: &mut ImmediateCall<'_>) -> Handled {
    if call.len() > 2 || (call.len() == 2 && !matches!(call.lower(1).as_str(), "async" | "sync")) {
        return Err(words::SYNTAX.into());
    }
    call.check_all(KeyRight::Delete)?;
    let _turn = call.turn(true);
    let durability = call.keyspace.durability();
    // The keys first: members without a key are invisible.
    let cleared = call.keyspace.session.clear(durability).and_then(|()| {
        let entries = call.keyspace.collections()?;
        entries.map_or(Ok(()), |entries| entries.clear(durability))
    });
    call.keyspace.note_written(durability);
    call.stored(cleared)?;
    call.reply().ok();
    Ok(())
}

pub(crate) fn save(call: &mut ImmediateCall<'_>) -> Handled {
    call.check_operator("sync")?;
    call.stored(call.keyspace.sync())?;
    call.reply().ok();
    Ok(())
}

pub(crate) fn background_save(call: &mut ImmediateCall<'_>) -> Handled {
    let is_log = call.lower(0) == "bgrewriteaof";
    if !is_log && (call.len() > 2 || (call.len() == 2 && call.lower(1) != "schedule")) {
        return Err(words::SYNTAX.into());
    }
    call.check_operator("sync")?;
    call.stored(call.keyspace.sync())?;
    call.reply().simple(match is_log {
        true => "Background append only file rewriting started",
        false => "Background saving started",
    });
    Ok(())
}

pub(crate) fn lastsave(call: &mut ImmediateCall<'_>) -> Handled {
    let synced_s = last_sync_s(call.keyspace);
    call.reply().integer(synced_s);
    Ok(())
}

fn last_sync_s(keyspace: &Keyspace) -> i64 {
    let started_s = (keyspace.started_ms / 1_000) as i64;
    keyspace.counters.synced_s.load(Ordering::Relaxed).max(started_s)
}

pub(crate) fn time(call: &mut ImmediateCall<'_>) -> Handled {
    let now_ms = call.keyspace.now_ms() as i64;
    let mut reply = call.reply();
    reply.array(2);
    reply.bulk_integer(now_ms / 1_000);
    reply.bulk_integer(now_ms % 1_000 * 1_000);
    Ok(())
}

pub(crate) fn role(call: &mut ImmediateCall<'_>) -> Handled {
    let mut reply = call.reply();
    reply.array(3);
    reply.bulk(b"master");
    reply.integer(0);
    reply.array(0);
    Ok(())
}

pub(crate) fn wait(call: &mut ImmediateCall<'_>) -> Handled {
    call.integer(1)?;
    let timeout = crate::protocol::parse_integer(call.word(2));
    let timeout = timeout.ok_or("ERR timeout is not an integer or out of range")?;
    if timeout < 0 {
        return Err("ERR timeout is negative".into());
    }
    call.reply().integer(0);
    Ok(())
}

/// What CONFIG GET tells.
fn settings(call: &ImmediateCall<'_>) -> Vec<(&'static str, String)> {
    let limits = &call.client.limits;
    vec![
        ("appendfsync", call.keyspace.sync_policy().name().to_owned()),
        ("appendonly", "yes".to_owned()),
        ("databases", "1".to_owned()),
        ("maxmemory", "0".to_owned()),
        ("maxmemory-policy", "noeviction".to_owned()),
        ("port", call.keyspace.port.load(Ordering::Relaxed).to_string()),
        ("proto-max-bulk-len", limits.argument_bytes_max.to_string()),
        ("save", String::new()),
        ("timeout", "0".to_owned()),
    ]
}

pub(crate) fn config(call: &mut ImmediateCall<'_>) -> Handled {
    match (call.lower(1).as_str(), call.len()) {
        ("get", 3..) => {
            // Names are in small letters, patterns may be in any.
            let patterns: Vec<String> = (2..call.len()).map(|index| call.lower(index)).collect();
            let told: Vec<_> = settings(call)
                .into_iter()
                .filter(|(name, _)| {
                    let matches =
                        |pattern: &String| glob_matches(pattern.as_bytes(), name.as_bytes());
                    patterns.iter().any(matches)
                })
                .collect();
            let mut reply = call.reply();
            reply.map(told.len());
            for (name, value) in told {
                reply.bulk(name.as_bytes());
                reply.bulk(value.as_bytes());
            }
            Ok(())
        }
        ("set", 4..) if call.len().is_multiple_of(2) => config_set(call),
        ("resetstat", 2) => {
            call.check_operator("reset the statistics")?;
            // Those of clients that are connected now are not statistics.
            let counters = &call.keyspace.counters;
            for counter in
                [&counters.connections, &counters.commands, &counters.hits, &counters.misses]
            {
                counter.store(0, Ordering::Relaxed);
            }
            call.reply().ok();
            Ok(())
        }
        (subcommand @ ("get" | "set" | "resetstat"), _) => {
            Err(words::wrong_arity(&format!("config|{subcommand}")).into())
        }
        _ => Err(words::unknown_subcommand("config", call.word(1)).into()),
    }
}

fn config_set(call: &mut ImmediateCall<'_>) -> Handled {
    call.check_operator("change settings")?;
    let mut policy = None;
    for index in (2..call.len()).step_by(2) {
        let (name, value) = (call.lower(index), call.lower(index + 1));
        // Only this one can be changed while the server runs.
        if name != "appendfsync" {
            let shown = String::from_utf8_lossy(call.word(index)).into_owned();
            return Err(format!(
                "ERR Unknown option or number of arguments for CONFIG SET - '{shown}'"
            )
            .into());
        }
        policy = Some(SyncPolicy::named(&value).ok_or(
            "ERR CONFIG SET failed (possibly related to argument 'appendfsync') - argument(s) \
             must be one of the following: everysec, always, no",
        )?);
    }
    if let Some(policy) = policy {
        call.stored(call.keyspace.set_sync_policy(policy))?;
    }
    call.reply().ok();
    Ok(())
}

const SECTIONS: [&str; 8] =
    ["server", "clients", "memory", "persistence", "stats", "replication", "cluster", "keyspace"];

pub(crate) fn info(call: &mut ImmediateCall<'_>) -> Handled {
    let mut asked: Vec<String> = (1..call.len()).map(|index| call.lower(index)).collect();
    let is_all = asked.iter().any(|one| matches!(one.as_str(), "all" | "everything"));
    if asked.is_empty() || is_all || asked.iter().any(|one| one == "default") {
        asked.extend(SECTIONS.iter().map(|section| (*section).to_owned()));
    }
    if is_all {
        asked.push("commandstats".to_owned());
    }
    let mut text = String::new();
    for section in SECTIONS.iter().chain(&["commandstats"]) {
        if asked.iter().any(|one| one == section) {
            if !text.is_empty() {
                text.push_str("\r\n");
            }
            let lines = section_lines(call, section)?;
            let (first, rest) = section.split_at(1);
            // Writing to a string does not fail.
            let _ = write!(text, "# {}{rest}\r\n{lines}", first.to_ascii_uppercase());
        }
    }
    call.reply().verbatim(&text);
    Ok(())
}

fn section_lines(call: &ImmediateCall<'_>, section: &str) -> Result<String, Refusal> {
    let (keyspace, counters) = (call.keyspace, &call.keyspace.counters);
    let count =
        |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed).to_string();
    let subscribed = |kind| keyspace.channels.count(kind).to_string();
    let uptime_s = keyspace.now_ms().saturating_sub(keyspace.started_ms) / 1_000;
    let lines: Vec<(&str, String)> = match section {
        // Programs decide by the version what they ask for.
        "server" => vec![
            ("redis_version", REDIS_VERSION.to_owned()),
            ("redis_mode", "standalone".to_owned()),
            ("tonnage_version", env!("CARGO_PKG_VERSION").to_owned()),
            ("os", std::env::consts::OS.to_owned()),
            ("arch_bits", usize::BITS.to_string()),
            ("process_id", std::process::id().to_string()),
            ("tcp_port", keyspace.port.load(Ordering::Relaxed).to_string()),
            ("uptime_in_seconds", uptime_s.to_string()),
            ("uptime_in_days", (uptime_s / 86_400).to_string()),
        ],
        "clients" => vec![
            ("connected_clients", keyspace.clients.len().to_string()),
            ("blocked_clients", keyspace.waits.len().to_string()),
        ],
        "memory" => {
            vec![("maxmemory", "0".to_owned()), ("maxmemory_policy", "noeviction".to_owned())]
        }
        "persistence" => vec![
            ("loading", "0".to_owned()),
            ("aof_enabled", "1".to_owned()),
            ("rdb_last_save_time", last_sync_s(keyspace).to_string()),
        ],
        "stats" => vec![
            ("total_connections_received", count(&counters.connections)),
            ("total_commands_processed", count(&counters.commands)),
            ("keyspace_hits", count(&counters.hits)),
            ("keyspace_misses", count(&counters.misses)),
            ("pubsub_channels", subscribed(ChannelKind::Channel)),
            ("pubsub_patterns", subscribed(ChannelKind::Pattern)),
            ("pubsubshard_channels", subscribed(ChannelKind::Sharded)),
        ],
        "replication" => {
            vec![("role", "master".to_owned()), ("connected_slaves", "0".to_owned())]
        }
        "cluster" => vec![("cluster_enabled", "0".to_owned())],
        // A user who may not count the keys gets no count.
        "keyspace" if call.check_all(KeyRight::Read).is_ok() => {
            let keys = call.stored(count_keys(keyspace, COUNTED_BY_INFO_MAX))?;
            match keys {
                0 => Vec::new(),
                keys => vec![("db0", format!("keys={keys},expires=0,avg_ttl=0"))],
            }
        }
        _ => Vec::new(),
    };
    let mut text: String =
        lines.iter().map(|(name, value)| format!("{name}:{value}\r\n")).collect();
    if section == "commandstats" {
        for (name, calls) in keyspace.calls().filter(|(_, calls)| *calls > 0) {
            // Writing to a string does not fail.
            let _ = write!(text, "cmdstat_{name}:calls={calls}\r\n");
        }
    }
    Ok(text)
}
