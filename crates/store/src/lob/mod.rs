//! Large objects: values of any size under keys, written and read in chunks.
//!
//! They have keys as pairs do, and a space of their own: a pair and a large object under the same
//! key know nothing of each other. All parts of an object are under its key:
//!
//! ```text
//! KEY 00 00 00                      the head: length, and which chunks make up the object
//! KEY 00 00 01                      the draft: somebody is writing
//! KEY 00 00 02 generation number    a chunk
//! ```
//!
//! 1. A writer stores a draft. The version that the engine gives it is the *generation* of its
//!    chunks: no other writer ever has the same.
//! 2. It stores chunks, each in one batch with the draft, on condition that the draft is the one
//!    that it stored last. So who begins later, or resumes, shuts the one before out for good. The
//!    chunks are invisible, as no head names them.
//! 3. In one atomic batch the last chunk and the new head are stored and the draft is removed, on
//!    the same condition.
//! 4. The chunks that the head does not name any more are deleted.
//!
//! So an object is never half visible. A writer that was cut short leaves its draft, and continues
//! with [`KeyValue::resume_lob`]. Chunks that neither the head nor the draft names are of no use to
//! anyone, for ever: [`KeyValue::clean_lobs`] deletes them.
//!
//! An append is a writer whose head names the whole chunks that were there and then its own; it
//! begins with a copy of the last chunk when that is not full. So there are never more generations
//! than chunks.

mod clean;
mod head;
mod keys;
mod many;
mod options;
mod reader;
mod space;
mod writer;

use tonnage_engine::{Condition, Durability, ErrorKind, Result, WriteBatch};

pub use clean::LobCleanReport;
pub use many::{LobBytes, LobSource, LobsReport, copy_lob, put_each};
pub use options::{LobInfo, LobOptions};
pub use reader::LobReader;
pub use writer::LobWriter;

pub(crate) use clean::{LobCheck, check_lobs, clean as clean_unneeded};
pub(crate) use space::find_space;

use crate::kv::{Key, KeyValue};
use crate::single_calls::{GetOptions, WriteOptions};
use crate::terms::WriteTerms;
use keys::LobKeys;
use options::check_options;
use space::{ensure_space, space};

impl KeyValue {
    /// Opens a writer of a large object. What is written replaces the object that is there once
    /// [`LobWriter::finish`] returns, all at once; until then it is invisible. A writer that began
    /// earlier on the same key and has not finished fails.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use std::io::{Read, Write};
    /// use tonnage::{Key, LobOptions, Store};
    ///
    /// let pairs = Store::open("memory:")?.kv();
    /// let film: Key = "/films/-/metropolis".parse()?;
    /// let mut writer = pairs.put_lob(&film, &LobOptions::default())?;
    /// writer.write_all(b"a very long film").unwrap();
    /// writer.finish()?;
    ///
    /// let mut text = String::new();
    /// pairs.get_lob(&film)?.unwrap().read_to_string(&mut text).unwrap();
    /// assert_eq!(text, "a very long film");
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for a key that is too long or chunks out of their range; what the engine says.
    pub fn put_lob(&self, key: &Key, options: &LobOptions) -> Result<LobWriter> {
        self.write_lob(key, options, false)
    }

    /// Opens a writer that appends to a large object, or makes it where there is none. The object
    /// grows all at once, when it is finished.
    ///
    /// # Errors
    /// As [`KeyValue::put_lob`].
    pub fn append_lob(&self, key: &Key, options: &LobOptions) -> Result<LobWriter> {
        self.write_lob(key, options, true)
    }

    fn write_lob(&self, key: &Key, options: &LobOptions, appends: bool) -> Result<LobWriter> {
        check_options(options)?;
        let space = ensure_space(&self.store, options.deadline())?;
        let keys = LobKeys::new(key, &self.store)?;
        LobWriter::begin(self.store.clone(), space, keys, *options, appends)
    }

    /// Resumes a writer that was cut short, with its process or otherwise. Nothing when there is
    /// none. [`LobWriter::position`] is the number of stored bytes of the object: write what
    /// follows them. Chunks stay as large as they were.
    ///
    /// # Errors
    /// `Conflict` when the object that was appended to has changed since; what the engine says.
    pub fn resume_lob(&self, key: &Key, options: &LobOptions) -> Result<Option<LobWriter>> {
        check_options(options)?;
        let Some(space) = space(&self.store)? else { return Ok(None) };
        let keys = LobKeys::new(key, &self.store)?;
        LobWriter::resume(self.store.clone(), space, keys, *options)
    }

    /// Opens a reader of a large object; nothing when there is none. It reads the object that is
    /// there now, or fails with `Conflict` when that is replaced or deleted meanwhile; it never
    /// mixes two.
    ///
    /// # Errors
    /// What the engine says.
    pub fn get_lob(&self, key: &Key) -> Result<Option<LobReader>> {
        self.get_lob_with(key, &GetOptions::default())
    }

    /// The same with a consistency and a limit for each wait for the store: that of this call, and
    /// that of each read of a chunk. A read that ends with `TimedOut` may be repeated.
    ///
    /// # Errors
    /// As [`KeyValue::get_lob`]; `TimedOut`; `Invalid` for a consistency that no read can keep to.
    pub fn get_lob_with(&self, key: &Key, options: &GetOptions) -> Result<Option<LobReader>> {
        let deadline = options.checked_deadline()?;
        let Some(space) = space(&self.store)? else { return Ok(None) };
        let keys = LobKeys::new(key, &self.store)?;
        let head = keys.head(&self.store, space, deadline)?;
        let reader = |head| LobReader::new(self.store.clone(), space, keys, head, options.timeout);
        Ok(head.map(reader))
    }

    /// The length and the version of a large object; nothing when there is none.
    ///
    /// # Errors
    /// What the engine says.
    pub fn lob_info(&self, key: &Key) -> Result<Option<LobInfo>> {
        Ok(self.get_lob(key)?.map(|reader| reader.info()))
    }

    /// Deletes a large object. Returns whether there was one.
    ///
    /// # Errors
    /// What the engine says.
    pub fn delete_lob(&self, key: &Key, durability: Durability) -> Result<bool> {
        self.delete_lob_with(key, &WriteOptions { durability, ..WriteOptions::default() })
    }

    /// The same with a timeout. Where that ends while chunks are deleted, the object is gone all the
    /// same, and [`KeyValue::clean_lobs`] deletes the rest of its chunks.
    ///
    /// # Errors
    /// As [`KeyValue::delete_lob`]; `TimedOut`: then the object is there as it was.
    pub fn delete_lob_with(&self, key: &Key, options: &WriteOptions) -> Result<bool> {
        options.check_blind(self.store.engine.capability())?;
        let WriteTerms { durability, acks, deadline } = options.terms();
        let Some(space) = space(&self.store)? else { return Ok(false) };
        let keys = LobKeys::new(key, &self.store)?;
        while let Some(head) = keys.head(&self.store, space, deadline)? {
            let mut batch = WriteBatch::new(space);
            batch.delete(&keys.head_key(), Condition::IfVersion(head.version));
            let written = self.store.writer(acks).write_by(&batch, durability, deadline)?;
            if written.version().is_some() {
                return match keys.delete_chunks(&self.store, space, &head, None, deadline) {
                    Err(error) if error.kind() != ErrorKind::TimedOut => Err(error),
                    _ => Ok(true),
                };
            }
        }
        Ok(false)
    }

    /// Deletes the chunks that no object and no writer needs: what writers that were cut short have
    /// left, once others have replaced them. The objects stay in use.
    ///
    /// # Errors
    /// What the engine says.
    pub fn clean_lobs(&self) -> Result<LobCleanReport> {
        match space(&self.store)? {
            Some(space) => clean::clean(&*self.store.engine, space, &|| false),
            None => Ok(LobCleanReport::default()),
        }
    }
}
