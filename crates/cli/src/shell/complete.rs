//! Tab completion: the words that may complete the one being typed.
//!
//! 1. A line that begins with a backslash is a command: its name is completed, then its argument.
//! 2. After FROM, JOIN, INTO and the like a table follows, after DROP INDEX an index.
//! 3. After `name.` follow the columns and child tables of that table or alias.
//! 4. Everywhere else: columns of the tables that the statement names, functions, keywords, tables.

use std::ops::Range;

use tonnage::Store;
use tonnage_sql::{SqlToken, SqlTokenKind, SqlTokens, Unclosed};

use super::command::{COMMANDS, screen_formats};
use super::words::{KEYWORDS, is_keyword, quoted, quoted_path};

/// Knows what there is to complete with.
pub(super) struct Completer {
    store: Store,
    functions: Vec<String>,
}

/// What the bytes of the text from `start` to the cursor may become.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Completions {
    pub(super) start: usize,
    pub(super) words: Vec<String>,
}

/// A table follows these words.
const BEFORE_TABLE: [&str; 9] =
    ["FROM", "JOIN", "INTO", "UPDATE", "TABLE", "DESCRIBE", "DESC", "UPSERT", "ON"];

impl Completer {
    pub(super) fn new(store: Store, functions: Vec<String>) -> Self {
        Self { store, functions }
    }

    /// Completes the word that ends at `cursor`.
    pub(super) fn complete(&self, text: &str, cursor: usize) -> Completions {
        let typed = &text[..cursor];
        if typed.trim_start().starts_with('\\') {
            return self.command(typed);
        }
        // Only the text before the cursor says whether it is in a text or a comment.
        let tokens = SqlTokens::read(typed);
        if matches!(tokens.open(), Some(Unclosed::Text | Unclosed::Comment | Unclosed::Dollar))
            || in_comment(&tokens, typed)
        {
            return Completions { start: cursor, words: Vec::new() };
        }
        let path = path_at_end(typed, tokens.tokens());
        let before = tokens
            .tokens()
            .iter()
            .filter(|token| token.range.end <= path.start)
            .collect::<Vec<_>>();
        // The whole text is read: columns after SELECT belong to tables in the FROM after the
        // cursor.
        let statement = StatementTables::at_cursor(self, text, cursor);
        match previous_words(typed, &before).as_slice() {
            [.., drop, index] if drop == "DROP" && index == "INDEX" => {
                self.matching(typed, path.start, self.indexes())
            }
            // ON names a table in CREATE INDEX and DROP INDEX only. Elsewhere it begins a join
            // condition.
            [first, .., on] if on == "ON" && first != "CREATE" && first != "DROP" => {
                self.complete_in_statement(typed, path, &statement)
            }
            [.., last] if BEFORE_TABLE.contains(&last.as_str()) => {
                self.matching(typed, path.start, self.tables())
            }
            _ => self.complete_in_statement(typed, path, &statement),
        }
    }

    fn command(&self, typed: &str) -> Completions {
        let start = typed.len() - typed.trim_start().len();
        let Some((name, argument)) = typed[start..].split_once(char::is_whitespace) else {
            return self.matching(
                typed,
                start,
                COMMANDS.iter().map(|(name, ..)| (*name).to_owned()),
            );
        };
        let start = typed.len() - argument.trim_start().len();
        let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
        let candidates: Vec<String> = match name {
            "\\d" | "\\di" => self.tables().collect(),
            "\\format" => screen_formats().into_iter().chain(words(&["default"])).collect(),
            "\\x" => words(&["on", "off", "auto"]),
            "\\timing" => words(&["on", "off"]),
            "\\limit" => words(&["off"]),
            "\\h" => {
                super::words::STATEMENTS.iter().map(|(words, _)| (*words).to_owned()).collect()
            }
            _ => Vec::new(),
        };
        self.matching(typed, start, candidates.into_iter())
    }

    /// A word among others in a statement.
    fn complete_in_statement(
        &self,
        typed: &str,
        path: Range<usize>,
        statement: &StatementTables,
    ) -> Completions {
        if let Some((qualifier, _)) = typed[path.clone()].rsplit_once('.') {
            let start = path.start + qualifier.len() + 1;
            let columns =
                statement.columns_of(self, qualifier).into_iter().map(|name| quoted(&name));
            let children = self.tables().filter_map(|table| {
                let child = table
                    .get(..qualifier.len())?
                    .eq_ignore_ascii_case(qualifier)
                    .then(|| &table[qualifier.len()..])?;
                child.strip_prefix('.').map(str::to_owned)
            });
            return self.matching(typed, start, columns.chain(children));
        }
        let part = &typed[path.clone()];
        let columns: Vec<String> =
            statement.tables.iter().flat_map(|table| self.columns(&table.path)).collect();
        // Nothing typed fits everything: keywords and functions would bury the columns.
        if part.is_empty() {
            return self.matching(typed, path.start, columns.iter().map(|name| quoted(name)));
        }
        // Before its FROM is written a statement may mean any table.
        let columns = if statement.tables.is_empty() { self.all_columns() } else { columns };
        let columns = columns.iter().map(|name| quoted(name));
        let like_typed = |word: &str| {
            if part.chars().any(char::is_lowercase) {
                word.to_ascii_lowercase()
            } else {
                word.to_owned()
            }
        };
        let keywords = KEYWORDS.iter().map(|word| like_typed(word));
        let functions = self.functions.iter().map(|name| format!("{name}("));
        self.matching(
            typed,
            path.start,
            columns.chain(keywords).chain(functions).chain(self.tables()),
        )
    }

    /// Those of the candidates that begin with what was typed, in any case of letters.
    fn matching(
        &self,
        typed: &str,
        start: usize,
        candidates: impl Iterator<Item = String>,
    ) -> Completions {
        let part = &typed[start..];
        let begins = |word: &str| {
            word.get(..part.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(part))
        };
        // `my` becomes `"my images"`.
        let fits = |word: &String| begins(word) || word.strip_prefix('"').is_some_and(begins);
        let mut words: Vec<String> = candidates.filter(fits).collect();
        words.sort_by_key(|word| word.to_ascii_lowercase());
        words.dedup();
        Completions { start, words }
    }

    fn tables(&self) -> impl Iterator<Item = String> {
        self.store.tables().into_iter().map(|table| quoted_path(table.path()))
    }

    fn indexes(&self) -> impl Iterator<Item = String> {
        let indexes =
            self.store.tables().into_iter().filter_map(|table| table.indexes().ok()).flatten();
        indexes.map(|index| quoted(index.name()))
    }

    fn all_columns(&self) -> Vec<String> {
        self.store.tables().iter().flat_map(|table| self.columns(table.path())).collect()
    }

    fn columns(&self, path: &str) -> Vec<String> {
        let table = self.store.table(path);
        table
            .map(|table| table.schema().columns.iter().map(|column| column.name.clone()).collect())
            .unwrap_or_default()
    }
}

/// A comment up to the end of its line is still being written.
fn in_comment(tokens: &SqlTokens, typed: &str) -> bool {
    let last = tokens.tokens().last();
    last.is_some_and(|token| {
        let text = &typed[token.range.clone()];
        token.kind == SqlTokenKind::Comment
            && token.range.end == typed.len()
            && text.starts_with("--")
            && !text.ends_with('\n')
    })
}

/// The names parted by points that end at the end of the text; nothing after a blank or a sign.
fn path_at_end(typed: &str, tokens: &[SqlToken]) -> Range<usize> {
    let mut start = typed.len();
    for token in tokens.iter().rev() {
        let is_name = matches!(
            token.kind,
            SqlTokenKind::Word | SqlTokenKind::QuotedName | SqlTokenKind::Rest
        ) || &typed[token.range.clone()] == ".";
        if token.range.end != start || !is_name {
            break;
        }
        start = token.range.start;
    }
    start..typed.len()
}

/// The words of the statement before the one that is typed, in upper case: its first and the last
/// two.
fn previous_words(typed: &str, before: &[&SqlToken]) -> Vec<String> {
    let of_statement =
        before.iter().rposition(|token| token.kind == SqlTokenKind::End).map_or(0, |at| at + 1);
    let tokens = before[of_statement..].iter().filter(|token| token.kind != SqlTokenKind::Comment);
    tokens.map(|token| typed[token.range.clone()].to_ascii_uppercase()).collect()
}

/// The tables that a statement names.
struct StatementTables {
    tables: Vec<TableReference>,
}

struct TableReference {
    path: String,
    alias: Option<String>,
}

impl StatementTables {
    /// The statement at the cursor.
    fn at_cursor(completer: &Completer, text: &str, cursor: usize) -> Self {
        let tokens = SqlTokens::read(text);
        let tokens = tokens.tokens();
        let is_end = |token: &SqlToken| token.kind == SqlTokenKind::End;
        let first = tokens
            .iter()
            .rposition(|token| is_end(token) && token.range.end <= cursor)
            .map_or(0, |at| at + 1);
        let last = tokens[first..].iter().position(is_end).map_or(tokens.len(), |at| first + at);
        Self { tables: table_references(completer, text, &tokens[first..last]) }
    }

    fn columns_of(&self, completer: &Completer, qualifier: &str) -> Vec<String> {
        let qualifier = unquote_path(qualifier);
        let last = |path: &str| path.rsplit('.').next().unwrap_or_default().to_owned();
        let is_meant = |table: &&TableReference| match &table.alias {
            Some(alias) => alias.eq_ignore_ascii_case(&qualifier),
            None => {
                table.path.eq_ignore_ascii_case(&qualifier)
                    || last(&table.path).eq_ignore_ascii_case(&qualifier)
            }
        };
        // A statement that does not yet name the table: `SELECT phones.` is written before its
        // FROM.
        let path =
            self.tables.iter().find(is_meant).map_or(qualifier.clone(), |table| table.path.clone());
        completer.columns(&path)
    }
}

/// Every path that is a table's, with what follows it as its alias.
fn table_references(completer: &Completer, text: &str, tokens: &[SqlToken]) -> Vec<TableReference> {
    let word = |token: &SqlToken| &text[token.range.clone()];
    let is_name =
        |token: &SqlToken| matches!(token.kind, SqlTokenKind::Word | SqlTokenKind::QuotedName);
    let mut tables = Vec::new();
    let mut rest = tokens.iter().filter(|token| token.kind != SqlTokenKind::Comment).peekable();
    while let Some(first) = rest.next() {
        if !is_name(first) {
            continue;
        }
        let mut path = unquote_path(word(first));
        while rest.next_if(|token| word(token) == ".").is_some() {
            if let Some(next) = rest.next_if(|token| is_name(token)) {
                path = format!("{path}.{}", unquote_path(word(next)));
            }
        }
        // Asking the store spares a grammar: a name that is not a table is a column, or not yet
        // written.
        if let Ok(table) = completer.store.table(&path) {
            rest.next_if(|token| word(token).eq_ignore_ascii_case("AS"));
            let alias = rest
                // WHERE or JOIN after a table is not an alias.
                .next_if(|token| is_name(token) && !is_keyword(word(token)))
                .map(|token| unquote_path(word(token)));
            tables.push(TableReference { path: table.path().to_owned(), alias });
        }
    }
    tables
}

fn unquote_path(path: &str) -> String {
    path.split('.').map(|name| name.trim_matches('"')).collect::<Vec<_>>().join(".")
}

#[cfg(test)]
mod tests;
