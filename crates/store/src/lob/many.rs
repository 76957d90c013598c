//! Stores many large objects in one call.

use std::io::{self, Read};
use std::sync::Mutex;

use tonnage_engine::sync::{into_inner, lock};
use tonnage_engine::{Error, ErrorKind, Result};

use super::options::LobOptions;
use crate::cancel::Cancel;
use crate::kv::{Key, KeyValue};

/// A large object to be stored: its key, and where its bytes come from.
pub type LobSource = (Key, LobBytes);

/// Where the bytes of a large object come from.
pub type LobBytes = Box<dyn Read + Send>;

/// What became of many large objects.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct LobsReport {
    /// How many were stored.
    pub stored: u64,
    /// Their bytes.
    pub bytes: u64,
    /// The others with the error of each: the first thousand.
    pub failures: Vec<(Key, Error)>,
    /// How many others there were.
    pub failed: u64,
}

/// Failures that are reported one by one.
const FAILURES_MAX: usize = 1_000;
/// The bytes that are read at once.
const READ_BYTES: usize = 256 << 10;

impl KeyValue {
    /// Stores many large objects, several at a time, each by itself: one that cannot be read or
    /// stored leaves the others alone. Each thread holds one chunk in memory. Sources are drawn
    /// when they are needed.
    ///
    /// ```
    /// # fn main() -> tonnage::Result<()> {
    /// use tonnage::{Cancel, LobOptions, LobSource, Store};
    ///
    /// let pairs = Store::open("memory:")?.kv();
    /// let films = ["metropolis", "faust"].map(|film| -> tonnage::Result<LobSource> {
    ///     Ok((format!("/films/-/{film}").parse()?, Box::new(film.as_bytes())))
    /// });
    /// let report = pairs.put_lobs(films, &LobOptions::default(), 2, &Cancel::new())?;
    /// assert_eq!((report.stored, report.bytes, report.failed), (2, 15, 0));
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// `Invalid` for no threads; what the source of objects says; `Cancelled`. Objects that are
    /// stored by then stay.
    pub fn put_lobs<I>(
        &self,
        objects: I,
        options: &LobOptions,
        threads: usize,
        cancel: &Cancel,
    ) -> Result<LobsReport>
    where
        I: IntoIterator<Item = Result<LobSource>>,
        I::IntoIter: Send,
    {
        let put = |key: &Key, bytes: LobBytes| {
            let mut writer = self.put_lob(key, options)?;
            copy_lob(key, bytes, cancel, |some| writer.append(some))?;
            writer.finish().map(|info| info.bytes)
        };
        if threads == 0 {
            return Err(Error::invalid("large objects are stored by at least one thread"));
        }
        let threads = self.store.lend_threads(threads);
        put_each(objects, threads.amount(), cancel, put)
    }
}

/// Stores many large objects by several threads, each by a call of `put`, which says how many bytes
/// it stored. One that fails leaves the others alone.
///
/// # Errors
/// What the source of objects says; `Cancelled`. Objects that are stored by then stay.
pub fn put_each<I>(
    objects: I,
    threads: usize,
    cancel: &Cancel,
    put: impl Fn(&Key, LobBytes) -> Result<u64> + Sync,
) -> Result<LobsReport>
where
    I: IntoIterator<Item = Result<LobSource>>,
    I::IntoIter: Send,
{
    let source = Mutex::new(Some(objects.into_iter()));
    let report = Mutex::new(LobsReport::default());
    let stopped = Mutex::new(None);
    let work = || {
        loop {
            let next = match cancel.is_cancelled() {
                true => Some(Err(Error::cancelled("the storing of large objects was cancelled"))),
                false => lock(&source).as_mut().and_then(Iterator::next),
            };
            match next {
                None => return,
                Some(Err(error)) => {
                    // No thread draws from a source that has failed.
                    lock(&source).take();
                    lock(&stopped).get_or_insert(error);
                    return;
                }
                Some(Ok((key, bytes))) => {
                    let stored = put(&key, bytes);
                    lock(&report).record(key, stored);
                }
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 1..threads {
            // Where no thread can be had, the others do its part.
            let _ =
                std::thread::Builder::new().name("tonnage-lob".into()).spawn_scoped(scope, work);
        }
        work();
    });
    match into_inner(stopped) {
        Some(error) => Err(error),
        None => Ok(into_inner(report)),
    }
}

/// Copies the bytes of a large object into its writer.
///
/// # Errors
/// `Invalid` when they cannot be read, `Cancelled`; what the writer says.
pub fn copy_lob(
    key: &Key,
    mut bytes: LobBytes,
    cancel: &Cancel,
    mut append: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let mut buffer = vec![0; READ_BYTES];
    loop {
        if cancel.is_cancelled() {
            return Err(Error::cancelled("the storing of a large object was cancelled"));
        }
        match bytes.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(count) => append(&buffer[..count])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => {
                let message = format!("{key}: its bytes cannot be read: {error}");
                return Err(Error::invalid(message).with_source(error));
            }
        }
    }
}

impl LobsReport {
    fn record(&mut self, key: Key, stored: Result<u64>) {
        match stored {
            Ok(bytes) => {
                self.stored += 1;
                self.bytes += bytes;
            }
            // The call itself says so.
            Err(error) if error.kind() == ErrorKind::Cancelled => {}
            Err(error) => {
                self.failed += 1;
                if self.failures.len() < FAILURES_MAX {
                    self.failures.push((key, error));
                }
            }
        }
    }
}
