//! MULTI, EXEC, WATCH.
//!
//! Commands of a transaction are noted as they were sent. EXEC carries them out with its turn
//! alone, so nothing comes between them. Those on single keys become one write to the log. A
//! transaction is carried out to its end, even where its client is closed in the middle of it.

use super::immediate::ImmediateCall;
use super::keys::fetch_versions;
use super::words::Refusal;
use crate::client::{Client, Transaction, WatchedKeys};
use crate::protocol::{ArgumentSpan, ReplyWriter};

type Handled = Result<(), Refusal>;

/// The most keys that a client watches.
const WATCHED_MAX: usize = 100_000;

pub(crate) fn multi(call: &mut ImmediateCall<'_>) -> Handled {
    if call.client.transaction.is_some() {
        return Err("ERR MULTI calls can not be nested".into());
    }
    call.client.transaction = Some(Transaction::default());
    call.reply().ok();
    Ok(())
}

pub(crate) fn discard(call: &mut ImmediateCall<'_>) -> Handled {
    if call.client.transaction.take().is_none() {
        return Err("ERR DISCARD without MULTI".into());
    }
    call.client.watched = WatchedKeys::default();
    call.reply().ok();
    Ok(())
}

/// Notes a command of a transaction. What has to wait for others cannot be one of it.
pub(super) fn queue(client: &mut Box<Client>, name: &str, spans: &[ArgumentSpan]) {
    if matches!(name, "auth" | "hello" | "save") || name.starts_with("tn.") {
        client.transaction.iter_mut().for_each(|transaction| transaction.is_broken = true);
        let refusal = "ERR Command not allowed inside a transaction";
        return ReplyWriter::new(&mut client.output, client.protocol).error(refusal);
    }
    let words: Vec<Vec<u8>> = spans.iter().map(|span| span.of(&client.input).to_vec()).collect();
    let bytes: usize = words.iter().map(|word| word.len() + size_of::<Vec<u8>>()).sum();
    let bytes_max = client.limits.input_bytes_max;
    let Some(transaction) = &mut client.transaction else { return };
    transaction.bytes += bytes;
    if transaction.bytes > bytes_max {
        transaction.is_broken = true;
        transaction.commands.clear();
        let refusal = format!("OOM a transaction holds at most {bytes_max} bytes of commands");
        return ReplyWriter::new(&mut client.output, client.protocol).error(&refusal);
    }
    transaction.commands.push(words);
    ReplyWriter::new(&mut client.output, client.protocol).simple("QUEUED");
}

pub(crate) fn exec(call: &mut ImmediateCall<'_>) -> Handled {
    let start = call.client.output.len();
    let outcome = match call.client.transaction.take() {
        Some(transaction) => carry_out(call, transaction),
        None => Err("ERR EXEC without MULTI".into()),
    };
    if let Err(refusal) = outcome {
        call.reply().error(&refusal);
        call.client.mute(start);
    }
    Ok(())
}

fn carry_out(call: &mut ImmediateCall<'_>, transaction: Transaction) -> Handled {
    let watched = std::mem::take(&mut call.client.watched);
    if transaction.is_broken {
        return Err("EXECABORT Transaction discarded because of previous errors.".into());
    }
    // From here to the end no other client reads or writes.
    let _turn = call.turn(true);
    let keys: Vec<&[u8]> = watched.versions.keys().map(Vec::as_slice).collect();
    let now = call.stored(fetch_versions(call.keyspace, &keys))?;
    let start = call.client.output.len();
    if watched.versions.values().ne(&now) {
        call.reply().null_array();
        call.client.mute(start);
        return Ok(());
    }
    call.reply().array(transaction.commands.len());
    // Whether the commands are answered they decide themselves.
    call.client.mute(start);
    // The client itself, with the noted commands as if they came now.
    let mut input = Vec::with_capacity(transaction.bytes);
    let mut writer = ReplyWriter::new(&mut input, Default::default());
    for command in &transaction.commands {
        writer.array(command.len());
        command.iter().for_each(|word| writer.bulk(word));
    }
    run_noted(call, input);
    Ok(())
}

/// Carries the noted commands out as those of the client.
fn run_noted(call: &mut ImmediateCall<'_>, input: Vec<u8>) {
    let client = &mut **call.client;
    let own_reader = std::mem::take(&mut client.reader);
    let failure_behind = client.failure_behind.take();
    let needs_more = client.needs_more;
    client.input = input;
    let card = client.card.clone();
    let placeholder = Box::new(Client::with_card(card, Default::default(), client.limits));
    let mut clients = [std::mem::replace(call.client, placeholder)];
    (call.carry_out)(call.keyspace, &mut clients);
    let [client] = clients;
    *call.client = client;
    call.client.reader = own_reader;
    call.client.failure_behind = failure_behind;
    call.client.needs_more = needs_more;
    call.client.input = Vec::new();
}

pub(crate) fn watch(call: &mut ImmediateCall<'_>) -> Handled {
    if call.client.transaction.is_some() {
        return Err("ERR WATCH inside MULTI is not allowed".into());
    }
    let keys: Vec<&[u8]> = (1..call.len()).map(|index| call.word(index)).collect();
    if call.client.watched.versions.len() + keys.len() > WATCHED_MAX {
        return Err(format!("OOM a client watches at most {WATCHED_MAX} keys").into());
    }
    let bytes_max = call.client.limits.input_bytes_max;
    let bytes: usize = keys.iter().map(|key| key.len()).sum();
    if call.client.watched.bytes.saturating_add(bytes) > bytes_max {
        return Err(
            format!("OOM the keys that a client watches have {bytes_max} bytes at most").into()
        );
    }
    let _turn = call.turn(false);
    let found = call.stored(fetch_versions(call.keyspace, &keys))?;
    keys.into_iter().zip(found).for_each(|(key, version)| call.client.watched.add(key, version));
    call.reply().ok();
    Ok(())
}

pub(crate) fn unwatch(call: &mut ImmediateCall<'_>) -> Handled {
    call.client.watched = WatchedKeys::default();
    call.reply().ok();
    Ok(())
}
