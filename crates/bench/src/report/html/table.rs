//! Tables of texts and numbers.

use super::escape::escaped;

/// What stands in a cell.
pub(super) enum Cell {
    /// Text, on the left.
    Text(String),
    /// A number with its unit, on the right.
    Number(String),
    /// HTML that is safe already, on the right.
    Html(String),
    /// HTML that is safe already, on the left.
    Label(String),
}

impl Cell {
    pub(super) fn text(text: impl Into<String>) -> Cell {
        Cell::Text(text.into())
    }

    pub(super) fn number(text: impl Into<String>) -> Cell {
        Cell::Number(text.into())
    }

    /// A number that may be missing.
    pub(super) fn optional(text: Option<String>) -> Cell {
        Cell::Number(text.unwrap_or_else(|| "–".to_owned()))
    }

    fn html(&self, tag: &str) -> String {
        match self {
            Cell::Text(text) => format!("<{tag}>{}</{tag}>", escaped(text)),
            Cell::Number(text) => format!("<{tag} class=\"n\">{}</{tag}>", escaped(text)),
            Cell::Label(html) => format!("<{tag}>{html}</{tag}>"),
            Cell::Html(html) => format!("<{tag} class=\"n\">{html}</{tag}>"),
        }
    }
}

/// A table whose first column names its rows. It scrolls by itself where the screen is narrow.
pub(super) struct Table {
    head: String,
    rows: String,
}

impl Table {
    pub(super) fn new(columns: Vec<Cell>) -> Self {
        let head = columns.iter().map(|cell| cell.html("th")).collect();
        Table { head, rows: String::new() }
    }

    pub(super) fn row(&mut self, cells: &[Cell]) {
        let cells: String = cells
            .iter()
            .enumerate()
            .map(|(column, cell)| cell.html(if column == 0 { "th" } else { "td" }))
            .collect();
        self.rows += &format!("<tr>{cells}</tr>\n");
    }

    pub(super) fn html(&self) -> String {
        let head = if self.head.is_empty() {
            String::new()
        } else {
            format!("<thead><tr>{}</tr></thead>\n", self.head)
        };
        format!(
            "<div class=\"scroll\"><table>\n{head}<tbody>\n{}</tbody>\n</table></div>\n",
            self.rows
        )
    }
}

/// Names and values.
pub(super) fn facts(facts: impl IntoIterator<Item = (String, String)>) -> String {
    let rows: String = facts
        .into_iter()
        .map(|(name, value)| format!("<dt>{}</dt><dd>{}</dd>\n", escaped(&name), escaped(&value)))
        .collect();
    if rows.is_empty() { rows } else { format!("<dl>\n{rows}</dl>\n") }
}
