//! Chooses a member of an archive, and opens it.

use std::io::{self, Read};

use crate::readahead::ReadAhead;

/// How many names a message lists.
const NAMED_MAX: usize = 8;

/// A member that is open.
pub(crate) struct ArchiveMember {
    pub(crate) reader: Box<dyn Read + Send>,
    pub(crate) name: String,
    /// Its size, unpacked.
    pub(crate) bytes: Option<u64>,
    pub(crate) is_sheet: bool,
}

/// The member that is meant: the one of a name, or the only one.
pub(super) fn choose_member(
    names: Vec<String>,
    name: Option<&str>,
    what: &str,
) -> io::Result<String> {
    let refused = |text: String| io::Error::new(io::ErrorKind::Unsupported, text);
    let Some(name) = name else {
        return match &names[..] {
            [only] => Ok(only.clone()),
            [] => Err(refused(format!("there is no {what} in it"))),
            _ => Err(refused(several(&names, what))),
        };
    };
    if names.iter().any(|known| known == name) {
        return Ok(name.to_owned());
    }
    Err(io::Error::new(
        io::ErrorKind::NotFound,
        format!("there is no {what} {name} in it, but {}", list_names(&names)),
    ))
}

/// What is said of an archive that holds several members, none of which is named.
fn several(names: &[String], what: &str) -> String {
    format!(
        "it holds {} {what}s, {}: name one after a slash, or a pattern such as /*",
        names.len(),
        list_names(names)
    )
}

pub(crate) fn list_names(names: &[String]) -> String {
    let more = if names.len() > NAMED_MAX { ", ..." } else { "" };
    names[..names.len().min(NAMED_MAX)].join(", ") + more
}

/// A member whose bytes a thread writes.
pub(super) fn spawn_member(
    name: String,
    bytes: Option<u64>,
    is_sheet: bool,
    work: impl FnOnce(&mut dyn io::Write) -> io::Result<()> + Send + 'static,
) -> io::Result<ArchiveMember> {
    let reader = Box::new(ReadAhead::start_writing(work)?);
    Ok(ArchiveMember { reader, name, bytes, is_sheet })
}
