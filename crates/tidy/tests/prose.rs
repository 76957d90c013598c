//! Comments are written in plain English.

use std::collections::BTreeSet;
use std::fs;
use std::io;

use tonnage_tidy::sources::{crates, rust_files};

/// Words with a plainer one: `after` for `behind`, `is` for `stands`, `timestamp` for `moment`,
/// `position` for `place`, `reports` for `tells of`, `the caller` for `whoever`.
const DIALECT: [&str; 20] = [
    "behind", "go", "goes", "lie", "lies", "made", "moment", "moments", "nobody", "place",
    "places", "somebody", "stand", "stands", "stood", "tell", "tells", "told", "whoever",
    "whomever",
];

/// How many of a thousand words of comment may be among these, for crates with more than two. A
/// number may only fall.
const PER_THOUSAND_MAX: [(&str, usize); 16] = [
    ("bench", 6),
    ("cassandra", 4),
    ("cli", 4),
    ("client", 7),
    ("columns", 6),
    ("demo", 6),
    ("engine", 6),
    ("files", 5),
    ("nosql", 6),
    ("python", 4),
    ("resp", 6),
    ("rocksdb", 4),
    ("server", 7),
    ("store", 5),
    ("tidy", 8),
    ("torture", 4),
];

#[test]
fn comments_use_plain_words() -> io::Result<()> {
    let mut wordy = Vec::new();
    for directory in crates()? {
        let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let known = PER_THOUSAND_MAX.iter().find(|(known, _)| *known == name);
        let most = known.map_or(2, |(_, most)| *most);
        let (mut words, mut dialect) = (0, Vec::new());
        for file in rust_files(&directory)? {
            for (number, line) in fs::read_to_string(&file)?.lines().enumerate() {
                let found = words_of_comment(line);
                words += found.len();
                let known = found.iter().filter(|word| DIALECT.contains(&word.as_str()));
                dialect
                    .extend(known.map(|word| format!("{}:{}: {word}", file.display(), number + 1)));
            }
        }
        // In a crate of a few comments one word is more than two of a thousand.
        if dialect.len() * 1_000 > most * words.max(1_000) {
            let shown: Vec<_> = dialect.iter().take(40).cloned().collect();
            wordy.push(format!(
                "{name}: {} of {words} words, and {most} of 1,000 may be:\n{}",
                dialect.len(),
                shown.join("\n")
            ));
        }
    }
    assert!(wordy.is_empty(), "write plainer words:\n{}", wordy.join("\n"));
    Ok(())
}

#[test]
fn the_words_are_in_order_and_the_crates_exist() -> io::Result<()> {
    assert!(DIALECT.is_sorted());
    let names: BTreeSet<_> =
        crates()?.iter().filter_map(|one| one.file_name()?.to_str().map(str::to_owned)).collect();
    for (name, most) in PER_THOUSAND_MAX {
        assert!(names.contains(name) && most > 2, "{name} needs no number");
    }
    Ok(())
}

/// The words of a line's comment, in lower case, without what is in backticks.
fn words_of_comment(line: &str) -> Vec<String> {
    let line = line.trim_start();
    let comment = match line.strip_prefix("//") {
        Some(comment) => comment,
        None => line.split_once(" // ").map_or("", |(_, comment)| comment),
    };
    let prose = comment.split('`').step_by(2);
    let is_part = |letter: char| letter.is_ascii_alphabetic() || letter == '\'';
    prose
        .flat_map(|prose| prose.split(move |letter| !is_part(letter)))
        .filter(|word| !word.is_empty())
        .map(str::to_ascii_lowercase)
        .collect()
}

#[test]
fn words_of_code_and_backticks_do_not_count() {
    assert_eq!(words_of_comment("    /// Goes `behind` 2 it's"), ["goes", "it's"]);
    assert_eq!(words_of_comment("let behind = 1; // After it."), ["after", "it"]);
    assert_eq!(words_of_comment("let told = \"https://stands\";"), Vec::<String>::new());
}
