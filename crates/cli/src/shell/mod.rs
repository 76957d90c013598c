//! The shell of `tonnage sql`: statements typed at a terminal, answered one after another.
//!
//! - `statement_buffer` collects lines until a statement is complete. `command` parses the shell's
//!   own commands. `answers` executes statements.
//! - `editor` is the only module that reads from a terminal. `complete`, `highlight` and `words`
//!   help while one types.
//! - `caret` shows where an error is, for statements of files and arguments as well.

mod answers;
mod backend;
pub(crate) mod caret;
mod command;
mod complete;
pub(crate) mod describe;
mod editor;
mod highlight;
mod history;
mod include;
mod line_reader;
mod nearest;
mod screen;
mod settings;
mod statement_buffer;
#[cfg(test)]
mod tests;
mod words;

use std::time::Duration;

pub(crate) use self::backend::Backend;
use self::command::Command;
use self::complete::Completer;
use self::editor::TerminalLines;
use self::line_reader::{InputLine, LineReader};
use self::screen::Screen;
use self::settings::Settings;
use self::statement_buffer::{ShellInput, StatementBuffer};
use crate::exit::{CliResult, Exit};
use crate::output::RowFormat;

/// A session at a terminal.
pub(crate) struct Shell {
    backend: Backend,
    settings: Settings,
    screen: Screen,
    /// The files that are being read, the innermost last.
    reading: Vec<String>,
}

/// Whether the shell continues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ShellFlow {
    Continue,
    /// An error was printed: the rest of the same file is skipped.
    Failed,
    Quit,
}

impl Shell {
    /// A shell on the terminal of the program.
    pub(crate) fn new(backend: Backend, format: Option<RowFormat>) -> Self {
        Self::with_screen(backend, format, Screen::standard())
    }

    fn with_screen(backend: Backend, format: Option<RowFormat>, screen: Screen) -> Self {
        Self { backend, settings: Settings::new(format), screen, reading: Vec::new() }
    }

    /// Answers what is typed, until its end.
    pub(crate) fn run(mut self, store: &str, quiet: bool) -> CliResult {
        let (tables, functions) = self.backend.cached_tables();
        let mut lines = TerminalLines::new(Completer::new(tables.clone(), functions))?;
        if !quiet {
            self.screen.info(self.greeting(store));
        }
        self.answer(&mut lines)
    }

    fn greeting(&self, store: &str) -> String {
        let tables = counted(self.backend.cached_tables().0.tables().len(), "table", "tables");
        format!(
            "tonnage {}, {store}: {tables}. Statements end with a semicolon; help lists the commands, Ctrl-D ends.",
            env!("CARGO_PKG_VERSION")
        )
    }

    fn answer(&mut self, lines: &mut dyn LineReader) -> CliResult {
        let mut assembly = StatementBuffer::default();
        let mut remembers = true;
        loop {
            let prompt = assembly.prompt(self.backend.is_in_transaction());
            let typed = match lines.next(prompt, assembly.text())? {
                InputLine::Typed(typed) => typed,
                InputLine::Interrupted => {
                    assembly.clear();
                    continue;
                }
                InputLine::End => return Ok(self.finish()),
            };
            self.screen.width = lines.width();
            // What is pasted, and what comes out of the history, has many lines.
            for line in typed.split('\n') {
                // Here the lines of each statement are counted by themselves, and not from the
                // beginning of the session.
                let Some(unit) =
                    assembly.push(line).map(|unit| ShellInput { lines_before: 0, ..unit })
                else {
                    continue;
                };
                if let Err(error) = lines.remember(&unit.text)
                    && std::mem::take(&mut remembers)
                {
                    self.screen.info(format_args!("the history cannot be kept: {error}"));
                }
                if self.execute(&unit) == ShellFlow::Quit {
                    return Ok(self.finish());
                }
            }
        }
    }

    /// What is said at the end.
    fn finish(&self) -> Exit {
        if self.backend.is_in_transaction() {
            self.screen.info("the transaction was not committed: nothing of it is written");
        }
        Exit::Success
    }

    /// Carries out a command or statements.
    fn execute(&mut self, unit: &ShellInput) -> ShellFlow {
        if !command::is_command(&unit.text) {
            return self.execute_statements(unit);
        }
        match Command::parse(&unit.text) {
            Ok(command) => self.run_command(command),
            Err(told) => self.report_error(told),
        }
    }

    fn run_command(&mut self, command: Command) -> ShellFlow {
        let said = match command {
            Command::Quit => return ShellFlow::Quit,
            // A file has shown its own answers, and whether it failed decides about the file around
            // it.
            Command::Include(path) => return self.include(&path),
            Command::Help => Ok(settings::help()),
            Command::Syntax(word) => match words::syntax(word.as_deref()) {
                Some(syntax) => Ok(syntax),
                None => {
                    return self.report_error(format!(
                        "no statement begins with '{}': \\h lists them",
                        word.unwrap_or_default()
                    ));
                }
            },
            Command::Tables => self.list_tables(),
            Command::Table(path) => self.list_columns(&path),
            Command::Indexes(path) => self.list_indexes(path.as_deref()),
            // New commands belong above: `change` refuses whatever sets nothing.
            setting => self.settings.change(setting),
        };
        match said {
            Ok(said) => {
                self.screen.info(said);
                ShellFlow::Continue
            }
            Err(failure) => self.report_error(crate::exit::with_causes(&failure.error)),
        }
    }

    fn list_tables(&self) -> CliResult<String> {
        let tables = describe::tables(self.backend.tables()?)?;
        self.show_list(&tables)?;
        Ok(counted(tables.num_rows(), "table", "tables"))
    }

    fn list_indexes(&self, path: Option<&str>) -> CliResult<String> {
        let indexes = describe::indexes(self.backend.tables()?, path)?;
        self.show_list(&indexes)?;
        Ok(counted(indexes.num_rows(), "index", "indexes"))
    }

    fn list_columns(&self, path: &str) -> CliResult<String> {
        let store = self.backend.tables()?;
        let table = store.table(path)?;
        self.show_list(&describe::columns(table.schema())?)?;
        Ok(describe::about(store, &table)?)
    }

    /// Says what went wrong, and in which file.
    fn report_error(&self, told: impl std::fmt::Display) -> ShellFlow {
        match self.reading.last() {
            Some(file) => self.screen.info(format_args!("error: {file}: {told}")),
            None => self.screen.info(format_args!("error: {told}")),
        }
        ShellFlow::Failed
    }
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

/// The time that something took, as shown after its answer.
fn seconds(took: Duration) -> String {
    format!("({:.3} s)", took.as_secs_f64())
}
