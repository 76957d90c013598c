//! Writes replies, in the version of the protocol that the client speaks.

use super::double::write_double;

/// The version of Redis whose commands and words are spoken.
pub(crate) const REDIS_VERSION: &str = "7.2.4";

/// The version of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protocol {
    /// RESP2: the one that clients begin with.
    #[default]
    Two,
    /// RESP3, after `HELLO 3`.
    Three,
}

impl Protocol {
    /// Its number.
    pub fn number(self) -> i64 {
        match self {
            Protocol::Two => 2,
            Protocol::Three => 3,
        }
    }
}

/// Appends replies to a buffer.
#[derive(Debug)]
pub struct ReplyWriter<'b> {
    buffer: &'b mut Vec<u8>,
    protocol: Protocol,
}

impl<'b> ReplyWriter<'b> {
    /// Replies after what the buffer holds.
    pub fn new(buffer: &'b mut Vec<u8>, protocol: Protocol) -> Self {
        Self { buffer, protocol }
    }

    /// `+OK`
    pub fn ok(&mut self) {
        self.simple("OK");
    }

    /// A text without line ends.
    pub fn simple(&mut self, text: &str) {
        self.line(b'+', text.as_bytes());
    }

    /// An error with its code in front: `ERR syntax error`. Line ends become spaces.
    pub fn error(&mut self, text: &str) {
        self.buffer.push(b'-');
        let start = self.buffer.len();
        self.buffer.extend_from_slice(text.as_bytes());
        for byte in &mut self.buffer[start..] {
            if matches!(byte, b'\r' | b'\n') {
                *byte = b' ';
            }
        }
        self.end_line();
    }

    /// A truth: 1 or 0 in RESP2.
    pub fn boolean(&mut self, truth: bool) {
        match self.protocol {
            Protocol::Two => self.integer(truth.into()),
            Protocol::Three => self.line(b'#', if truth { b"t" } else { b"f" }),
        }
    }

    /// A whole number.
    pub fn integer(&mut self, number: i64) {
        self.number_line(b':', number);
    }

    /// A double.
    pub fn double(&mut self, number: f64) {
        let text = write_double(number);
        match self.protocol {
            Protocol::Two => self.bulk(text.as_bytes()),
            Protocol::Three => self.line(b',', text.as_bytes()),
        }
    }

    /// Bytes of any kind.
    pub fn bulk(&mut self, bytes: &[u8]) {
        self.number_line(b'$', bytes.len() as i64);
        self.buffer.extend_from_slice(bytes);
        self.end_line();
    }

    /// A whole number as its digits.
    pub fn bulk_integer(&mut self, number: i64) {
        let (digits, start) = digits_of(number);
        self.bulk(&digits[start..]);
    }

    /// A text for people, marked as such where the protocol can.
    pub fn verbatim(&mut self, text: &str) {
        match self.protocol {
            Protocol::Two => self.bulk(text.as_bytes()),
            Protocol::Three => {
                self.number_line(b'=', text.len() as i64 + 4);
                self.buffer.extend_from_slice(b"txt:");
                self.buffer.extend_from_slice(text.as_bytes());
                self.end_line();
            }
        }
    }

    /// No value.
    pub fn null(&mut self) {
        match self.protocol {
            Protocol::Two => self.buffer.extend_from_slice(b"$-1\r\n"),
            Protocol::Three => self.buffer.extend_from_slice(b"_\r\n"),
        }
    }

    /// No list.
    pub fn null_array(&mut self) {
        match self.protocol {
            Protocol::Two => self.buffer.extend_from_slice(b"*-1\r\n"),
            Protocol::Three => self.buffer.extend_from_slice(b"_\r\n"),
        }
    }

    /// The head of a list: so many replies follow.
    pub fn array(&mut self, len: usize) {
        self.number_line(b'*', len as i64);
    }

    /// The head of a map: so many pairs of replies follow.
    pub fn map(&mut self, pairs: usize) {
        match self.protocol {
            Protocol::Two => self.array(2 * pairs),
            Protocol::Three => self.number_line(b'%', pairs as i64),
        }
    }

    /// The head of a list of pairs: each begins with [`ReplyWriter::pair`].
    pub fn pair_list(&mut self, pairs: usize) {
        match self.protocol {
            Protocol::Two => self.array(2 * pairs),
            Protocol::Three => self.array(pairs),
        }
    }

    /// The head of a pair: two replies follow.
    pub fn pair(&mut self) {
        if self.protocol == Protocol::Three {
            self.array(2);
        }
    }

    /// The head of a set: so many replies follow.
    pub fn set(&mut self, len: usize) {
        match self.protocol {
            Protocol::Two => self.array(len),
            Protocol::Three => self.number_line(b'~', len as i64),
        }
    }

    /// The head of a push: so many replies follow, which answer no command.
    pub fn push(&mut self, len: usize) {
        match self.protocol {
            Protocol::Two => self.array(len),
            Protocol::Three => self.number_line(b'>', len as i64),
        }
    }

    fn line(&mut self, kind: u8, text: &[u8]) {
        self.buffer.push(kind);
        self.buffer.extend_from_slice(text);
        self.end_line();
    }

    fn number_line(&mut self, kind: u8, number: i64) {
        let (digits, start) = digits_of(number);
        self.line(kind, &digits[start..]);
    }

    fn end_line(&mut self) {
        self.buffer.extend_from_slice(b"\r\n");
    }
}

/// The digits of a number, from an index to the end.
pub(crate) fn digits_of(number: i64) -> ([u8; 20], usize) {
    let (mut digits, mut start) = ([0; 20], 20);
    let mut rest = number.unsigned_abs();
    loop {
        start -= 1;
        digits[start] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    if number < 0 {
        start -= 1;
        digits[start] = b'-';
    }
    (digits, start)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(protocol: Protocol, write: impl FnOnce(&mut ReplyWriter<'_>)) -> String {
        let mut buffer = Vec::new();
        write(&mut ReplyWriter::new(&mut buffer, protocol));
        String::from_utf8(buffer).unwrap()
    }

    #[test]
    fn replies_have_the_form_of_their_version() {
        let both = |write: fn(&mut ReplyWriter<'_>)| {
            [written(Protocol::Two, write), written(Protocol::Three, write)]
        };
        assert_eq!(both(|reply| reply.null()), ["$-1\r\n", "_\r\n"]);
        assert_eq!(both(|reply| reply.map(2)), ["*4\r\n", "%2\r\n"]);
        assert_eq!(both(|reply| reply.set(2)), ["*2\r\n", "~2\r\n"]);
        assert_eq!(both(|reply| reply.boolean(true)), [":1\r\n", "#t\r\n"]);
        assert_eq!(both(|reply| reply.push(3)), ["*3\r\n", ">3\r\n"]);
        assert_eq!(both(|reply| reply.double(1.5)), ["$3\r\n1.5\r\n", ",1.5\r\n"]);
        let pairs = |reply: &mut ReplyWriter<'_>| {
            reply.pair_list(1);
            reply.pair();
        };
        assert_eq!(both(pairs), ["*2\r\n", "*1\r\n*2\r\n"]);
        assert_eq!(both(|reply| reply.verbatim("a")), ["$1\r\na\r\n", "=5\r\ntxt:a\r\n"]);
        assert_eq!(both(|reply| reply.integer(i64::MIN))[0], ":-9223372036854775808\r\n");
        assert_eq!(both(|reply| reply.bulk_integer(-10))[1], "$3\r\n-10\r\n");
        assert_eq!(both(|reply| reply.error("ERR a\r\n+b"))[0], "-ERR a  +b\r\n");
    }
}
