//! A store in a process that may fork.
//!
//! A forked child has the memory of its parent, but none of its threads: locks may be held by no
//! thread, and RocksDB would wait for threads that do not exist. So what was opened before a fork
//! refuses every call in the child, and is never dropped there. RocksDB's thread pools belong to
//! the process, not to a store: when the parent has used them, the child can open no store on disk.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock, RwLock};

use pyo3::prelude::*;
use tonnage::internal::sync::{read, write};
use tonnage::{Error, ErrorKind, Result, Store};
use tonnage_client::{AnyTable, Connection};
use tonnage_sql::{Sql, SqlOptions};

use crate::error::{OrRaise, exception_of, to_exception};

/// How many forks lie between the first process and this one.
static FORKS: AtomicU64 = AtomicU64::new(0);
/// Whether a store on disk was opened in this process or, before a fork, in one above it.
static OPENED_ON_DISK: AtomicBool = AtomicBool::new(false);
/// Whether RocksDB's threads were lost by a fork.
static LOST_THREADS: AtomicBool = AtomicBool::new(false);

/// How statements run: threads that share a store know nothing of each other. Columns that are kept
/// take half of what blocks of the store take, where that was said.
pub(crate) fn sql_options(cache_bytes: Option<usize>) -> SqlOptions {
    SqlOptions {
        transactions: false,
        column_cache_bytes_max: cache_bytes.map(|bytes| bytes / 2),
        ..SqlOptions::default()
    }
}

/// Notes that this process is a forked child. Called by the package, right after the fork.
#[pyfunction]
pub(crate) fn mark_forked() {
    FORKS.fetch_add(1, Ordering::Relaxed);
    if OPENED_ON_DISK.load(Ordering::Relaxed) && !LOST_THREADS.swap(true, Ordering::Relaxed) {
        exit_early();
    }
}

/// Notes that a store is about to be opened.
///
/// # Errors
/// `Unavailable` for a store on disk in a process whose RocksDB has lost its threads.
pub(crate) fn before_open(url: &str) -> Result<()> {
    if url.starts_with("memory:") {
        return Ok(());
    }
    if LOST_THREADS.load(Ordering::Relaxed) {
        return Err(Error::unavailable(format!(
            "{url}: this process was forked from one that had a store open, and RocksDB's threads \
             did not come along: start children with multiprocessing's 'spawn'"
        )));
    }
    OPENED_ON_DISK.store(true, Ordering::Relaxed);
    Ok(())
}

/// Ends the process before RocksDB's destructors run, which join threads that are not here.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn exit_early() {
    use std::ffi::{c_int, c_void};

    unsafe extern "C" {
        fn on_exit(function: extern "C" fn(c_int, *mut c_void), argument: *mut c_void) -> c_int;
    }
    extern "C" fn exit_now(status: c_int, _: *mut c_void) {
        // SAFETY: both take what any program may give them; nothing runs after the second.
        unsafe {
            libc::fflush(std::ptr::null_mut());
            libc::_exit(status)
        }
    }
    // SAFETY: the function lives as long as the module, which Python never unloads.
    unsafe { on_exit(exit_now, std::ptr::null_mut()) };
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
fn exit_early() {}

/// What belongs to the process that created it.
pub(crate) struct ProcessBound<T> {
    /// There until it is dropped.
    value: Option<T>,
    forks: u64,
}

impl<T> ProcessBound<T> {
    pub(crate) fn new(value: T) -> Self {
        Self { value: Some(value), forks: FORKS.load(Ordering::Relaxed) }
    }

    fn is_of_this_process(&self) -> bool {
        self.forks == FORKS.load(Ordering::Relaxed)
    }

    /// # Errors
    /// In a forked child.
    pub(crate) fn get(&self) -> PyResult<&T> {
        match &self.value {
            Some(value) if self.is_of_this_process() => Ok(value),
            _ => Err(exception_of(
                ErrorKind::Unavailable,
                "this store was opened before the process forked: start children with \
                 multiprocessing's 'spawn', and open the store in one of them",
            )),
        }
    }
}

impl<T> Drop for ProcessBound<T> {
    fn drop(&mut self) {
        if !self.is_of_this_process() {
            std::mem::forget(self.value.take());
        }
    }
}

/// An open store, or a connection to one on a server, until it is closed.
#[derive(Clone)]
pub(crate) struct StoreHandle {
    opened: Arc<ProcessBound<RwLock<Option<Arc<OpenedStore>>>>>,
    url: Arc<str>,
}

struct OpenedStore {
    connection: Connection,
    /// The memory for blocks, where that was said.
    cache_bytes: Option<usize>,
    sql: OnceLock<Sql>,
}

impl StoreHandle {
    pub(crate) fn new(
        connection: impl Into<Connection>,
        url: String,
        cache_bytes: Option<usize>,
    ) -> Self {
        let connection = connection.into();
        let opened = OpenedStore { connection, cache_bytes, sql: OnceLock::new() };
        let opened = RwLock::new(Some(Arc::new(opened)));
        Self { opened: Arc::new(ProcessBound::new(opened)), url: url.into() }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    fn opened(&self) -> PyResult<Arc<OpenedStore>> {
        let opened = read(self.opened.get()?);
        opened.clone().ok_or_else(|| {
            exception_of(ErrorKind::Unavailable, "this store is closed: connect to it again")
        })
    }

    /// The store, here or on a server.
    ///
    /// # Errors
    /// When it was closed, or opened before a fork.
    pub(crate) fn store(&self) -> PyResult<Connection> {
        self.opened().map(|opened| opened.connection.clone())
    }

    /// The store of this process, for what a server does not offer: `what`.
    ///
    /// # Errors
    /// As [`StoreHandle::store`]; `Unsupported`, with the remedy, for one on a server.
    pub(crate) fn embedded(&self, what: &str, remedy: &str) -> PyResult<Store> {
        match self.store()? {
            Connection::Embedded(store) => Ok(store),
            Connection::Remote(_) => Err(self.unsupported(what, remedy)),
        }
    }

    /// What a server does not offer.
    pub(crate) fn unsupported(&self, what: &str, remedy: &str) -> PyErr {
        let url = self.url();
        to_exception(&Error::unsupported(format!("{url}: a server has no {what}: {remedy}")))
    }

    /// A table of the store, as it is defined now.
    ///
    /// # Errors
    /// As [`StoreHandle::store`]; when there is no such table.
    pub(crate) fn table(&self, py: Python<'_>, path: &str) -> PyResult<AnyTable> {
        let store = self.store()?;
        match store {
            Connection::Embedded(store) => Ok(store.table(path).or_raise()?.into()),
            // A call over the network: others may use the interpreter meanwhile.
            Connection::Remote(store) => Ok(py.detach(|| store.table(path)).or_raise()?.into()),
        }
    }

    /// The SQL session of a store of this process, with threads of its own, created on first use.
    ///
    /// # Errors
    /// As [`StoreHandle::embedded`]; when no threads can be had.
    pub(crate) fn sql(&self) -> PyResult<Sql> {
        let opened = self.opened()?;
        if let Some(sql) = opened.sql.get() {
            return Ok(sql.clone());
        }
        let store = self.embedded("SQL session", "call sql")?;
        let sql = Sql::new(store, sql_options(opened.cache_bytes)).or_raise()?;
        Ok(opened.sql.get_or_init(|| sql).clone())
    }

    /// Lets go of the store. It closes when all its handles are gone, too.
    ///
    /// # Errors
    /// In a forked child.
    pub(crate) fn close(&self) -> PyResult<()> {
        let opened = self.opened.get()?;
        let closed = write(opened).take();
        drop(closed);
        Ok(())
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.opened().is_err()
    }
}
