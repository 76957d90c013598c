//! Keys that wait for their lookup: in memory up to a limit, beyond it in a temporary file.
//!
//! A client may send all of its keys before it reads a row. The server must take them: both
//! directions share the windows of one connection, so keys left in the socket would block the
//! client for ever.

use std::collections::VecDeque;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use arrow_flight::FlightData;
use prost::Message;
use tonnage::internal::sync::lock;
use tonnage::{Error, Result};

use crate::spool::{Spool, SpoolReservation};

/// Messages that wait.
pub(crate) struct KeySpool {
    state: Mutex<KeySpoolState>,
    news: Condvar,
    memory_bytes_max: usize,
    disk: Arc<Spool>,
}

#[derive(Default)]
struct KeySpoolState {
    memory: VecDeque<FlightData>,
    memory_bytes: usize,
    /// Once there is a file, new keys are written to it until it is read to its end.
    file: Option<SpilledKeys>,
    end: Option<Result<()>>,
    is_abandoned: bool,
}

struct SpilledKeys {
    file: File,
    taken: SpoolReservation,
    written: u64,
    read: u64,
}

impl KeySpool {
    pub(crate) fn new(memory_bytes_max: usize, disk: Arc<Spool>) -> Self {
        Self { state: Mutex::default(), news: Condvar::new(), memory_bytes_max, disk }
    }

    /// Takes a message. False when no reader wants further ones.
    ///
    /// # Errors
    /// `Exhausted` when the disk or its limit is full.
    pub(crate) fn push(&self, message: FlightData) -> Result<bool> {
        let mut state = self.state();
        if state.is_abandoned {
            return Ok(false);
        }
        let bytes = message.data_body.len() + message.data_header.len();
        let fits = state.memory_bytes + bytes <= self.memory_bytes_max || state.memory.is_empty();
        if fits && state.file.is_none() {
            state.memory_bytes += bytes;
            state.memory.push_back(message);
        } else {
            if state.file.is_none() {
                let file = tempfile::tempfile().map_err(|error| spill_failed(&error))?;
                let taken = self.disk.reservation();
                state.file = Some(SpilledKeys { file, taken, written: 0, read: 0 });
            }
            if let Some(spilled) = &mut state.file {
                spilled.push(&message)?;
            }
        }
        drop(state);
        self.news.notify_one();
        Ok(true)
    }

    /// Says that no message follows, or why.
    pub(crate) fn end(&self, end: Result<()>) {
        self.state().end.get_or_insert(end);
        self.news.notify_one();
    }

    /// Says that no reader is left.
    pub(crate) fn abandon(&self) {
        let mut state = self.state();
        state.is_abandoned = true;
        state.memory.clear();
        state.file = None;
    }

    /// The next message, waited for; nothing after the last.
    ///
    /// # Errors
    /// What the messages ended with.
    pub(crate) fn pop(&self) -> Result<Option<FlightData>> {
        let mut state = self.state();
        loop {
            if let Some(message) = state.memory.pop_front() {
                state.memory_bytes -= message.data_body.len() + message.data_header.len();
                return Ok(Some(message));
            }
            if let Some(spilled) = &mut state.file {
                if let Some(message) = spilled.pop()? {
                    return Ok(Some(message));
                }
                state.file = None;
            }
            if let Some(end) = state.end.take() {
                state.end = Some(Ok(()));
                return end.map(|()| None);
            }
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn state(&self) -> MutexGuard<'_, KeySpoolState> {
        lock(&self.state)
    }
}

impl SpilledKeys {
    fn push(&mut self, message: &FlightData) -> Result<()> {
        let bytes = message.encode_length_delimited_to_vec();
        self.taken.reserve(8 + bytes.len() as u64)?;
        self.file
            .seek(SeekFrom::Start(self.written))
            .and_then(|_| self.file.write_all(&(bytes.len() as u64).to_le_bytes()))
            .and_then(|()| self.file.write_all(&bytes))
            .map_err(|error| spill_failed(&error))?;
        self.written += 8 + bytes.len() as u64;
        Ok(())
    }

    fn pop(&mut self) -> Result<Option<FlightData>> {
        if self.read == self.written {
            return Ok(None);
        }
        let mut length = [0_u8; 8];
        let mut read = || -> std::io::Result<Vec<u8>> {
            self.file.seek(SeekFrom::Start(self.read))?;
            self.file.read_exact(&mut length)?;
            let mut bytes = vec![0_u8; u64::from_le_bytes(length) as usize];
            self.file.read_exact(&mut bytes)?;
            Ok(bytes)
        };
        let bytes = read().map_err(|error| spill_failed(&error))?;
        self.read += 8 + bytes.len() as u64;
        FlightData::decode_length_delimited(bytes.as_slice())
            .map(Some)
            .map_err(|error| Error::internal(format!("the temporary file of keys: {error}")))
    }
}

fn spill_failed(error: &std::io::Error) -> Error {
    Error::exhausted(format!("keys cannot wait in a temporary file: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(number: u32) -> FlightData {
        FlightData::new().with_data_body(number.to_le_bytes().repeat(256))
    }

    fn spool(memory_bytes: usize, disk_bytes: u64) -> KeySpool {
        KeySpool::new(memory_bytes, Arc::new(Spool::new(disk_bytes)))
    }

    /// Once each bulk get could have 64 GiB of the disk, whatever the server's limit was.
    #[test]
    fn keys_take_no_more_of_the_disk_than_all_may_have_together() {
        let disk = Arc::new(Spool::new(10 << 10));
        let spools = [0, 1].map(|_| KeySpool::new(0, disk.clone()));
        for spool in &spools {
            spool.push(message(1)).unwrap();
        }
        let mut pushes = (0..100).flat_map(|_| &spools).map(|spool| spool.push(message(2)));
        let refused = pushes.find_map(Result::err).unwrap();
        assert!(refused.message().contains("spool_bytes_max"), "{refused}");
        spools[0].abandon();
        assert!(spools[1].push(message(3)).is_ok(), "what one had is free for the other");
    }

    #[test]
    fn messages_beyond_memory_wait_in_a_file_and_keep_their_order() {
        let spool = spool(10 << 10, 1 << 20);
        for number in 0..100 {
            assert!(spool.push(message(number)).unwrap());
        }
        assert!(spool.state().memory_bytes <= 10 << 10);
        for number in 0..50 {
            assert_eq!(spool.pop().unwrap(), Some(message(number)));
        }
        for number in 100..200 {
            spool.push(message(number)).unwrap();
        }
        spool.end(Ok(()));
        for number in 50..200 {
            assert_eq!(spool.pop().unwrap(), Some(message(number)));
        }
        assert_eq!(spool.pop().unwrap(), None);
        assert_eq!(spool.pop().unwrap(), None);
    }

    #[test]
    fn a_torn_end_is_told_after_the_messages_before_it() {
        let spool = spool(1 << 20, 0);
        spool.push(message(1)).unwrap();
        spool.end(Err(Error::cancelled("cut")));
        assert_eq!(spool.pop().unwrap(), Some(message(1)));
        assert_eq!(spool.pop().unwrap_err().message(), "cut");
    }

    #[test]
    fn nothing_is_kept_for_a_reader_that_left() {
        let spool = spool(1 << 20, 0);
        spool.abandon();
        assert!(!spool.push(message(1)).unwrap());
    }
}
