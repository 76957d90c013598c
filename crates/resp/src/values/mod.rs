//! Values as they are stored: strings as they are, others after a mark.

mod encoded_hash;
mod entry_name;
mod kind;
mod spread_head;

pub(crate) use encoded_hash::{
    EXPIRY_BYTES, EncodedHash, HEAD_BYTES, entry_bytes, is_over, score_of, write_expiring_head,
    write_head, write_lengths,
};
pub(crate) use entry_name::EntryName;
pub(crate) use kind::{ValueKind, would_be_marked};
pub(crate) use spread_head::SpreadHead;
