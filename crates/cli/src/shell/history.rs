//! The file that keeps the lines of earlier sessions.

use std::ffi::OsString;
use std::path::PathBuf;

/// Names another file; `off`, or nothing, keeps none.
pub(super) const VARIABLE: &str = "TONNAGE_HISTORY";

/// The file of the history, created with its directory if need be.
pub(super) fn file() -> Option<PathBuf> {
    let path = history_path(|name| std::env::var_os(name))?;
    // Without the directory nothing is kept, which is no reason to end a shell.
    path.parent().map(std::fs::create_dir_all);
    Some(path)
}

/// What the environment says.
fn history_path(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    if let Some(named) = variable(VARIABLE) {
        return (!named.is_empty() && named != "off").then(|| PathBuf::from(named));
    }
    let absolute = |name| variable(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let state =
        absolute("XDG_STATE_HOME").or_else(|| Some(absolute("HOME")?.join(".local/state")))?;
    Some(state.join("tonnage/history"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Option<PathBuf> {
        history_path(|name| {
            variables.iter().find(|(known, _)| *known == name).map(|(_, value)| value.into())
        })
    }

    #[test]
    fn the_state_directory_holds_it() {
        assert_eq!(
            with(&[("HOME", "/home/a")]),
            Some("/home/a/.local/state/tonnage/history".into())
        );
        assert_eq!(
            with(&[("HOME", "/home/a"), ("XDG_STATE_HOME", "/s")]),
            Some("/s/tonnage/history".into())
        );
        assert_eq!(
            with(&[("HOME", "/home/a"), ("XDG_STATE_HOME", "s")]),
            Some("/home/a/.local/state/tonnage/history".into())
        );
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn it_can_be_elsewhere_or_nowhere() {
        assert_eq!(with(&[("HOME", "/home/a"), (VARIABLE, "/b/h")]), Some("/b/h".into()));
        for off in ["off", ""] {
            assert_eq!(with(&[("HOME", "/home/a"), (VARIABLE, off)]), None);
        }
    }
}
