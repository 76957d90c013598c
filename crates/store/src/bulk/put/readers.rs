//! The threads that read streams.
//!
//! Each thread owns the stream that it reads and holds nothing of the store. So a load can leave a
//! thread that is caught in a stream: it ends when the stream returns, and drops what it got.

use std::sync::{Arc, Mutex};

use tonnage_engine::sync::lock;
use tonnage_engine::{Error, Result, catch_panic};

use super::EntryStream;
use super::load_queue::LoadQueue;
use super::outcomes::panicked;

/// The streams that no worker draws from yet.
pub(super) struct StreamReaders {
    streams: Mutex<std::iter::Enumerate<std::vec::IntoIter<Box<dyn EntryStream>>>>,
    queue: Arc<LoadQueue>,
}

impl StreamReaders {
    /// Begins to draw from streams, `count` at a time.
    ///
    /// # Errors
    /// `Unavailable` when the system gives no thread.
    pub(super) fn start(
        streams: Vec<Box<dyn EntryStream>>,
        count: usize,
        queue: &Arc<LoadQueue>,
    ) -> Result<Arc<Self>> {
        let readers = Arc::new(Self {
            streams: Mutex::new(streams.into_iter().enumerate()),
            queue: queue.clone(),
        });
        for number in 0..count {
            let reader = readers.clone();
            queue.add_source();
            let started =
                std::thread::Builder::new().name("bulk put".into()).spawn(move || reader.read());
            if let Err(error) = started {
                queue.remove_source();
                // Where no further thread can be had, the others do its part.
                if number == 0 {
                    return Err(Error::unavailable(format!(
                        "no thread can be had to read streams: {error}"
                    )));
                }
            }
        }
        Ok(readers)
    }

    /// Drops the streams that no worker draws from.
    pub(super) fn drop_unread_streams(&self) {
        let rest = std::mem::replace(&mut *lock(&self.streams), Vec::new().into_iter().enumerate());
        drop(rest);
    }

    fn read(&self) {
        while !self.queue.is_stopped() {
            let next = lock(&self.streams).next();
            let Some((number, stream)) = next else { break };
            match catch_panic(|| self.read_stream(number, stream), panicked) {
                Ok(true) => self.queue.end(number),
                Ok(false) => break,
                Err(error) => {
                    self.queue.fail(number, error);
                    break;
                }
            }
        }
        self.queue.remove_source();
    }

    /// Draws from a stream to its end. False when the load was stopped.
    fn read_stream(&self, number: usize, mut stream: Box<dyn EntryStream>) -> Result<bool> {
        while let Some(batch) = stream.next_batch()? {
            if !self.queue.add_and_wait(number, batch)? {
                return Ok(false);
            }
        }
        Ok(true)
    }
}
