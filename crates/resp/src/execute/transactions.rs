//! MULTI, EXEC, WATCH.
//!
//! Commands of a transaction are noted as they were sent. EXEC carries them out with its turn
//! alone, so nothing comes between them. Those on single keys become one write to the log.

use super::immediate::ImmediateCall;
use super::keys::fetch;
use super::words::Refusal;
use crate::client::{Client, Transaction, WatchedKey};
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
    call.client.watched.clear();
    call.reply().ok();
    Ok(())
}

/// Notes a command of a transaction. What has to wait for others cannot be one of it.
pub(super) fn queue(client: &mut Box<Client>, name: &str, spans: &[ArgumentSpan]) {
    if matches!(name, "auth" | "hello") {
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
    let Some(transaction) = call.client.transaction.take() else {
        return Err("ERR EXEC without MULTI".into());
    };
    let watched = std::mem::take(&mut call.client.watched);
    if transaction.is_broken {
        return Err("EXECABORT Transaction discarded because of previous errors.".into());
    }
    // From here to the end nobody else looks or writes.
    let _turn = call.turn(true);
    let keys: Vec<&[u8]> = watched.iter().map(|watched| watched.key.as_slice()).collect();
    let now = call.stored(fetch(call.keyspace, &keys))?;
    let is_changed = watched
        .iter()
        .zip(&now)
        .any(|(watched, now)| watched.version != now.as_ref().map(|value| value.version));
    if is_changed {
        call.reply().null_array();
        return Ok(());
    }
    call.reply().array(transaction.commands.len());
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
    let (own_limits, needs_more) = (client.limits, client.needs_more);
    // Replies of a transaction are not cut in the middle.
    client.limits.output_pause_bytes = usize::MAX;
    client.input = input;
    let card = client.card.clone();
    let placeholder = Box::new(Client::with_card(card, Default::default(), own_limits));
    let mut clients = [std::mem::replace(call.client, placeholder)];
    (call.carry_out)(call.keyspace, &mut clients);
    let [client] = clients;
    *call.client = client;
    call.client.reader = own_reader;
    call.client.limits = own_limits;
    call.client.needs_more = needs_more;
    call.client.input = Vec::new();
}

pub(crate) fn watch(call: &mut ImmediateCall<'_>) -> Handled {
    if call.client.transaction.is_some() {
        return Err("ERR WATCH inside MULTI is not allowed".into());
    }
    let keys: Vec<&[u8]> = (1..call.len()).map(|index| call.word(index)).collect();
    if call.client.watched.len() + keys.len() > WATCHED_MAX {
        return Err(format!("OOM a client watches at most {WATCHED_MAX} keys").into());
    }
    let _turn = call.turn(false);
    let found = call.stored(fetch(call.keyspace, &keys))?;
    for (key, found) in keys.into_iter().zip(found) {
        let version = found.map(|value| value.version);
        // What was watched first counts: it may have changed since.
        if !call.client.watched.iter().any(|watched| watched.key == key) {
            call.client.watched.push(WatchedKey { key: key.to_vec(), version });
        }
    }
    call.reply().ok();
    Ok(())
}

pub(crate) fn unwatch(call: &mut ImmediateCall<'_>) -> Handled {
    call.client.watched.clear();
    call.reply().ok();
    Ok(())
}
