//! New names for the columns of files, whose own names a table cannot have or should not.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use tonnage_engine::{Error, Result};

/// In place of a name: the points in all names.
const POINT: &str = ".";

/// New names for columns, as pairs of the old name and the new one. The default keeps all names.
///
/// The old name may differ in case, unless a column has exactly that name. Several pairs of one old
/// name are for columns of the same name, in order. If it is a point alone, the points in all names that have no
/// pair of their own become the new text.
///
/// ```
/// use tonnage_files::Renames;
///
/// let renames: Renames =
///     [("id".to_owned(), "key".to_owned()), (".".to_owned(), "_".to_owned())].into_iter().collect();
/// assert_eq!(renames.of("ID"), "key");
/// assert_eq!(renames.of("name.first"), "name_first");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Renames(Vec<(String, String)>);

impl FromIterator<(String, String)> for Renames {
    fn from_iter<T: IntoIterator<Item = (String, String)>>(pairs: T) -> Self {
        Self(pairs.into_iter().collect())
    }
}

impl Renames {
    /// What a column of this name is called.
    pub fn of<'a>(&self, name: &'a str) -> Cow<'a, str> {
        if self.0.is_empty() {
            return Cow::Borrowed(name);
        }
        // The exact name wins: names may differ in nothing but their case.
        let exact = self.0.iter().find(|(old, _)| old != POINT && old == name);
        match exact.or_else(|| self.pair_of_any_case(name)) {
            Some((_, new)) => Cow::Owned(new.clone()),
            None => self.without_points(name),
        }
    }

    /// What the columns of a file are called, which has all of these.
    pub(crate) fn of_all(&self, names: &[&str]) -> Vec<String> {
        let all: HashSet<&str> = names.iter().copied().collect();
        let mut counts: HashMap<&str, usize> = HashMap::new();
        let mut renamed = Vec::with_capacity(names.len());
        for name in names {
            let before = counts.entry(name).or_default();
            let mut exact = self.0.iter().filter(|(old, _)| old != POINT && old == name).peekable();
            let pair = match exact.peek() {
                Some(_) => exact.nth(*before),
                // A pair that names another column exactly is not for this one.
                None => self.pair_of_any_case(name).filter(|(old, _)| !all.contains(old.as_str())),
            };
            *before += 1;
            renamed.push(match pair {
                Some((_, new)) => new.clone(),
                None => self.without_points(name).into_owned(),
            });
        }
        renamed
    }

    fn pair_of_any_case(&self, name: &str) -> Option<&(String, String)> {
        self.0.iter().find(|(old, _)| old != POINT && old.eq_ignore_ascii_case(name))
    }

    fn without_points<'a>(&self, name: &'a str) -> Cow<'a, str> {
        match self.0.iter().find(|(old, _)| old == POINT) {
            Some((_, new)) if name.contains(POINT) => Cow::Owned(name.replace(POINT, new)),
            _ => Cow::Borrowed(name),
        }
    }

    /// Refuses an old name that no column of the file has, unless the file has the new one.
    pub(crate) fn check<'a>(&self, names: impl Iterator<Item = &'a str> + Clone) -> Result<()> {
        let has = |wanted: &str| names.clone().any(|name| name.eq_ignore_ascii_case(wanted));
        let unknown = self.0.iter().find(|(old, new)| old != POINT && !has(old) && !has(new));
        match unknown {
            None => Ok(()),
            Some((old, new)) => Err(Error::invalid(format!(
                "there is no column {old} to be called {new}: there are {}",
                names.collect::<Vec<_>>().join(", ")
            ))),
        }
    }
}
