//! Verbs that there are not: what does here what they say.

use clap::builder::StyledStr;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use strsim::damerau_levenshtein;

/// Verbs of other programs, and the command for what they mean.
const ELSEWHERE: &[(&[&str], &str)] = &[
    (&["create"], "tables are made with: tonnage sql \"CREATE TABLE ...\", or by load --create"),
    (&["drop"], "tables are dropped with: tonnage sql \"DROP TABLE t\""),
    (&["alter"], "tables are altered with: tonnage sql \"ALTER TABLE t ...\""),
    (&["tables", "list", "ls", "show"], "tables are listed with: tonnage sql \"SHOW TABLES\""),
    (
        &["delete", "truncate", "remove", "rm"],
        "rows are deleted with: tonnage sql \"DELETE FROM t WHERE ...\"",
    ),
    (&["insert", "update"], "single rows are stored with: tonnage put, or tonnage sql"),
    (&["query", "select"], "queries are run with: tonnage sql \"SELECT ...\""),
    (&["import"], "files are loaded with: tonnage load"),
    (&["export", "dump"], "rows are written to files with: tonnage unload"),
];

/// An error of the command line, with a tip if it is a verb that there is not.
pub(crate) fn with_tip(mut error: clap::Error) -> clap::Error {
    let verb = match (error.kind(), error.get(ContextKind::InvalidSubcommand)) {
        (ErrorKind::InvalidSubcommand, Some(ContextValue::String(verb))) => verb.clone(),
        _ => return error,
    };
    let known = ELSEWHERE.iter().find(|(verbs, _)| verbs.contains(&verb.as_str()));
    match known.filter(|_| is_first_word(&error)) {
        Some((_, tip)) => {
            // Verbs that are written alike do something else.
            error.remove(ContextKind::SuggestedSubcommand);
            let tips = vec![StyledStr::from(*tip)];
            error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
        }
        None => sort_similar(&mut error, &verb),
    }
    error
}

/// Whether the verb is one of the program: some of its verbs have verbs themselves.
fn is_first_word(error: &clap::Error) -> bool {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else { return false };
    // `Usage: tonnage [OPTIONS] <COMMAND>`, or `Usage: tonnage kv ...`.
    let usage = usage.to_string();
    usage.split_whitespace().nth(2).is_some_and(|word| word.starts_with(['[', '<']))
}

/// Puts the verb that is most likely meant first: of `laod` that is `load`, not `unload`.
fn sort_similar(error: &mut clap::Error, verb: &str) {
    let Some(ContextValue::Strings(similar)) = error.get(ContextKind::SuggestedSubcommand) else {
        return;
    };
    let mut similar = similar.clone();
    similar.sort_by_key(|known| damerau_levenshtein(known, verb));
    error.insert(ContextKind::SuggestedSubcommand, ContextValue::Strings(similar));
}

#[cfg(test)]
mod tests {
    use clap::{CommandFactory, Parser};

    use super::*;
    use crate::cli::Cli;

    fn told(words: &[&str]) -> String {
        let words = std::iter::once(&"tonnage").chain(words);
        with_tip(Cli::try_parse_from(words).err().expect("an error")).to_string()
    }

    #[test]
    fn verbs_of_other_programs_lead_to_those_of_this_one() {
        for (verbs, tip) in ELSEWHERE {
            for &verb in *verbs {
                let told = told(&[verb, "t"]);
                assert!(told.contains(&format!("tip: {tip}")), "{told}");
                assert!(!told.contains("similar"), "{told}");
                assert!(Cli::command().find_subcommand(verb).is_none(), "{verb} is one of its own");
            }
        }
        let told = told(&["kv", "drop"]);
        assert!(told.contains("'drop'") && !told.contains("DROP TABLE"), "{told}");
    }

    #[test]
    fn the_most_similar_verb_comes_first() {
        let told = told(&["laod", "t", "a.csv"]);
        assert!(told.contains("'load', 'unload'"), "{told}");
    }
}
