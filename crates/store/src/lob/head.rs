//! The encoding of a head and of a draft.

use tonnage_engine::{Error, Result};

const FORMAT: u8 = 1;

/// What a writer resumes from: the whole chunks of an object.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct AppendBase {
    /// The version of the object; 0 for none.
    pub(super) version: u64,
    pub(super) bytes: u64,
}

/// What an append resumes from.
pub(super) fn append_base(head: Option<&LobHead>) -> AppendBase {
    head.map_or_else(AppendBase::default, |head| AppendBase {
        version: head.version,
        bytes: head.bytes() / head.chunk_bytes as u64 * head.chunk_bytes as u64,
    })
}

/// Chunks of one generation, from its first on. All but the last of the object are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LobSegment {
    pub(super) generation: u64,
    pub(super) bytes: u64,
}

/// The parts of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LobHead {
    /// That of the row that holds the head.
    pub(super) version: u64,
    pub(super) chunk_bytes: usize,
    pub(super) segments: Vec<LobSegment>,
}

impl LobHead {
    pub(super) fn bytes(&self) -> u64 {
        self.segments.iter().map(|segment| segment.bytes).sum()
    }

    /// Format, bytes of a chunk (4), then generation (8) and bytes (8) of each segment;
    /// little-endian.
    pub(super) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        bytes.extend((self.chunk_bytes as u32).to_le_bytes());
        for segment in &self.segments {
            bytes.extend(segment.generation.to_le_bytes());
            bytes.extend(segment.bytes.to_le_bytes());
        }
        bytes
    }

    pub(super) fn parse(bytes: &[u8], version: u64) -> Result<Self> {
        let (chunk_bytes, rest) = begin(bytes)?;
        let (segments, []) = rest.as_chunks::<16>() else { return Err(damaged()) };
        let segments = segments.iter().map(numbers);
        let segments: Vec<LobSegment> =
            segments.map(|(generation, bytes)| LobSegment { generation, bytes }).collect();
        let chunk = chunk_bytes as u64;
        let are_whole = segments.split_last().is_none_or(|(last, before)| {
            last.bytes > 0 && before.iter().all(|it| it.bytes > 0 && it.bytes % chunk == 0)
        });
        if !are_whole {
            return Err(damaged());
        }
        Ok(Self { version, chunk_bytes, segments })
    }

    /// The segments that lie before a byte at the end of a chunk.
    pub(super) fn segments_before(&self, end: u64) -> Vec<LobSegment> {
        let (mut kept, mut left) = (Vec::new(), end);
        for segment in &self.segments {
            let bytes = segment.bytes.min(left);
            if bytes > 0 {
                kept.push(LobSegment { bytes, ..*segment });
            }
            left -= bytes;
        }
        kept
    }
}

/// A writer's notes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LobDraft {
    /// The version of the row that holds the draft. Changes on every write, so a stale writer's
    /// token no longer matches.
    pub(super) claim: u64,
    /// That of its chunks: the first claim.
    pub(super) generation: u64,
    pub(super) chunk_bytes: usize,
    pub(super) appends: bool,
    pub(super) base: AppendBase,
    /// How many chunks are stored.
    pub(super) chunks: u64,
}

impl LobDraft {
    /// Format, bytes of a chunk (4), whether it appends (1), generation (8; 0 for the version of
    /// the row), chunks (8), version (8) and bytes (8) of what it resumes from; little-endian.
    pub(super) fn to_bytes(self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        bytes.extend((self.chunk_bytes as u32).to_le_bytes());
        bytes.push(self.appends.into());
        for number in [self.generation, self.chunks, self.base.version, self.base.bytes] {
            bytes.extend(number.to_le_bytes());
        }
        bytes
    }

    pub(super) fn parse(bytes: &[u8], claim: u64) -> Result<Self> {
        let (chunk_bytes, rest) = begin(bytes)?;
        let Some((&appends @ (0 | 1), rest)) = rest.split_first() else { return Err(damaged()) };
        let ([first, second], []) = rest.as_chunks::<16>() else { return Err(damaged()) };
        let (first, second) = (numbers(first), numbers(second));
        Ok(Self {
            claim,
            generation: if first.0 == 0 { claim } else { first.0 },
            chunk_bytes,
            appends: appends == 1,
            base: AppendBase { version: second.0, bytes: second.1 },
            chunks: first.1,
        })
    }
}

fn begin(bytes: &[u8]) -> Result<(usize, &[u8])> {
    let (&format, rest) = bytes.split_first().ok_or_else(damaged)?;
    if format > FORMAT {
        return Err(Error::unsupported(format!(
            "a large object has format {format}, this Tonnage reads formats up to {FORMAT}: use a newer Tonnage"
        )));
    }
    let (chunk_bytes, rest) = rest.split_first_chunk::<4>().ok_or_else(damaged)?;
    match u32::from_le_bytes(*chunk_bytes) as usize {
        chunk_bytes if format == FORMAT && chunk_bytes > 0 => Ok((chunk_bytes, rest)),
        _ => Err(damaged()),
    }
}

fn numbers(bytes: &[u8; 16]) -> (u64, u64) {
    let number = |at: usize| {
        let mut number = [0; 8];
        number.copy_from_slice(&bytes[at..at + 8]);
        u64::from_le_bytes(number)
    };
    (number(0), number(8))
}

fn damaged() -> Error {
    Error::corruption("the head of a large object is damaged: restore the store from a backup")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn head() -> LobHead {
        let segments = vec![
            LobSegment { generation: 3, bytes: 20 },
            LobSegment { generation: 9, bytes: 10 },
            LobSegment { generation: 12, bytes: 7 },
        ];
        LobHead { version: 13, chunk_bytes: 10, segments }
    }

    #[test]
    fn heads_and_drafts_are_read_back() {
        assert_eq!(LobHead::parse(&head().to_bytes(), 13).unwrap(), head());
        let base = AppendBase { version: 7, bytes: 1 << 40 };
        let chunk_bytes = 1 << 20;
        let draft =
            LobDraft { claim: 9, generation: 5, chunk_bytes, appends: true, base, chunks: 4 };
        assert_eq!(LobDraft::parse(&draft.to_bytes(), 9).unwrap(), draft);
        let first = LobDraft { generation: 0, chunks: 0, ..draft };
        assert_eq!(LobDraft::parse(&first.to_bytes(), 9).unwrap().generation, 9);
    }

    #[test]
    fn a_head_is_cut_at_the_end_of_a_chunk() {
        let bytes = |end| -> Vec<u64> {
            head().segments_before(end).iter().map(|segment| segment.bytes).collect()
        };
        assert!(bytes(0).is_empty());
        assert_eq!(bytes(10), [10]);
        assert_eq!(bytes(30), [20, 10]);
        assert_eq!(head().bytes(), 37);
    }

    proptest! {
        #[test]
        fn any_bytes_are_a_head_or_refused(bytes in proptest::collection::vec(any::<u8>(), 0..60)) {
            if let Ok(head) = LobHead::parse(&bytes, 1) {
                prop_assert_eq!(head.to_bytes(), bytes.clone());
            }
            let _ = LobDraft::parse(&bytes, 1);
        }
    }
}
