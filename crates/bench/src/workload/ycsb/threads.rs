//! Threads of a run.

use tonnage::{Error, Result};

use crate::system::{Client, System};

/// Opens a client for each thread, before any of them begins.
pub(super) fn clients(system: &dyn System, threads: usize) -> Result<Vec<Box<dyn Client + '_>>> {
    (0..threads).map(|_| system.client()).collect()
}

/// Runs `work` on each item in a thread of its own, and waits for all.
pub(super) fn each<T: Send>(items: Vec<T>, work: impl Fn(T) + Sync) -> Result<()> {
    std::thread::scope(|scope| {
        let work = &work;
        let spawn = |item| {
            std::thread::Builder::new()
                .name("ycsb".to_owned())
                .spawn_scoped(scope, move || work(item))
                .map_err(|error| {
                    Error::unavailable(format!(
                        "a thread cannot be started: {error}: ask for fewer threads"
                    ))
                    .with_source(error)
                })
        };
        let threads: Vec<_> = items.into_iter().map(spawn).collect();
        threads.into_iter().try_for_each(|thread| {
            thread?.join().map_err(|_| {
                Error::internal("a thread of the workload has panicked; its message stands above")
            })
        })
    })
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[test]
    fn every_item_is_worked_on() {
        let sum = AtomicUsize::new(0);
        each(vec![1, 2, 3], |item| {
            sum.fetch_add(item, Ordering::Relaxed);
        })
        .unwrap();
        assert_eq!(sum.into_inner(), 6);
    }

    #[test]
    fn a_panic_is_an_error() {
        assert!(each(vec![1, 2], |item| assert_eq!(item, 1)).is_err());
    }
}
