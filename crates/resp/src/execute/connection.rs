//! The connection itself: HELLO, AUTH, PING, CLIENT and their relatives.

use std::fmt::Write as _;
use std::sync::atomic::Ordering;

use super::immediate::ImmediateCall;
use super::waiting::unblock;
use super::words::{self, Refusal};
use crate::client::{ClientState, HelloRequest, LoginRequest, MutedReplies, WatchedKeys};
use crate::client_list::ClientCard;
use crate::command::COMMANDS;
use crate::protocol::{Protocol, parse_integer};
use crate::subscriptions::ChannelKind;

type Handled = Result<(), Refusal>;

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

pub(crate) fn ping(call: &mut ImmediateCall<'_>) -> Handled {
    let is_listening = !call.client.subscriptions.is_empty();
    match call.len() {
        // In the form of a message, which is what such a client reads.
        1 | 2 if is_listening && call.client.protocol == Protocol::Two => {
            let word = if call.len() == 2 { call.word(1) } else { b"" };
            let mut reply = call.reply();
            reply.array(2);
            reply.bulk(b"pong");
            reply.bulk(word);
        }
        1 => call.reply().simple("PONG"),
        2 => {
            let word = call.word(1);
            call.reply().bulk(word);
        }
        _ => return Err(words::wrong_arity("ping").into()),
    }
    Ok(())
}

pub(crate) fn echo(call: &mut ImmediateCall<'_>) -> Handled {
    let word = call.word(1);
    call.reply().bulk(word);
    Ok(())
}

pub(crate) fn quit(call: &mut ImmediateCall<'_>) -> Handled {
    call.reply().ok();
    call.client.close();
    Ok(())
}

pub(crate) fn select(call: &mut ImmediateCall<'_>) -> Handled {
    let index = parse_integer(call.word(1)).ok_or(words::NOT_AN_INTEGER)?;
    match index {
        0 => call.reply().ok(),
        _ => return Err("ERR DB index is out of range".into()),
    }
    Ok(())
}

pub(crate) fn reset(call: &mut ImmediateCall<'_>) -> Handled {
    let client = &mut *call.client;
    client.transaction = None;
    client.watched = WatchedKeys::default();
    client.protocol = Protocol::Two;
    client.muted = MutedReplies { this: client.muted.this, ..MutedReplies::default() };
    {
        let mut texts = client.card.texts.lock();
        texts.name.clear();
        texts.protocol = Protocol::Two;
    }
    let card = client.card.clone();
    call.keyspace.channels.unsubscribe_all(&card, &mut client.subscriptions);
    if call.keyspace.has_users {
        client.set_access(Default::default());
        client.was_reset = true;
    }
    call.reply().simple("RESET");
    Ok(())
}

pub(crate) fn auth(call: &mut ImmediateCall<'_>) -> Handled {
    let (user, password) = match call.len() {
        2 => (None, call.word(1)),
        3 => (Some(text(call.word(1))), call.word(2)),
        _ => return Err(words::SYNTAX.into()),
    };
    if !call.keyspace.has_users {
        return match user.as_deref() {
            Some("default") => {
                call.reply().ok();
                Ok(())
            }
            Some(_) => Err("WRONGPASS invalid username-password pair or user is disabled.".into()),
            None => Err("ERR AUTH <password> called without any password configured for the \
                         default user. Are you sure your configuration is correct?"
                .into()),
        };
    }
    call.client.login = Some(LoginRequest { user, password: text(password), hello: None });
    Ok(())
}

pub(crate) fn hello(call: &mut ImmediateCall<'_>) -> Handled {
    // A HELLO without a version describes the server and changes nothing.
    let mut hello = HelloRequest { protocol: call.client.protocol, name: None };
    if call.len() > 1 {
        let version = parse_integer(call.word(1))
            .ok_or("ERR Protocol version is not an integer or out of range")?;
        hello.protocol = match version {
            2 => Protocol::Two,
            3 => Protocol::Three,
            _ => return Err("NOPROTO unsupported protocol version".into()),
        };
    }
    let (mut login, mut index) = (None, 2);
    while index < call.len() {
        let rest = call.len() - index - 1;
        match call.lower(index).as_str() {
            "auth" if rest >= 2 => {
                login = Some((text(call.word(index + 1)), text(call.word(index + 2))));
                index += 3;
            }
            "setname" if rest >= 1 => {
                hello.name = Some(client_name(call.word(index + 1))?);
                index += 2;
            }
            _ => {
                let option = text(call.word(index));
                return Err(format!("ERR Syntax error in HELLO option '{option}'").into());
            }
        }
    }
    match login {
        // Without users only the user that everybody is can log in.
        Some((user, _)) if !call.keyspace.has_users && user != "default" => {
            Err("WRONGPASS invalid username-password pair or user is disabled.".into())
        }
        Some((user, password)) if call.keyspace.has_users => {
            let (user, hello) = (Some(user), Some(hello));
            call.client.login = Some(LoginRequest { user, password, hello });
            Ok(())
        }
        None if !call.client.access.is_authenticated() => {
            Err("NOAUTH HELLO must be called with the client already authenticated, otherwise the \
             HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and \
             select the RESP protocol version at the same time"
                .into())
        }
        _ => {
            call.client.greet(&hello);
            Ok(())
        }
    }
}

fn is_plain(word: &[u8]) -> bool {
    word.iter().all(|byte| (b'!'..=b'~').contains(byte))
}

fn client_name(word: &[u8]) -> Result<String, Refusal> {
    match is_plain(word) {
        true => Ok(text(word)),
        false => {
            Err("ERR Client names cannot contain spaces, newlines or special characters.".into())
        }
    }
}

const CLIENT_HELP: [&str; 13] = [
    "CLIENT <subcommand> [<arg> [value] [opt] ...]. Subcommands are:",
    "GETNAME, SETNAME <name>",
    "    Tell or set the name of this connection.",
    "ID, INFO",
    "    Tell of this connection.",
    "KILL <ip:port> | ID <id> | ADDR <ip:port> | LADDR <ip:port> | USER <name> | TYPE <type> | \
     SKIPME <yes|no>",
    "    Close connections.",
    "LIST [ID <id> ... | TYPE <normal|pubsub>]",
    "    Tell of all connections.",
    "NO-EVICT <on|off>, NO-TOUCH <on|off>, REPLY <on|off|skip>",
    "SETINFO <LIB-NAME|LIB-VER> <text>",
    "UNBLOCK <id> [TIMEOUT|ERROR]",
    "    End the wait of a connection that waits for an element.",
];

pub(crate) fn client(call: &mut ImmediateCall<'_>) -> Handled {
    let subcommand = call.lower(1);
    // The number of words, to tell a wrong number from an unknown subcommand.
    let arity = match subcommand.as_str() {
        // 0 means any number: the handler checks it.
        "id" | "getname" | "info" | "help" => 2,
        "setname" | "reply" | "no-evict" | "no-touch" => 3,
        "setinfo" => 4,
        "list" => 0,
        "unblock" if call.len() > 2 => 0,
        "unblock" => usize::MAX,
        "kill" if call.len() > 2 => 0,
        "kill" => usize::MAX,
        _ => return Err(words::unknown_subcommand("client", call.word(1)).into()),
    };
    if arity != 0 && call.len() != arity {
        return Err(words::wrong_arity(&format!("client|{subcommand}")).into());
    }
    match subcommand.as_str() {
        "id" => {
            let id = call.client.card.id as i64;
            call.reply().integer(id);
        }
        "getname" => {
            let name = call.client.card.texts.lock().name.clone();
            match name.is_empty() {
                true => call.reply().null(),
                false => call.reply().bulk(name.as_bytes()),
            }
        }
        "info" => {
            let line = describe(&call.client.card, call.keyspace.now_ms());
            call.reply().verbatim(&line);
        }
        "setname" => {
            let name = client_name(call.word(2))?;
            call.client.card.texts.lock().name = name;
            call.reply().ok();
        }
        "reply" => return set_reply_mode(call),
        "no-evict" | "no-touch" => match call.lower(2).as_str() {
            "on" | "off" => call.reply().ok(),
            _ => return Err(words::SYNTAX.into()),
        },
        "setinfo" => return set_info(call),
        "list" => return list(call),
        "kill" => return kill(call),
        "unblock" => return unblock(call),
        _ => {
            let mut reply = call.reply();
            reply.array(CLIENT_HELP.len());
            CLIENT_HELP.iter().for_each(|line| reply.simple(line));
        }
    }
    Ok(())
}

fn set_reply_mode(call: &mut ImmediateCall<'_>) -> Handled {
    let mode = call.lower(2);
    let muted = &mut call.client.muted;
    match mode.as_str() {
        "on" => {
            *muted = MutedReplies::default();
            call.reply().ok();
        }
        // These two are not answered themselves.
        "off" => muted.all = true,
        "skip" => muted.next |= !muted.all,
        _ => return Err(words::SYNTAX.into()),
    }
    Ok(())
}

fn set_info(call: &mut ImmediateCall<'_>) -> Handled {
    let (option, value) = (call.lower(2), call.word(3));
    if !matches!(option.as_str(), "lib-name" | "lib-ver") {
        return Err(format!("ERR Unrecognized option '{}'", text(call.word(2))).into());
    }
    if !is_plain(value) {
        let refusal = "cannot contain spaces, newlines or special characters.";
        return Err(format!("ERR {option} {refusal}").into());
    }
    {
        let mut texts = call.client.card.texts.lock();
        let told =
            if option == "lib-name" { &mut texts.library } else { &mut texts.library_version };
        *told = text(value);
    }
    call.reply().ok();
    Ok(())
}

/// A client as a line of CLIENT LIST.
fn describe(card: &ClientCard, now_ms: u64) -> String {
    let texts = card.texts.lock().clone();
    let seconds = |since_ms: u64| now_ms.saturating_sub(since_ms) / 1_000;
    let command = COMMANDS.get(usize::from(card.last_command.load(Ordering::Relaxed)));
    let [channels, patterns, shards] = ChannelKind::ALL.map(|kind| card.subscription_count(kind));
    // A client that subscribes and one that waits have flags of their own.
    let flags = match (channels + patterns + shards > 0, card.is_waiting.load(Ordering::Relaxed)) {
        (true, true) => "Pb",
        (true, false) => "P",
        (false, true) => "b",
        (false, false) => "N",
    };
    // Programs parse this line. Fields without a meaning here are 0.
    format!(
        "id={} addr={} laddr={} fd=0 name={} age={} idle={} flags={flags} db=0 sub={} psub={} ssub={} \
         multi=-1 qbuf=0 qbuf-free=0 argv-mem=0 multi-mem=0 rbs=0 rbp=0 obl=0 oll=0 omem=0 \
         tot-mem=0 events=r cmd={} user={} redir=-1 resp={} lib-name={} lib-ver={}\n",
        card.id,
        card.address,
        card.local_address,
        texts.name,
        seconds(card.connected_ms),
        seconds(card.active_ms.load(Ordering::Relaxed)),
        channels,
        patterns,
        shards,
        command.map_or("NULL", |command| command.name),
        texts.user,
        texts.protocol.number(),
        texts.library,
        texts.library_version,
    )
}

fn list(call: &mut ImmediateCall<'_>) -> Handled {
    call.check_operator("list clients")?;
    let mut kind = None;
    let ids: Vec<i64> = match call.len() {
        2 => Vec::new(),
        4 if call.lower(2) == "type" => {
            kind = Some(client_kind(call, 3)?);
            Vec::new()
        }
        len if len > 3 && call.lower(2) == "id" => {
            let id = |index| parse_integer(call.word(index)).ok_or("ERR Invalid client ID");
            (3..len).map(id).collect::<Result<_, _>>()?
        }
        _ => return Err(words::SYNTAX.into()),
    };
    let mut lines = String::new();
    let now_ms = call.keyspace.now_ms();
    for card in call.keyspace.clients.all() {
        let is_asked = ids.is_empty() || ids.contains(&(card.id as i64));
        if is_asked && kind.is_none_or(|kind| kind == ClientKind::of(&card)) {
            // Writing to a string does not fail.
            let _ = lines.write_str(&describe(&card, now_ms));
        }
    }
    call.reply().verbatim(&lines);
    Ok(())
}

/// The types of CLIENT LIST and CLIENT KILL.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientKind {
    Normal,
    Subscriber,
    /// There are none.
    Replica,
}

impl ClientKind {
    fn of(card: &ClientCard) -> Self {
        match ChannelKind::ALL.into_iter().any(|kind| card.subscription_count(kind) > 0) {
            true => Self::Subscriber,
            false => Self::Normal,
        }
    }
}

fn client_kind(call: &ImmediateCall<'_>, index: usize) -> Result<ClientKind, Refusal> {
    Ok(match call.lower(index).as_str() {
        "normal" => ClientKind::Normal,
        "pubsub" => ClientKind::Subscriber,
        "master" | "replica" | "slave" => ClientKind::Replica,
        _ => {
            let shown = text(call.word(index));
            return Err(format!("ERR Unknown client type '{shown}'").into());
        }
    })
}

/// Which clients CLIENT KILL ends.
#[derive(Default)]
struct KillFilter {
    id: Option<i64>,
    address: Option<String>,
    local_address: Option<String>,
    user: Option<String>,
    kind: Option<ClientKind>,
    takes_caller: bool,
}

impl KillFilter {
    fn takes(&self, card: &ClientCard, caller: u64) -> bool {
        let is = |wanted: &Option<String>, found: &str| {
            wanted.as_ref().is_none_or(|wanted| wanted == found)
        };
        self.id.is_none_or(|id| id == card.id as i64)
            && is(&self.address, &card.address)
            && is(&self.local_address, &card.local_address)
            && is(&self.user, &card.texts.lock().user)
            && self.kind.is_none_or(|kind| kind == ClientKind::of(card))
            && (self.takes_caller || card.id != caller)
    }
}

fn kill(call: &mut ImmediateCall<'_>) -> Handled {
    call.check_operator("kill clients")?;
    // The old form names an address alone, and ends the caller too.
    let is_old = call.len() == 3;
    let mut filter = KillFilter { takes_caller: is_old, ..KillFilter::default() };
    if is_old {
        filter.address = Some(text(call.word(2)));
    } else {
        for index in (2..call.len()).step_by(2) {
            if index + 1 == call.len() {
                return Err(words::SYNTAX.into());
            }
            let value = text(call.word(index + 1));
            match call.lower(index).as_str() {
                "id" => {
                    let id = parse_integer(call.word(index + 1)).filter(|id| *id > 0);
                    filter.id = Some(id.ok_or("ERR client-id should be greater than 0")?);
                }
                "addr" => filter.address = Some(value),
                "laddr" => filter.local_address = Some(value),
                "user" => filter.user = Some(value),
                "type" => filter.kind = Some(client_kind(call, index + 1)?),
                "skipme" => match value.to_ascii_lowercase().as_str() {
                    "yes" => filter.takes_caller = false,
                    "no" => filter.takes_caller = true,
                    _ => return Err(words::SYNTAX.into()),
                },
                _ => return Err(words::SYNTAX.into()),
            }
        }
    }
    let caller = call.client.card.id;
    let taken: Vec<_> = call.keyspace.clients.all();
    let taken: Vec<_> = taken.iter().filter(|card| filter.takes(card, caller)).collect();
    // The caller still hears how many there were.
    for card in &taken {
        match card.id == caller {
            true => call.client.state = ClientState::Closing,
            false => call.keyspace.clients.kill(card),
        }
    }
    match (is_old, taken.len()) {
        (true, 0) => return Err("ERR No such client".into()),
        (true, _) => call.reply().ok(),
        (false, count) => call.reply().integer(count as i64),
    }
    Ok(())
}
