//! Makes errors of panics.

use std::panic::{AssertUnwindSafe, catch_unwind};

/// Runs work. A panic in it becomes the error that `as_error` makes of its message. What the work
/// had borrowed is not to be used any more.
///
/// # Errors
/// Those of the work, and that of a panic.
pub fn catch_panic<T, E>(
    work: impl FnOnce() -> Result<T, E>,
    as_error: impl FnOnce(&str) -> E,
) -> Result<T, E> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|panic| {
        let message = panic.downcast_ref::<&str>().copied();
        let message = message.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
        Err(as_error(message.unwrap_or("without a message")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn caught(work: fn() -> Result<u8, String>) -> Result<u8, String> {
        catch_panic(work, str::to_owned)
    }

    #[test]
    fn a_panic_becomes_an_error_with_its_message() {
        assert_eq!(caught(|| Ok(1)), Ok(1));
        assert_eq!(caught(|| Err("an error".to_owned())), Err("an error".to_owned()));
        assert_eq!(caught(|| panic!("a text")), Err("a text".to_owned()));
        assert_eq!(caught(|| panic!("{}", String::from("made"))), Err("made".to_owned()));
        assert_eq!(caught(|| std::panic::panic_any(3)), Err("without a message".to_owned()));
    }
}
