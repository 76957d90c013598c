//! The commands of the shell itself.

use std::path::PathBuf;

use clap::ValueEnum;

use super::nearest::nearest;
use crate::output::{Expanded, RowFormat};

/// A command as it is written, with what it does. Arguments in brackets may be left out.
pub(super) const COMMANDS: [(&str, &str, &str); 11] = [
    ("\\d", "[TABLE]", "the tables; or the columns, key, indexes and children of one"),
    ("\\di", "[TABLE]", "the indexes, of all tables or of one"),
    (
        "\\x",
        "[on|off|auto]",
        "a line for each column; auto, as in the beginning: where a table would be wider than the terminal",
    ),
    (
        "\\format",
        "[FORMAT]",
        "how rows are written: table, csv, json, jsonl; default: by where they go",
    ),
    ("\\limit", "[ROWS|off]", "how many rows of an answer the terminal shows"),
    ("\\timing", "[on|off]", "whether the time of each statement is told"),
    ("\\i", "FILE", "carries out the statements of a file"),
    (
        "\\o",
        "[FILE]",
        "writes the rows of the next statement to a file, in the format that its name tells",
    ),
    ("\\h", "[WORD]", "how statements are written"),
    ("\\?", "", "this list; the same as help"),
    ("\\q", "", "ends the shell; the same as exit, quit and Ctrl-D"),
];

/// Words that are commands without a backslash.
const WORDS: [(&str, Command); 3] =
    [("help", Command::Help), ("exit", Command::Quit), ("quit", Command::Quit)];

/// One command. What is left out asks how things are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Command {
    Tables,
    Table(String),
    Indexes(Option<String>),
    Expanded(Option<Expanded>),
    Format(Option<SettingChoice<RowFormat>>),
    Limit(Option<SettingChoice<u64>>),
    Timing(Option<bool>),
    Include(PathBuf),
    Output(Option<PathBuf>),
    Syntax(Option<String>),
    Help,
    Quit,
}

/// A setting that may be left to the shell, or be nothing at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SettingChoice<T> {
    Unset,
    Set(T),
}

/// Whether a line is a command rather than the beginning of a statement.
pub(super) fn is_command(line: &str) -> bool {
    line.trim_start().starts_with('\\') || word(line).is_some()
}

fn word(line: &str) -> Option<Command> {
    let line = line.trim().trim_end_matches(';').trim_end();
    WORDS
        .iter()
        .find(|(word, _)| word.eq_ignore_ascii_case(line))
        .map(|(_, command)| command.clone())
}

impl Command {
    /// The command that a line is. The error says how it is written.
    pub(super) fn parse(line: &str) -> Result<Command, String> {
        if let Some(command) = word(line) {
            return Ok(command);
        }
        let line = line.trim().trim_end_matches(';').trim_end();
        let (name, argument) = line.split_once(char::is_whitespace).unwrap_or((line, ""));
        let argument = argument.trim();
        let given = (!argument.is_empty()).then_some(argument);
        Ok(match name {
            "\\d" | "\\dt" | "\\d+" => {
                given.map_or(Command::Tables, |table| Command::Table(unquote(table)))
            }
            "\\di" => Command::Indexes(given.map(unquote)),
            "\\x" => Command::Expanded(given.map(parse_expanded).transpose()?),
            "\\format" => Command::Format(given.map(format).transpose()?),
            "\\limit" => Command::Limit(given.map(limit).transpose()?),
            "\\timing" => Command::Timing(given.map(switch).transpose()?),
            "\\i" => Command::Include(given.map(path).ok_or("\\i takes the name of a file")?),
            "\\o" => Command::Output(given.map(path)),
            "\\h" => Command::Syntax(given.map(str::to_owned)),
            "\\?" => Command::Help,
            "\\q" => Command::Quit,
            _ => return Err(unknown(name)),
        })
    }
}

fn unknown(name: &str) -> String {
    let names = COMMANDS.iter().map(|(name, ..)| *name);
    match nearest(name, names) {
        Some(nearest) => {
            format!("there is no command {name}; did you mean {nearest}? \\? lists them all")
        }
        None => format!("there is no command {name}: \\? lists them all"),
    }
}

fn switch(text: &str) -> Result<bool, String> {
    match text.to_ascii_lowercase().as_str() {
        "on" => Ok(true),
        "off" => Ok(false),
        _ => Err(format!("'{text}' is neither on nor off")),
    }
}

fn parse_expanded(text: &str) -> Result<Expanded, String> {
    match text.to_ascii_lowercase().as_str() {
        "auto" => Ok(Expanded::Auto),
        _ => switch(text)
            .map(|on| if on { Expanded::On } else { Expanded::Off })
            .map_err(|_| format!("'{text}' is none of on, off and auto")),
    }
}

fn format(text: &str) -> Result<SettingChoice<RowFormat>, String> {
    if text.eq_ignore_ascii_case("default") {
        return Ok(SettingChoice::Unset);
    }
    let formats = screen_formats().join(", ");
    match RowFormat::from_str(text, true) {
        Ok(format) if format.is_text() => Ok(SettingChoice::Set(format)),
        Ok(_) => Err(format!(
            "{text} is for files, write \\o FILE; on the screen there are {formats}, default"
        )),
        Err(_) => Err(format!("there is no format {text}; there are {formats}, default")),
    }
}

/// The formats that a screen can show.
pub(super) fn screen_formats() -> Vec<String> {
    let names = RowFormat::value_variants().iter().filter(|format| format.is_text());
    names
        .filter_map(|format| format.to_possible_value())
        .map(|value| value.get_name().to_owned())
        .collect()
}

fn limit(text: &str) -> Result<SettingChoice<u64>, String> {
    if ["off", "0", "none"].contains(&text.to_ascii_lowercase().as_str()) {
        return Ok(SettingChoice::Unset);
    }
    let digits: String = text.chars().filter(|char| !matches!(char, ',' | '_')).collect();
    digits
        .parse()
        .map(SettingChoice::Set)
        .map_err(|_| format!("'{text}' is neither a number of rows nor off"))
}

fn path(text: &str) -> PathBuf {
    let quoted =
        ['\'', '"'].iter().find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote));
    PathBuf::from(quoted.unwrap_or(text))
}

/// The path of a table without the quotes around its names.
fn unquote(path: &str) -> String {
    path.split('.').map(|name| name.trim_matches('"')).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_that_is_listed_is_one() {
        for (name, argument, _) in COMMANDS {
            let example = ["on", "table", "5", "file"]
                .iter()
                .any(|argument| Command::parse(&format!("{name} {argument}")).is_ok());
            assert!(example, "{name}");
            assert_eq!(
                Command::parse(name).is_ok(),
                argument.is_empty() || argument.starts_with('['),
                "{name}"
            );
        }
    }

    #[test]
    fn commands_with_and_without_arguments() {
        for (line, command) in [
            ("\\d", Command::Tables),
            (" \\d  phones.images; ", Command::Table("phones.images".into())),
            ("\\d \"My table\".x", Command::Table("My table.x".into())),
            ("\\di", Command::Indexes(None)),
            ("\\di phones", Command::Indexes(Some("phones".into()))),
            ("\\x", Command::Expanded(None)),
            ("\\x auto", Command::Expanded(Some(Expanded::Auto))),
            ("\\format jsonl", Command::Format(Some(SettingChoice::Set(RowFormat::Jsonl)))),
            ("\\format default", Command::Format(Some(SettingChoice::Unset))),
            ("\\limit 10,000", Command::Limit(Some(SettingChoice::Set(10_000)))),
            ("\\limit off", Command::Limit(Some(SettingChoice::Unset))),
            ("\\timing OFF", Command::Timing(Some(false))),
            ("\\i 'my file.sql'", Command::Include("my file.sql".into())),
            ("\\o", Command::Output(None)),
            ("\\h select", Command::Syntax(Some("select".into()))),
            ("HELP;", Command::Help),
            ("exit", Command::Quit),
            ("quit ;", Command::Quit),
            ("\\q", Command::Quit),
        ] {
            assert_eq!(Command::parse(line).as_ref(), Ok(&command), "{line}");
            assert!(is_command(line), "{line}");
        }
        assert!(!is_command("SELECT help"));
        assert!(!is_command("help me"));
    }

    #[test]
    fn mistakes_are_told_with_what_is_right() {
        for (line, told) in [
            ("\\fromat csv", "did you mean \\format?"),
            ("\\zzzzzz", "\\? lists them all"),
            ("\\timing maybe", "neither on nor off"),
            ("\\x 5", "none of on, off and auto"),
            ("\\format xml", "there are table, json, jsonl, csv"),
            ("\\format parquet", "write \\o FILE"),
            ("\\limit many", "neither a number of rows nor off"),
            ("\\i", "takes the name of a file"),
        ] {
            let error = Command::parse(line).unwrap_err();
            assert!(error.contains(told), "{line}: {error}");
        }
    }
}
