//! Work on several threads.

use tonnage::{Error, Result};

/// Runs `work` on each item in a thread of its own, waits for all, and returns their results. A
/// single item needs none.
pub(crate) fn each<T: Send, R: Send>(
    items: Vec<T>,
    work: impl Fn(T) -> Result<R> + Sync,
) -> Result<Vec<R>> {
    if items.len() == 1 {
        return items.into_iter().map(work).collect();
    }
    std::thread::scope(|scope| {
        let work = &work;
        let spawn = |item| {
            let thread = std::thread::Builder::new().name("bench".to_owned());
            thread.spawn_scoped(scope, move || work(item)).map_err(|error| {
                let message = format!("a thread cannot be started: {error}: ask for fewer threads");
                Error::unavailable(message).with_source(error)
            })
        };
        let threads: Vec<_> = items.into_iter().map(spawn).collect();
        let panicked =
            || Error::internal("a thread of the workload has panicked; its message is above");
        let ends = threads.into_iter().map(|thread| thread?.join().map_err(|_| panicked())?);
        // All have ended before the first failure is returned.
        ends.collect::<Vec<_>>().into_iter().collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_item_is_worked_on() {
        assert_eq!(each(vec![1, 2, 3], |item| Ok(2 * item)).unwrap(), [2, 4, 6]);
        assert_eq!(each(vec![1], |item| Ok(2 * item)).unwrap(), [2]);
    }

    #[test]
    fn a_panic_is_an_error() {
        let check = |item| {
            assert_eq!(item, 1);
            Ok(())
        };
        assert!(each(vec![1, 2], check).is_err());
    }
}
