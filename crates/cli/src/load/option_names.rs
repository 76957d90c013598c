//! What the library calls its options, and what the command line calls them.

use tonnage::Error;

/// The names in messages of the library, and their names in messages of the program.
const NAMES: [(&str, &str); 6] = [
    ("errors_max", "--errors-max"),
    ("memory_bytes_max", "--memory"),
    ("per_shard_parallelism", "the threads of a shard"),
    ("stream_parallelism", "--stream-parallelism"),
    ("rows_per_second_max", "--rate"),
    ("flush_interval", "--sync-every"),
];

/// How the library ends the error of a header that may be a record.
const NO_HEADER: &str = "the file has no header";

/// An error of opening a file, with the option of the program that helps.
pub(crate) fn with_header_option(error: Error) -> Error {
    if !error.message().ends_with(NO_HEADER) {
        return error;
    }
    let message = format!("{}: give --no-header", error.message());
    error.with_message(message)
}

/// A message of the library with the options of the program: `errors_max is 10` becomes
/// `--errors-max is 10`.
///
/// Only where the library names an option: columns and files may be called like one.
pub(super) fn in_option_names(message: &str) -> String {
    let named = NAMES.iter().find_map(|(name, option)| {
        let value = message.strip_prefix(*name)?;
        value.starts_with(" is ").then(|| format!("{option}{value}"))
    });
    named.unwrap_or_else(|| {
        message.replacen("more than errors_max (", "more than --errors-max (", 1)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_without_a_header_is_offered_the_option_of_the_program() {
        let error = Error::invalid("a.csv: if they are values, the file has no header");
        assert_eq!(
            with_header_option(error).message(),
            "a.csv: if they are values, the file has no header: give --no-header"
        );
        let other = Error::invalid("a.csv: is a 7z archive");
        assert_eq!(with_header_option(other).message(), "a.csv: is a 7z archive");
    }

    #[test]
    fn options_have_the_names_of_the_program() {
        for (message, told) in [
            ("flush_interval is 0: give a longer one", "--sync-every is 0: give a longer one"),
            (
                "7 of 9 entries failed, more than errors_max (5) allows: fix the input",
                "7 of 9 entries failed, more than --errors-max (5) allows: fix the input",
            ),
        ] {
            assert_eq!(in_option_names(message), told);
        }
    }

    /// A header `id,flush_interval,flush_interval` was said to have the column --sync-every twice,
    /// and a damaged `errors_max.csv` was called --errors-max.csv.
    #[test]
    fn columns_and_files_that_are_called_like_an_option_keep_their_names() {
        for message in [
            "column errors_max is NULL",
            "a.csv: the column flush_interval appears twice; rename one of them",
            "errors_max.csv: the file is damaged",
        ] {
            assert_eq!(in_option_names(message), message);
            assert_eq!(with_header_option(Error::invalid(message)).message(), message);
        }
    }
}
