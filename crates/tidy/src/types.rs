//! Lists the types that a file declares.

use crate::tokens::tokens;

/// The names of the types of a text: structs, enums, traits, unions and aliases, but those inside
/// of functions, traits and modules.
pub fn types_of(text: &str) -> Vec<String> {
    let tokens = tokens(text);
    let (mut depth, mut names) = (0_usize, Vec::new());
    for (at, token) in tokens.iter().enumerate() {
        match *token {
            "{" => depth += 1,
            "}" => depth = depth.saturating_sub(1),
            "struct" | "enum" | "trait" | "union" | "type" if depth == 0 => {
                let name = tokens.get(at + 1).copied().unwrap_or_default();
                if name.starts_with(|first: char| first.is_ascii_uppercase()) {
                    names.push(name.to_owned());
                }
            }
            _ => {}
        }
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_inside_of_others_do_not_count() {
        let text = "pub struct A { b: u8 }\n// enum No {}\nimpl T for A { type Item = B; }\n\
            pub(crate) enum C {}\ntype D = A;\nmod tests { struct E; }\ntrait T { type Item; }";
        assert_eq!(types_of(text), ["A", "C", "D", "T"]);
    }
}
