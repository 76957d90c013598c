//! Collects typed lines until they make a whole statement or command.

use tonnage_sql::{SqlTokens, Unclosed};

use super::command;

/// What was typed of a statement so far.
#[derive(Default)]
pub(super) struct StatementBuffer {
    text: String,
    /// The line, of all that were given, on which the text begins; from 0.
    begins: u64,
    lines: u64,
}

/// What can be carried out: statements up to a semicolon, or a command of the shell.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ShellInput {
    pub(super) text: String,
    /// The lines that were given before it.
    pub(super) lines_before: u64,
}

impl StatementBuffer {
    /// Takes one line more. Gives what is complete with it.
    pub(super) fn push(&mut self, line: &str) -> Option<ShellInput> {
        let is_first = self.text.trim().is_empty();
        if is_first {
            self.text.clear();
            self.begins = self.lines;
        }
        self.lines += 1;
        if !is_first
            && line.trim_start().starts_with('\\')
            && SqlTokens::read(&self.text).open().is_none()
        {
            // No SQL begins a line so: a command is meant, and the statement waits. In a text or a
            // comment it is part of that.
            return Some(ShellInput { text: line.to_owned(), lines_before: self.lines - 1 });
        }
        if !is_first {
            self.text.push('\n');
        }
        self.text.push_str(line);
        if is_first && command::is_command(line) {
            return self.take();
        }
        // Without a semicolon only what says nothing at all is complete.
        let may_end = is_first || line.contains(';') || line.contains("*/");
        if may_end && SqlTokens::read(&self.text).is_complete() { self.take() } else { None }
    }

    /// What is left when nothing more comes.
    pub(super) fn take(&mut self) -> Option<ShellInput> {
        let text = std::mem::take(&mut self.text);
        (!text.trim().is_empty()).then_some(ShellInput { text, lines_before: self.begins })
    }

    /// Forgets what was typed.
    pub(super) fn clear(&mut self) {
        self.text.clear();
    }

    /// What was typed and is not complete.
    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// What to ask for the next line with: it says what is still open. A star says that a
    /// transaction is open.
    pub(super) fn prompt(&self, is_in_transaction: bool) -> &'static str {
        if self.text.trim().is_empty() {
            return if is_in_transaction { "tonnage*> " } else { "tonnage> " };
        }
        match SqlTokens::read(&self.text).open() {
            None => "      -> ",
            Some(Unclosed::Text) => "      '> ",
            Some(Unclosed::Name) => "      \"> ",
            Some(Unclosed::Comment) => "     /*> ",
            Some(Unclosed::Dollar) => "     $$> ",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn units(lines: &str) -> (Vec<(u64, String)>, &'static str) {
        let mut assembly = StatementBuffer::default();
        let units = lines
            .lines()
            .filter_map(|line| assembly.push(line))
            .map(|unit| (unit.lines_before, unit.text))
            .collect();
        (units, assembly.prompt(false))
    }

    #[test]
    fn a_statement_ends_with_its_semicolon() {
        let (units, prompt) = units("SELECT 1;\nSELECT\n ';'\n ; SELECT 2;\nSELECT 3; SELECT");
        assert_eq!(
            units,
            [(0, "SELECT 1;".to_owned()), (1, "SELECT\n ';'\n ; SELECT 2;".to_owned())]
        );
        assert_eq!(prompt, "      -> ");
    }

    #[test]
    fn commands_need_no_semicolon() {
        let (units, prompt) = units("\\d phones\nexit\nSELECT 1;");
        let texts: Vec<_> = units.iter().map(|(_, text)| text.as_str()).collect();
        assert_eq!(
            (texts.as_slice(), prompt),
            (["\\d phones", "exit", "SELECT 1;"].as_slice(), "tonnage> ")
        );
    }

    /// After a forgotten semicolon they became part of the statement, and nothing said so.
    #[test]
    fn commands_are_obeyed_while_a_statement_waits() {
        let (units, prompt) = units("SELECT 1\n\\x on\n;\nSELECT 'a\n\\x off\n';");
        assert_eq!(units[0], (1, "\\x on".to_owned()));
        assert_eq!(units[1], (0, "SELECT 1\n;".to_owned()));
        assert_eq!(units[2].1, "SELECT 'a\n\\x off\n';", "in a text they are text");
        assert_eq!(prompt, "tonnage> ");
    }

    #[test]
    fn the_prompt_tells_what_is_open() {
        for (typed, prompt) in [
            ("", "tonnage> "),
            ("\n  ", "tonnage> "),
            ("SELECT 1;", "tonnage> "),
            ("-- nothing", "tonnage> "),
            ("SELECT 'a;", "      '> "),
            ("SELECT \"a;", "      \"> "),
            ("SELECT /* a;", "     /*> "),
            ("SELECT $$ a;", "     $$> "),
        ] {
            assert_eq!(units(typed).1, prompt, "{typed}");
        }
    }

    #[test]
    fn blank_lines_and_comments_wait_for_nothing() {
        let (units, prompt) = units("\n\n-- a comment\n/* one\n more */\nSELECT 1;");
        let texts: Vec<_> = units.iter().map(|(line, text)| (*line, text.as_str())).collect();
        assert_eq!(texts, [(2, "-- a comment"), (3, "/* one\n more */"), (5, "SELECT 1;")]);
        assert_eq!(prompt, "tonnage> ");
    }
}
