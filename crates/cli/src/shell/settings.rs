//! The settings of a shell session.

use std::path::PathBuf;

use tonnage::Error;

use super::command::{COMMANDS, Command, SettingChoice};
use super::screen::Screen;
use crate::exit::CliResult;
use crate::output::{Expanded, OutputArgs, RowFormat, TableStyle};
use crate::values::grouped;

/// The rows of one answer that a terminal shows unless more are asked for.
const LIMIT: u64 = 1_000;

/// How a shell shows what it finds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Settings {
    format: Option<RowFormat>,
    expanded: Expanded,
    limit: Option<u64>,
    pub(super) timing: bool,
    /// Where the rows of the next statement go.
    pub(super) next_output: Option<PathBuf>,
}

impl Settings {
    pub(super) fn new(format: Option<RowFormat>) -> Self {
        Self {
            format,
            expanded: Expanded::Auto,
            limit: Some(LIMIT),
            timing: true,
            next_output: None,
        }
    }

    /// Sets what a command sets. Tells how it is now.
    pub(super) fn change(&mut self, command: Command) -> CliResult<String> {
        Ok(match command {
            Command::Expanded(expanded) => {
                // Without an argument it changes sides, as it does elsewhere.
                let other =
                    if self.expanded == Expanded::On { Expanded::Off } else { Expanded::On };
                self.expanded = expanded.unwrap_or(other);
                let told = match self.expanded {
                    Expanded::Off => "off",
                    Expanded::On => "on",
                    Expanded::Auto => "auto",
                };
                format!("expanded display: {told}")
            }
            Command::Format(format) => {
                // Without an argument nothing is set: `\format` and `\limit` then only ask.
                match format {
                    Some(SettingChoice::Set(format)) => self.format = Some(format),
                    Some(SettingChoice::Unset) => self.format = None,
                    None => {}
                }
                format!(
                    "format: {}",
                    self.format
                        .map_or("a table on a terminal, else csv".to_owned(), RowFormat::name)
                )
            }
            Command::Limit(limit) => {
                match limit {
                    Some(SettingChoice::Set(limit)) => self.limit = Some(limit),
                    Some(SettingChoice::Unset) => self.limit = None,
                    None => {}
                }
                match self.limit {
                    Some(limit) => format!("rows shown of an answer: {}", grouped(limit)),
                    None => "rows shown of an answer: all".to_owned(),
                }
            }
            Command::Timing(timing) => {
                self.timing = timing.unwrap_or(!self.timing);
                format!("timing: {}", if self.timing { "on" } else { "off" })
            }
            Command::Output(path) => {
                self.next_output = path;
                match &self.next_output {
                    Some(path) => {
                        format!("the rows of the next statement go to {}", path.display())
                    }
                    None => "rows go to the screen".to_owned(),
                }
            }
            other => return Err(Error::internal(format!("{other:?} is not a setting")).into()),
        })
    }

    /// The format of rows on the screen.
    pub(super) fn format(&self, screen: &Screen) -> RowFormat {
        let by_place = if screen.is_terminal() { RowFormat::Table } else { RowFormat::Csv };
        self.format.unwrap_or(by_place)
    }

    /// How tables look.
    pub(super) fn style(&self, screen: &Screen) -> TableStyle {
        TableStyle { expanded: self.expanded, width: screen.width }
    }

    /// The most rows that are shown of an answer; who writes to elsewhere wants them all.
    pub(super) fn limit(&self, screen: &Screen) -> Option<u64> {
        self.limit.filter(|_| screen.is_terminal())
    }

    /// The file that the next rows go to, once.
    pub(super) fn take_output(&mut self) -> Option<OutputArgs> {
        let path = self.next_output.take()?;
        Some(OutputArgs {
            format: OutputArgs::format_of(&path).or(self.format),
            output: Some(path),
        })
    }
}

/// The list of commands.
pub(super) fn help() -> String {
    let called: Vec<String> =
        COMMANDS.iter().map(|(name, argument, _)| format!("{name} {argument}")).collect();
    let room = called.iter().map(String::len).max().unwrap_or_default();
    let commands =
        called.iter().zip(COMMANDS).map(|(called, (.., what))| format!("  {called:room$}  {what}"));
    let keys = [
        ("Tab", "completes keywords, tables, columns, indexes, functions and commands"),
        ("Up, Ctrl-R", "earlier statements; finds one"),
        ("Ctrl-C", "stops the statement that runs, or forgets the one that is typed"),
        ("Ctrl-D", "ends the shell"),
    ];
    let keys = keys.iter().map(|(key, what)| format!("  {key:room$}  {what}"));
    let head = std::iter::once(
        "Statements end with a semicolon and may have many lines. Commands:".to_owned(),
    );
    head.chain(commands)
        .chain(std::iter::once("Keys:".to_owned()))
        .chain(keys)
        .collect::<Vec<_>>()
        .join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(settings: &mut Settings, line: &str) -> String {
        settings.change(Command::parse(line).unwrap()).unwrap()
    }

    #[test]
    fn commands_without_argument_ask_or_change_sides() {
        let mut settings = Settings::new(None);
        assert_eq!(told(&mut settings, "\\limit"), "rows shown of an answer: 1,000");
        assert_eq!(told(&mut settings, "\\format"), "format: a table on a terminal, else csv");
        assert_eq!(told(&mut settings, "\\timing"), "timing: off");
        assert_eq!(told(&mut settings, "\\timing"), "timing: on");
        assert_eq!(told(&mut settings, "\\x"), "expanded display: on");
        assert_eq!(told(&mut settings, "\\x"), "expanded display: off");
    }

    #[test]
    fn what_is_set_stays() {
        let mut settings = Settings::new(Some(RowFormat::Csv));
        assert_eq!(told(&mut settings, "\\format"), "format: csv");
        for (line, expected) in [
            ("\\format jsonl", "format: jsonl"),
            ("\\format default", "format: a table on a terminal, else csv"),
            ("\\limit 5000", "rows shown of an answer: 5,000"),
            ("\\limit off", "rows shown of an answer: all"),
            ("\\x auto", "expanded display: auto"),
        ] {
            assert_eq!(told(&mut settings, line), expected);
        }
        assert_eq!((settings.limit, settings.expanded), (None, Expanded::Auto));
    }

    #[test]
    fn a_file_is_for_one_answer() {
        let mut settings = Settings::new(None);
        told(&mut settings, "\\o a.parquet");
        let output = settings.take_output().unwrap();
        assert_eq!(
            (output.row_format(), settings.take_output().is_none()),
            (RowFormat::Parquet, true)
        );
    }

    #[test]
    fn help_lists_every_command() {
        let help = help();
        assert!(COMMANDS.iter().all(|(name, _, what)| help.contains(name) && help.contains(what)));
    }
}
