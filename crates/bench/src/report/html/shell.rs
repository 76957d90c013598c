//! The document around a page.

use super::escape::escaped;

/// A whole document.
pub(super) fn document(title: &str, body: &str) -> String {
    let (title, style) = (escaped(title), include_str!("style.css"));
    format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta name=\"color-scheme\" content=\"light dark\">\n\
         <title>Tonnage {title}</title>\n<style>\n{style}</style>\n</head>\n<body>\n<main>\n{body}</main>\n</body>\n</html>\n"
    )
}

/// A section with a heading. Nothing when it would be empty.
pub(super) fn section(heading: &str, content: &str) -> String {
    if content.is_empty() {
        String::new()
    } else {
        format!("<section>\n<h2>{}</h2>\n{content}</section>\n", escaped(heading))
    }
}
