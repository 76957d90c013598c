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

/// The same of what other stores of pairs have, after `kv`.
const PAIRS_ELSEWHERE: &[(&[&str], &str)] = &[
    (&["list", "ls", "keys", "all", "dump"], "pairs are listed with: tonnage kv scan"),
    (&["set", "insert", "add", "update"], "a pair is stored with: tonnage kv put"),
    (&["del", "rm", "remove"], "pairs are deleted with: tonnage kv delete"),
    (&["mget", "read"], "pairs of several keys are read with: tonnage kv multi-get"),
];

/// Options of other shells that bring statements, which stand by themselves here.
const OF_STATEMENTS: [&str; 5] = ["-d", "-e", "--execute", "--query", "--sql"];

/// An error of the command line, with a tip if it is a verb that there is not, or an option of
/// `sql`.
pub(crate) fn with_tip(error: clap::Error) -> clap::Error {
    match error.kind() {
        ErrorKind::InvalidSubcommand => of_verb(error),
        ErrorKind::UnknownArgument => of_option(error),
        _ => error,
    }
}

fn of_option(mut error: clap::Error) -> clap::Error {
    let is_statement = matches!(error.get(ContextKind::InvalidArg),
        Some(ContextValue::String(option)) if OF_STATEMENTS.contains(&option.as_str()));
    if is_statement && words_of_usage(&error).get(2).is_some_and(|verb| verb == "sql") {
        let tip = "statements are given by themselves, or after -c: tonnage sql 'SELECT 1'";
        let tips = vec![StyledStr::from(tip)];
        error.insert(ContextKind::Suggested, ContextValue::StyledStrs(tips));
    }
    error
}

fn of_verb(mut error: clap::Error) -> clap::Error {
    let Some(ContextValue::String(verb)) = error.get(ContextKind::InvalidSubcommand) else {
        return error;
    };
    let verb = verb.clone();
    let usage = words_of_usage(&error);
    let behind = usage.get(2).map_or("", String::as_str);
    let elsewhere = match behind {
        "kv" => PAIRS_ELSEWHERE,
        // `Usage: tonnage [OPTIONS] <COMMAND>`
        behind if behind.starts_with(['[', '<']) => ELSEWHERE,
        _ => &[],
    };
    let known = elsewhere.iter().find(|(verbs, _)| verbs.contains(&verb.as_str()));
    match known {
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

/// The line of an error that says how the program is called: `Usage: tonnage kv ...`.
fn words_of_usage(error: &clap::Error) -> Vec<String> {
    let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) else {
        return Vec::new();
    };
    usage.to_string().split_whitespace().map(str::to_owned).collect()
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
    fn verbs_of_other_stores_of_pairs_lead_to_those_of_this_one() {
        for (verbs, tip) in PAIRS_ELSEWHERE {
            for &verb in *verbs {
                let told = told(&["kv", verb, "/a"]);
                assert!(told.contains(&format!("tip: {tip}")), "{told}");
            }
        }
    }

    #[test]
    fn options_of_other_shells_lead_to_the_statements() {
        for option in OF_STATEMENTS {
            let told = told(&["sql", option, "SELECT 1"]);
            assert!(told.contains("after -c: tonnage sql 'SELECT 1'"), "{told}");
        }
        let told = told(&["count", "-d", "t"]);
        assert!(!told.contains("after -c"), "{told}");
    }

    #[test]
    fn the_most_similar_verb_comes_first() {
        let told = told(&["laod", "t", "a.csv"]);
        assert!(told.contains("'load', 'unload'"), "{told}");
    }
}
