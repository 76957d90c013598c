//! Reads lines from a terminal, with editing, completion, colours and history.

use std::borrow::Cow;
use std::path::PathBuf;

use rustyline::completion::{Completer as Completes, FilenameCompleter, Pair};
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::{Hint, Hinter};
use rustyline::history::FileHistory;
use rustyline::validate::Validator;
use rustyline::{CompletionType, Config, Context, Editor, Helper};
use tonnage::Error;

use super::complete::Completer;
use super::line_reader::{InputLine, LineReader};
use super::{highlight, history, words};
use crate::exit::CliResult;

/// How many statements are remembered.
const HISTORY_MAX: usize = 10_000;

/// A terminal.
pub(super) struct TerminalLines {
    editor: Editor<EditorHelper, FileHistory>,
    history: Option<PathBuf>,
}

impl TerminalLines {
    pub(super) fn new(completer: Completer) -> CliResult<Self> {
        let config = Config::builder()
            .max_history_size(HISTORY_MAX)
            .map_err(unusable)?
            .history_ignore_space(true)
            .completion_type(CompletionType::List)
            .auto_add_history(false)
            .build();
        let mut editor = Editor::with_config(config).map_err(unusable)?;
        editor.set_helper(Some(EditorHelper {
            completer,
            files: FilenameCompleter::new(),
            before: String::new(),
        }));
        let history = history::file();
        if let Some(path) = history.as_ref().filter(|path| path.exists()) {
            // A history that cannot be read is no reason to end.
            let _ = editor.load_history(path);
        }
        Ok(Self { editor, history })
    }
}

fn unusable(error: ReadlineError) -> Error {
    Error::unavailable(format!(
        "the terminal cannot be used: {error}: give statements with -c or -f"
    ))
}

impl LineReader for TerminalLines {
    fn next(&mut self, prompt: &str, before: &str) -> CliResult<InputLine> {
        if let Some(guide) = self.editor.helper_mut() {
            guide.before = if before.is_empty() { String::new() } else { format!("{before}\n") };
        }
        match self.editor.readline(prompt) {
            Ok(line) => Ok(InputLine::Typed(line)),
            Err(ReadlineError::Eof) => Ok(InputLine::End),
            Err(ReadlineError::Interrupted | ReadlineError::Signal(_)) => {
                Ok(InputLine::Interrupted)
            }
            // The terminal went away.
            Err(ReadlineError::Io(_)) => Ok(InputLine::End),
            Err(error) => Err(unusable(error).into()),
        }
    }

    fn remember(&mut self, text: &str) -> Result<(), String> {
        let added = self.editor.add_history_entry(text).map_err(|error| error.to_string())?;
        match &self.history {
            Some(path) if added => self
                .editor
                .append_history(path)
                .map_err(|error| format!("{}: {error}", path.display())),
            _ => Ok(()),
        }
    }

    fn width(&mut self) -> Option<usize> {
        self.editor.dimensions().map(|(columns, _)| columns.into())
    }
}

/// What helps while a line is typed.
struct EditorHelper {
    completer: Completer,
    files: FilenameCompleter,
    /// The lines of the statement that are there already.
    before: String,
}

impl Helper for EditorHelper {}
impl Validator for EditorHelper {}

impl Completes for EditorHelper {
    type Candidate = Pair;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<Pair>)> {
        let is_first = self.before.trim().is_empty();
        if is_first && ["\\i ", "\\o "].iter().any(|command| line.trim_start().starts_with(command))
        {
            return self.files.complete_path(line, cursor);
        }
        let text = format!("{}{line}", self.before);
        let found = self.completer.complete(&text, self.before.len() + cursor);
        let pair = |word: String| Pair { display: word.clone(), replacement: word };
        Ok((
            found.start.saturating_sub(self.before.len()),
            found.words.into_iter().map(pair).collect(),
        ))
    }
}

impl Highlighter for EditorHelper {
    fn highlight<'l>(&self, line: &'l str, _: usize) -> Cow<'l, str> {
        highlight::highlighted(&self.before, line).map_or(Cow::Borrowed(line), Cow::Owned)
    }

    fn highlight_prompt<'b, 's: 'b, 'p: 'b>(&'s self, prompt: &'p str, _: bool) -> Cow<'b, str> {
        Cow::Owned(format!("\x1b[1m{prompt}\x1b[0m"))
    }

    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        Cow::Owned(format!("\x1b[90m{hint}\x1b[0m"))
    }

    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor
    }
}

/// How the statement continues; nothing that could be taken over.
struct ContinuationHint(&'static str);

impl Hint for ContinuationHint {
    fn display(&self) -> &str {
        self.0
    }

    fn completion(&self) -> Option<&str> {
        None
    }
}

impl Hinter for EditorHelper {
    type Hint = ContinuationHint;

    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<ContinuationHint> {
        let is_first = self.before.trim().is_empty();
        if is_first && cursor == line.len() {
            words::continuation(line).map(ContinuationHint)
        } else {
            None
        }
    }
}
