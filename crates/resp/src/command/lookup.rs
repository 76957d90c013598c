//! Finds commands by their names.

use super::table::COMMANDS;

/// The longest name.
const NAME_BYTES_MAX: usize = 16;

/// The number of the command with this name, in letters of any size.
pub(crate) fn find(name: &[u8]) -> Option<u16> {
    let mut lower = [0; NAME_BYTES_MAX];
    let lower = lower.get_mut(..name.len())?;
    lower.copy_from_slice(name);
    lower.make_ascii_lowercase();
    let found = COMMANDS.binary_search_by(|command| command.name.as_bytes().cmp(lower)).ok()?;
    u16::try_from(found).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_sorted_short_and_found() {
        assert!(COMMANDS.is_sorted_by(|one, next| one.name < next.name));
        for (index, command) in COMMANDS.iter().enumerate() {
            assert!(command.name.len() <= NAME_BYTES_MAX, "{}", command.name);
            let upper = command.name.to_ascii_uppercase();
            assert_eq!(find(upper.as_bytes()), Some(index as u16));
        }
        assert_eq!(find(b"nosuchcommand"), None);
        assert_eq!(find(&[b'a'; 1_000]), None);
    }

    #[test]
    fn each_command_with_keys_says_which_rights_they_take() {
        for command in COMMANDS {
            let has_keys = command.keys.0 > 0;
            assert_eq!(has_keys, !command.rights.is_empty(), "{}", command.name);
            assert_eq!(
                command.has_flag("write") || command.has_flag("readonly"),
                command.name != "wait"
                    && (matches!(
                        command.group,
                        "string" | "generic" | "bitmap" | "hash" | "list" | "set" | "sorted-set"
                    ) || command.name == "dbsize"
                        || command.name.starts_with("flush")),
                "{}",
                command.name
            );
        }
    }
}
