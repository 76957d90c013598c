//! Values as they are stored: strings as they are, others behind a mark.

mod encoded_hash;
mod kind;

pub(crate) use encoded_hash::{
    EncodedHash, HEAD_BYTES, entry_bytes, score_of, write_head, write_lengths,
};
pub(crate) use kind::{ValueKind, would_be_marked};
