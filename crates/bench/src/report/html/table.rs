//! Tables of texts and numbers.

use super::escape::escaped;

/// What stands in a cell.
pub(super) enum HtmlCell {
    /// Text, on the left.
    Text(String),
    /// A number with its unit, on the right.
    Number(String),
    /// HTML that is safe already, on the right.
    Html(String),
    /// HTML that is safe already, on the left.
    Label(String),
}

impl HtmlCell {
    pub(super) fn text(text: impl Into<String>) -> HtmlCell {
        HtmlCell::Text(text.into())
    }

    pub(super) fn number(text: impl Into<String>) -> HtmlCell {
        HtmlCell::Number(text.into())
    }

    /// A number that may be missing.
    pub(super) fn optional(text: Option<String>) -> HtmlCell {
        HtmlCell::Number(text.unwrap_or_else(|| "–".to_owned()))
    }

    fn html(&self, tag: &str) -> String {
        match self {
            HtmlCell::Text(text) => format!("<{tag}>{}</{tag}>", escaped(text)),
            HtmlCell::Number(text) => format!("<{tag} class=\"n\">{}</{tag}>", escaped(text)),
            HtmlCell::Label(html) => format!("<{tag}>{html}</{tag}>"),
            HtmlCell::Html(html) => format!("<{tag} class=\"n\">{html}</{tag}>"),
        }
    }
}

/// A table whose first column names its rows. It scrolls by itself where the screen is narrow.
pub(super) struct HtmlTable {
    head: String,
    rows: String,
}

impl HtmlTable {
    pub(super) fn new(columns: Vec<HtmlCell>) -> Self {
        let head = columns.iter().map(|cell| cell.html("th")).collect();
        HtmlTable { head, rows: String::new() }
    }

    pub(super) fn row(&mut self, cells: &[HtmlCell]) {
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
