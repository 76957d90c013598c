//! What the library calls its options, and what the command line calls them.

use tonnage::Error;

/// The names in messages of the library, and what stands for them in messages of the program.
const NAMES: [(&str, &str); 7] = [
    ("errors_max", "--errors-max"),
    ("memory_bytes_max", "--memory"),
    ("per_shard_parallelism", "the threads of a shard"),
    ("stream_parallelism", "--stream-parallelism"),
    ("rows_per_second_max", "--rate"),
    ("flush_interval", "--sync-every"),
    ("set has_header to false", "give --no-header"),
];

/// An error of the library with the options of the program: `errors_max (10)` becomes
/// `--errors-max (10)`.
pub(crate) fn with_option_names(error: Error) -> Error {
    let message = in_option_names(error.message());
    error.with_message(message)
}

/// A message of the library with the options of the program.
pub(super) fn in_option_names(message: &str) -> String {
    NAMES.iter().fold(message.to_owned(), |text, (name, option)| text.replace(name, option))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_header_is_offered_the_option_of_the_program() {
        let error = Error::invalid("a.csv has no header: set has_header to false");
        assert_eq!(with_option_names(error).message(), "a.csv has no header: give --no-header");
    }
}
