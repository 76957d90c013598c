//! The thread of a member. It renews the row of the member, and follows changes of the catalog.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Instant;

use tonnage_engine::Result;
use tonnage_engine::sync::lock;

use super::{Members, MembershipState};

/// Takes over what others changed. Answers whether no call in this process uses the earlier tables;
/// where one does, it is called again.
pub(crate) type FollowCallback = Box<dyn FnMut() -> Result<bool> + Send>;

impl Members {
    /// Starts the thread. Where none can be had this opening may write until its lease ends.
    pub(crate) fn watch(&self, mut follow: FollowCallback) {
        let shared = Arc::clone(&self.shared);
        let work = move || {
            while shared.wait() {
                if let Err(error) = shared.poll(&mut follow) {
                    tracing::warn!(%error, "the members of the store were not reached");
                }
            }
        };
        let name = "tonnage-members".to_owned();
        let thread = std::thread::Builder::new().name(name).spawn(work).ok();
        *lock(&self.thread) = thread;
    }
}

impl MembershipState {
    /// Rests until it is time to look again. False when this opening ends.
    fn wait(&self) -> bool {
        let is_stopping = || self.stopping.load(Ordering::SeqCst);
        let (mutex, woken) = &self.woken;
        let resting = lock(mutex);
        drop(woken.wait_timeout_while(resting, self.times.look, |()| !is_stopping()));
        !is_stopping()
    }

    fn poll(&self, follow: &mut FollowCallback) -> Result<()> {
        let all = self.rows.read()?;
        let now = Instant::now();
        let mut own = self.own();
        // No other process writes the row: another version is of a renewal that got no answer.
        own.version = all.version_of(own.state.id);
        if own.version.is_none() {
            // Another process considered this opening gone: it begins anew. Its row comes before it
            // reads the catalog, so that later changes of it wait.
            self.mark_behind(&mut own);
            self.renew(&mut own)?;
        }
        let is_old = own.reread.elapsed() >= self.times.reread;
        let has_changed = own.is_behind || own.state.followed != all.epoch || is_old;
        drop(own);
        let has_followed = has_changed && follow()?;
        let mut own = self.own();
        if has_followed {
            // The epoch that was read before the catalog was; own statements may be past it.
            own.state.followed = own.state.followed.max(all.epoch);
            own.is_behind = false;
            own.reread = now;
        }
        let is_due = own.renewed.is_none_or(|last| last.elapsed() >= self.times.renew);
        if is_due || has_followed {
            self.renew(&mut own)?;
        }
        let id = own.state.id;
        drop(own);
        let mut tracker = self.tracker();
        tracker.record(&all, now);
        let gone: Vec<_> =
            tracker.gone_members(now, self.times.gone).filter(|(gone, _)| *gone != id).collect();
        drop(tracker);
        gone.into_iter().try_for_each(|(gone, version)| self.rows.remove(gone, version))
    }
}
