//! The errors of commands, in Redis' own words.

use std::borrow::Cow;

/// The error that a client gets.
pub(crate) type Refusal = Cow<'static, str>;

pub(crate) const SYNTAX: &str = "ERR syntax error";
pub(crate) const NOT_AN_INTEGER: &str = "ERR value is not an integer or out of range";
pub(crate) const NOT_A_FLOAT: &str = "ERR value is not a valid float";
pub(crate) const OVERFLOW: &str = "ERR increment or decrement would overflow";
pub(crate) const DECREMENT_OVERFLOW: &str = "ERR decrement would overflow";
pub(crate) const NOT_FINITE: &str = "ERR increment would produce NaN or Infinity";
pub(crate) const NO_SUCH_KEY: &str = "ERR no such key";
pub(crate) const OFFSET: &str = "ERR offset is out of range";
pub(crate) const TOO_LONG: &str = "ERR string exceeds maximum allowed size (proto-max-bulk-len)";
pub(crate) const NOAUTH: &str = "NOAUTH Authentication required.";
pub(crate) const NO_KEY_PERMISSION: &str = "NOPERM No permissions to access a key";
pub(crate) const NO_CHANNEL_PERMISSION: &str = "NOPERM No permissions to access a channel";
pub(crate) const KEY_TOO_LONG: &str = "ERR the key is longer than this store takes";
pub(crate) const REPLY_TOO_LARGE: &str =
    "ERR the reply is larger than a client may leave unread: ask for fewer keys at once";
pub(crate) const CHANGED_TOO_OFTEN: &str =
    "TRYAGAIN others changed the key at the same time, again and again: try later";

pub(crate) const WRONG_TYPE: &str =
    "WRONGTYPE Operation against a key holding the wrong kind of value";
pub(crate) const LIST_TOO_LONG: &str =
    "ERR the list is too long for a change in its middle: take elements from its ends";
pub(crate) const NO_SUCH_INDEX: &str = "ERR index out of range";
pub(crate) const NOT_POSITIVE: &str = "ERR value is out of range, must be positive";
pub(crate) const HASH_NOT_AN_INTEGER: &str = "ERR hash value is not an integer";
pub(crate) const HASH_NOT_A_FLOAT: &str = "ERR hash value is not a float";
pub(crate) const NOT_A_SCORE: &str = "ERR resulting score is not a number (NaN)";
pub(crate) const FIELDS_TOO_LONG: &str =
    "ERR the value would take more bytes than one may: spread it over several keys";
pub(crate) const TOO_LARGE_TO_EXPIRE: &str =
    "ERR a hash with fields that expire has 8 MiB at most: spread it over several keys";
pub(crate) const MEMBER_TOO_LONG: &str =
    "ERR the member is longer than a large collection takes: shorten it";
pub(crate) const DAMAGED: &str = "ERR the stored bytes of this key are not a whole value of its \
                                  kind: somebody wrote them through another listener; store or \
                                  delete the key anew";
pub(crate) const MARKED: &str = "ERR a string may not begin with the bytes that mark values of \
                                 other kinds: store it with others in front";

pub(crate) const INVALID_GETEX_EXPIRY: &str = "ERR invalid expire time in 'getex' command";

/// A command with too few or too many arguments.
pub(crate) fn wrong_arity(name: &str) -> String {
    format!("ERR wrong number of arguments for '{name}' command")
}

/// An expiry that is none.
pub(crate) fn invalid_expiry(name: &str) -> String {
    format!("ERR invalid expire time in '{name}' command")
}

/// A subcommand that there is not.
pub(crate) fn unknown_subcommand(name: &str, subcommand: &[u8]) -> String {
    let subcommand = String::from_utf8_lossy(&subcommand[..subcommand.len().min(128)]);
    let name = name.to_ascii_uppercase();
    format!("ERR unknown subcommand '{subcommand}'. Try {name} HELP.")
}

/// A command that there is not.
pub(crate) fn unknown_command(arguments: &[&[u8]]) -> String {
    // As much of the arguments as Redis shows.
    let text = |bytes: &[u8]| {
        String::from_utf8_lossy(&bytes[..bytes.len().min(128)]).replace(['\r', '\n'], " ")
    };
    let mut shown = String::new();
    for argument in arguments.iter().skip(1) {
        if shown.len() >= 128 {
            break;
        }
        shown.push_str(&format!("'{}' ", text(argument)));
    }
    let name = arguments.first().map(|name| text(name)).unwrap_or_default();
    format!("ERR unknown command '{name}', with args beginning with: {shown}")
}

/// What the store says. Its kind decides the code, by which clients know what to do.
pub fn of_store(error: &tonnage::Error) -> String {
    let code = match error.kind() {
        tonnage::ErrorKind::Unavailable | tonnage::ErrorKind::TimedOut => "TRYAGAIN",
        tonnage::ErrorKind::Exhausted => "OOM",
        _ => "ERR",
    };
    format!("{code} {}", error.message())
}
