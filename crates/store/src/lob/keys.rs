//! The keys of an object: its head, its draft, its chunks.

use tonnage_engine::{
    Deadline, Durability, Engine, Error, KeyPart, Ranges, Result, Rows, Slices, SpaceId,
};

use super::head::{LobDraft, LobHead, LobSegment};
use crate::inner::Inner;
use crate::kv::Key;
use crate::read::read_by;

const HEAD: u8 = 0;
const DRAFT: u8 = 1;
const CHUNK: u8 = 2;

/// What follows the key of the object: the end of its minor path.
const END: [u8; 2] = [0, 0];

/// Bytes after the key of the object in that of a chunk.
const CHUNK_LEN: usize = END.len() + 1 + 8 + 8;

/// What a key of the space is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LobRow {
    Head,
    Draft,
    Chunk { generation: u64, number: u64 },
}

/// The key of an object, encoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LobKeys {
    prefix: Vec<u8>,
    /// As text, for errors.
    name: String,
}

impl LobKeys {
    pub(super) fn new(key: &Key, store: &Inner) -> Result<Self> {
        let mut prefix = Vec::new();
        key.encode(&mut prefix)?;
        let (bytes, most) = (prefix.len() + CHUNK_LEN, store.engine.capability().key_bytes_max);
        if bytes > most {
            return Err(Error::invalid(format!(
                "{key}: a key of {bytes} bytes is over the limit of {most}"
            )));
        }
        prefix.extend(END);
        Ok(Self { prefix, name: key.to_string() })
    }

    /// The object that a key of the space belongs to, and what it is.
    pub(super) fn split(key: &[u8]) -> Result<(Self, LobRow)> {
        let split = || {
            let major_end = KeyPart::Path.end(key, 0)?;
            let minor_end = KeyPart::Path.end(key, major_end)?;
            let (prefix, row) = key.split_at(minor_end);
            // Each arm takes all bytes that are left: a key with one too many is damaged.
            let row = match row.split_first()? {
                (&HEAD, []) => LobRow::Head,
                (&DRAFT, []) => LobRow::Draft,
                (&CHUNK, numbers) => {
                    let (generation, number) = numbers.split_first_chunk::<8>()?;
                    let generation = u64::from_be_bytes(*generation);
                    LobRow::Chunk {
                        generation,
                        number: u64::from_be_bytes(number.try_into().ok()?),
                    }
                }
                _ => return None,
            };
            Some((prefix.to_vec(), row))
        };
        let (prefix, row) = split().ok_or_else(|| {
            Error::corruption(format!("the key {key:02x?} of a large object is damaged"))
        })?;
        let name = Key::decode(&prefix[..prefix.len() - END.len()])?.to_string();
        Ok((Self { prefix, name }, row))
    }

    pub(super) fn name(&self) -> &str {
        &self.name
    }

    fn key(&self, row: &[u8]) -> Vec<u8> {
        [&self.prefix, row].concat()
    }

    pub(super) fn head_key(&self) -> Vec<u8> {
        self.key(&[HEAD])
    }

    pub(super) fn draft_key(&self) -> Vec<u8> {
        self.key(&[DRAFT])
    }

    pub(super) fn chunk_key(&self, generation: u64, number: u64) -> Vec<u8> {
        let mut key = self.key(&[CHUNK]);
        key.extend(generation.to_be_bytes());
        key.extend(number.to_be_bytes());
        key
    }

    /// The head and the draft, as of one point in time.
    pub(super) fn state(
        &self,
        engine: &dyn Engine,
        space: SpaceId,
        deadline: Deadline,
    ) -> Result<(Option<LobHead>, Option<LobDraft>)> {
        let mut keys = Slices::new();
        keys.push(&self.head_key());
        keys.push(&self.draft_key());
        let (mut rows, mut state) = (Rows::new(), (None, None));
        read_by(engine, space, &keys, deadline, &mut rows)?;
        for (at, origin) in rows.origins.iter().enumerate() {
            let (value, version) = (rows.values.get(at), rows.versions[at]);
            match origin {
                0 => state.0 = Some(LobHead::parse(value, version)),
                _ => state.1 = Some(LobDraft::parse(value, version)),
            }
        }
        let named = |error: Error| error.at(&self.name);
        Ok((state.0.transpose().map_err(named)?, state.1.transpose().map_err(named)?))
    }

    pub(super) fn head(
        &self,
        store: &Inner,
        space: SpaceId,
        deadline: Deadline,
    ) -> Result<Option<LobHead>> {
        Ok(self.state(&*store.engine, space, deadline)?.0)
    }

    /// Deletes the chunks that a head names, but not those that another one names too.
    pub(super) fn delete_chunks(
        &self,
        store: &Inner,
        space: SpaceId,
        old: &LobHead,
        new: Option<&LobHead>,
        deadline: Deadline,
    ) -> Result<()> {
        let mut ranges = Ranges::new();
        for LobSegment { generation, .. } in &old.segments {
            let kept = new.and_then(|new| {
                let kept = new.segments.iter().find(|kept| kept.generation == *generation)?;
                Some(kept.bytes.div_ceil(new.chunk_bytes as u64))
            });
            self.push_chunks(*generation, kept.unwrap_or(0), &mut ranges);
        }
        store.engine.delete_range_by(space, &ranges, Durability::None, deadline)
    }

    /// Deletes all chunks of a generation.
    pub(super) fn delete_generation(
        &self,
        engine: &dyn Engine,
        space: SpaceId,
        generation: u64,
        deadline: Deadline,
    ) -> Result<()> {
        let mut ranges = Ranges::new();
        self.push_chunks(generation, 0, &mut ranges);
        engine.delete_range_by(space, &ranges, Durability::None, deadline)
    }

    /// The range of the chunks of a generation, from one on.
    fn push_chunks(&self, generation: u64, first: u64, ranges: &mut Ranges) {
        let mut end = self.chunk_key(generation, u64::MAX);
        end.push(0);
        ranges.push(&self.chunk_key(generation, first), &end);
    }
}
