//! Commands that consist of others.
//!
//! A command of several keys, of which one depends on another, is carried out as simple commands
//! one after another, with the turn alone. So no client sees it half done. Those that are given
//! together are one write to the log.

use std::sync::Arc;

use super::immediate::{CarryOut, ImmediateCall};
use super::words::{self, Refusal};
use crate::access::ClientAccess;
use crate::client::Client;
use crate::client_list::ClientCard;
use crate::keyspace::Keyspace;
use crate::protocol::{ClientLimits, ReplyWriter, parse_integer};

/// Carries simple commands out for a client.
pub(super) struct InnerCaller<'c> {
    pub(super) keyspace: &'c Arc<Keyspace>,
    pub(super) carry_out: CarryOut,
    pub(super) card: Arc<ClientCard>,
    pub(super) limits: ClientLimits,
}

/// What a simple command answers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum InnerReply {
    Integer(i64),
    Text(Option<Vec<u8>>),
    List(Vec<Vec<u8>>),
}

impl InnerReply {
    pub(super) fn integer(&self) -> i64 {
        match self {
            Self::Integer(number) => *number,
            _ => 0,
        }
    }

    pub(super) fn into_text(self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => text,
            _ => None,
        }
    }

    pub(super) fn into_list(self) -> Vec<Vec<u8>> {
        match self {
            Self::List(list) => list,
            _ => Vec::new(),
        }
    }
}

impl<'c> ImmediateCall<'c> {
    /// Carries simple commands out for the client of this call.
    pub(super) fn inner_caller(&self) -> InnerCaller<'c> {
        let (card, limits) = (self.client.card.clone(), self.client.limits);
        InnerCaller { keyspace: self.keyspace, carry_out: self.carry_out, card, limits }
    }

    /// Carries simple commands out together, as [`InnerCaller::call`] does.
    pub(super) fn inner(&self, commands: &[&[&[u8]]]) -> Result<Vec<InnerReply>, Refusal> {
        self.inner_caller().call(commands)
    }
}

impl InnerCaller<'_> {
    /// Carries simple commands out together. The first error of one is an error. The caller has its
    /// turn alone, and has seen to the rights on the keys.
    pub(super) fn call(&self, commands: &[&[&[u8]]]) -> Result<Vec<InnerReply>, Refusal> {
        let card = self.card.clone();
        let mut client = Box::new(Client::with_card(card, ClientAccess::Everything, self.limits));
        let mut writer = ReplyWriter::new(&mut client.input, Default::default());
        for command in commands {
            writer.array(command.len());
            command.iter().for_each(|word| writer.bulk(word));
        }
        let mut clients = [client];
        (self.carry_out)(self.keyspace, &mut clients);
        let [client] = clients;
        let mut replies = InnerReplies { rest: client.output() };
        let read = commands.iter().map(|_| replies.next());
        // What was too large to be answered is missing.
        read.map(|reply| reply.unwrap_or_else(|| Err(words::REPLY_TOO_LARGE.into()))).collect()
    }
}

/// Reads replies of the second version of the protocol, as this crate writes them.
struct InnerReplies<'b> {
    rest: &'b [u8],
}

impl<'b> InnerReplies<'b> {
    fn next(&mut self) -> Option<Result<InnerReply, Refusal>> {
        let (kind, line) = self.line()?;
        let number = || parse_integer(line);
        Some(Ok(match kind {
            b'-' => return Some(Err(String::from_utf8_lossy(line).into_owned().into())),
            b'+' => InnerReply::Text(Some(line.to_vec())),
            b':' => InnerReply::Integer(number()?),
            b'$' => InnerReply::Text(self.bulk(number()?)?),
            _ => {
                let count = usize::try_from(number()?).unwrap_or(0);
                let mut list = Vec::with_capacity(count.min(self.rest.len()));
                for _ in 0..count {
                    let (_, line) = self.line()?;
                    list.push(self.bulk(parse_integer(line)?)?.unwrap_or_default());
                }
                InnerReply::List(list)
            }
        }))
    }

    fn line(&mut self) -> Option<(u8, &'b [u8])> {
        let end = memchr::memchr(b'\r', self.rest)?;
        let (line, rest) = self.rest.split_at(end);
        self.rest = rest.get(2..)?;
        line.split_first().map(|(kind, line)| (*kind, line))
    }

    /// The text of a length; none of a length below 0, and nothing where it is cut off.
    fn bulk(&mut self, len: i64) -> Option<Option<Vec<u8>>> {
        let Ok(len) = usize::try_from(len) else { return Some(None) };
        let (text, rest) = self.rest.split_at_checked(len)?;
        self.rest = rest.get(2..)?;
        Some(Some(text.to_vec()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_are_read_one_after_another_and_one_that_is_cut_off_is_none() {
        let all = b":-7\r\n$2\r\n\r\n\r\n$-1\r\n*2\r\n$1\r\na\r\n$0\r\n\r\n*-1\r\n-ERR x\r\n+OK\r\n*1\r\n$9\r\nz";
        let mut replies = InnerReplies { rest: all };
        let mut next = || replies.next();
        assert_eq!(next(), Some(Ok(InnerReply::Integer(-7))));
        assert_eq!(next(), Some(Ok(InnerReply::Text(Some(b"\r\n".to_vec())))));
        assert_eq!(next(), Some(Ok(InnerReply::Text(None))));
        assert_eq!(next(), Some(Ok(InnerReply::List(vec![b"a".to_vec(), Vec::new()]))));
        assert_eq!(next(), Some(Ok(InnerReply::List(Vec::new()))));
        assert_eq!(next(), Some(Err("ERR x".into())));
        assert_eq!(next(), Some(Ok(InnerReply::Text(Some(b"OK".to_vec())))));
        assert_eq!(next(), None);
    }
}
