//! Splits Rust text into words and signs, without comments and literals.

/// Cuts a text into words (names and keywords), `::`, and single other characters.
///
/// Comments and the contents of strings are left out. A raw string may hold one kind of quote only
/// with `#` around it, which is how Rust has it.
pub fn tokens(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &text[at..];
        at += match bytes[at] {
            b'/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            b'/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            b'"' => string_len(rest),
            // Tried before names: else `r` would be a name, and a backslash would escape the quote
            // that closes the string.
            b'r' if rest.starts_with("r\"") || rest.starts_with("r#") => raw_string_len(rest),
            b'\'' => quote_len(rest),
            byte if is_name(byte) => {
                let len = rest.bytes().take_while(|byte| is_name(*byte)).count();
                tokens.push(&rest[..len]);
                len
            }
            b':' if rest.starts_with("::") => {
                tokens.push("::");
                2
            }
            byte if byte.is_ascii_whitespace() => 1,
            _ => {
                // A character may have several bytes, and a text is not cut inside of one.
                let len = rest.chars().next().map_or(1, char::len_utf8);
                tokens.push(&rest[..len]);
                len
            }
        };
    }
    tokens
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_'
}

/// Bytes of a string, quotes included.
fn string_len(text: &str) -> usize {
    let mut escaped = false;
    for (at, byte) in text.bytes().enumerate().skip(1) {
        match byte {
            _ if escaped => escaped = false,
            b'\\' => escaped = true,
            b'"' => return at + 1,
            _ => {}
        }
    }
    text.len()
}

/// Bytes of a raw string; of the word alone when it is a raw name such as `r#type`.
fn raw_string_len(text: &str) -> usize {
    let hashes = text[1..].bytes().take_while(|byte| *byte == b'#').count();
    if !text[1 + hashes..].starts_with('"') {
        return text.bytes().take_while(|byte| is_name(*byte) || *byte == b'#').count();
    }
    let end = format!("\"{}", "#".repeat(hashes));
    let start = 2 + hashes;
    text[start..].find(&end).map_or(text.len(), |at| start + at + end.len())
}

/// Bytes of a character in quotes, or of the quote alone when it begins a lifetime.
fn quote_len(text: &str) -> usize {
    let mut characters = text.char_indices().skip(1);
    match characters.next() {
        Some((_, '\\')) => text[3..].find('\'').map_or(text.len(), |at| at + 4),
        Some(_) => match characters.next() {
            Some((at, '\'')) => at + 1,
            _ => 1,
        },
        None => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_and_literals_are_left_out() {
        let text = "use a::b; // use c;\n/* use d; */ let e = \"use f; \\\" g\"; h('\\'', 'i', r#\"use \"j\"\"#);";
        assert_eq!(tokens(text).join(" "), "use a :: b ; let e = ; h ( , , ) ;");
    }

    #[test]
    fn lifetimes_are_no_characters() {
        assert_eq!(tokens("&'a str 'x'").join(" "), "& a str");
    }
}
