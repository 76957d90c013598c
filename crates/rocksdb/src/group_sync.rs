//! One sync of the log serves everybody who wrote before it.
//!
//! A writer that wants its write on the disk writes it first, gives up its locks, and then asks for
//! a sync up to its sequence number:
//!
//! 1. If a sync that began after the write is done, there is nothing to do.
//! 2. If no sync is running, the writer syncs everything that is written by then.
//! 3. Otherwise it waits for the sync under way to end, and looks again.
//!
//! So a hundred writers of one shard key share a few syncs, though each waits until its own write
//! is on the disk.
//!
//! A failed sync leaves in doubt everything that was written by then and not synced before: the
//! system may drop those pages, and report the next sync as done. So all of these writers fail,
//! whatever comes later.

use parking_lot::{Condvar, Mutex};
use tonnage_engine::{Error, ErrorKind, Result};

/// How far a log is synced, and who is at it.
#[derive(Debug, Default)]
pub(crate) struct GroupSync {
    state: Mutex<SyncState>,
    changed: Condvar,
}

#[derive(Debug, Default)]
struct SyncState {
    /// Everything up to this sequence number is on the disk.
    synced: u64,
    is_syncing: bool,
    in_doubt: Option<SyncDoubt>,
}

/// What a failed sync left in doubt: what was written after one sequence number and up to another.
#[derive(Debug)]
struct SyncDoubt {
    after: u64,
    up_to: u64,
    kind: ErrorKind,
    message: String,
}

impl SyncState {
    /// Whether a write is on the disk; an error where that is unknown.
    fn covers(&self, written: u64) -> Result<bool> {
        match &self.in_doubt {
            Some(doubt) if doubt.after < written && written <= doubt.up_to => {
                Err(Error::new(doubt.kind, doubt.message.clone()))
            }
            _ => Ok(written <= self.synced),
        }
    }

    fn fail(&mut self, up_to: u64, error: &Error) {
        let after = self.in_doubt.as_ref().map_or(self.synced, |doubt| doubt.after);
        let (kind, message) = (error.kind(), error.message().to_owned());
        self.in_doubt = Some(SyncDoubt { after, up_to, kind, message });
    }
}

impl GroupSync {
    /// Returns once everything up to the sequence number `written` is on the disk. `latest` tells
    /// the last one that is written, `sync` syncs the log.
    ///
    /// # Errors
    /// Those of a sync that was to cover the write.
    pub(crate) fn sync_up_to(
        &self,
        written: u64,
        latest: impl Fn() -> u64,
        sync: impl FnOnce() -> Result<()>,
    ) -> Result<()> {
        let mut state = self.state.lock();
        while state.is_syncing && !state.covers(written)? {
            self.changed.wait(&mut state);
        }
        if state.covers(written)? {
            return Ok(());
        }
        state.is_syncing = true;
        drop(state);
        // Asked before the sync begins: it need not cover what is written during it.
        let covered = latest();
        let turn = SyncTurn { group: self };
        let synced = sync();
        let mut state = self.state.lock();
        match &synced {
            Ok(()) => state.synced = state.synced.max(covered),
            // Asked again after a failure: what was written during the sync is in doubt as well.
            Err(error) => state.fail(latest(), error),
        }
        drop(state);
        drop(turn);
        synced
    }

    /// Whether everything up to a sequence number is known to be on the disk.
    #[cfg(test)]
    pub(crate) fn has_synced(&self, written: u64) -> bool {
        self.state.lock().covers(written).is_ok_and(|covers| covers)
    }
}

/// The turn of the one who syncs; over whatever becomes of it.
struct SyncTurn<'a> {
    group: &'a GroupSync,
}

impl Drop for SyncTurn<'_> {
    fn drop(&mut self) {
        self.group.state.lock().is_syncing = false;
        self.group.changed.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};
    use std::sync::mpsc;
    use std::thread;

    use super::*;

    fn disk_failed() -> Result<()> {
        Err(Error::unavailable("the disk failed"))
    }

    #[test]
    fn what_a_later_sync_covered_asks_for_none() {
        let group = GroupSync::default();
        group.sync_up_to(3, || 7, || Ok(())).unwrap();
        group.sync_up_to(7, || 7, || panic!("7 is on the disk")).unwrap();
        assert!(group.has_synced(7) && !group.has_synced(8));
    }

    /// Ten writers come while a sync is under way that began before they wrote: one more serves all
    /// of them.
    #[test]
    fn those_who_wait_share_one_sync() {
        let (group, syncs) = (GroupSync::default(), AtomicU64::new(0));
        let (begun, begins) = mpsc::channel();
        let (let_go, goes) = mpsc::channel::<()>();
        let sync = || {
            syncs.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        let (group, sync) = (&group, &sync);
        let slow = move || {
            begun.send(()).unwrap();
            goes.recv().unwrap();
            sync()
        };
        thread::scope(|scope| {
            scope.spawn(move || group.sync_up_to(1, || 1, slow).unwrap());
            begins.recv().unwrap();
            let waiting: Vec<_> = (2..=11_u64)
                .map(|written| scope.spawn(move || group.sync_up_to(written, || 11, sync)))
                .collect();
            let_go.send(()).unwrap();
            waiting.into_iter().for_each(|writer| writer.join().unwrap().unwrap());
        });
        assert_eq!(syncs.into_inner(), 2);
    }

    #[test]
    fn a_failed_sync_fails_all_that_was_written_by_then() {
        let group = GroupSync::default();
        group.sync_up_to(2, || 2, || Ok(())).unwrap();
        let error = group.sync_up_to(3, || 5, disk_failed).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unavailable);
        // What was synced before stays so, and what is written later is another matter.
        group.sync_up_to(2, || 5, || panic!("2 is on the disk")).unwrap();
        group.sync_up_to(6, || 6, || Ok(())).unwrap();
        for written in 3..=5 {
            let late = group.sync_up_to(written, || 6, || Ok(()));
            assert!(late.unwrap_err().message().contains("the disk failed"), "{written}");
        }
    }

    #[test]
    fn failures_in_a_row_leave_all_in_doubt() {
        let group = GroupSync::default();
        group.sync_up_to(3, || 5, disk_failed).unwrap_err();
        group.sync_up_to(8, || 9, disk_failed).unwrap_err();
        for written in [1, 5, 6, 9] {
            group.sync_up_to(written, || 9, || Ok(())).unwrap_err();
        }
        group.sync_up_to(10, || 10, || Ok(())).unwrap();
    }

    /// No writer waits for one that panicked.
    #[test]
    fn a_sync_that_panics_is_over() {
        let group = GroupSync::default();
        let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            group.sync_up_to(1, || 1, || panic!("a test"))
        }));
        assert!(panicked.is_err());
        group.sync_up_to(1, || 1, || Ok(())).unwrap();
    }
}
